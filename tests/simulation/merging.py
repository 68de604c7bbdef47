"""The part of a compaction that only Spark does: the rows of its directories."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.compaction.unit import Place
from hivesql_executor.files.api import Files
from hivesql_executor.files.staging import working_directory
from hivesql_executor.local.events import stage
from hivesql_executor.metastore.api import Compaction
from hivesql_executor.runtime import Runtime
from hivesql_planner.acid.layout import (
    VERSION_FILE,
    VERSION_TEXT,
    AcidDirectory,
    DirectoryKind,
    bucket_file_name,
)
from hivesql_planner.acid.row_id import BUCKET_MASK
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.compaction.decide import results
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Write, WriteKind
from simulation.file_systems.object_store import SimulatedStore
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
    try:
        if compaction.kind == "major":
            _write(live_rows(state, visible, location), place.table, location, made[0], files)
            return
        alone = replace(state, base=None)
        inserts = tuple(
            one for one in alone.deltas if one.directory.kind is DirectoryKind.DELTA
        )  # fmt: skip
        if inserts:
            rows = live_rows(replace(alone, deltas=inserts), visible, location)
            _write(rows, place.table, location, made[0], files)
        if len(inserts) < len(alone.deltas):
            _write(delete_events(alone, visible, location), place.table, location, made[1], files)
    except BaseException:
        for result in made:
            files.delete(f"{location}/{result.name}")
        raise


def _write(
    events: pa.Table, table: Table, location: str, result: AcidDirectory, files: Files
) -> None:
    staging = working_directory(location, result.visibility_txn)
    deletes = result.kind is DirectoryKind.DELETE_DELTA
    write = Write(kind=WriteKind.DELETE_DELTA if deletes else WriteKind.DELTA, table=table)
    directory = f"{location}/{result.name}"
    try:
        staged = {
            bucket: stage(one, write, files, staging, number=0, writer=bucket, keys=())
            for bucket, one in _by_bucket(events).items()
        }
        files.make_directories(directory)
        if isinstance(files, SimulatedStore):
            places = {bucket: f"{directory}/{bucket_file_name(bucket)}" for bucket in staged}
            begun = [
                (places[bucket], files.begin(places[bucket], file.content))
                for bucket, file in staged.items()
            ]
            files.write(f"{directory}/{VERSION_FILE}", VERSION_TEXT)
            files.complete(begun)
            return
        files.write(f"{directory}/{VERSION_FILE}", VERSION_TEXT)
        for bucket, file in staged.items():
            files.rename(f"{staging}/{file.name}", f"{directory}/{bucket_file_name(bucket)}")
    finally:
        files.delete(staging)


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
