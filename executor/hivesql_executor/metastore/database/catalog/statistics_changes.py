"""Statistics kept true by commits: what each transaction counted is added to what is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, select

from hivesql_executor.metastore.database import schema
from hivesql_executor.metastore.database.catalog import tables as catalog
from hivesql_executor.metastore.database.catalog.statistics_rows import (
    StoredStatistics,
    measured_columns,
    partition_ids,
    put_columns,
    read_stored_statistics,
    write_stored_statistics,
)
from hivesql_executor.metastore.database.catalog.table_rows import mark_inaccurate
from hivesql_executor.metastore.database.transactions import snapshots
from hivesql_executor.metastore.database.transactions.snapshots import ALLOCATED_WRITE_ID
from hivesql_executor.metastore.database.transactions.transactions import chunks
from hivesql_planner.acid.write_ids import Range
from hivesql_planner.model.statistics import (
    StatisticsChange,
    changed,
    changed_columns,
    combined,
)
from hivesql_planner.model.table import TableName

Unit = tuple[TableName, str | None]
"""A table, or one of its partitions."""


def count(
    db: Connection,
    txn_id: int,
    changes: Iterable[StatisticsChange],
    written: Iterable[Unit] = (),
) -> None:
    """Add what a transaction did, in the database transaction that commits it.

    What it has ``written`` without telling is no longer accurate. Commits that change a table wait
    for each other's row of it, always in the order of the names.
    """
    by_table: dict[TableName, dict[str | None, StatisticsChange]] = defaultdict(dict)
    for (name, partition), change in combined(changes).items():
        by_table[name][partition] = change
    untold: dict[TableName, list[str | None]] = defaultdict(list)
    for name, partition in written:
        if name not in by_table:
            untold[name].append(partition)
    for name in sorted({*by_table, *untold}):
        counted = {
            key: change for key, change in by_table.get(name, {}).items() if not change.is_nothing
        }
        if not counted and name not in untold:
            continue
        owner = {"owner": txn_id, "in_database": name.database, "in_table": name.name}
        table_id, allocated = catalog.hold_table(db, name, (ALLOCATED_WRITE_ID, owner))
        if table_id is None:
            continue
        if counted:
            _add(db, name, table_id, counted, int(allocated.scalar() or 0))
        if name in untold:
            _mark_inaccurate(db, table_id, untold[name])


def _add(
    db: Connection,
    name: TableName,
    table_id: int,
    changes: dict[str | None, StatisticsChange],
    write_id: int,
) -> None:
    overtaken = any(change.replaces for change in changes.values()) and _is_overtaken(
        db, name, write_id
    )
    for numbers, columns, owners in (
        (
            schema.table_params,
            schema.table_statistics,
            {table_id: changes[None]} if None in changes else {},
        ),
        (
            schema.partition_params,
            schema.partition_statistics,
            _partitions(db, table_id, changes),
        ),
    ):
        old = read_stored_statistics(db, numbers, list(owners))
        new = {
            owner: _changed(old[owner], change, write_id, overtaken=overtaken)
            for owner, change in owners.items()
        }
        write_stored_statistics(db, numbers, new)
        # What is empty now has no values.
        emptied = [
            owner_id
            for owner_id, change in owners.items()
            if change.replaces and change.rows == 0 and not overtaken
        ]
        for chunk in chunks(emptied):
            db.execute(delete(columns).where(columns.c.owner_id.in_(chunk)))
        telling = [
            owner_id
            for owner_id, change in owners.items()
            if change.columns and new[owner_id].known.accurate_columns
        ]
        if telling:
            measured = measured_columns(db, columns, telling)
            put_columns(
                db,
                columns,
                {
                    owner_id: changed_columns(
                        old[owner_id].known, measured[owner_id], owners[owner_id]
                    )
                    for owner_id in telling
                },
            )


def _changed(
    old: StoredStatistics, change: StatisticsChange, write_id: int, *, overtaken: bool
) -> StoredStatistics:
    in_order = not overtaken if change.replaces else write_id == 0 or write_id >= old.base
    base = max(old.base, write_id) if change.replaces else old.base
    return StoredStatistics(changed(old.known, change, in_order=in_order), base)


def _is_overtaken(db: Connection, name: TableName, write_id: int) -> bool:
    """Tell whether a later write has committed, which a base of this one leaves visible."""
    if not write_id:
        return False
    valid = snapshots.valid_write_ids(db, snapshots.valid_txns(db, 0), name)
    high = valid.high_watermark
    return high > write_id and valid.range_valid(write_id + 1, high) is not Range.NONE


def _partitions(
    db: Connection, table_id: int, changes: dict[str | None, StatisticsChange]
) -> dict[int, StatisticsChange]:
    ids = partition_ids(db, table_id, [name for name in changes if name is not None])
    return {id_: changes[name] for name, id_ in ids.items()}


def _mark_inaccurate(db: Connection, table_id: int, partitions: Sequence[str | None]) -> None:
    mark_inaccurate(db, schema.table_params, [table_id])
    rows = schema.partitions.c
    query = select(rows.id).where(rows.table_id == table_id)
    if None not in partitions:
        query = query.where(rows.name.in_(partitions))
    mark_inaccurate(db, schema.partition_params, list(db.scalars(query)))
