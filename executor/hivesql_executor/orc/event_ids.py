"""Which events a snapshot sees, in columns of Arrow."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from hivesql_planner.acid.write_ids import ValidWriteIdList


def seen_by(visible: ValidWriteIdList, writers: pa.Array) -> pa.Array:
    """Tell which events of these writes are seen."""
    visible_writers = [writer for writer in pc.unique(writers).to_pylist() if visible.sees(writer)]
    return pc.is_in(writers, pa.array(visible_writers, pa.int64()))
