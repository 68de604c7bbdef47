"""What ANALYZE learns of a table or a partition."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.cache.lists import compare

if TYPE_CHECKING:
    from hivesql_planner.table import Column, Table

BASICS = ("numRows", "numFiles", "totalSize")
"""The parameters in which the catalog keeps what is known of rows and files."""
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp")
_TEXTS = ("string", "varchar", "char", "binary")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """One column; what does not apply to its type is None. Lengths are in characters or bytes."""

    name: str
    type: str
    nulls: int
    distinct: int | None = None
    low: str | None = None
    high: str | None = None
    average_length: float | None = None
    longest: int | None = None
    trues: int | None = None
    falses: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Of a partition, or of a table when ``values`` is None; ``rows`` is None without a scan."""

    values: tuple[str | None, ...] | None = None
    rows: int | None = None
    files: int = 0
    bytes: int = 0
    columns: tuple[ColumnStatistics, ...] = ()
    writes: str = ""
    """Hive's text of the table's valid write ids when the rows were counted; empty: unknown."""


def is_accurate(known: Statistics, visible: ValidWriteIdList, sizes: Collection[int]) -> bool:
    """Whether rows, files and bytes are those of the present.

    That is so while the same writes are committed, and the files, of these ``sizes``, are as many
    and as long as then: a compaction changes only them.
    """
    if known.rows is None or not known.writes:
        return False
    same_files = (known.files, known.bytes) == (len(sizes), sum(sizes))
    return same_files and compare(ValidWriteIdList.parse(known.writes), visible) == 0


def is_simple(column: Column) -> bool:
    """Whether a column has statistics: nested ones have none, as in Hive."""
    return "<" not in column.type


def statistics_sql(table: Table, view: str, columns: tuple[Column, ...]) -> str:
    """Spark SQL with one row per partition: its values, the row count, and six cells per column.

    They are: not null, distinct, lowest (or trues), highest, average length, longest.
    """
    keys = [f"`{name}`" for name in table.partition_names]
    items = [*keys, "count(*)"]
    for column in columns:
        items += _items(column)
    grouping = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(items)} FROM `{view}`{grouping}"


def _items(column: Column) -> list[str]:
    name, kind = f"`{column.name}`", _kind(column)
    length = f"length({name})" if kind in _TEXTS else None
    ordered = kind in (*_NUMBERS, *_TIMES)
    low = f"CAST(min({name}) AS STRING)" if ordered else "CAST(NULL AS STRING)"
    if kind == "boolean":
        low = f"CAST(count_if({name}) AS STRING)"
    return [
        f"count({name})",
        f"approx_count_distinct({name})",
        low,
        f"CAST(max({name}) AS STRING)" if ordered else "CAST(NULL AS STRING)",
        f"avg({length})" if length else "CAST(NULL AS DOUBLE)",
        f"max({length})" if length else "CAST(NULL AS INT)",
    ]


def _kind(column: Column) -> str:
    return column.type.partition("(")[0].partition(" ")[0]


def column_statistics(
    column: Column, rows: int, found: tuple[int, int, str | None, str | None, float | None,
                                            int | None]
) -> ColumnStatistics:  # fmt: skip
    """The statistics of one column from its six values."""
    present, distinct, low, high, average, longest = found
    nulls = rows - present
    if _kind(column) == "boolean":
        trues = int(low or 0)
        return ColumnStatistics(
            name=column.name, type=column.type, nulls=nulls, trues=trues, falses=present - trues
        )
    return ColumnStatistics(
        name=column.name, type=column.type, nulls=nulls, distinct=distinct, low=low, high=high,
        average_length=average, longest=longest,
    )  # fmt: skip
