"""Delete files of a scan, and how much room a bit for each row that they delete would take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.orc.footers import check_file, holds_changes, read_footers
from hivesql_executor.orc.statistics import read_groups, read_statistics
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.spark.formats.listed_files import FileKind, read_grouped
from hivesql_executor.spark.scan.event_schema import KEYS, event_read, visible_writes
from hivesql_executor.spark.scan.partition_columns import Place
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile
from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.predicates.ranges import Extent

_Range = tuple[int, int]
_KEY_PATHS = tuple((ACID_FIELDS.index(key),) for key in KEYS)
"""Where KEYS are among the fields of an event."""


@dataclass(frozen=True, slots=True)
class DeleteFiles:
    """The files of some places that end rows, with their paths and footers.

    These are delete files that have events, and data files of version 1 with changes.
    """

    files: Sequence[tuple[Place, DeleteFile | DataFile, str]]
    tails: Mapping[str, OrcTail]

    def with_changes(self, data: Iterable[tuple[Place, DataFile, str, OrcTail]]) -> DeleteFiles:
        """Add those of some data files that hold changes."""
        changed = [file_entry for file_entry in data if holds_changes(file_entry[-1])]
        holding = [(place, file, path) for place, file, path, _ in changed]
        tails = {path: tail for _, _, path, tail in changed}
        return DeleteFiles([*self.files, *holding], {**self.tails, **tails})

    def version(self, file: DeleteFile | DataFile, path: str) -> str:
        """Tell what tells a file from another that has had its path, as footers are known by it."""
        modified = self.tails[path].modified
        return f"{file.length}.{modified}" if modified else ""

    def count_bitmap_words(self, files: Files, enough: int) -> int:
        """At most this many words hold all the events.

        Where footers tell more than ``enough``, row groups are asked: a file with deletes of many
        writes may hold many rows of each of them, by its footer, and has few of most.
        """
        word_counts = {
            path: _bitmap_words(self.tails[path].rows, self.tails[path].key_range)
            for _, _, path in self.files
        }
        if sum(word_counts.values()) <= enough:
            return sum(word_counts.values())
        return sum(
            min(
                word_counts[path],
                _bitmap_words_of_groups(files, path, file.length, self.tails[path]),
            )
            for _, file, path in self.files
        )


def delete_files(parts: Sequence[tuple[Place, Sequence[DeleteFile]]], files: Files) -> DeleteFiles:
    """Read the footers of delete files; DataError for a file of another kind."""
    entries = [
        (place, file, f"{place.location}/{file.path}")
        for place, deletes in parts
        for file in deletes
    ]
    lengths = [(path, file.length) for _, file, path in entries]
    tails = read_footers(files, lengths, {path: file.modified for _, file, path in entries})
    for _, file, path in entries:
        check_file(path, file, tails[path])
    return DeleteFiles([entry for entry in entries if tails[entry[2]].rows], tails)


def _bitmap_words(rows: int, ranges: Mapping[str, _Range]) -> int:
    """At most so many words hold events with keys in these ranges, or in none that is known."""
    if not ranges:
        return rows
    (write, last_write), (bucket, last_bucket), (row, last_row) = (ranges[key] for key in KEYS)
    writers = (last_write - write + 1) * (last_bucket - bucket + 1)
    return min(rows, writers * ((last_row >> 6) - (row >> 6) + 1))


def _bitmap_words_of_groups(files: Files, path: str, length: int, tail: OrcTail) -> int:
    key = (files, path, length, tail.modified, _KEY_PATHS)
    statistics = read_statistics(*key)
    if statistics is None:
        return tail.rows
    return sum(
        _bitmap_words_of_stripe(read_groups(*key, stripe.number), statistics.stride, stripe.rows)
        for stripe in statistics.stripes
    )


def _bitmap_words_of_stripe(
    groups: Sequence[Sequence[Extent | None]], stride: int, rows: int
) -> int:
    if not groups:
        return rows
    return sum(
        _bitmap_words(min(stride, rows - number * stride), _key_range(extents))
        for number, extents in enumerate(groups)
    )


def _key_range(extents: Sequence[Extent | None]) -> Mapping[str, _Range]:
    """Find the ends of all key columns; empty unless all are known."""
    ranges = {
        key: (extent.low, extent.high)
        for key, extent in zip(KEYS, extents, strict=True)
        if extent is not None and isinstance(extent.low, int) and isinstance(extent.high, int)
    }
    return ranges if len(ranges) == len(KEYS) else {}


def read_delete_events(
    spark: SparkSession, sized_files: Sequence[tuple[str, int]], visible: ValidWriteIdList
) -> DataFrame:
    """Visible delete events: ``row__id`` of the deleted row and ``by``, the write that did it."""
    schema, where = event_read((), ())
    rows = read_grouped(spark, FileKind("orc", schema), [((), sized_files)]).where(where)
    rows = rows.where(visible_writes("currentTransaction", visible))
    row_id = f.struct(
        f.col("originalTransaction").alias("writeid"),
        f.col("bucket").alias("bucketid"),
        f.col("rowId").alias("rowid"),
    )
    # Two transactions may have deleted one row: one event is enough, the earliest.
    return rows.groupBy(row_id.alias("row__id")).agg(f.min("currentTransaction").alias("by"))
