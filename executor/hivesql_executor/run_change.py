"""UPDATE, DELETE and MERGE: one Spark job that writes deletes and inserts."""

from __future__ import annotations

from collections.abc import Collection

from hivesql_executor.outcome import Outcome
from hivesql_executor.sources import explained, read, registered, rows_of
from hivesql_executor.spark.change import change_events, change_writes
from hivesql_executor.spark.write import WrittenFile, write_change
from hivesql_executor.touched import foreign_locations, record_partitions, staging_directory
from hivesql_executor.work import Work
from hivesql_planner.plan import Change, Operation, WriteKind


def run_change(change: Change, work: Work) -> Outcome:
    """Write the change's events and record the partitions that got any."""
    table, runtime = change.target.table, work.runtime
    target = read(change.target, work.txn, runtime, with_partition_texts=True)
    source = rows_of(change.source, work.txn, runtime) if change.source else None
    with registered(change.queries, work.txn, runtime), explained():
        events = change_events(change, target, source)
    writes = change_writes(change)
    written = write_change(
        events,
        writes,
        write_id=work.txn.write_ids[table.name],
        files=runtime.files(table.location),
        staging=staging_directory(table),
        locations=foreign_locations(table, runtime),
    )
    for operation, kind in (
        (Operation.DELETE, WriteKind.DELETE_DELTA),
        (Operation.INSERT, WriteKind.DELTA),
    ):
        touched = {file.partition for file in written if file.partition and file.kind is kind}
        record_partitions(table, touched, operation, work, dynamic=True)
    return Outcome(affected=_affected(change, written))


def _affected(change: Change, written: Collection[WrittenFile]) -> int:
    """Rows of the table that were changed: an update's two events are one row."""
    halves = {
        branch.insert.statement_id for branch in change.branches if branch.delete and branch.insert
    }
    return sum(
        file.rows
        for file in written
        if not (file.kind is WriteKind.DELTA and file.statement_id in halves)
    )
