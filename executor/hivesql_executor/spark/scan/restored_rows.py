"""Rows that RESTORE brings back or takes away: those in which two states differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce

from pyspark.sql import DataFrame, SparkSession

from hivesql_executor.files.api import Files
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.scan.delete_events import read_delete_events, row_id_and_texts
from hivesql_executor.spark.scan.event_schema import visible_writes
from hivesql_executor.spark.scan.restored_files import RestoredFiles
from hivesql_planner.acid.restored_files import Losses
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.table import Table

Rows = Callable[[Sequence[PartitionFiles]], DataFrame]
"""Reads rows of one state, with their ids and the texts of their partitions."""


def lost_rows(
    spark: SparkSession,
    table: Table,
    restored: Sequence[RestoredFiles],
    *,
    earlier: Rows,
    present: Rows,
    now: ValidWriteIdList,
    then: ValidWriteIdList,
    files: Files,
) -> DataFrame:
    """Return the rows that were there then and are not now, with ids and partitions' texts."""
    names = row_id_and_texts(table)
    parts = {losses: [part for part in restored if part.losses is losses] for losses in Losses}
    frames = []
    if replaced := parts[Losses.ALL]:
        frames.append(earlier([part.earlier for part in replaced]))
    if deleted := [part for part in parts[Losses.DELETED] if part.earlier.files.data]:
        events = read_delete_events(
            spark, table, [part.events for part in deleted], visible=now, files=files
        )
        if events is not None:
            ended = events.where(~visible_writes("writer", then)).select(*names)
            rows = earlier([part.earlier for part in deleted])
            frames.append(rows.join(ended, names, "leftsemi").select(*rows.columns))
    if absent := parts[Losses.ABSENT]:
        rows = earlier([part.earlier for part in absent])
        there = present([part.now for part in absent]).select(*names)
        frames.append(rows.join(there, names, "leftanti").select(*rows.columns))
    # Some may have the texts of times that others have not: those have none to tell.
    return reduce(partial(DataFrame.unionByName, allowMissingColumns=True), frames or [earlier([])])
