"""UPDATE, DELETE and MERGE, by Spark or without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hivesql_executor.bookkeeping.history import note_counts, of_change
from hivesql_executor.bookkeeping.partitions import (
    check_count,
    foreign_locations,
    record_partitions,
    record_touched,
    staging_directory,
)
from hivesql_executor.bookkeeping.statistics import count_changed
from hivesql_executor.metastore.api import NewColumns
from hivesql_executor.outcome import Outcome
from hivesql_executor.snapshot.listing import scan_files
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.statements.context import Work
from hivesql_executor.statements.restore import require_same_row_ids
from hivesql_executor.statements.select import selected_arrays
from hivesql_executor.statements.tables import refuse_filled
from hivesql_planner.errors import NotSupported
from hivesql_planner.locks.lock import Operation
from hivesql_planner.multi_statement import with_writes
from hivesql_planner.plan import Change, WriteKind
from hivesql_planner.predicates.predicate import SmallChange
from hivesql_planner.rewrite.change import change_writes
from hivesql_planner.rewrite.orc_files import with_orc_settings

if TYPE_CHECKING:
    import pyarrow as pa

    from hivesql_executor.local.change import Hit
    from hivesql_executor.local.read import SmallSnapshot
    from hivesql_executor.orc.publish import WrittenFile
    from hivesql_planner.few_rows import SmallMerge


def run_change(change: Change, work: Work) -> Outcome:
    """Write the change's events and record the partitions that got any."""
    settings, table = work.runtime.settings, change.target.table
    change = with_writes(
        change, lambda write: replace(write, table=with_orc_settings(write.table, settings))
    )
    if work.plan.operation == "RESTORE":
        require_same_row_ids(work)
    if table.is_immutable:
        refuse_filled(table, table.location, work.runtime)
    if change.evolves:
        _note_columns(change, work)
    written = _write(change, work)
    for operation, kind in (
        (Operation.DELETE, WriteKind.DELETE_DELTA),
        (Operation.INSERT, WriteKind.DELTA),
    ):
        touched = {file.partition for file in written if file.partition and file.kind is kind}
        check_count(touched.copy, work.runtime)
        record_partitions(table, touched, operation, work.txn, work.runtime, dynamic=True)
    record_touched(work.txn, work.runtime)
    count_changed(change, written, work.txn, work.runtime)
    counts = of_change(change, written)
    note_counts(table.name, counts, work.txn)
    return Outcome(affected=(counts.inserted or 0) + (counts.updated or 0) + (counts.deleted or 0))


def _note_columns(change: Change, work: Work) -> None:
    """Let the commit give the table its new columns: nobody sees them without their values."""
    if not work.runtime.metastore.keeps_rows:
        raise NotSupported(
            "MERGE WITH SCHEMA EVOLUTION that adds or changes columns with a Hive Metastore, whose "
            "commit does not: ALTER TABLE … ADD COLUMNS or CHANGE COLUMN before it"
        )
    work.txn.notes.append(NewColumns(change.table_before, change.target.table.columns))


def _write(change: Change, work: Work) -> tuple[WrittenFile, ...]:
    table, parts = change.target.table, None
    if few := change.small or change.merge:
        visible = work.txn.visible[table.name]
        parts = scan_files(change.target, visible, work.txn.txns, work.runtime)
        written = _write_few(change, few, parts, work)
        if written is not None:
            return written
    from hivesql_executor.statements.change_by_spark import write_by_spark

    return write_by_spark(change, work, parts)


def _write_few(
    change: Change, few: SmallChange | SmallMerge, parts: list[PartitionFiles], work: Work
) -> tuple[WrittenFile, ...] | None:
    """None, and nothing written, when the source or the files are a matter for Spark."""
    from hivesql_executor.local.change import write_events
    from hivesql_executor.local.read import OnlySpark, small_snapshot

    table, runtime = change.target.table, work.runtime
    files = runtime.files(table.location)
    try:
        visible = work.txn.visible[table.name]
        snapshot = small_snapshot(table, parts, visible, files, few.most_bytes)
        events = _events(change, few, snapshot, work)
    except OnlySpark:
        return None
    return write_events(
        events,
        change_writes(change),
        snapshot,
        write_id=work.txn.write_ids[table.name],
        staging=staging_directory(table, work.txn.id),
        locations=foreign_locations(table, runtime),
        changes=work.txn.changes,
    )


def _events(
    change: Change, few: SmallChange | SmallMerge, snapshot: SmallSnapshot, work: Work
) -> list[tuple[Hit, int]]:
    """Return the rows to write, each with the number of its write, in the order of these."""
    if isinstance(few, SmallChange):
        from hivesql_executor.local.change import hits

        matches = hits(few, snapshot)
        return [(hit, write) for write in range(len(change_writes(change))) for hit in matches]
    from hivesql_executor.local.merge import joined_rows

    items = _items_of_source(change, few, work)
    changed = joined_rows(few, items, snapshot, once=change.cardinality_check)
    return [(rows.hit, rows.write) for rows in sorted(changed, key=lambda rows: rows.write)]


def _items_of_source(change: Change, merge: SmallMerge, work: Work) -> Sequence[pa.Array]:
    """Return what is wanted of a MERGE's source, without Spark where that can be."""
    from hivesql_executor.local.merge import check_items, source_rows
    from hivesql_executor.local.read import OnlySpark

    if merge.rows is not None:
        if len(merge.rows) > merge.most_rows:
            raise OnlySpark
        items = source_rows(merge)
    elif merge.select is not None:
        items = selected_arrays(merge.select, merge.source, merge.most_rows, work)
    else:
        from hivesql_executor.spark.write.small_source import items_by_spark

        items = items_by_spark(change, merge, work.txn, work.runtime)
    check_items(items)
    return items
