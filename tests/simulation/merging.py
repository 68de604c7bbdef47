"""The part of a compaction that only Spark does: the rows of its directories."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.compaction.unit import Place
from hivesql_executor.files.staging import NewDirectory
from hivesql_executor.local.events import stage
from hivesql_executor.metastore.api import Compaction
from hivesql_executor.runtime import Runtime
from hivesql_planner.acid.layout import DirectoryKind, bucket_file_name
from hivesql_planner.acid.row_id import BUCKET_MASK
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.compaction.decide import results
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Write, WriteKind
from simulation.reading import delete_events, live_rows


def merge(
    compaction: Compaction,
    place: Place,
    state: AcidState,
    visible: ValidWriteIdList,
    txn_id: int,
    runtime: Runtime,
) -> None:
    """Write what the compaction makes of a directory; nothing stays of it after an error."""
    made = results(
        state,
        compaction.kind,
        txn_id,
        high_watermark=visible.high_watermark,
        insert_only=False,
    )
    files, location = runtime.files(place.location), place.location
    new = [
        NewDirectory(
            location=location,
            directory=result,
            files=files,
            require_alive=lambda: runtime.metastore.heartbeat(txn_id),
        )
        for result in made
    ]
    try:
        if compaction.kind == "major":
            _write(live_rows(state, visible, location), place.table, new[0])
            return
        alone = replace(state, base=None)
        inserts = tuple(
            one for one in alone.deltas if one.directory.kind is DirectoryKind.DELTA
        )  # fmt: skip
        if inserts:
            rows = live_rows(replace(alone, deltas=inserts), visible, location)
            _write(rows, place.table, new[0])
        if len(inserts) < len(alone.deltas):
            _write(delete_events(alone, visible, location), place.table, new[1])
    except BaseException:
        for result in new:
            files.delete(result.path)
        raise


def _write(events: pa.Table, table: Table, result: NewDirectory) -> None:
    deletes = result.directory.kind is DirectoryKind.DELETE_DELTA
    write = Write(kind=WriteKind.DELETE_DELTA if deletes else WriteKind.DELTA, table=table)
    with result.staging() as staging:
        staged = {
            bucket: stage(one, write, result.files, staging, number=0, writer=bucket, keys=())
            for bucket, one in _by_bucket(events).items()
        }
        names = [
            (f"{staging}/{file.name}", bucket_file_name(bucket)) for bucket, file in staged.items()
        ]
        result.publish(staging, names, of_events=True)


def _by_bucket(events: pa.Table) -> dict[int, pa.Table]:
    if not len(events):
        return {}
    codes = events.column("bucket")
    shifted = pc.shift_right(codes, pa.scalar(16, pa.int32()))
    buckets = pc.bit_wise_and(shifted, pa.scalar(BUCKET_MASK, pa.int32()))
    return {
        bucket: events.filter(pc.equal(buckets, bucket)).combine_chunks()
        for bucket in sorted(pc.unique(buckets).to_pylist())
    }
