"""Partitions whose files are stored otherwise than their table says now.

SDS and SERDES have a row of every partition, with its format. SERDE_PARAMS have rows of those alone
that once were told apart from their table; all others follow it, so that a table with a million
partitions needs no million rows more. A mark at the table tells whether there are any.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    Connection,
    Select,
    delete,
    exists,
    insert,
    literal,
    select,
    union_all,
    update,
)

from hivesql_executor.metastore.database.catalog.catalog_values import STORAGE_MARK
from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE, format_of
from hivesql_executor.metastore.database.schema import partitions as rows
from hivesql_executor.metastore.database.schema import sd_params, sds, serde_params, serdes, tbls
from hivesql_planner.model.table import Partition, PartitionStorage, Table, partition_name

# What Hive keeps for every serde: it says nothing, but that there are properties.
_NOTHING = {"serialization.format": "1"}


def keep_storage(db: Connection, table: Table) -> None:
    """Give every partition that follows its table the properties that the table has now."""
    if not table.partition_columns:
        return
    pairs = union_all(
        *(
            select(literal(key).label("name"), literal(value).label("value"))
            for key, value in (table.serde_properties or _NOTHING).items()
        )
    ).subquery()
    own = exists().where(serde_params.c.owner_id == sds.c.serde_id)
    following = (
        select(sds.c.serde_id, pairs.c.name, pairs.c.value)
        .select_from(rows.join(sds, sds.c.id == rows.c.sd_id).join(pairs, literal(value=True)))
        .where(rows.c.table_id == table.id, ~own)
    )
    db.execute(insert(serde_params).from_select(["owner_id", "name", "value"], following))
    _mark(db, table.id)


def write_storage(db: Connection, table: Table, sd_id: int, kept: PartitionStorage | None) -> None:
    """Make a partition's rows say how it is stored; None is as its table."""
    storage = STORAGE[kept.format if kept else table.format]
    serde_id = db.scalar(select(sds.c.serde_id).where(sds.c.id == sd_id))
    db.execute(delete(serde_params).where(serde_params.c.owner_id == serde_id))
    formats = {"input_format": storage.input_format, "output_format": storage.output_format}
    db.execute(update(sds).where(sds.c.id == sd_id).values(formats))
    db.execute(update(serdes).where(serdes.c.id == serde_id).values(library=storage.serde))
    if kept is None:
        return
    properties = kept.serde_properties or _NOTHING
    db.execute(
        insert(serde_params),
        [{"owner_id": serde_id, "name": key, "value": text} for key, text in properties.items()],
    )
    _mark(db, table.id)


def is_marked(db: Connection, table_id: int) -> bool:
    """Whether any partition may be stored otherwise than its table says."""
    mark = select(sd_params.c.name).join(tbls, tbls.c.sd_id == sd_params.c.owner_id)
    found = mark.where(tbls.c.id == table_id, sd_params.c.name == STORAGE_MARK)
    return db.scalar(found) is not None


def with_storage(
    db: Connection, table: Table, query: Select[Any], found: Sequence[Partition]
) -> tuple[Partition, ...]:
    """The partitions of a marked table with what they have of their own; ``query`` found them."""
    listed = query.join(serdes, serdes.c.id == sds.c.serde_id).with_only_columns(
        rows.c.name, sds.c.serde_id, sds.c.input_format, serdes.c.library
    )
    ids = listed.with_only_columns(sds.c.serde_id)
    properties: dict[int, dict[str, str]] = defaultdict(dict)
    chosen = select(serde_params).where(serde_params.c.owner_id.in_(ids))
    for one in db.execute(chosen):
        properties[one.owner_id][one.name] = one.value or ""
    stored = {}
    for row in db.execute(listed):
        own = properties.get(row.serde_id, table.serde_properties)
        kind = format_of(row.input_format, row.library, table.name)
        own = {} if own == _NOTHING else own
        stored[row.name] = table.storage_of(replace(table, format=kind, serde_properties=own))
    return tuple(
        replace(one, storage=stored[partition_name(table.partition_names, one.values)])
        for one in found
    )


def _mark(db: Connection, table_id: int) -> None:
    if is_marked(db, table_id):
        return
    sd_id = db.scalar(select(tbls.c.sd_id).where(tbls.c.id == table_id))
    db.execute(insert(sd_params).values(owner_id=sd_id, name=STORAGE_MARK, value="own"))
