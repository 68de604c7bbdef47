"""The event schema as Spark must read it, and which events a snapshot sees."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_planner.acid.write_ids import ValidWriteIdList

EVENTS = (
    "operation int, originalTransaction bigint, bucket int, rowId bigint, "
    "currentTransaction bigint, row struct<{fields}>"
)
# Naming all six keeps Spark from pruning any of them.
ALL_READ = (
    "operation is not null and originalTransaction is not null and bucket is not null and "
    "rowId is not null and currentTransaction is not null and row.`__none` is null"
)


def visible_writes(column: str, visible: ValidWriteIdList) -> Column:
    """The rows whose write the snapshot sees."""
    seen = f.col(column) <= f.lit(visible.high_watermark)
    hidden = sorted(visible.exceptions)
    return seen & ~f.col(column).isin(hidden) if hidden else seen
