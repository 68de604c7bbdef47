"""The cleaner: deletes what no reader can need any more, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from hivesql_executor.metastore.api import Compaction
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot import acid_state
from hivesql_planner.acid.write_ids import ListMode, ValidTxnList
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.table import parse_partition_name


def clean(runtime: Runtime) -> int:
    """Clean every queue entry that is ready and that no open transaction holds back; how many."""
    cleaned = 0
    for compaction in runtime.metastore.ready_to_clean():
        _clean_one(compaction, runtime)
        cleaned += 1
    return cleaned


def _clean_one(compaction: Compaction, runtime: Runtime) -> None:
    store = runtime.metastore
    location = _location(compaction, runtime)
    if location is not None:
        # Only what every present and future reader agrees on: transactions below the oldest open
        # one, write ids up to the compaction's own.
        below = store.min_open_txn() - 1
        now = store.valid_txns()
        ended = frozenset(txn for txn in now.aborted if txn <= below)
        txns = ValidTxnList(below, frozenset(), ended)
        visible = store.valid_write_ids(txns, [compaction.table])[compaction.table]
        highest = compaction.highest_write_id
        if highest is not None:
            limit = min(visible.high_watermark, highest)
            visible = replace(visible, high_watermark=limit, mode=ListMode.CLEANER)
        files = runtime.files(location)
        state = acid_state(files, location, visible, txns)
        for name in (*state.obsolete, *state.aborted):
            files.delete(f"{location}/{name}")
    store.mark_cleaned(compaction.id)


def _location(compaction: Compaction, runtime: Runtime) -> str | None:
    try:
        table = runtime.metastore.table(compaction.table)
    except NoSuchObject:
        return None
    if compaction.partition is None:
        return table.location
    values = parse_partition_name(compaction.partition)
    partition = runtime.metastore.partition(table.name, values)
    return partition.location if partition else None
