"""What is known of a table or a partition: counted by ANALYZE, kept up by every write."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import (
    FLOATS,
    NUMBERS,
    TEXTS,
    TIMESTAMPS,
    HiveType,
    Kind,
    quote_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from hivesql_planner.model.table import Column, Table, TableName

    Unit = tuple[TableName, str | None]

BASICS = ("numRows", "numFiles", "totalSize")
"""The parameters in which the catalog keeps what is known of rows and files."""
ACCURATE = "COLUMN_STATS_ACCURATE"
"""The parameter in which Hive keeps which statistics are those of the present."""
MOST_COLUMNS = 100
"""Of wider tables writes measure no columns: what Spark makes of so many sums takes too long."""
_ORDERED = NUMBERS | TIMESTAMPS | {Kind.DATE}
_TEXTS = TEXTS | {Kind.BINARY}
_GUESSED_LENGTH = 100
_SKETCH_BITS = 14
"""Distinct values are counted exactly up to some hundreds, then to 1 %, in 16 KiB at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """One column; what does not apply to its type is None. Lengths are in characters or bytes."""

    name: str
    type: HiveType
    nulls: int
    distinct: int | None = None
    low: str | None = None
    high: str | None = None
    average_length: float | None = None
    longest: int | None = None
    trues: int | None = None
    falses: int | None = None


@dataclass(frozen=True, slots=True)
class Measuring:
    """Which columns a write measures; by Spark only where it reads no more bytes than that."""

    columns: tuple[Column, ...] = ()
    most_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Of a partition, or of a table when ``values`` is None; ``rows`` is None without a scan.

    Files and bytes are those that a reader of the present takes.
    """

    values: tuple[str | None, ...] | None = None
    rows: int | None = None
    files: int = 0
    bytes: int = 0
    columns: tuple[ColumnStatistics, ...] = ()
    is_stated: bool = False
    """Given to be stored: a user says so, and nobody has counted."""
    writes: str = ""
    """Given to be stored: Hive's text of the write ids under which the rows were counted."""
    is_accurate: bool = False
    """Rows, files and bytes are those of the present."""
    accurate_columns: tuple[str, ...] = ()
    """Columns whose statistics are those of the present."""
    partitions: int | None = None
    """Of how many partitions these are the sums, for a partitioned table."""
    known_everywhere: tuple[str, ...] = ()
    """Columns of which each of those partitions, be it none, has statistics."""
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a partition has taken over of its table's properties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsChange:
    """What a transaction does to a table, or to one of its partitions (``k=v``), once it commits.

    Its counts are added to those that are known, or take their place when the transaction
    ``replaces`` what was there. ``rows`` is None when nobody knows how many they are.
    """

    table: TableName
    partition: str | None = None
    rows: int | None = 0
    files: int = 0
    bytes: int = 0
    replaces: bool = False
    keeps_values: bool = False
    """The same rows lie in other files."""
    columns: tuple[ColumnStatistics, ...] = ()
    """Of columns of the rows that it adds, what was measured while they were written."""

    @property
    def is_nothing(self) -> bool:
        """True when the transaction only tells that it knows what it did to the table."""
        return not (self.rows != 0 or self.files or self.bytes or self.replaces)


def combined(changes: Iterable[StatisticsChange]) -> dict[Unit, StatisticsChange]:
    """Give one change for each table or partition, from those of the statements in their order."""
    by_unit: dict[Unit, StatisticsChange] = {}
    for change in changes:
        unit = (change.table.lower(), change.partition)
        before = by_unit.get(unit)
        if before is None or change.replaces:
            by_unit[unit] = change
            continue
        unknown = before.rows is None or change.rows is None
        columns = before.columns if change.is_nothing else change.columns
        if not (before.is_nothing or change.is_nothing):
            columns = _of_both(before.columns, change.columns)
        by_unit[unit] = replace(
            before,
            rows=None if unknown else (before.rows or 0) + (change.rows or 0),
            files=before.files + change.files,
            bytes=before.bytes + change.bytes,
            keeps_values=before.keeps_values and change.keeps_values,
            columns=columns,
        )
    return by_unit


def present_columns(stored: Statistics, measured: Iterable[str], table: Table) -> tuple[str, ...]:
    """Tell whose statistics are those of the present: in a table without rows, of all columns."""
    there = set(table.column_names) if stored.rows == 0 else set(measured)
    return tuple(column for column in stored.accurate_columns if column in there)


def changed(stored: Statistics, change: StatisticsChange, *, in_order: bool) -> Statistics:
    """Tell what is known after a commit.

    ``in_order`` is False when writes and replacements have overtaken each other, so that what one
    of them counted is not what readers see.
    """
    old = Statistics() if change.replaces else stored
    rows = (old.rows or 0) + (change.rows or 0)
    files, size = old.files + change.files, old.bytes + change.bytes
    is_countable = change.rows is not None and min(rows, files, size) >= 0
    accurate = is_countable and in_order and (change.replaces or stored.is_accurate)
    measured = {column.name for column in change.columns}
    if change.keeps_values:
        measured = set(stored.accurate_columns)
    elif not (change.replaces or stored.rows == 0):
        measured &= set(stored.accurate_columns)
    return replace(
        stored,
        # Like Hive, tell the last number that somebody knew.
        rows=stored.rows if change.rows is None else max(rows, 0),
        files=max(files, 0),
        bytes=max(size, 0),
        is_accurate=accurate,
        accurate_columns=tuple(sorted(measured)) if accurate else (),
    )


def changed_columns(
    stored: Statistics, measured: Iterable[ColumnStatistics], change: StatisticsChange
) -> tuple[ColumnStatistics, ...]:
    """Tell what is to be kept of columns after a commit that leaves them accurate.

    ``stored`` is what was known before, ``measured`` what of its columns.
    """
    if change.replaces or stored.rows == 0:
        return change.columns
    before = [column for column in measured if column.name in stored.accurate_columns]
    return _of_both(before, change.columns)


def _of_both(
    columns: Iterable[ColumnStatistics], others: Iterable[ColumnStatistics]
) -> tuple[ColumnStatistics, ...]:
    """Sum up what is known of the columns of two sets of rows, of those of which both are told."""
    by_name = {column.name: column for column in columns}
    return tuple(
        _both(by_name[other.name], other)
        for other in others
        if other.name in by_name and by_name[other.name].type == other.type
    )


def added_up(partitions: Iterable[Iterable[ColumnStatistics]]) -> tuple[ColumnStatistics, ...]:
    """Sum up what was measured of the columns of several partitions, a row for each column.

    Values that are in more than one partition are taken for the same: the number of distinct ones
    is that of the partition with most of them.
    """
    by_name: dict[str, ColumnStatistics] = {}
    for columns in partitions:
        for column in columns:
            before = by_name.get(column.name)
            by_name[column.name] = column if before is None else _both(before, column)
    return tuple(by_name[name] for name in sorted(by_name))


def _both(column: ColumnStatistics, other: ColumnStatistics) -> ColumnStatistics:
    def most(a: float | None, b: float | None) -> Any:
        return max((x for x in (a, b) if x is not None), default=None)

    def total(a: int | None, b: int | None) -> int | None:
        return None if a is None and b is None else (a or 0) + (b or 0)

    bounds = [x for x in (column.low, other.low) if x is not None]
    tops = [x for x in (column.high, other.high) if x is not None]
    is_number = column.type.is_number
    order: Any = Decimal if is_number else str
    return replace(
        column,
        nulls=column.nulls + other.nulls,
        distinct=(total if _are_apart(column, other) else most)(column.distinct, other.distinct),
        low=min(bounds, key=order, default=None),
        high=max(tops, key=order, default=None),
        average_length=most(column.average_length, other.average_length),
        longest=most(column.longest, other.longest),
        trues=total(column.trues, other.trues),
        falses=total(column.falses, other.falses),
    )


def _are_apart(column: ColumnStatistics, other: ColumnStatistics) -> bool:
    """Tell whether no value of one can be one of the other."""
    ends = column.low, column.high, other.low, other.high
    if column.type != other.type or not column.type.is_number or None in ends:
        return False
    try:
        low, high, other_low, other_high = (Decimal(str(end)) for end in ends)
    except InvalidOperation:
        return False
    return high < other_low or other_high < low


def of_partition_column(column: Column, values: Collection[str | None]) -> ColumnStatistics:
    """Tell what the values of the partitions tell of a partition column."""
    present = {value for value in values if value is not None}
    kind = column.type.kind
    order: Any = Decimal if column.type.is_number else str
    ordered = kind in _ORDERED
    return ColumnStatistics(
        name=column.name,
        type=column.type,
        nulls=0 if None not in values else 1,
        distinct=len(present),
        low=min(present, key=order, default=None) if ordered else None,
        high=max(present, key=order, default=None) if ordered else None,
        # Hive's own guess for texts of any length.
        average_length=float(_GUESSED_LENGTH) if kind in _TEXTS else None,
        longest=_GUESSED_LENGTH if kind in _TEXTS else None,
    )


def _count(text: str) -> int:
    """Read a number that the metastore's columns hold."""
    number = int(text)
    if abs(number) >= 2**63:
        raise ValueError(text)
    return number


_STATED: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "numDVs": ("distinct", _count),
    "numNulls": ("nulls", _count),
    "numTrues": ("trues", _count),
    "numFalses": ("falses", _count),
    "lowValue": ("low", str),
    "highValue": ("high", str),
    "avgColLen": ("average_length", float),
    "maxColLen": ("longest", _count),
}


def _as_shown(text: str, type_: HiveType) -> str:
    """Write an end that a user states as what is measured is written: seconds as a time."""
    if type_.kind in FLOATS:
        return str(float(text))
    if type_.kind is Kind.TIMESTAMP and text.isdecimal():
        return str(_EPOCH + timedelta(seconds=int(text)))
    return text


_EPOCH = datetime(1970, 1, 1)
_FIELDS = tuple(field for field, _ in _STATED.values())
_UNTOLD = -1
"""The number of NULLs that nobody has told."""


def overlay_statistics(
    stated: ColumnStatistics, stored: Iterable[ColumnStatistics]
) -> ColumnStatistics:
    """Put what a user says of a column over what is known of it."""
    before = next((column for column in stored if column.name == stated.name), None)
    nulls = stated.nulls if stated.nulls != _UNTOLD else before.nulls if before else 0
    values = {key: value for key in _FIELDS if (value := getattr(stated, key)) is not None}
    return replace(before or stated, **(values | {"nulls": nulls, "type": stated.type}))


def read_stated_statistics(column: Column, values: Mapping[str, str]) -> ColumnStatistics:
    """Read what UPDATE STATISTICS FOR COLUMN says; SemanticError where Hive refuses it."""
    fields: dict[str, Any] = {"nulls": _UNTOLD}
    if not is_simple(column):
        raise SemanticError(f"{column.name} is of type {column.type}, which has no statistics")
    for key, text in values.items():
        if key == "bitVector":
            continue
        if key not in _STATED:
            what = f"Unknown stat {key}. These are known: {', '.join(_STATED)}"
            raise SemanticError(what, code=40000)
        field, read = _STATED[key]
        try:
            fields[field] = _as_shown(text, column.type) if read is str else read(text)
        except (ValueError, OverflowError) as error:
            raise SemanticError(f"{key} is no number of 64 bits: {text[:40]}") from error
    return ColumnStatistics(name=column.name, type=column.type, **fields)


def accuracy_text(statistics: Statistics) -> str:
    """Hive's COLUMN_STATS_ACCURATE; empty when nothing is accurate."""
    if not statistics.is_accurate:
        return ""
    truth: dict[str, object] = {"BASIC_STATS": "true"}
    if statistics.accurate_columns:
        truth["COLUMN_STATS"] = dict.fromkeys(sorted(statistics.accurate_columns), "true")
    return json.dumps(truth, separators=(",", ":"), ensure_ascii=False)


def read_accuracy(text: str) -> tuple[bool, tuple[str, ...]]:
    """Tell whether the basic statistics are accurate, and those of which columns."""
    try:
        truth = json.loads(text or "{}")
        columns = truth.get("COLUMN_STATS") or {}
        basic = truth.get("BASIC_STATS") == "true"
        return basic, tuple(sorted(key for key, value in columns.items() if value == "true"))
    except (ValueError, AttributeError):
        return False, ()


def read_basics(parameters: Mapping[str, str]) -> Statistics:
    """Tell what a catalog's parameters tell of rows, files and bytes."""
    rows, files, size = (parameters.get(key, "") for key in BASICS)
    accurate, columns = read_accuracy(parameters.get(ACCURATE, ""))
    number = rows.isdecimal()
    return Statistics(
        rows=int(rows) if number else None,
        files=int(files) if files.isdecimal() else 0,
        bytes=int(size) if size.isdecimal() else 0,
        is_accurate=accurate and number,
        accurate_columns=columns if accurate and number else (),
    )


def written_basics(statistics: Statistics) -> dict[str, str]:
    """Return the parameters that say so."""
    rows, files, size = BASICS
    parameters = {files: str(statistics.files), size: str(statistics.bytes)}
    if statistics.rows is not None:
        parameters[rows] = str(statistics.rows)
    if text := accuracy_text(statistics):
        parameters[ACCURATE] = text
    return parameters


def no_rows(table: Table) -> dict[str, str]:
    """Return the parameters of a table, or partition, without rows: they tell all columns too."""
    return written_basics(Statistics(rows=0, is_accurate=True, accurate_columns=table.column_names))


def has_order(type_: HiveType) -> bool:
    """Tell whether a lowest and a highest value are kept for columns of a type."""
    return type_.kind in _ORDERED


def has_lengths(type_: HiveType) -> bool:
    """Tell whether lengths are kept for columns of a type."""
    return type_.kind in _TEXTS


def is_simple(column: Column) -> bool:
    """Tell whether a column has statistics: nested ones have none, as in Hive."""
    return not column.type.is_nested


def statistics_sql(table: Table, view: str, columns: tuple[Column, ...]) -> str:
    """Spark SQL with one row per partition: its values, the row count, and six cells per column.

    They are: not null, distinct, lowest (or trues), highest, average length, longest.
    """
    keys = [quote_name(name) for name in table.partition_names]
    items = [*keys, *counting_items(columns)]
    grouping = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(items)} FROM {quote_name(view)}{grouping}"


def counting_items(columns: Iterable[Column]) -> list[str]:
    """Return the row count, and six cells per column."""
    return ["count(*)", *(item for column in columns for item in _items(column))]


def _items(column: Column) -> list[str]:
    name, kind = quote_name(column.name), column.type.kind
    if kind is Kind.CHAR:
        name = f"rtrim({name})"
    # A FLOAT's digits are those of the DOUBLE that it is, as in Hive.
    shown = f"CAST({{}}({name}) AS DOUBLE)" if kind is Kind.FLOAT else f"{{}}({name})"
    # To Hive, a NULL is a text without length.
    length = f"coalesce(length({name}), 0)" if kind in _TEXTS else None
    ordered = kind in _ORDERED
    low = f"CAST({shown.format('min')} AS STRING)" if ordered else "CAST(NULL AS STRING)"
    if kind is Kind.BOOLEAN:
        low = f"CAST(count_if({name}) AS STRING)"
    # Spark's own approx_count_distinct has a thousand longs of a buffer for each column, all of
    # them columns of the plan: it takes a second for each, however few the rows. Hashes are
    # sketched because a sketch leaves empty texts out and takes no other types.
    hashed = f"CASE WHEN {name} IS NOT NULL THEN xxhash64({name}) END"
    return [
        f"count({name})",
        f"hll_sketch_estimate(hll_sketch_agg({hashed}, {_SKETCH_BITS}))",
        low,
        f"CAST({shown.format('max')} AS STRING)" if ordered else "CAST(NULL AS STRING)",
        f"avg({length})" if length else "CAST(NULL AS DOUBLE)",
        f"max({length})" if length else "CAST(NULL AS INT)",
    ]


def _without_zeros(end: str | None) -> str | None:
    """Write a DECIMAL as HiveDecimal does: 1.5 for 1.50, 10 for 10.00."""
    return end.rstrip("0").rstrip(".") if end and "." in end else end


def column_statistics(
    column: Column, rows: int, values: tuple[int, int, str | None, str | None, float | None,
                                            int | None]
) -> ColumnStatistics:  # fmt: skip
    """Return the statistics of one column from its six values."""
    present, distinct, low, high, average, longest = values
    nulls = rows - present
    if column.type.kind is Kind.BOOLEAN:
        trues = int(low or 0)
        return ColumnStatistics(
            name=column.name, type=column.type, nulls=nulls, trues=trues, falses=present - trues
        )
    if column.type.kind is Kind.DECIMAL:
        low, high = (_without_zeros(end) for end in (low, high))
    # Hive counts no distinct values of bytes.
    counted = None if column.type.kind is Kind.BINARY else distinct
    return ColumnStatistics(
        name=column.name, type=column.type, nulls=nulls, distinct=counted, low=low, high=high,
        average_length=average, longest=longest,
    )  # fmt: skip
