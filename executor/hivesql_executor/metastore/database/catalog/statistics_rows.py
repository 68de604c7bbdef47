"""Statistics of tables and partitions as rows."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Delete,
    Insert,
    Select,
    and_,
    bindparam,
    cast,
    delete,
    func,
    insert,
    or_,
    select,
)
from sqlalchemy import Table as SqlTable

from hivesql_executor.metastore.database import schema
from hivesql_executor.metastore.database.catalog import tables as catalog
from hivesql_executor.metastore.database.catalog.catalog_values import (
    BASE_WRITE,
    STATISTICS,
    STATISTICS_FIELDS,
)
from hivesql_executor.metastore.database.catalog.table_rows import owned
from hivesql_executor.metastore.database.dialects.execution import run, run_later, run_many
from hivesql_executor.metastore.database.transactions import snapshots
from hivesql_executor.metastore.database.transactions.transactions import chunks
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.cache.lists import compare
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.statistics import (
    ACCURATE,
    BASICS,
    ColumnStatistics,
    Statistics,
    added_up,
    present_columns,
    read_basics,
    written_basics,
)
from hivesql_planner.model.table import Table, TableName, partition_name


@dataclass(frozen=True, slots=True)
class StoredStatistics:
    """What the parameters of one owner tell; ``base`` is the write that last replaced all rows."""

    known: Statistics = Statistics()  # noqa: RUF009 - frozen
    base: int = 0


def put_statistics(db: Connection, name: TableName, statistics: Collection[Statistics]) -> None:
    """Store statistics; those of columns that were not asked for stay.

    They are accurate when nothing was committed since they were counted.
    """
    catalog.table_id(db, name, lock=True)
    table = catalog.table(db, name)
    current = _current(db, table)
    whole = next((entry for entry in statistics if entry.values is None), None)
    of_partitions = {
        partition_name(table.partition_names, entry.values): entry
        for entry in statistics
        if entry.values is not None
    }
    ids = partition_ids(db, table.id, list(of_partitions))
    if missing := of_partitions.keys() - ids.keys():
        raise NoSuchObject(f"Partition not found: {table.name} {min(missing)}", code=10006)
    for numbers, columns, entries in (
        (
            schema.table_params,
            schema.table_statistics,
            {} if whole is None else {table.id: whole},
        ),
        (
            schema.partition_params,
            schema.partition_statistics,
            {ids[key]: entry for key, entry in of_partitions.items()},
        ),
    ):
        old = read_stored_statistics(db, numbers, list(entries))
        merged = {
            owner: _merged(old[owner], entry, is_current=_is_of(current, entry.writes))
            for owner, entry in entries.items()
        }
        write_stored_statistics(db, numbers, merged)
        put_columns(db, columns, {owner: entry.columns for owner, entry in entries.items()})


def _merged(old: StoredStatistics, entry: Statistics, *, is_current: bool) -> StoredStatistics:
    """Put what was counted, or stated, over what is stored."""
    if entry.is_stated:
        return StoredStatistics(_with_stated(old.known, entry), old.base)
    rows = old.known.rows if entry.rows is None else entry.rows
    accurate = entry.rows is not None and is_current
    counted = {column.name for column in entry.columns}
    if accurate and old.known.is_accurate and old.known.rows == rows:
        counted |= set(old.known.accurate_columns)
    known = replace(entry, rows=rows, is_accurate=accurate, accurate_columns=tuple(sorted(counted)))
    return StoredStatistics(known, old.base)


def partition_ids(db: Connection, table_id: int, names: Sequence[str]) -> dict[str, int]:
    """Return the ids of a table's partitions by their names; of those that there are."""
    rows = schema.partitions.c
    ids: dict[str, int] = {}
    for chunk in chunks(names):
        query = select(rows.id, rows.name).where(rows.table_id == table_id, rows.name.in_(chunk))
        ids |= {name: int(id_) for id_, name in db.execute(query)}
    return ids


def _with_stated(stored: Statistics, stated: Statistics) -> Statistics:
    """Tell what is known where a user tells something: columns are believed, numbers are not."""
    if stated.columns:
        names = {column.name for column in stated.columns}
        accurate = names.union(stored.accurate_columns) if stored.is_accurate else ()
        return replace(stored, accurate_columns=tuple(sorted(accurate)))
    return replace(
        stored, rows=stated.rows, files=stated.files, bytes=stated.bytes, is_accurate=False,
        accurate_columns=(),
    )  # fmt: skip


def put_columns(
    db: Connection, columns: SqlTable, measured: Mapping[int, Sequence[ColumnStatistics]]
) -> None:
    """Store what is known of some columns of tables or partitions, by their ids."""
    owners_by_names: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for owner, of_owner in measured.items():
        owners_by_names[tuple(column.name for column in of_owner)].append(owner)
    for names, owners in owners_by_names.items():
        for chunk in chunks(owners):
            is_there = and_(columns.c.owner_id.in_(chunk), columns.c.name.in_(names))
            db.execute(delete(columns).where(is_there))
    new = [
        {"owner_id": owner}
        | {field: getattr(column, field) for field in STATISTICS_FIELDS}
        | {"type": str(column.type)}
        for owner, of_owner in measured.items()
        for column in of_owner
    ]
    if new:
        db.execute(insert(columns), new)


def _current(db: Connection, table: Table) -> ValidWriteIdList | None:
    if not table.is_transactional:
        return None
    return snapshots.valid_write_ids(db, snapshots.valid_txns(db, 0), table.name)


def _is_of(current: ValidWriteIdList | None, writes: str) -> bool:
    """Tell whether what was counted under these write ids is there now; plain tables have none."""
    if current is None:
        return True
    return bool(writes) and compare(ValidWriteIdList.parse(writes), current) == 0


def statistics(
    db: Connection, name: TableName, values: Sequence[str | None] | None = None
) -> Statistics:
    """Tell what is known of a table or partition; of a partitioned table, the sums."""
    table = catalog.table(db, name)
    owner, numbers, columns = _owner(db, table, values)
    if values is None and table.partition_columns:
        return _with_columns(_sums(db, owner), table, _columns_of_partitions(db, table))
    types = {column.name: column.type for column in table.columns}
    measured = tuple(
        column
        for column in measured_columns(db, columns, [owner])[owner]
        if types.get(column.name) == column.type
    )
    basics = read_stored_statistics(db, numbers, [owner])[owner].known
    return replace(
        basics,
        values=None if values is None else tuple(values),
        columns=measured,
        accurate_columns=present_columns(basics, (column.name for column in measured), table),
        properties={} if values is None else _other_properties(db, numbers, owner),
    )


def _other_properties(db: Connection, numbers: SqlTable, owner: int) -> dict[str, str]:
    query = select(numbers.c.name, numbers.c.value).where(numbers.c.owner_id == owner)
    return {row.name: row.value for row in db.execute(query) if row.name not in STATISTICS}


def measured_of(columns: SqlTable) -> Select[Any]:
    """Ask what is known of the columns of an ``:owner``."""
    return owned(columns, *STATISTICS_FIELDS, order="name")


@functools.cache
def _measured_of_several(columns: SqlTable) -> Select[Any]:
    of = columns.c
    keys = ("owner_id", *STATISTICS_FIELDS)
    query = select(*(of[key].label(key) for key in keys))
    return query.where(of.owner_id.in_(bindparam("owners", expanding=True))).order_by(of.name)


def measured_columns(
    db: Connection, columns: SqlTable, owners: Sequence[int]
) -> dict[int, list[ColumnStatistics]]:
    """Tell what is known of the columns of tables or partitions, of which types they were."""
    if len(owners) == 1:
        rows = run(db, measured_of(columns), {"owner": owners[0]})
        return {owners[0]: list(map(_measured, rows))}
    by_owner: dict[int, list[ColumnStatistics]] = {owner: [] for owner in owners}
    for chunk in chunks(owners):
        for row in run(db, _measured_of_several(columns), {"owners": chunk}):
            by_owner[row.owner_id].append(_measured(row))
    return by_owner


def _measured(row: Any) -> ColumnStatistics:
    values = {field: getattr(row, field) for field in STATISTICS_FIELDS}
    return ColumnStatistics(**values | {"type": HiveType.as_stored(row.type)})


def _with_columns(
    sums: Statistics, table: Table, measured: Sequence[ColumnStatistics]
) -> Statistics:
    counts = Counter(column.name for column in measured)
    return replace(
        sums,
        columns=added_up([column] for column in measured),
        known_everywhere=tuple(n for n in table.column_names if counts[n] == sums.partitions),
    )


def _columns_of_partitions(db: Connection, table: Table) -> list[ColumnStatistics]:
    columns, rows = schema.partition_statistics, schema.partitions
    here = and_(rows.c.id == columns.c.owner_id, rows.c.table_id == table.id)
    query = select(columns).select_from(columns.join(rows, here))
    types = {column.name: column.type for column in table.columns}
    return [
        column
        for column in map(_measured, db.execute(query))
        if types.get(column.name) == column.type
    ]


def _sums(db: Connection, table_id: int) -> Statistics:
    """Return the sums of all partitions, made by the database."""
    rows, numbers = schema.partitions.c, schema.partition_params.c
    here = and_(rows.id == numbers.owner_id, rows.table_id == table_id)
    sums = (
        select(numbers.name, func.sum(cast(numbers.value, BigInteger)))
        .select_from(schema.partition_params.join(schema.partitions, here))
        .where(numbers.name.in_(BASICS))
        .group_by(numbers.name)
    )
    totals = {key: int(value or 0) for key, value in db.execute(sums)}
    accurate = (
        select(func.count())
        .select_from(schema.partition_params.join(schema.partitions, here))
        .where(numbers.name == ACCURATE)
    )
    count = int(
        db.scalar(
            select(func.count()).select_from(schema.partitions).where(rows.table_id == table_id)
        )
        or 0
    )
    counted, files, size = (totals.get(key, 0) for key in BASICS)
    return Statistics(
        rows=counted,
        files=files,
        bytes=size,
        is_accurate=int(db.scalar(accurate) or 0) == count,
        partitions=count,
    )


@functools.cache
def _stored(numbers: SqlTable, *, is_of_one: bool) -> Select[Any]:
    of = numbers.c
    return select(of.owner_id, of.name, of.value).where(
        _is_owned(numbers, is_of_one=is_of_one), _is_statistic(numbers)
    )


@functools.cache
def _forget(numbers: SqlTable, *, is_of_one: bool) -> Delete:
    return delete(numbers).where(_is_owned(numbers, is_of_one=is_of_one), _is_statistic(numbers))


@functools.cache
def _keep(numbers: SqlTable) -> Insert:
    return insert(numbers)


def _is_owned(numbers: SqlTable, *, is_of_one: bool) -> ColumnElement[bool]:
    owner_id = numbers.c.owner_id
    if is_of_one:
        return owner_id == bindparam("owner")
    return owner_id.in_(bindparam("owners", expanding=True))


def _is_statistic(numbers: SqlTable) -> ColumnElement[bool]:
    return or_(*(numbers.c.name == name for name in STATISTICS))


def read_stored_statistics(
    db: Connection, numbers: SqlTable, owners: Sequence[int]
) -> dict[int, StoredStatistics]:
    """Tell what the parameters of some tables or partitions tell."""
    parameters: dict[int, dict[str, str]] = defaultdict(dict)
    for chunk in chunks(owners):
        is_of_one = len(chunk) == 1
        values: dict[str, Any] = {"owner": chunk[0]} if is_of_one else {"owners": chunk}
        rows = run(db, _stored(numbers, is_of_one=is_of_one), values)
        for owner, key, value in rows:
            parameters[owner][key] = value or ""
    return {
        owner: StoredStatistics(
            read_basics(parameters[owner]), int(parameters[owner].get(BASE_WRITE, 0))
        )
        for owner in owners
    }


def write_stored_statistics(
    db: Connection, numbers: SqlTable, stored: Mapping[int, StoredStatistics]
) -> None:
    """Make the parameters of some tables or partitions tell this, and nothing older."""
    owners = list(stored)
    if len(owners) == 1:
        run_later(db, _forget(numbers, is_of_one=True), {"owner": owners[0]})
    else:
        for chunk in chunks(owners):
            run(db, _forget(numbers, is_of_one=False), {"owners": chunk})
    rows = [
        {"owner_id": owner, "name": key, "value": value}
        for owner, entry in stored.items()
        for key, value in _parameters(entry).items()
    ]
    run_many(db, _keep(numbers), rows)


def _parameters(stored: StoredStatistics) -> dict[str, str]:
    base = {BASE_WRITE: str(stored.base)} if stored.base else {}
    return written_basics(stored.known) | base


def _owner(
    db: Connection, table: Table, values: Sequence[str | None] | None
) -> tuple[Any, SqlTable, SqlTable]:
    if values is None:
        return table.id, schema.table_params, schema.table_statistics
    key = partition_name(table.partition_names, values)
    ids = partition_ids(db, table.id, [key])
    if key not in ids:
        raise NoSuchObject(f"Partition not found: {table.name} {key}", code=10006)
    return ids[key], schema.partition_params, schema.partition_statistics
