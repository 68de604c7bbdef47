"""One table as rows of a dozen catalog tables, there and back."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    Connection,
    Label,
    Row,
    Select,
    bindparam,
    delete,
    insert,
    literal_column,
    null,
    select,
    union_all,
    update,
)
from sqlalchemy import Table as SqlTable

from hivesql_executor.metastore.database.catalog.catalog_values import (
    ASCENDING,
    BASE_WRITE,
    COMMENT,
    DESCENDING,
    EXTERNAL,
    TableDetails,
    constraint_of,
    parameters_of,
    table_of,
)
from hivesql_executor.metastore.database.catalog.constraint_rows import (
    CONSTRAINTS,
    add_constraints,
)
from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_executor.metastore.database.dialects.execution import Rows, run, run_all
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.schema import (
    bucketing_cols,
    cds,
    columns_v2,
    key_constraints,
    partition_key_vals,
    partition_keys,
    partition_params,
    partition_statistics,
    partitions,
    sd_params,
    sds,
    serde_params,
    serdes,
    sort_cols,
    table_params,
    table_statistics,
    tbls,
)
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.materialized import MATERIALIZED
from hivesql_planner.model.skew import SKEWED
from hivesql_planner.model.statistics import (
    ACCURATE,
    BASICS,
    Statistics,
    no_rows,
    written_basics,
)
from hivesql_planner.model.table import Buckets, Column, Table, TableName

TableRow = Row[Any]

_CHUNK = 500
NO_ROWS = written_basics(Statistics(rows=0, is_accurate=True))


def add_params(db: Connection, table: SqlTable, owner_id: int, values: Mapping[str, str]) -> None:
    """Store key-value pairs of one owner."""
    rows = [{"owner_id": owner_id, "name": key, "value": val} for key, val in values.items()]
    if rows:
        db.execute(insert(table), rows)


def params(db: Connection, table: SqlTable, owner_id: int) -> dict[str, str]:
    """Key-value pairs of one owner, sorted by key."""
    rows = run(db, parameters(table), {"owner": owner_id})
    return parameters_of(rows)


def named(table: SqlTable) -> list[Label[Any]]:
    """Return the columns of a table under the names that they have here."""
    return [column.label(column.key) for column in table.c]


@functools.cache
def owned(table: SqlTable, *keys: str, order: str | None = None) -> Select[Any]:
    """Rows of an ``:owner``; made once, since making a query takes longer than asking it."""
    of = table.c
    query = select(*(of[key].label(key) for key in keys)).where(of.owner_id == bindparam("owner"))
    return query if order is None else query.order_by(of[order])


def parameters(table: SqlTable) -> Select[Any]:
    """Ask for the key-value pairs of an ``:owner``."""
    return owned(table, "name", "value")


def columns_of(table: SqlTable) -> Select[Any]:
    """Ask for the columns of an ``:owner``."""
    return owned(table, "name", "type", "comment", order="position")


def names_of(table: SqlTable) -> Select[Any]:
    """Ask for the names of an ``:owner``'s columns."""
    return owned(table, "name", order="position")


SORTING = owned(sort_cols, "name", "order", order="position")
"""What an ``:owner`` is sorted by."""


def mark_inaccurate(db: Connection, table: SqlTable, owner_ids: Sequence[int]) -> None:
    """Call the statistics of some tables or partitions accurate no more."""
    for start in range(0, len(owner_ids), _CHUNK):
        chunk = table.c.owner_id.in_(owner_ids[start : start + _CHUNK])
        db.execute(delete(table).where(chunk, table.c.name == ACCURATE))


def add_table(db: Connection, database_id: int, table: Table, *, is_empty: bool) -> int:
    """Insert all rows of a new table, of which is known whether it has no rows yet; its id."""
    cd_id = terms_of(db).insert_for_ids(db, cds, [{}])[0]
    serde_id, sd_id = add_storage(db, table, cd_id, [table.location])[0]
    values = _own_values(table, database_id) | {"sd_id": sd_id, "created_at": table.created_at}
    table_id = terms_of(db).insert_for_ids(db, tbls, [values])[0]
    if is_empty and not table.is_view and not table.partition_columns:
        table = replace(table, properties={**no_rows(table), **table.properties})
    _add_details(db, table, (table_id, cd_id, serde_id, sd_id))
    return table_id


def add_storage(
    db: Connection, table: Table, cd_id: int, locations: Sequence[str]
) -> list[tuple[int, int]]:
    """Insert one serde and one storage descriptor for each location: their ids."""
    storage = STORAGE[table.format]
    terms = terms_of(db)
    serde_ids = terms.insert_for_ids(db, serdes, [{"library": storage.serde} for _ in locations])
    values = [
        _storage_values(table)
        | {"location": location or None, "serde_id": serde_id, "cd_id": cd_id}
        for location, serde_id in zip(locations, serde_ids, strict=True)
    ]
    sd_ids = terms.insert_for_ids(db, sds, values)
    return list(zip(serde_ids, sd_ids, strict=True))


def replace_table(db: Connection, table_id: int, database_id: int, table: Table) -> None:
    """Make the rows of a table say what ``table`` says; ids and partitions stay."""
    owned = _owned_ids(db, table_id)
    _, _, serde_id, sd_id = owned
    stored = params(db, table_params, table_id)
    _delete_details(db, owned)
    # Numbers that somebody sets by hand are not called accurate.
    stated = [] if table.properties.keys() & set(BASICS) else [ACCURATE]
    stored = {key: stored[key] for key in (*BASICS, *stated, BASE_WRITE) if key in stored}
    table = replace(table, properties={**stored, **table.properties})
    _forget_columns(db, table_id, table)
    db.execute(update(tbls).where(tbls.c.id == table_id).values(_own_values(table, database_id)))
    db.execute(
        update(sds)
        .where(sds.c.id == sd_id)
        .values(_storage_values(table) | {"location": table.location or None})
    )
    storage = STORAGE[table.format]
    db.execute(update(serdes).where(serdes.c.id == serde_id).values(library=storage.serde))
    _add_details(db, table, owned)


def _forget_columns(db: Connection, table_id: int, table: Table) -> None:
    """Forget what was measured of columns that the table no longer has, or has as other types."""
    measured = table_statistics.c
    rows = db.execute(select(measured.name, measured.type).where(measured.owner_id == table_id))
    types = {column.name: column.type for column in table.columns}
    stale = [name for name, type_ in rows if types.get(name) != HiveType.parse(type_)]
    if stale:
        own = delete(table_statistics).where(measured.owner_id == table_id)
        db.execute(own.where(measured.name.in_(stale)))


def delete_table(db: Connection, table_id: int) -> None:
    """Delete every row of a table; its partitions are gone already."""
    owned = _owned_ids(db, table_id)
    _, cd_id, serde_id, sd_id = owned
    _delete_details(db, owned)
    db.execute(delete(sd_params).where(sd_params.c.owner_id == sd_id))
    statistics = table_statistics
    db.execute(delete(statistics).where(statistics.c.owner_id == table_id))
    for table, own_id in ((tbls, table_id), (sds, sd_id), (serdes, serde_id), (cds, cd_id)):
        db.execute(delete(table).where(table.c.id == own_id))


def add_column_list(db: Connection, columns: Sequence[Column]) -> int:
    """Insert a list of columns; its id."""
    cd_id = terms_of(db).insert_for_ids(db, cds, [{}])[0]
    _add_columns(db, columns_v2, cd_id, columns)
    return cd_id


def read_column_list(db: Connection, cd_id: int) -> tuple[Column, ...]:
    """Return the columns of a list."""
    return _read_columns(db, columns_v2, cd_id)


def give_own_columns(db: Connection, table_id: int) -> None:
    """Give a table a new list of the same columns; its partitions keep the old one."""
    _, cd_id, _, sd_id = _owned_ids(db, table_id)
    new = add_column_list(db, read_column_list(db, cd_id))
    db.execute(update(sds).where(sds.c.id == sd_id).values(cd_id=new))


def delete_unused_columns(db: Connection, cd_ids: Sequence[int]) -> None:
    """Delete those of some lists of columns that nothing has any more."""
    used = set(db.scalars(select(sds.c.cd_id).where(sds.c.cd_id.in_(cd_ids)))) if cd_ids else set()
    unused = [cd_id for cd_id in cd_ids if cd_id not in used]
    if unused:
        db.execute(delete(columns_v2).where(columns_v2.c.owner_id.in_(unused)))
        db.execute(delete(cds).where(cds.c.id.in_(unused)))


def replace_buckets(db: Connection, sd_id: int, buckets: Buckets) -> None:
    """Make the rows say what a partition of its own is clustered and sorted by."""
    for table in (bucketing_cols, sort_cols):
        db.execute(delete(table).where(table.c.owner_id == sd_id))
    _add_names(db, bucketing_cols, sd_id, buckets.columns)
    for i, name in enumerate(buckets.sort_columns):
        order = DESCENDING if name in buckets.sort_descending else ASCENDING
        row = {"owner_id": sd_id, "position": i, "name": name.lower(), "order": order}
        db.execute(insert(sort_cols).values(row))


def read_buckets(db: Connection, sd_ids: Select[Any]) -> dict[int, Buckets]:
    """Tell what those of some storage descriptors say that are clustered by themselves."""
    columns: dict[int, list[str]] = defaultdict(list)
    named = select(bucketing_cols).where(bucketing_cols.c.owner_id.in_(sd_ids))
    for row in db.execute(named.order_by(bucketing_cols.c.position)):
        columns[row.owner_id].append(row.name)
    sorting: dict[int, dict[str, int]] = defaultdict(dict)
    ordered = select(sort_cols).where(sort_cols.c.owner_id.in_(sd_ids))
    for row in db.execute(ordered.order_by(sort_cols.c.position)):
        sorting[row.owner_id][row.name] = row.order
    return {
        owner: Buckets(
            columns=tuple(names),
            sort_columns=tuple(sorting[owner]),
            sort_descending=tuple(n for n, order in sorting[owner].items() if order == DESCENDING),
        )
        for owner, names in columns.items()
    }


def delete_partitions(db: Connection, ids: Sequence[int]) -> None:
    """Delete every row of some partitions."""
    sd_ids = select(partitions.c.sd_id).where(partitions.c.id.in_(ids))
    owned = db.execute(select(sds.c.id, sds.c.serde_id, sds.c.cd_id).where(sds.c.id.in_(sd_ids)))
    owned_rows = owned.all()
    for table in (partition_key_vals, partition_params, partition_statistics):
        db.execute(delete(table).where(table.c.owner_id.in_(ids)))
    db.execute(delete(partitions).where(partitions.c.id.in_(ids)))
    serde_ids = [row.serde_id for row in owned_rows]
    descriptors = [row.id for row in owned_rows]
    for table in (bucketing_cols, sort_cols):
        db.execute(delete(table).where(table.c.owner_id.in_(descriptors)))
    db.execute(delete(sds).where(sds.c.id.in_(descriptors)))
    delete_unused_columns(db, sorted({row.cd_id for row in owned_rows if row.cd_id is not None}))
    db.execute(delete(serde_params).where(serde_params.c.owner_id.in_(serde_ids)))
    db.execute(delete(serdes).where(serdes.c.id.in_(serde_ids)))


STORED = (
    select(*named(sds), serdes.c.library.label("library"))
    .join(serdes, serdes.c.id == sds.c.serde_id)
    .where(sds.c.id == bindparam("sd_id"))
)


_PARAMETERS, _SERDE, _COLUMNS, _KEYS = "parameters", "serde", "columns", "keys"


def _part(name: str, table: SqlTable, owner: str) -> Select[Any]:
    """Ask for what belongs to one owner, in a form that all of ``_OWNED`` have."""
    of = table.c
    if "position" in of:
        fields: list[Any] = [of.position, of.name, of.type, of.comment]
    else:
        fields = [literal_column("0"), of.name, of.value, null()]
    query = select(literal_column(f"'{name}'"), *fields)
    return query.where(of.owner_id == bindparam(owner, type_=of.owner_id.type))


# In one question: each takes longer on its way than in the database.
_OWNED = union_all(
    _part(_PARAMETERS, table_params, "table_id"),
    _part(_SERDE, serde_params, "serde_id"),
    _part(_COLUMNS, columns_v2, "cd_id"),
    _part(_KEYS, partition_keys, "table_id"),
)


OF_TABLE = (STORED, CONSTRAINTS, _OWNED)
"""What is asked of a table whose TBLS row is known."""


def read_table(
    db: Connection, name: TableName, row: TableRow, known: Sequence[Rows] | None = None
) -> Table:
    """Return the table whose TBLS row is given; what ``OF_TABLE`` asks may be ``known``."""
    if known is None:
        (storage,), constraints = run_all(
            db, (STORED, {"sd_id": row.sd_id}), (CONSTRAINTS, {"owner": row.id})
        )
        owners = {"table_id": row.id, "serde_id": storage.serde_id, "cd_id": storage.cd_id}
        details = run(db, _OWNED, owners)
    else:
        (storage,), constraints, details = known
    # Without buckets there is nothing to ask: most tables have none.
    buckets = storage.bucket_count > 0
    owned: dict[str, list[tuple[str, str, str | None]]] = defaultdict(list)
    for part, _, *entry in sorted(details, key=lambda entry: entry[:2]):
        owned[part].append((entry[0], entry[1], entry[2]))
    described = TableDetails(
        parameters=parameters_of(entry[:2] for entry in owned[_PARAMETERS]),
        serde_properties=parameters_of(entry[:2] for entry in owned[_SERDE]),
        columns=tuple(Column.of(*entry) for entry in owned[_COLUMNS]),
        partition_columns=tuple(Column.of(*entry) for entry in owned[_KEYS]),
        bucket_columns=_read_names(db, bucketing_cols, row.sd_id) if buckets else (),
        sorting=_read_sorting(db, row.sd_id) if buckets else {},
        constraints=tuple(map(constraint_of, constraints)),
    )
    return table_of(name, row, storage, described)


def _read_sorting(db: Connection, sd_id: int) -> dict[str, int]:
    """Return the columns that a table is sorted by, each with its direction."""
    return {name: int(order) for name, order in run(db, SORTING, {"owner": sd_id})}


def columns_id(db: Connection, table_id: int) -> int:
    """Return the id of the column list that a table shares with its partitions."""
    return _owned_ids(db, table_id)[1]


def _owned_ids(db: Connection, table_id: int) -> tuple[int, int, int, int]:
    query = (
        select(tbls.c.id, sds.c.cd_id, sds.c.serde_id, sds.c.id)
        .join(sds, sds.c.id == tbls.c.sd_id)
        .where(tbls.c.id == table_id)
    )
    table, cd_id, serde_id, sd_id = db.execute(query).one()
    return int(table), int(cd_id), int(serde_id), int(sd_id)


def _own_values(table: Table, database_id: int) -> dict[str, Any]:
    return {
        "database_id": database_id,
        "name": table.name.name,
        "type": table.type,
        "owner": table.owner,
        "owner_type": table.owner_type,
        "view_text": table.view_text,
        "view_original": table.view_original or table.view_text,
        "rewrite_enabled": table.materialized is not None and table.materialized.rewrite,
    }


def _storage_values(table: Table) -> dict[str, Any]:
    storage = STORAGE[table.format]
    return {
        "input_format": storage.input_format,
        "output_format": storage.output_format,
        # Hive writes -1 for a table without buckets.
        "bucket_count": table.bucket_count or -1,
    }


def _add_details(db: Connection, table: Table, owned: tuple[int, int, int, int]) -> None:
    table_id, cd_id, serde_id, sd_id = owned
    properties = dict(table.properties)
    if table.comment is not None:
        properties[COMMENT] = table.comment
    if table.type == "EXTERNAL_TABLE":
        properties[EXTERNAL] = "TRUE"
    if table.skew is not None:
        properties[SKEWED] = table.skew.written()
    if table.materialized is not None:
        properties[MATERIALIZED] = table.materialized.written()
    add_params(db, table_params, table_id, properties)
    add_constraints(db, table_id, table)
    add_params(db, serde_params, serde_id, table.serde_properties)
    _add_columns(db, columns_v2, cd_id, table.columns)
    _add_columns(db, partition_keys, table_id, table.partition_columns)
    _add_names(db, bucketing_cols, sd_id, table.bucket_columns)
    _add_names(db, sort_cols, sd_id, table.sort_columns, order=ASCENDING)
    if table.sort_descending:
        db.execute(
            update(sort_cols)
            .where(sort_cols.c.owner_id == sd_id, sort_cols.c.name.in_(table.sort_descending))
            .values(order=DESCENDING)
        )


def _delete_details(db: Connection, owned: tuple[int, int, int, int]) -> None:
    table_id, cd_id, serde_id, sd_id = owned
    for table, owner_id in (
        (table_params, table_id),
        (key_constraints, table_id),
        (serde_params, serde_id),
        (columns_v2, cd_id),
        (partition_keys, table_id),
        (bucketing_cols, sd_id),
        (sort_cols, sd_id),
    ):
        db.execute(delete(table).where(table.c.owner_id == owner_id))


def _add_columns(db: Connection, table: SqlTable, owner_id: int, columns: Iterable[Column]) -> None:
    rows = [
        {
            "owner_id": owner_id,
            "position": position,
            "name": column.name.lower(),
            "type": str(column.type),
            "comment": column.comment,
        }
        for position, column in enumerate(columns)
    ]
    if rows:
        db.execute(insert(table), rows)


def _add_names(
    db: Connection, table: SqlTable, owner_id: int, names: Iterable[str], **values: int
) -> None:
    rows = [
        {"owner_id": owner_id, "position": position, "name": name.lower(), **values}
        for position, name in enumerate(names)
    ]
    if rows:
        db.execute(insert(table), rows)


def _read_columns(db: Connection, table: SqlTable, owner_id: int) -> tuple[Column, ...]:
    query = columns_of(table)
    return tuple(Column.of(*row) for row in run(db, query, {"owner": owner_id}))


def _read_names(db: Connection, table: SqlTable, owner_id: int) -> tuple[str, ...]:
    return tuple(row[0] for row in run(db, names_of(table), {"owner": owner_id}))
