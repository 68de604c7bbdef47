"""Rows of a query whose timestamps keep the nanoseconds that Spark's have not.

A column that a query gives as it is, through joins, filters, subqueries and UNION ALL, takes its
text along (see ``spark.nanoseconds``). What a query computes has microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from hivesql_executor.jvm import java_list, new_object
from hivesql_executor.orc.footers import read_footers
from hivesql_executor.outcome import with_text
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.partition_files import PlainFile
from hivesql_executor.spark.lines import ClassicFrame, collect_rows
from hivesql_executor.spark.nanoseconds.columns import nanosecond_column, nanosecond_columns
from hivesql_executor.spark.scan.plain_tables import finer_times
from hivesql_executor.spark.scan.sources import list_scan, plain_parts, read, read_plain, rows_of
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.model.hive_type import TIMESTAMPS, quote_name
from hivesql_planner.model.table import Table
from hivesql_planner.relations import Query, Scan, Source

_SCAN = "hivesql scan "
_TEXT = "text:{}"
_MOST = 1000
_Passing = tuple[dict[str, frozenset[int]], tuple[int, ...]]
_passing_cache: dict[tuple[object, ...], _Passing] = {}


@dataclass(frozen=True, slots=True)
class NanosecondRows:
    """The rows of a query, and the same rows with texts behind them."""

    rows: DataFrame
    whole: DataFrame
    nanoseconds: tuple[int, ...] = ()
    """Positions of the columns that have texts, which follow the others in this order."""

    @property
    def texts(self) -> dict[str, tuple[str, str]]:
        """By the name of a column: its Spark type, and the column of ``whole`` with its texts."""
        fields = [self.rows.schema.fields[i] for i in self.nanoseconds]
        return {
            field.name.lower(): (field.dataType.simpleString(), _TEXT.format(place))
            for place, field in zip(self.nanoseconds, fields, strict=True)
        }


def nanosecond_rows_of(query: Query, txn: Transaction, runtime: Runtime) -> NanosecondRows:
    """Return the query's rows, lazily; with texts only where some file may hold finer times."""
    timed = query.sources if _may_give_times(query) else ()
    reads = {
        source.view: _listed(source.scan, txn, runtime)
        for source in timed
        if _has_times(source.scan)
    }
    nanoseconds = {
        view: listed_read.nanoseconds
        for view, listed_read in reads.items()
        if listed_read.nanoseconds
    }

    def unchanged(source: Source) -> DataFrame:
        known = reads.get(source.view)
        return known.reader(parts=known.parts) if known else read(source.scan, txn, runtime)

    if not nanoseconds:
        rows = rows_of(query, txn, runtime, unchanged)
        return NanosecondRows(rows, rows)
    others = {
        source.view: unchanged(source) for source in query.sources if source.view not in nanoseconds
    }

    def empty(source: Source) -> DataFrame:
        if source.view in others:
            return others[source.view]
        return _named(reads[source.view].reader(parts=[]), source)

    passing, positions = _known_passing(
        query, nanoseconds, lambda: rows_of(query, txn, runtime, empty)
    )

    def full(source: Source) -> DataFrame:
        if source.view in others:
            return others[source.view]
        known, texts = reads[source.view], passing.get(source.view, frozenset())
        return _named(known.reader(parts=known.parts, with_nanosecond_texts=texts), source)

    rows = rows_of(query, txn, runtime, full)
    if not positions:
        return NanosecondRows(rows, rows)
    return NanosecondRows(rows, _carried(rows, positions), positions)


def _may_give_times(query: Query) -> bool:
    """Tell whether it may give a time; False when all its types are known, and none is one."""
    kinds = [column.type for column in query.columns]
    return not kinds or any(kind.holds(*TIMESTAMPS) or not kind.is_known for kind in kinds)


def _has_times(scan: Scan) -> bool:
    table = scan.table
    if table.is_frame or scan.changes is not None:
        return False
    return any(column.type.holds(*TIMESTAMPS) for column in table.columns)


@dataclass(frozen=True, slots=True)
class _Read:
    """A scan whose files are listed."""

    reader: Callable[..., DataFrame]
    """Takes ``parts``, and the columns whose texts are wanted."""
    parts: Sequence[Any]
    nanoseconds: frozenset[int]
    """Columns that may hold nanoseconds in some of the files."""


def _listed(scan: Scan, txn: Transaction, runtime: Runtime) -> _Read:
    if scan.table.is_full_acid:
        parts = list_scan(scan, txn, runtime)
        data_files = [
            PlainFile(f"{part.location}/{file.path}", file.length, file.modified)
            for part in parts for file in part.files.data
        ]  # fmt: skip
        nanoseconds = _nanoseconds_in(scan.table, data_files, runtime)
        return _Read(partial(read, scan, txn, runtime), parts, nanoseconds)
    plain = plain_parts(scan, txn, runtime)
    finer: frozenset[int] = frozenset()
    orc_files = []
    for partition, _, files in plain:
        stored = scan.table.read_as(partition)
        if stored.format == "orc":
            orc_files += [file for file in files if file.length]
        elif files:
            # Nothing but the lines would tell.
            pairs = enumerate(zip(stored.columns, scan.table.columns, strict=False))
            same = [i for i, (own, column) in pairs if own.type == column.type]
            finer |= frozenset(finer_times(stored, same))
    finer |= _nanoseconds_in(scan.table, orc_files, runtime)
    return _Read(partial(read_plain, scan, runtime=runtime), plain, finer)


def _nanoseconds_in(
    table: Table, data_files: Sequence[PlainFile], runtime: Runtime
) -> frozenset[int]:
    """Return columns that may hold nanoseconds in some of these ORC files."""
    lengths = [(file.path, file.length) for file in data_files]
    times = {file.path: file.modified for file in data_files}
    tails = read_footers(runtime.files(table.location), lengths, times)
    return frozenset(i for tail in tails.values() for i in nanosecond_columns(table, tail))


def _named(frame: DataFrame, source: Source) -> DataFrame:
    """Return the scan under a name by which it is known in the query's plan, without its texts."""
    texts = {nanosecond_column(i) for i in range(len(source.scan.table.columns))}
    columns = [f.col(quote_name(name)) for name in frame.columns if name not in texts]
    return frame.alias(_SCAN + source.view).select(*columns)


def _known_passing(
    query: Query, nanoseconds: dict[str, frozenset[int]], analysed: Callable[[], DataFrame]
) -> _Passing:
    """Ask ``_passing`` once of the same query over the same columns: Spark takes long for it."""
    tables = (source.scan.table for source in query.sources)
    columns = tuple((table.columns, table.partition_columns) for table in tables)
    key = (query.sql, columns, tuple(sorted(nanoseconds.items(), key=lambda item: item[0])))
    if key not in _passing_cache:
        if len(_passing_cache) == _MOST:
            _passing_cache.clear()
        _passing_cache[key] = _passing(analysed(), nanoseconds)
    return _passing_cache[key]


def _passing(rows: DataFrame, nanoseconds: dict[str, frozenset[int]]) -> _Passing:
    """Find columns of nanoseconds that the query gives as they are, by scan, and where."""
    passing: dict[str, frozenset[int]] = {}
    positions = set()
    for line in _texts_of(rows).reached().splitlines():
        position, column, alias = line.split(" ", 2)
        view = alias.removeprefix(_SCAN)
        if int(column) in nanoseconds.get(view, ()):
            passing[view] = passing.get(view, frozenset()) | {int(column)}
            positions.add(int(position))
    return passing, tuple(sorted(positions))


def _carried(rows: DataFrame, positions: Sequence[int]) -> DataFrame:
    spark = rows.sparkSession
    names = [_TEXT.format(position) for position in positions]
    lists = (java_list(spark, values) for values in (positions, names))
    return ClassicFrame(_texts_of(rows).carried(*lists), spark)


def _texts_of(rows: DataFrame) -> Any:
    return new_object(rows.sparkSession, "NanosecondTexts", rows._jdf, _SCAN)


class NanosecondFrame(ClassicFrame):
    """A frame whose rows come to Python with nanoseconds; to all else it is what Spark has."""

    def __new__(
        cls, rows: DataFrame, with_texts: DataFrame, nanoseconds: Sequence[int]
    ) -> NanosecondFrame:
        """Make the frame; Spark's own way before 4.3 would call its own __init__."""
        return object.__new__(cls)

    def __init__(self, rows: DataFrame, with_texts: DataFrame, nanoseconds: Sequence[int]) -> None:
        super().__init__(rows._jdf, rows.sparkSession)
        self.whole = with_texts
        self.nanoseconds = nanoseconds

    def collect(self) -> list[Row]:
        """All rows."""
        return [self._exact(row) for row in collect_rows(self.whole)]

    def toLocalIterator(self, prefetchPartitions: bool = False) -> Iterator[Row]:  # noqa: N802, N803
        """All rows, one partition at a time."""
        return map(self._exact, self.whole.toLocalIterator(prefetchPartitions))

    def _exact(self, row: Row) -> Row:
        values = list(row)
        width = len(values) - len(self.nanoseconds)
        for place, text in zip(self.nanoseconds, values[width:], strict=True):
            values[place] = with_text(values[place], text)
        return Row(*self.columns)(*values[:width])
