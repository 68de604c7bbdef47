"""ACID files as columns, read by a class of our own: deleted rows never reach Spark.

Spark's reader would decode all six event columns, since ORC shifts what is left when one is
missing. ``AcidTable.java`` decodes what is wanted, has ORC convert columns that were of another
type, gives ids to rows of files without any, and takes deleted rows out of ORC's own vectors.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from hivesql_executor.files.small_contents import KnownFiles
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.spark.nanoseconds.columns import nanosecond_columns, with_texts, with_values
from hivesql_executor.spark.scan.event_schema import KEYS
from hivesql_executor.spark.scan.partition_columns import (
    PLACE,
    Place,
    text_columns,
    value_column,
)
from hivesql_executor.spark.steps import Step, acid_rows, after
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.hive_type import BITS, TIMESTAMP, TIMESTAMPS, HiveType, Kind, quote_name
from hivesql_planner.model.partition_values import read_text
from hivesql_planner.model.statistics import ColumnStatistics
from hivesql_planner.model.table import DEFAULT_PARTITION, Table

ID_COLUMNS = ("__write", "__bucket", "__row")
"""How the parts of row ids travel, out of the way of a user's columns. Beside them goes PLACE."""

_IDS = "`__write` bigint, `__bucket` int, `__row` bigint"
_NEVER = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class OriginalRows:
    """The ids of an original's rows: write id and bucket property, and the first one's number."""

    unit: tuple[int, int]
    first: int


@dataclass(frozen=True, slots=True)
class AcidPath:
    """A file of rows; ``filtered`` when some of them belong to writes that are not visible."""

    place: Place
    path: str
    length: int
    """What is behind it does not count."""
    filtered: bool
    tail: OrcTail
    task: int | None = None
    """The number of the task that reads it; None leaves that to the reader."""
    original: OriginalRows | None = None
    """None for a file of events."""


@dataclass(frozen=True, slots=True)
class EndingPath:
    """A file of a place with delete events, or with changes of version 1 among its rows."""

    place: Place
    path: str
    length: int
    filtered: bool
    version: str
    """What is another when another file has its path; empty when nothing tells."""
    holds_changes: bool
    tail: OrcTail


@dataclass(frozen=True, slots=True)
class AcidScan:
    """What all reads of a table's files share.

    Spark plans with what is ``known`` of columns where its cost-based optimizer is on. Scans of at
    least ``filter_rows`` decode what Spark's filter needs first, others only for rows that pass;
    a negative number leaves that to Spark always, and decodes row ids that footers tell, too.
    """

    spark: SparkSession
    table: Table
    visible: ValidWriteIdList
    nanoseconds: tuple[int, ...] = ()
    """Columns whose timestamps are wanted as texts too, see ``nanoseconds``."""
    known: Sequence[ColumnStatistics] = ()
    filter_rows: int = -1
    whole: bool = True
    """Whether executors keep all that was deleted in a partition; else each task reads what was
    deleted of its own rows."""
    remembered: KnownFiles | None = None
    """What goes to tasks of small files of other machines; None sends nothing."""

    def describe(self, path: str, length: int, tail: OrcTail) -> dict[str, str]:
        """Return what tasks are told of a file beside its path and length."""
        return self.remembered.tell(path, length, tail.modified) if self.remembered else {}

    def nanoseconds_in(self, tail: OrcTail) -> tuple[int, ...]:
        """Return those of them that are read as texts in a file."""
        columns = nanosecond_columns(self.table, tail) if self.nanoseconds else ()
        return tuple(i for i in columns if i in self.nanoseconds)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Files of one layout are read together."""

    types: tuple[str | None, ...]
    """Of the table's columns that they have: what ORC converts them to; None for as they are."""
    searchable: tuple[str, ...]
    """Columns by whose statistics rows are skipped."""
    nanoseconds: tuple[int, ...]


def layout(scan: AcidScan, tail: OrcTail) -> _Layout:
    """Tell how a file's columns are read."""
    nanoseconds = scan.nanoseconds_in(tail)
    columns = with_texts(scan.table, nanoseconds).columns
    types: list[str | None] = []
    searchable = []
    for column, kind in zip(columns, tail.row_types, strict=False):
        same = str(kind) == column.type.orc and not kind.holds(Kind.INSTANT)
        # Both of Hive's timestamps are one: Spark's has no zone to it.
        types.append(None if same else column.type.exchange((Kind.INSTANT,), TIMESTAMP).orc)
        if _compares_alike(kind) if same else _is_wider(kind, column.type):
            searchable.append(column.name)
    return _Layout(tuple(types), tuple(searchable), nanoseconds)


def _compares_alike(hive_type: HiveType) -> bool:
    # The statistics of CHAR are those of padded values. A search argument with a timestamp loses
    # what is below its milliseconds on the way to the task.
    return hive_type.kind not in (Kind.CHAR, *TIMESTAMPS)


def _is_wider(narrow: HiveType, wide: HiveType) -> bool:
    """Tell whether all integers of a type are of another."""
    return BITS.get(narrow.kind, 0) < BITS.get(wide.kind, 0) and narrow.kind in BITS


def acid_frames(
    scan: AcidScan,
    files: Sequence[AcidPath],
    deletes: Sequence[EndingPath],
    finish: Sequence[Step],
) -> list[DataFrame]:
    """User columns, ID_COLUMNS, PLACE, values and texts of partitions of the rows that are alive.

    ``finish`` is done to all of them, next to the scan.
    """
    layouts: dict[_Layout, list[AcidPath]] = {}
    for file in files:
        layouts.setdefault(layout(scan, file.tail), []).append(file)
    frames = []
    for shared, of_layout in layouts.items():
        if not scan.nanoseconds:
            frames.append(_relation(scan, shared, of_layout, deletes, finish))
            continue
        rows = _relation(scan, shared, of_layout, deletes)
        rows = with_values(rows, scan.table, shared.nanoseconds, scan.nanoseconds)
        frames.append(after(rows, *finish))
    return frames


def _relation(
    scan: AcidScan,
    shared: _Layout,
    files: Sequence[AcidPath],
    deletes: Sequence[EndingPath],
    finish: Sequence[Step] = (),
) -> DataFrame:
    spark, filter_rows = scan.spark, scan.filter_rows
    table = with_texts(scan.table, shared.nanoseconds)
    highest = scan.visible.high_watermark
    places = {file.place.number: file.place for file in files}
    plan = {
        "name": str(table.name),
        "columns": len(table.columns),
        "parallelism": spark.sparkContext.defaultParallelism,
        "statistics": {
            column.name: {
                "distinct": column.distinct,
                "nulls": column.nulls,
                "low": column.low,
                "high": column.high,
                "average": None if column.average_length is None else round(column.average_length),
                "longest": column.longest,
            }
            for column in scan.known
        },
        "types": shared.types,
        "searchable": shared.searchable,
        "values": {number: _partition_texts(place, table) for number, place in places.items()},
        "files": [_file(file, scan) for file in files],
        "deletes": [
            {
                "path": file.path,
                "length": file.length,
                "place": file.place.number,
                "filtered": file.filtered,
                "version": file.version,
                **scan.describe(file.path, file.length, file.tail),
                "changes": file.holds_changes,
                "range": [end for key in KEYS for end in file.tail.key_range[key]]
                if file.tail.key_range and not scan.whole
                else None,
            }
            for file in deletes
            if file.place.number in places
        ],
        "whole": scan.whole,
        "least": filter_rows if filter_rows >= 0 else _NEVER,
        "highest": highest,
        "hidden": sorted(write_id for write_id in scan.visible.exceptions if write_id <= highest),
    }
    columns = [f"{quote_name(column.name)} {column.type.spark}" for column in table.columns]
    parts = enumerate(table.partition_columns)
    values = [f"`{value_column(i)}` {column.type.spark}" for i, column in parts]
    texts = [f"{quote_name(text)} string" for text in text_columns(table)]
    ddl = ", ".join([*columns, _IDS, f"{quote_name(PLACE)} int", *values, *texts])
    return acid_rows(spark, json.dumps(plan), ddl, *finish)


def _partition_texts(place: Place, table: Table) -> list[str | None]:
    """Return the values of a place's partition as they are to be cast, and its texts behind."""
    if place.partition is None:
        return []
    read = zip(table.read_values(place.partition), table.partition_columns, strict=True)
    values = [None if text is None else read_text(text, column.type) for text, column in read]
    return [*values, *(text or DEFAULT_PARTITION for text in place.partition.values)]


def _file(file: AcidPath, scan: AcidScan) -> dict[str, object]:
    original = file.original
    # Row numbers of events are always decoded: no footer tells that they are in order.
    unit = file.tail.unit if scan.filter_rows >= 0 else None
    return {
        "path": file.path,
        "length": file.length,
        "rows": file.tail.rows,
        "place": file.place.number,
        "filtered": file.filtered,
        "ids": unit if original is None else original.unit,
        "first": -1 if original is None else original.first,
        "task": file.task,
        **scan.describe(file.path, file.length, file.tail),
    }
