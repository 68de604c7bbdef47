"""UPDATE, DELETE and MERGE as one Spark job that writes deletes and inserts."""

from __future__ import annotations

from collections.abc import Sequence

from hivesql_executor.bookkeeping.partitions import foreign_locations, staging_directory
from hivesql_executor.orc.publish import Publication
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.buckets import texts_of
from hivesql_executor.spark.functions import register_called
from hivesql_executor.spark.nanoseconds.changes import Texts
from hivesql_executor.spark.scan.nanoseconds import nanosecond_rows_of
from hivesql_executor.spark.scan.scan import Scanned
from hivesql_executor.spark.scan.sources import (
    as_user_errors,
    read_target,
    register_views,
    rows_of,
)
from hivesql_executor.spark.write.change import changed_rows
from hivesql_executor.spark.write.changes_by_row_id import rows_by_row_id, with_old_texts
from hivesql_executor.spark.write.merge_source import Joined, compute_source
from hivesql_executor.spark.write.write import WrittenFile, write_change
from hivesql_executor.statements.context import Work
from hivesql_planner.model.hive_type import TIMESTAMPS
from hivesql_planner.plan import Change
from hivesql_planner.rewrite.change import branch_writes, change_writes


def write_by_spark(
    change: Change, work: Work, parts: Sequence[PartitionFiles] | None
) -> tuple[WrittenFile, ...]:
    """Find the rows and write their events; ``parts`` are the target's files if they are known."""
    table, runtime = change.target.table, work.runtime
    is_update = any(branch.delete and branch.insert for branch in change.branches)
    # A join would not leave the rows in their tasks.
    alone = change.source is None and not change.queries and not change.moves

    def read_old() -> Scanned:
        return read_target(
            change.target,
            work.txn,
            runtime,
            with_nanosecond_texts=range(len(table.columns)) if is_update else (),
            parts=parts,
            by_writer=alone,
        )

    if change.by_row_id:
        assert change.source is not None
        rows = rows_of(change.source, work.txn, runtime)
        texts: Texts = {}
        if is_update and any(column.type.holds(*TIMESTAMPS) for column in table.columns):
            rows, texts = with_old_texts(change, rows, read_old().rows)
        joined = Joined(rows_by_row_id(change, rows))
        return _write(change, work, joined, texts, whole_writers=False)
    target = read_old()
    register_called(runtime.spark(), texts_of(change))
    source = nanosecond_rows_of(change.source, work.txn, runtime) if change.source else None
    if source is None:
        joined = Joined(target.rows)
        return _write(change, work, joined, {}, whole_writers=target.whole_writers)
    computed = compute_source(
        change,
        target.rows,
        source.whole,
        most_bytes=runtime.settings.integer("hivesql.merge.source.max.bytes"),
        most_keys=runtime.settings.integer("hivesql.merge.keys.max"),
        most_listed=runtime.settings.integer("hivesql.merge.keys.listed.max"),
    )
    with as_user_errors(), computed as joined:
        return _write(change, work, joined, source.texts, whole_writers=False)


def _write(
    change: Change, work: Work, joined: Joined, texts: Texts, *, whole_writers: bool
) -> tuple[WrittenFile, ...]:
    table, runtime = change.target.table, work.runtime
    with register_views(change.queries, work.txn, runtime), as_user_errors():
        changed = changed_rows(change, joined, texts)
    publication = Publication(
        writes=change_writes(change),
        write_id=work.txn.write_ids[table.name],
        staging=staging_directory(table, work.txn.id),
        static_partition={},
        dynamic_partition=table.partition_names,
        locations=foreign_locations(table, runtime),
        changes=work.txn.changes,
    )
    return write_change(
        changed,
        publication,
        runtime.files(table.location),
        branches=branch_writes(change),
        whole_writers=whole_writers,
        once=change.cardinality_check,
        few_new=joined.few and not change.moves,
    )
