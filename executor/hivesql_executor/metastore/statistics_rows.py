"""Statistics of tables and partitions as rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy import Table as SqlTable

from hivesql_executor.metastore import catalog, schema
from hivesql_executor.metastore.notification_log import note_change
from hivesql_executor.metastore.table_rows import STATISTICS_WRITES, add_params, params
from hivesql_planner.cache.events import EventKind
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.statistics import BASICS, ColumnStatistics, Statistics
from hivesql_planner.table import TableName, partition_name

_ROWS, _FILES, _BYTES = BASICS
_FIELDS = ("name", "type", "nulls", "distinct", "low", "high", "average_length", "longest",
           "trues", "falses")  # fmt: skip


def put_statistics(db: Connection, name: TableName, found: Collection[Statistics]) -> None:
    """Store statistics; those of columns that were not asked for stay."""
    for one in found:
        owner, numbers, columns = _owner(db, name, one.values)
        basics = {_FILES: str(one.files), _BYTES: str(one.bytes)}
        if one.rows is not None:
            basics[_ROWS] = str(one.rows)
        if one.writes:
            basics[STATISTICS_WRITES] = one.writes
        old = numbers.c.name.in_([*basics, STATISTICS_WRITES])
        db.execute(delete(numbers).where(numbers.c.owner_id == owner, old))
        add_params(db, numbers, owner, basics)
        names = [column.name for column in one.columns]
        db.execute(delete(columns).where(columns.c.owner_id == owner, columns.c.name.in_(names)))
        rows = [
            {"owner_id": owner} | {field: getattr(column, field) for field in _FIELDS}
            for column in one.columns
        ]
        if rows:
            db.execute(insert(columns), rows)
        if one.values is None:
            # Copies of a table hold its parameters, those of partitions none.
            note_change(db, EventKind.ALTER_TABLE, name.lower(), owner)


def statistics(db: Connection, name: TableName, values: Sequence[str | None] | None) -> Statistics:
    """What the last ANALYZE found of a table or partition; zeros before the first."""
    owner, numbers, columns = _owner(db, name, values)
    basics = params(db, numbers, owner)
    query = select(columns).where(columns.c.owner_id == owner).order_by(columns.c.name)
    return Statistics(
        values=None if values is None else tuple(values),
        rows=int(basics[_ROWS]) if _ROWS in basics else None,
        files=int(basics.get(_FILES, 0)),
        bytes=int(basics.get(_BYTES, 0)),
        writes=basics.get(STATISTICS_WRITES, ""),
        columns=tuple(
            ColumnStatistics(**{field: getattr(row, field) for field in _FIELDS})
            for row in db.execute(query)
        ),
    )


def _owner(
    db: Connection, name: TableName, values: Sequence[str | None] | None
) -> tuple[Any, SqlTable, SqlTable]:
    table_id = catalog.table_id(db, name)
    if values is None:
        return table_id, schema.table_params, schema.table_statistics
    wanted = partition_name(catalog.table(db, name).partition_names, values)
    rows = schema.partitions
    found = db.scalar(select(rows.c.id).where(rows.c.table_id == table_id, rows.c.name == wanted))
    if found is None:
        raise NoSuchObject(f"Partition not found: {name} {wanted}", code=10006)
    return found, schema.partition_params, schema.partition_statistics
