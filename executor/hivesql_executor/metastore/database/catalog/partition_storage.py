"""Partitions that are stored, or described, otherwise than their table says now.

SDS and SERDES have a row of every partition, with its format. SERDE_PARAMS have rows of those alone
that once were told apart from their table; all others follow it, so that a table with a million
partitions needs no million rows more. Partitions share their table's list of columns; where it
gets another one, they keep the old one together. What they were clustered by have rows of those
alone that ALTER TABLE … PARTITION changed. A mark at the table tells whether there are any.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    Connection,
    Select,
    bindparam,
    delete,
    exists,
    insert,
    literal,
    select,
    union_all,
    update,
)

from hivesql_executor.metastore.database.catalog import table_rows
from hivesql_executor.metastore.database.catalog.catalog_values import STORAGE_MARK
from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE, format_of
from hivesql_executor.metastore.database.schema import partitions as rows
from hivesql_executor.metastore.database.schema import sd_params, sds, serde_params, serdes, tbls
from hivesql_planner.model.table import (
    Buckets,
    Column,
    Partition,
    PartitionStorage,
    Table,
    partition_name,
)

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
        .select_from(
            pairs.join(rows, rows.c.table_id == table.id).join(sds, sds.c.id == rows.c.sd_id)
        )
        .where(~own)
    )
    db.execute(insert(serde_params).from_select(["owner_id", "name", "value"], following))
    mark(db, table.id)


def write_storage(db: Connection, table: Table, sd_id: int, own: PartitionStorage | None) -> None:
    """Make a partition's rows say how it is stored; None is as its table."""
    storage = STORAGE[own.format if own else table.format]
    serde_id = db.scalar(select(sds.c.serde_id).where(sds.c.id == sd_id))
    db.execute(delete(serde_params).where(serde_params.c.owner_id == serde_id))
    formats = {"input_format": storage.input_format, "output_format": storage.output_format}
    db.execute(update(sds).where(sds.c.id == sd_id).values(formats))
    db.execute(update(serdes).where(serdes.c.id == serde_id).values(library=storage.serde))
    _write_columns(db, table, sd_id, own.columns if own else None)
    _write_buckets(db, table, sd_id, own.buckets if own else None)
    if own is None:
        return
    properties = own.serde_properties or _NOTHING
    db.execute(
        insert(serde_params),
        [{"owner_id": serde_id, "name": key, "value": text} for key, text in properties.items()],
    )
    mark(db, table.id)


def _write_columns(
    db: Connection, table: Table, sd_id: int, columns: Sequence[Column] | None
) -> None:
    old = db.scalar(select(sds.c.cd_id).where(sds.c.id == sd_id))
    shared = table_rows.columns_id(db, table.id)
    new = shared if columns is None else table_rows.add_column_list(db, columns)
    if new != old:
        db.execute(update(sds).where(sds.c.id == sd_id).values(cd_id=new))
        table_rows.delete_unused_columns(db, [old] if old is not None else [])


def _write_buckets(db: Connection, table: Table, sd_id: int, own: Buckets | None) -> None:
    buckets = own or table.buckets
    db.execute(update(sds).where(sds.c.id == sd_id).values(bucket_count=buckets.count or -1))
    names = () if own is None else own.columns
    table_rows.replace_buckets(db, sd_id, replace(buckets, columns=names) if own else Buckets())


def keep_columns(db: Connection, table: Table) -> None:
    """Leave the partitions of a table the columns that it has now, and give it a list of its own.

    Nothing happens to a table without partitions.
    """
    if db.scalar(select(rows.c.id).where(rows.c.table_id == table.id).limit(1)) is None:
        return
    table_rows.give_own_columns(db, table.id)
    mark(db, table.id)


def share_columns(db: Connection, table_id: int) -> None:
    """Give all partitions of a table its columns again."""
    shared = table_rows.columns_id(db, table_id)
    own = select(rows.c.sd_id).where(rows.c.table_id == table_id)
    others = sds.c.id.in_(own) & (sds.c.cd_id != shared)
    old = db.scalars(select(sds.c.cd_id).where(others).distinct()).all()
    db.execute(update(sds).where(others).values(cd_id=shared))
    table_rows.delete_unused_columns(db, old)


def is_marked(db: Connection, table_id: int) -> bool:
    """Tell whether any partition may be stored otherwise than its table says."""
    return db.scalar(MARKED, {"table_id": table_id, "mark": STORAGE_MARK}) is not None


MARKED = (
    select(sd_params.c.name.label("name"))
    .join(tbls, tbls.c.sd_id == sd_params.c.owner_id)
    .where(tbls.c.id == bindparam("table_id"), sd_params.c.name == bindparam("mark"))
)


def with_storage(
    db: Connection, table: Table, query: Select[Any], partitions: Sequence[Partition]
) -> tuple[Partition, ...]:
    """Give the partitions of a marked table, found by ``query``, what they have of their own."""
    listed = query.join(serdes, serdes.c.id == sds.c.serde_id).with_only_columns(
        rows.c.name, sds.c.serde_id, sds.c.input_format, serdes.c.library,
        sds.c.id.label("sd_id"), sds.c.cd_id, sds.c.bucket_count,
    )  # fmt: skip
    ids = listed.with_only_columns(sds.c.serde_id)
    properties: dict[int, dict[str, str]] = defaultdict(dict)
    chosen = select(serde_params).where(serde_params.c.owner_id.in_(ids))
    for parameter in db.execute(chosen):
        properties[parameter.owner_id][parameter.name] = parameter.value or ""
    found_rows = db.execute(listed).all()
    columns = {
        cd_id: table_rows.read_column_list(db, cd_id)
        for cd_id in {row.cd_id for row in found_rows} - {table_rows.columns_id(db, table.id)}
    }
    sd_ids = listed.with_only_columns(sds.c.id)
    buckets = table_rows.read_buckets(db, sd_ids)
    stored = {}
    for row in found_rows:
        own = properties.get(row.serde_id, table.serde_properties)
        kind = format_of(row.input_format, row.library, table.name)
        own = {} if own == _NOTHING else own
        described = replace(
            table,
            format=kind,
            serde_properties=own,
            columns=columns.get(row.cd_id, table.columns),
        )
        described = described.clustered(
            replace(buckets.get(row.sd_id, table.buckets), count=row.bucket_count)
            if row.bucket_count > 0
            else Buckets()
        )
        stored[row.name] = table.storage_of(described)
    return tuple(
        replace(partition, storage=stored[partition_name(table.partition_names, partition.values)])
        for partition in partitions
    )


def mark(db: Connection, table_id: int) -> None:
    """Note that partitions may be described otherwise than their table."""
    if is_marked(db, table_id):
        return
    sd_id = db.scalar(select(tbls.c.sd_id).where(tbls.c.id == table_id))
    db.execute(insert(sd_params).values(owner_id=sd_id, name=STORAGE_MARK, value="own"))
