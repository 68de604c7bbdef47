"""The ids of one file's events, read without Spark."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import orc

from hivesql_executor.files.api import Files, RangeFile
from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.acid.write_ids import ValidWriteIdList

_KEYS = ACID_FIELDS[1:4]
_TYPES = {_KEYS[0]: pa.int64(), _KEYS[1]: pa.int32(), _KEYS[2]: pa.int64()}
_WRITER = ACID_FIELDS[4]
_BUFFER = 1 << 20


def seen_by(visible: ValidWriteIdList, writers: pa.Array) -> pa.Array:
    """Tell which events of these writes are seen."""
    seen = [writer for writer in pc.unique(writers).to_pylist() if visible.sees(writer)]
    return pc.is_in(writers, pa.array(seen, pa.int64()))


def read_event_ids(
    files: Files, path: str, length: int, visible: ValidWriteIdList | None
) -> pa.Table | None:
    """Columns originalTransaction, bucket and rowId of every event of a file, NULLs nowhere.

    ``visible`` leaves out events of writes that it does not see. None for a file whose columns are
    not as Hive writes them, or that Arrow cannot read: Spark shall say what is wrong with it.
    """
    source = io.BufferedReader(RangeFile(files, path, length), _BUFFER)
    try:
        reader = orc.ORCFile(source)
        # Hive's query-based compactor writes the names in lower case.
        names = reader.schema.names[: len(ACID_FIELDS) - 1]
        if [name.lower() for name in names] != [name.lower() for name in ACID_FIELDS[:-1]]:
            return None
        events = reader.read(columns=names[1:]).rename_columns([*_KEYS, _WRITER])
    except (pa.ArrowException, OSError):
        return None
    if any(column.null_count for column in events.columns):
        return None
    if visible is not None:
        events = events.filter(seen_by(visible, events.column(_WRITER)))
    ids = events.select(list(_KEYS))
    wanted = pa.schema(list(_TYPES.items()))
    return ids if ids.schema.equals(wanted) else None
