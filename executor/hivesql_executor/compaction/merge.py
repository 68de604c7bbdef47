"""The new directories of a compaction: written whole, or removed."""

from __future__ import annotations

from dataclasses import replace

from hivesql_executor.compaction.unit import Place
from hivesql_executor.files.staging import NewDirectory
from hivesql_executor.metastore.api import Compaction
from hivesql_executor.runtime import Runtime
from hivesql_executor.spark.compact.insert_only import compact_plain
from hivesql_executor.spark.compact.rebalance import rebalance
from hivesql_executor.spark.compact.shuffle import compact_major, compact_minor
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.compaction.decide import results
from hivesql_planner.compaction.request import CompactionDetails
from hivesql_planner.model.table import Table


def merge(
    compaction: Compaction,
    place: Place,
    state: AcidState,
    visible: ValidWriteIdList,
    txn_id: int,
    runtime: Runtime,
) -> None:
    """Write what the compaction makes of a directory; nothing stays of it after an error."""
    table = _with_properties(place.table, compaction)
    made = results(
        state,
        compaction.kind,
        txn_id,
        high_watermark=visible.high_watermark,
        insert_only=table.is_insert_only,
    )
    files = runtime.files(place.location)
    new = tuple(
        NewDirectory(
            location=place.location,
            directory=result,
            files=files,
            require_alive=lambda: runtime.metastore.heartbeat(txn_id),
        )
        for result in made
    )
    try:
        _write(compaction, table, state, visible, new, runtime)
    except BaseException:
        for result in new:
            files.delete(result.path)
        raise


def _with_properties(table: Table, compaction: Compaction) -> Table:
    own = CompactionDetails(properties=compaction.properties).table_properties
    return replace(table, properties={**table.properties, **own})


def _write(
    compaction: Compaction,
    table: Table,
    state: AcidState,
    visible: ValidWriteIdList,
    made: tuple[NewDirectory, ...],
    runtime: Runtime,
) -> None:
    spark = runtime.spark()
    most_files = runtime.settings.integer("hive.compactor.max.num.delta")
    if table.is_insert_only:
        if compaction.kind == "minor":
            state = replace(state, base=None)
        compact_plain(spark, table, state, result=made[0], visible=visible)
    elif compaction.kind == "rebalance":
        rebalance(spark, table, state, result=made[0], visible=visible, request=compaction)
    elif compaction.kind == "major":
        compact_major(
            spark, table, state, result=made[0], visible=visible, most_files=most_files
        )  # fmt: skip
    else:
        compact_minor(
            spark, table, state, results=made, visible=visible, most_files=most_files
        )  # fmt: skip
