"""A reader of full ACID tables that shares nothing with the product but which files it takes."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
from pyarrow import orc

from hivesql_executor.checks.event_check import EventCheck
from hivesql_executor.checks.finding import Finding
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import acid_state, scan_files, table_roots
from hivesql_planner.acid.files_to_read import (
    DataFile,
    DeleteFile,
    FilesToRead,
    OriginalFile,
    files_to_read,
)
from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.acid.row_id import encode_bucket
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.relations import Scan
from simulation.model import Row

_ID = ACID_FIELDS[1:4]
RowId = tuple[int, int, int]


def read_table(name: str, runtime: Runtime) -> Counter[Row]:
    """All rows that a reader sees that begins now."""
    store = runtime.metastore
    table = store.table(TableName("default", name))
    if not table.is_transactional:
        return _read_plain(table, runtime)
    txns = store.valid_txns()
    visible = store.valid_write_ids(txns, [table.name])[table.name]
    found: Counter[Row] = Counter()
    partitions = store.partitions(table.name) if table.partition_columns else ()
    scan = Scan(table=table, partitions=tuple(partitions))
    known = scan_files(scan, visible, txns, runtime)
    for (partition, location), part in zip(table_roots(table, partitions), known, strict=True):
        state = acid_state(runtime.files(location), location, visible, txns)
        assert part.files == files_to_read(state, visible, location=location), "remembered wrongly"
        for row in live_rows(state, visible, location).column("row").to_pylist():
            key = int(partition.values[0] or 0) if partition else row["k"]
            found[row["id"], key, row["v"]] += 1
    return found


def _read_plain(table: Table, runtime: Runtime) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for partition, location in table_roots(table, runtime.metastore.partitions(table.name)):
        assert partition is not None
        key = int(partition.values[0] or 0)
        for status in LocalFiles().list(location):
            data = LocalFiles().read(f"{location}/{status.path}", 0, status.length)
            for row in orc.ORCFile(io.BytesIO(data)).read().to_pylist():
                found[row["id"], key, row["v"]] += 1
    return found


def live_rows(state: AcidState, visible: ValidWriteIdList, location: str) -> pa.Table:
    """The insert events that are seen and not deleted, by row id."""
    return _live_rows(files_to_read(state, visible, location=location), visible, location)


def count_rows(check: EventCheck) -> Iterator[Finding]:
    """What Spark finds for ``check`` where files were loaded: repeated ids, and the rows."""
    for part in check.parts:
        rows = _live_rows(part.files, check.visible, part.location)
        check.counts[part.location] = len(rows)
        ids = list(_ids(rows)) if len(rows) else []
        if len(set(ids)) < len(ids):
            yield Finding(part.location, f"row ids are there twice: {sorted(ids)}")


def _live_rows(chosen: FilesToRead, visible: ValidWriteIdList, location: str) -> pa.Table:
    gone = {
        row_id
        for file in chosen.deletes
        for row_id in _ids(_events(file, location, visible))
    }  # fmt: skip
    parts = []
    for file in chosen.data:
        events = _events(file, location, visible)
        kept = [row_id not in gone for row_id in _ids(events)]
        parts.append(events.filter(pa.array(kept, pa.bool_())))
    return sort(parts)


def delete_events(state: AcidState, visible: ValidWriteIdList, location: str) -> pa.Table:
    """All delete events that are seen, by row id."""
    chosen = files_to_read(state, visible, keep_deletes=True)
    return sort([_events(file, location, visible) for file in chosen.deletes])


def sort(parts: list[pa.Table]) -> pa.Table:
    """Events in the order of their row ids."""
    if not parts:
        return pa.table({"row": pa.array([], pa.null())})
    joined = pa.concat_tables(parts)
    return joined.sort_by([(name, "ascending") for name in _ID])


def _ids(events: pa.Table) -> Iterator[RowId]:
    columns = [events.column(name).to_pylist() for name in _ID]
    return zip(*columns, strict=True)


def _events(file: DataFile | DeleteFile, location: str, visible: ValidWriteIdList) -> pa.Table:
    """The events of a file that were committed; of a growing file, as far as it was flushed."""
    path = f"{location}/{file.path}"
    data = LocalFiles().read(path, 0, file.length)
    events = orc.ORCFile(io.BytesIO(data)).read()
    if isinstance(file, DataFile) and file.original is not None:
        return _with_row_ids(events, file, file.original)
    seen = [visible.sees(one) for one in events.column("currentTransaction").to_pylist()]
    return events.filter(pa.array(seen, pa.bool_()))


def _with_row_ids(rows: pa.Table, file: DataFile, raw: OriginalFile) -> pa.Table:
    """Give the rows of a file that LOAD DATA brought the ids that Hive gives them."""
    count = len(rows)
    ids = {
        _ID[0]: pa.array([raw.write_id] * count, pa.int64()),
        _ID[1]: pa.array([encode_bucket(file.bucket, raw.statement_id)] * count, pa.int32()),
        _ID[2]: pa.array(range(count), pa.int64()),
    }
    row = rows.to_struct_array()
    current = {"currentTransaction": ids[_ID[0]]}
    operation = {"operation": pa.array([0] * count, pa.int32())}
    return pa.table({**operation, **ids, **current, "row": row})
