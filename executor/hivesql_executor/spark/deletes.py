"""Delete events as a map of 64-bit words: one bit for each deleted row.

A key packs partition, write id, bucket property and row number / 64 into one long, with widths
taken from the delete files' statistics. A data row outside those ranges gets a negative key, so
that cutting bits can never make one row's key another's. Where the ranges need more than 62 bits,
or are not known, an anti join over the plain columns does the same work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.spark.events import are_generated, event_read, visible_writes
from hivesql_executor.spark.footers import check_deletes, read_footers
from hivesql_executor.spark.placed import PLACE, Place, read_placed
from hivesql_executor.spark.types import spark_type
from hivesql_executor.storage.files import Files
from hivesql_planner.acid.snapshot import DeleteFile
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.table import Table

KEYS = ("originalTransaction", "bucket", "rowId")
"""The columns of a row's id inside a file …"""
ID_COLUMNS = ("__write", "__bucket", "__row")
"""… and how they travel, out of the way of a user's columns. Beside them goes PLACE."""

_PACKED_BITS = 62
Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSet:
    """The delete events that a scan must apply, and what the footers tell of them."""

    events: DataFrame
    """ID_COLUMNS and PLACE of each deleted row, possibly several times."""
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
        parts: Sequence[tuple[Place, Sequence[DeleteFile]]],
        *,
        visible: ValidWriteIdList,
        files: Files,
    ) -> DeleteSet:
        """Read the footers now and the events lazily; DataError for a file of another kind."""
        found = [
            (place, file, f"{place.location}/{file.path}")
            for place, deletes in parts
            for file in deletes
        ]
        tails = read_footers(files, [(path, file.length) for _, file, path in found])
        ranges: list[Mapping[str, Range]] = []
        words = 0
        groups: dict[tuple[bool, tuple[str, ...]], dict[Place, list[str]]] = {}
        for place, file, path in found:
            tail = tails[path]
            check_deletes(path, tail)
            if tail.rows == 0:
                continue
            ranges.append(tail.key_range)
            words += _words(tail.rows, tail.key_range)
            names = tail.row_fields[:1] if are_generated(tail.row_fields) else ()
            group = groups.setdefault((file.write_id_filter, names), {})
            group.setdefault(place, []).append(path)
        frames = [
            _read_events(spark, table, group, names, visible if filtered else None)
            for (filtered, names), group in groups.items()
        ]
        return cls(
            events=reduce(DataFrame.unionByName, frames) if frames else _no_events(spark),
            ranges=_widest(ranges),
            places=max((place.number for place, _ in parts), default=0) + 1,
            words=words,
        )


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
    writer = KEYS[:2]
    if not found or any(found[key][0] != found[key][1] for key in writer):
        return rows
    return min(rows, (found["rowId"][1] >> 6) - (found["rowId"][0] >> 6) + 1)


def _read_events(
    spark: SparkSession,
    table: Table,
    group: Mapping[Place, list[str]],
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
    """Visible delete events as ``row__id`` of the deleted row and ``writer``, who deleted it."""
    schema, where = event_read((), ())
    reader = spark.read.schema(schema).option("__globPaths__", "false")
    rows = reader.orc(list(paths)).where(where)
    rows = rows.where(visible_writes("currentTransaction", visible))
    row_id = f.struct(
        f.col("originalTransaction").alias("writeid"),
        f.col("bucket").alias("bucketid"),
        f.col("rowId").alias("rowid"),
    )
    # Two transactions may have deleted one row: one event is enough, the earliest.
    return rows.groupBy(row_id.alias("row__id")).agg(f.min("currentTransaction").alias("writer"))


def without_deleted(rows: DataFrame, deletes: DeleteSet, *, broadcast_words: int) -> DataFrame:
    """The rows that have no delete event in their partition.

    ``rows`` have ID_COLUMNS and PLACE. ``broadcast_words``: up to this many words go to every
    executor, above it the join is sorted.
    """
    packed = _packing(deletes)
    if packed is None:
        return _anti_join(rows, deletes)
    key, inside = packed
    # Statistics that lie would lose deletes, and bring rows back from the dead.
    wrong = f.raise_error(f.lit("a delete event lies outside its file's statistics"))
    bit = f.expr("shiftleft(1L, cast(__row & 63 as int))")
    words = (
        deletes.events.select(
            f.when(inside, key).otherwise(wrong.cast("bigint")).alias("__key"), bit.alias("__bit")
        )
        .groupBy("__key")
        .agg(f.expr("bit_or(__bit)").alias("__word"))
        .hint("broadcast" if deletes.words <= broadcast_words else "merge")
    )
    # Spread, so that a sorted join does not send all other rows to one task.
    outside = -(f.col("__row").bitwiseAND(f.lit(0xFFFF)) + 1)
    left = rows.withColumn("__row_key", f.when(inside, key).otherwise(outside))
    joined = left.join(words, f.col("__row_key") == f.col("__key"), "left")
    alive = f.expr("__word is null or getbit(__word, cast(__row & 63 as int)) = 0")
    return joined.where(alive).select(*(f"`{name}`" for name in rows.columns))


def _packing(deletes: DeleteSet) -> tuple[Column, Column] | None:
    """The key expression, and the condition under which it is one; None when it does not fit."""
    if deletes.ranges is None:
        return None
    (write_low, write_high), (bucket_low, bucket_high), (row_low, row_high) = (
        deletes.ranges[key] for key in KEYS
    )
    widths = (
        (deletes.places - 1).bit_length(),
        (write_high - write_low).bit_length(),
        (bucket_high - bucket_low).bit_length(),
        (row_high >> 6).bit_length(),
    )
    if sum(widths) > _PACKED_BITS or row_low < 0:
        return None
    write, bucket, row = (f.col(name).cast("bigint") for name in ID_COLUMNS)
    values = (
        f.col(PLACE).cast("bigint"),
        write - f.lit(write_low),
        bucket - f.lit(bucket_low),
        f.shiftright(row, 6),
    )
    key: Column = f.lit(0).cast("bigint")
    for value, width in zip(values, widths, strict=True):
        key = f.shiftleft(key, width).bitwiseOR(value)
    inside = (
        write.between(write_low, write_high)
        & bucket.between(bucket_low, bucket_high)
        & row.between(0, row_high)
    )
    return key, inside


def _anti_join(rows: DataFrame, deletes: DeleteSet) -> DataFrame:
    """The fallback: every key column compared as it is."""
    names = (*ID_COLUMNS, PLACE)
    events = deletes.events.select(*(f.col(name).alias(f"__d{name}") for name in names))
    same = (f.col(name) == f.col(f"__d{name}") for name in names)
    return rows.join(events.hint("merge"), reduce(Column.__and__, same), "left_anti")
