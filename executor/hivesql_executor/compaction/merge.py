"""The new directories of a compaction: written whole, or removed."""

from __future__ import annotations

from dataclasses import replace

from hivesql_executor.compaction.unit import Place
from hivesql_executor.files.staging import sync_published
from hivesql_executor.metastore.api import Compaction
from hivesql_executor.runtime import Runtime
from hivesql_executor.spark.compact.insert_only import compact_plain
from hivesql_executor.spark.compact.rebalance import rebalance
from hivesql_executor.spark.compact.shuffle import compact_major, compact_minor
from hivesql_planner.acid.layout import AcidDirectory
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.compaction.decide import results
from hivesql_planner.compaction.request import CompactionDetails
from hivesql_planner.model.table import Table
from hivesql_planner.rewrite.orc_files import with_orc_settings


def merge(
    compaction: Compaction,
    place: Place,
    state: AcidState,
    visible: ValidWriteIdList,
    txn_id: int,
    runtime: Runtime,
) -> None:
    """Write what the compaction makes of a directory; nothing stays of it after an error."""
    table = with_orc_settings(_with_properties(place.table, compaction), runtime.settings)
    directories = results(
        state,
        compaction.kind,
        txn_id,
        high_watermark=visible.high_watermark,
        insert_only=table.is_insert_only,
    )
    try:
        _write(compaction, table, place.location, state, visible, directories, runtime)
        _sync(place.location, directories, runtime)
    except BaseException:
        files = runtime.files(place.location)
        for result in directories:
            files.delete(f"{place.location}/{result.name}")
        raise


def _sync(location: str, directories: tuple[AcidDirectory, ...], runtime: Runtime) -> None:
    """Bring what was written down to the disk: the cleaner deletes what it was made of."""
    files = runtime.files(location)
    homes = [f"{location}/{directory.name}" for directory in directories]
    if files.syncs:
        written = [f"{home}/{file.path}" for home in homes for file in files.list(home)]
        sync_published(files, written, location)


def _with_properties(table: Table, compaction: Compaction) -> Table:
    own = CompactionDetails(properties=compaction.properties).table_properties
    return replace(table, properties={**table.properties, **own})


def _write(
    compaction: Compaction,
    table: Table,
    location: str,
    state: AcidState,
    visible: ValidWriteIdList,
    directories: tuple[AcidDirectory, ...],
    runtime: Runtime,
) -> None:
    spark, files = runtime.spark(), runtime.files(location)
    most_files = runtime.settings.integer("hive.compactor.max.num.delta")
    if table.is_insert_only:
        if compaction.kind == "minor":
            state = replace(state, base=None)
        compact_plain(
            spark, table, location, state,
            directory=f"{location}/{directories[0].name}", visible=visible, files=files,
        )  # fmt: skip
    elif compaction.kind == "rebalance":
        rebalance(
            spark, table, location, state, result=directories[0], visible=visible, files=files,
            request=compaction,
        )  # fmt: skip
    elif compaction.kind == "major":
        compact_major(
            spark, table, location, state, result=directories[0], visible=visible, files=files,
            most_files=most_files,
        )  # fmt: skip
    else:
        compact_minor(
            spark, table, location, state, results=directories, visible=visible, files=files,
            most_files=most_files,
        )  # fmt: skip
