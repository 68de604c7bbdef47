"""Statistics of columns of rows that stand in a statement."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hivesql_planner.model.hive_type import Kind
from hivesql_planner.model.statistics import (
    ColumnStatistics,
    column_statistics,
    has_lengths,
    has_order,
)
from hivesql_planner.model.table import Column


def measured_columns(
    rows: pa.StructArray, columns: Sequence[Column]
) -> tuple[ColumnStatistics, ...]:
    """Measure columns as Spark would: texts of the ends, lengths in characters or bytes."""
    return tuple(_measured(rows.field(column.name), column) for column in columns)


def _measured(values: pa.Array, column: Column) -> ColumnStatistics:
    count, kind = len(values), column.type.kind
    present = count - values.null_count
    distinct = pc.count_distinct(values, mode="only_valid").as_py()
    low = high = average = longest = None
    if kind is Kind.BOOLEAN:
        low = str(pc.sum(values).as_py() or 0)
    elif present and has_order(column.type):
        ends = pc.min_max(values).as_py()
        low, high = _text(ends["min"]), _text(ends["max"])
    if has_lengths(column.type) and count:
        if kind is Kind.CHAR:
            values = pc.utf8_rtrim(values, " ")
        measure = pc.binary_length if kind is Kind.BINARY else pc.utf8_length
        lengths = pc.fill_null(measure(values), 0)
        average, longest = pc.mean(lengths).as_py(), pc.max(lengths).as_py()
    return column_statistics(column, count, (present, distinct, low, high, average, longest))


def _text(value: Any) -> str:
    """Write a value as Spark's CAST does."""
    if isinstance(value, datetime.datetime):
        text = value.isoformat(" ")
        return text.rstrip("0") if "." in text else text
    if isinstance(value, float):
        return _java_text(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value)


def _java_text(value: float) -> str:
    """Write a DOUBLE as Java does: 1.0E7 where Python writes 10000000.0."""
    size = abs(value)
    if not math.isfinite(value) or not value or 1e-3 <= size < 1e7:
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), str(value))
    _, digits, _ = Decimal(repr(size)).normalize().as_tuple()
    first, *others = map(str, digits)
    exponent = Decimal(repr(size)).adjusted()
    return f"{'-' if value < 0 else ''}{first}.{''.join(others) or '0'}E{exponent}"
