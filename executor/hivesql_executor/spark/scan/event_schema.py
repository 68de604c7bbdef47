"""The event schema as Spark must read it, and which events a snapshot sees."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.hive_type import quote_name

KEYS = ACID_FIELDS[1:4]
"""The columns of a row's id inside a file."""

_EVENTS = (
    "operation int, originalTransaction bigint, bucket int, rowId bigint, "
    "currentTransaction bigint, row struct<{fields}>"
)
# Naming all six keeps Spark from pruning any of them.
_ALL_SIX = (
    "operation is not null and originalTransaction is not null and bucket is not null and "
    "rowId is not null and currentTransaction is not null and "
)
# A field that no file has: with it the row itself costs nothing.
_NO_COLUMN = "row.`__none` is null"
# Never evaluates the right side, but makes Spark read the row whole.
_WHOLE_ROW = "(currentTransaction <> -1 or cast(row as string) = '')"
_GENERATED = re.compile(r"_col\d+")
_SHORTEST_RUN = 3


def event_read(names: Sequence[str], types: Sequence[str]) -> tuple[str, str]:
    """Choose the schema and filter with which to read event files that hold columns of these names.

    ORC goes by position in files whose columns are all called ``_col0``, ``_col1``, …: neither may
    there be a field that the file does not have, nor may Spark leave one out.
    """
    fields = [f"{quote_name(name)}:{kind}" for name, kind in zip(names, types, strict=False)]
    if are_generated(names):
        return _EVENTS.format(fields=",".join(fields)), _ALL_SIX + _WHOLE_ROW
    return _EVENTS.format(fields=",".join(["`__none`:boolean", *fields])), _ALL_SIX + _NO_COLUMN


def are_generated(names: Sequence[str]) -> bool:
    """Tell whether ORC takes these names for no names at all."""
    return bool(names) and all(_GENERATED.fullmatch(name) for name in names)


def visible_writes(column: str, visible: ValidWriteIdList) -> Column:
    """Return the rows whose write the snapshot sees."""
    runs = _runs(
        sorted(write_id for write_id in visible.exceptions if write_id <= visible.high_watermark)
    )
    single = [str(write_id) for low, high in runs for write_id in range(low, high + 1)
              if high - low + 1 < _SHORTEST_RUN]  # fmt: skip
    hidden = [f"{column} between {low} and {high}" for low, high in runs
              if high - low + 1 >= _SHORTEST_RUN]  # fmt: skip
    if single:
        hidden.append(f"{column} in ({', '.join(single)})")
    conditions = [
        f"{column} <= {visible.high_watermark}",
        *(f"not ({condition})" for condition in hidden),
    ]
    return f.expr(" and ".join(conditions))


def _runs(ids: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending ids as runs of neighbours: least and greatest."""
    runs: list[tuple[int, int]] = []
    for id_ in ids:
        if runs and id_ == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], id_)
        else:
            runs.append((id_, id_))
    return runs
