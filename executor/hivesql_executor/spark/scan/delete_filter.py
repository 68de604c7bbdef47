"""Delete events as a map of 64-bit words: one bit for each deleted row.

A key packs partition, write id, bucket property and row number / 64 into one long, with widths
taken from the delete files' statistics. A data row outside those ranges gets a negative key, so
that cutting bits can never make one row's key another's. Where the ranges need more than 62 bits,
or are not known, an anti join over the plain columns does the same work.

Few events are read in this process: a Spark job for them would take longer than all else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.orc.event_ids import read_event_ids
from hivesql_executor.orc.footers import check_file, read_footers
from hivesql_executor.orc.statistics import read_groups, read_statistics
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.orc.types import spark_type
from hivesql_executor.spark.file_paths import literal_paths
from hivesql_executor.spark.lines import frame_of
from hivesql_executor.spark.scan.event_schema import are_generated, event_read, visible_writes
from hivesql_executor.spark.scan.partition_columns import PLACE, Place, read_placed
from hivesql_executor.spark.scan.row_id_keys import KEYS, Packing, Range
from hivesql_planner.acid.files_to_read import DeleteFile
from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.table import Table
from hivesql_planner.predicates.ranges import Extent

ID_COLUMNS = ("__write", "__bucket", "__row")
"""How KEYS travel, out of the way of a user's columns. Beside them goes PLACE."""

_THREADS = 8
_KEY_PATHS = tuple((ACID_FIELDS.index(key),) for key in KEYS)
"""Where KEYS are among the fields of an event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSet:
    """The delete events that a scan must apply, and what the footers tell of them."""

    events: DataFrame | pa.Table
    """ID_COLUMNS and PLACE of each deleted row, possibly several times; few are here already."""
    ranges: Mapping[str, Range] | None
    """Least and greatest value of each key column; None when a file has no statistics."""
    places: int
    """Places are numbered below this."""
    words: int
    """At most this many words hold all the events."""

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        table: Table,
        gone: DeleteFiles,
        *,
        places: int,
        visible: ValidWriteIdList,
        files: Files,
        words: int,
        local_events: int = 0,
    ) -> DeleteSet:
        """Return the events, read lazily unless there are at most ``local_events`` of them."""
        found, tails = gone.found, gone.tails
        ranges = [tails[path].key_range for _, _, path in found]
        events: DataFrame | pa.Table | None = None
        if sum(tails[path].rows for _, _, path in found) <= local_events:
            events = _read_here(files, found, visible)
        if events is None:
            groups: dict[tuple[bool, tuple[str, ...]], dict[Place, list[tuple[str, int]]]] = {}
            for place, file, path in found:
                fields = tails[path].row_fields
                names = fields[:1] if are_generated(fields) else ()
                group = groups.setdefault((file.write_id_filter, names), {})
                group.setdefault(place, []).append((path, file.length))
            frames = [
                _read_events(spark, table, group, names, visible if filtered else None)
                for (filtered, names), group in groups.items()
            ]
            events = reduce(DataFrame.unionByName, frames) if frames else _no_events(spark)
        return cls(
            events=events,
            ranges=_widest(ranges),
            places=places,
            words=words,
        )


@dataclass(frozen=True, slots=True)
class DeleteFiles:
    """The delete files of some places that have events, with their paths and footers."""

    found: Sequence[tuple[Place, DeleteFile, str]]
    tails: Mapping[str, OrcTail]

    def version(self, file: DeleteFile, path: str) -> str:
        """Tell what tells a file from another that has had its path, as footers are known by it."""
        modified = self.tails[path].modified
        return f"{file.length}.{modified}" if modified else ""

    def count_bitmap_words(self, files: Files, enough: int) -> int:
        """At most this many words hold all the events.

        Where footers tell more than ``enough``, row groups are asked: a file with deletes of many
        writes may hold many rows of each of them, by its footer, and has few of most.
        """
        told = {
            path: _words(self.tails[path].rows, self.tails[path].key_range)
            for _, _, path in self.found
        }
        if sum(told.values()) <= enough:
            return sum(told.values())
        return sum(
            min(told[path], _words_of_groups(files, path, file.length, self.tails[path]))
            for _, file, path in self.found
        )


def delete_files(parts: Sequence[tuple[Place, Sequence[DeleteFile]]], files: Files) -> DeleteFiles:
    """Read the footers of delete files; DataError for a file of another kind."""
    found = [
        (place, file, f"{place.location}/{file.path}")
        for place, deletes in parts
        for file in deletes
    ]
    tails = read_footers(files, [(path, file.length) for _, file, path in found])
    for _, file, path in found:
        check_file(path, file, tails[path])
    return DeleteFiles([one for one in found if tails[one[2]].rows], tails)


def _read_here(
    files: Files, found: Sequence[tuple[Place, DeleteFile, str]], visible: ValidWriteIdList
) -> pa.Table | None:
    """ID_COLUMNS and PLACE of every event; None where only Spark reads a file."""

    def read(one: tuple[Place, DeleteFile, str]) -> pa.Table | None:
        place, file, path = one
        ids = read_event_ids(files, path, file.length, visible if file.write_id_filter else None)
        if ids is None:
            return None
        number = pa.repeat(pa.scalar(place.number, pa.int32()), len(ids))
        return ids.rename_columns(ID_COLUMNS).append_column(PLACE, number)

    with ThreadPoolExecutor(_THREADS) as pool:
        tables = list(pool.map(read, found))
    if not tables or any(one is None for one in tables):
        return None
    return pa.concat_tables(tables)


def _no_events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], f"__write bigint, __bucket int, __row bigint, {PLACE} int")


def _widest(ranges: Sequence[Mapping[str, Range]]) -> Mapping[str, Range] | None:
    if not ranges or not all(ranges):
        return None
    return {
        key: (min(one[key][0] for one in ranges), max(one[key][1] for one in ranges))
        for key in KEYS
    }


def _words(rows: int, found: Mapping[str, Range]) -> int:
    """At most so many words hold events with keys in these ranges, or in none that is known."""
    if not found:
        return rows
    (write, last_write), (bucket, last_bucket), (row, last_row) = (found[key] for key in KEYS)
    writers = (last_write - write + 1) * (last_bucket - bucket + 1)
    return min(rows, writers * ((last_row >> 6) - (row >> 6) + 1))


def _words_of_groups(files: Files, path: str, length: int, tail: OrcTail) -> int:
    key = (files, path, length, tail.modified, _KEY_PATHS)
    statistics = read_statistics(*key)
    if statistics is None:
        return tail.rows
    return sum(
        _words_of_stripe(read_groups(*key, one.number), statistics.stride, one.rows)
        for one in statistics.stripes
    )


def _words_of_stripe(groups: Sequence[Sequence[Extent | None]], stride: int, rows: int) -> int:
    if not groups:
        return rows
    return sum(
        _words(min(stride, rows - number * stride), _key_range(extents))
        for number, extents in enumerate(groups)
    )


def _key_range(extents: Sequence[Extent | None]) -> Mapping[str, Range]:
    """Find the ends of all key columns; empty unless all are known."""
    found = {
        key: (one.low, one.high)
        for key, one in zip(KEYS, extents, strict=True)
        if one is not None and isinstance(one.low, int) and isinstance(one.high, int)
    }
    return found if len(found) == len(KEYS) else {}


def _read_events(
    spark: SparkSession,
    table: Table,
    group: Mapping[Place, Sequence[tuple[str, int]]],
    names: tuple[str, ...],
    visible: ValidWriteIdList | None,
) -> DataFrame:
    types = [spark_type(column.type) for column in table.columns]
    schema, where = event_read(names, types)
    rows = read_placed(spark, table, schema, list(group.items()), {}, where)
    if visible is not None:
        rows = rows.where(visible_writes("currentTransaction", visible))
    ids = (f.col(key).alias(name) for key, name in zip(KEYS, ID_COLUMNS, strict=True))
    return rows.select(*ids, PLACE)


def read_delete_events(
    spark: SparkSession, paths: Sequence[str], visible: ValidWriteIdList
) -> DataFrame:
    """Visible delete events: ``row__id`` of the deleted row and ``by``, the write that did it."""
    schema, where = event_read((), ())
    named, options = literal_paths(paths)
    rows = spark.read.schema(schema).options(**options).orc(named).where(where)
    rows = rows.where(visible_writes("currentTransaction", visible))
    row_id = f.struct(
        f.col("originalTransaction").alias("writeid"),
        f.col("bucket").alias("bucketid"),
        f.col("rowId").alias("rowid"),
    )
    # Two transactions may have deleted one row: one event is enough, the earliest.
    return rows.groupBy(row_id.alias("row__id")).agg(f.min("currentTransaction").alias("by"))


def without_deleted(rows: DataFrame, deletes: DeleteSet, *, broadcast_words: int) -> DataFrame:
    """Return the rows that have no delete event in their partition.

    ``rows`` have ID_COLUMNS and PLACE. ``broadcast_words``: up to this many words go to every
    executor, above it the join is sorted.
    """
    spark, found = rows.sparkSession, deletes.events
    if isinstance(found, pa.Table):
        if not len(found):
            return rows
        packing = Packing.of(_ranges_of(found), deletes.places)
        events = _words_here(spark, found, packing) if packing else frame_of(found, spark)
    else:
        packing = Packing.of(deletes.ranges, deletes.places) if deletes.ranges else None
        events = _words_of(found, packing) if packing else found
    if packing is None:
        return _anti_join(rows, events)
    words = events.hint("broadcast" if deletes.words <= broadcast_words else "merge")
    ids = [f.col(name) for name in ID_COLUMNS]
    # Spread, so that a sorted join does not send all other rows to one task.
    outside = -(f.col("__row").bitwiseAND(f.lit(0xFFFF)) + 1)
    key = f.when(packing.covers(*ids), packing.key(f.col(PLACE), *ids)).otherwise(outside)
    # Spark takes an anti join for no larger than its rows, and an outer one for their product with
    # the words: no join above could be broadcast.
    deleted = f.expr("__row_key = __key and getbit(__word, cast(__row & 63 as int)) = 1")
    alive = rows.withColumn("__row_key", key).join(words, deleted, "left_anti")
    return alive.select(*(f"`{name}`" for name in rows.columns))


def _ranges_of(events: pa.Table) -> Mapping[str, Range]:
    bounds = {
        key: pc.min_max(events.column(name)).as_py()
        for key, name in zip(KEYS, ID_COLUMNS, strict=True)
    }
    return {key: (one["min"], one["max"]) for key, one in bounds.items()}


def _words_here(spark: SparkSession, events: pa.Table, packing: Packing) -> DataFrame:
    """Columns __key and __word, one row a key."""
    ids = [events.column(name).to_numpy().astype(np.int64) for name in (PLACE, *ID_COLUMNS)]
    keys, words = packing.words(ids)
    return frame_of(pa.table({"__key": keys, "__word": words}), spark)


def _words_of(events: DataFrame, packing: Packing) -> DataFrame:
    """Return the same where Spark reads the events."""
    ids = [f.col(name) for name in ID_COLUMNS]
    # Statistics that lie would lose deletes, and bring rows back from the dead.
    wrong = f.raise_error(f.lit("a delete event lies outside its file's statistics"))
    key = f.when(packing.covers(*ids), packing.key(f.col(PLACE), *ids)).otherwise(
        wrong.cast("bigint")
    )
    bit = f.expr("shiftleft(1L, cast(__row & 63 as int))")
    found = events.select(key.alias("__key"), bit.alias("__bit"))
    return found.groupBy("__key").agg(f.expr("bit_or(__bit)").alias("__word"))


def _anti_join(rows: DataFrame, events: DataFrame) -> DataFrame:
    """Return the fallback: every key column compared as it is."""
    names = (*ID_COLUMNS, PLACE)
    events = events.select(*(f.col(name).alias(f"__d{name}") for name in names))
    same = (f.col(name) == f.col(f"__d{name}") for name in names)
    return rows.join(events.hint("merge"), reduce(Column.__and__, same), "left_anti")
