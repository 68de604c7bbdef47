"""Z-order: rows that are near each other by several columns at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from hivesql_planner.model.hive_type import TIMESTAMPS, HiveType, Kind, quote_name
from hivesql_planner.model.table import Table

Z_VALUE = "z"
_BITS = 8
"""Of each column: its values are cut into so many ranges, powers of two, with as many rows each."""
_TEXT_BYTES = 6
"""Of a text behind what all texts begin with: more would not fit into a double."""


def with_z_value(rows: DataFrame, table: Table, columns: Sequence[str]) -> DataFrame:
    """Add Z_VALUE to events, by which they are to be sorted; NULLs are before all values.

    It takes one look at all rows, and one more where there are texts, before the sort.
    """
    # Imported late: it takes a second, and hardly any compaction needs it.
    from pyspark.ml.feature import QuantileDiscretizer

    if rows.isEmpty():
        return rows.withColumn(Z_VALUE, f.lit(0))
    types = {column.name: column.type for column in table.columns}
    starts = _text_starts(rows, [name for name in columns if _is_text(types[name])])
    numbered = rows
    for i, name in enumerate(columns):
        number = _number(f.col(f"row.{quote_name(name)}"), types[name], starts.get(name, 0))
        # A column may have no value at all.
        numbered = numbered.withColumn(f"z{i}", f.coalesce(number, f.lit(0.0)))
    numbers, ranges = ([f"{letter}{i}" for i in range(len(columns))] for letter in "zr")
    cutter = QuantileDiscretizer(
        numBucketsArray=[(1 << _BITS) - 1] * len(columns), inputCols=numbers, outputCols=ranges,
        handleInvalid="keep", relativeError=1e-3,
    )  # fmt: skip
    cut: DataFrame = cutter.fit(numbered).transform(numbered)
    value = f.lit(0).cast("bigint")
    for i in range(len(columns)):
        is_null = f.col(f"row.{quote_name(columns[i])}").isNull()
        place = f.when(is_null, 0).otherwise(f.col(f"r{i}") + 1).cast("bigint")
        for bit in range(_BITS):
            moved = f.shiftleft(place.bitwiseAND(1 << bit), bit * (len(columns) - 1) + i)
            value = value.bitwiseOR(moved)
    return cut.withColumn(Z_VALUE, value).drop(*numbers, *ranges)


def _is_text(type_: HiveType) -> bool:
    return type_.kind in (Kind.STRING, Kind.CHAR, Kind.VARCHAR, Kind.BINARY)


def _text_starts(rows: DataFrame, columns: Sequence[str]) -> dict[str, int]:
    """Tell how many bytes all texts of a column have in common at their beginning."""
    if not columns:
        return {}
    texts = [f.col(f"row.{quote_name(name)}").cast("binary") for name in columns]
    ends = rows.agg(*(end(text) for text in texts for end in (f.min, f.max))).collect()[0]
    shared: dict[str, int] = {}
    for name, low, high in zip(columns, ends[::2], ends[1::2], strict=True):
        pairs = zip(low or b"", high or b"", strict=False)
        shared[name] = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return shared


def _number(value: Column, type_: HiveType, start: int) -> Column:
    """Return a double in about the order of the values; NULL for NULL and NaN."""
    if _is_text(type_):
        part = f.substring(value.cast("binary"), start + 1, _TEXT_BYTES)
        digits = f.rpad(f.hex(part), 2 * _TEXT_BYTES, "0")
        return f.conv(digits, 16, 10).cast("double")
    if type_.kind is Kind.DATE:
        return f.datediff(value, f.lit("1970-01-01").cast("date")).cast("double")
    if type_.kind in TIMESTAMPS:
        return value.cast("timestamp").cast("double")
    return f.nanvl(value.cast("double"), f.lit(None))
