"""Delete events as a map of 64-bit words: one bit for each deleted row.

A key packs partition, write id, bucket property and row number / 64 into one long, with widths
taken from the delete files' statistics. A data row outside those ranges gets the key -1, so that
cutting bits can never make one row's key another's. Where the ranges need more than 62 bits, or are
not known, an anti join over the plain columns does the same work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.spark.events import ALL_READ, EVENTS, visible_writes
from hivesql_executor.spark.placed import Place, read_placed
from hivesql_executor.spark.types import spark_type
from hivesql_executor.storage.files import Files
from hivesql_executor.storage.orc import cached_tail
from hivesql_planner.acid.snapshot import DeleteFile
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.table import Partition, Table

_KEYS = ("originalTransaction", "bucket", "rowId")
_PACKED_BITS = 62
# Above this many partitions with deletes, comparing partition columns beats a long CASE.
_CASE_PARTITIONS = 64
Ranges = dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSet:
    """The delete events that a scan must apply, and what the footers tell of them."""

    events: DataFrame
    table: Table
    partitions: tuple[Partition, ...]
    ranges: Ranges | None
    """Least and greatest value of each key column; None when a file has no statistics."""
    words: int
    """At most this many words hold all the events."""

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        table: Table,
        parts: Sequence[tuple[Partition | None, str, Sequence[DeleteFile]]],
        *,
        visible: ValidWriteIdList,
        files: Files,
    ) -> DeleteSet:
        """Read the footers now and the events lazily."""
        ranges: Ranges | None = {}
        words = 0
        groups: dict[bool, dict[str, tuple[Partition | None, str, list[str]]]] = {}
        for partition, location, deletes in parts:
            for file in deletes:
                path = f"{location}/{file.path}"
                tail = cached_tail(files, path, file.length)
                if tail.rows == 0:
                    continue
                ranges = _widened(ranges, tail.key_range)
                words += _words(tail.rows, tail.key_range)
                places = groups.setdefault(file.write_id_filter, {})
                places.setdefault(location, (partition, location, []))[2].append(path)
        frames = [
            _delete_events(spark, table, list(places.values()), visible if filtered else None)
            for filtered, places in groups.items()
        ]
        keys = f"originalTransaction bigint, bucket int, rowId bigint{_partition_ddl(table)}"
        events = frames[0] if frames else spark.createDataFrame([], keys)
        for one in frames[1:]:
            events = events.unionByName(one)
        named = tuple(p for p, _, _ in parts if p is not None)
        return cls(events=events, table=table, partitions=named, ranges=ranges, words=words)


def _partition_ddl(table: Table) -> str:
    return "".join(f", `{c.name}` {spark_type(c.type)}" for c in table.partition_columns)


def _widened(ranges: Ranges | None, found: object) -> Ranges | None:
    if ranges is None or not found:
        return None
    assert isinstance(found, dict)
    return {
        key: (
            min(low, ranges.get(key, (low, high))[0]),
            max(high, ranges.get(key, (low, high))[1]),
        )
        for key, (low, high) in found.items()
    }


def _words(rows: int, found: object) -> int:
    if not isinstance(found, dict) or not found:
        return rows
    single = all(found[key][0] == found[key][1] for key in ("originalTransaction", "bucket"))
    span = (found["rowId"][1] >> 6) - (found["rowId"][0] >> 6) + 1
    return min(rows, span) if single else rows


def _delete_events(
    spark: SparkSession,
    table: Table,
    places: Sequence[Place],
    visible: ValidWriteIdList | None,
) -> DataFrame:
    schema = EVENTS.format(fields="`__none`:boolean")
    rows = read_placed(spark, table, schema, places, {}, ALL_READ)
    if visible is not None:
        rows = rows.where(visible_writes("currentTransaction", visible))
    return rows.select(*_KEYS, *(f"`{name}`" for name in table.partition_names))


def read_delete_events(
    spark: SparkSession, paths: Sequence[str], visible: ValidWriteIdList
) -> DataFrame:
    """Visible delete events as ``row__id`` of the deleted row and ``writer``, who deleted it."""
    schema = EVENTS.format(fields="`__none`:boolean")
    rows = spark.read.schema(schema).orc(list(paths)).where(ALL_READ)
    rows = rows.where(visible_writes("currentTransaction", visible))
    row_id = f.struct(
        f.col("originalTransaction").alias("writeid"),
        f.col("bucket").alias("bucketid"),
        f.col("rowId").alias("rowid"),
    )
    # Two transactions may have deleted one row: one event is enough, the earliest.
    return rows.groupBy(row_id.alias("row__id")).agg(f.min("currentTransaction").alias("writer"))


def without_deleted(
    rows: DataFrame, deletes: DeleteSet, *, broadcast_words: int = 4_000_000
) -> DataFrame:
    """The rows that have no delete event in their partition.

    ``broadcast_words``: up to this many words go to every executor, above it the join is sorted.
    """
    packed = _packing(deletes)
    if packed is None:
        return _anti_join(rows, deletes)
    key, by_column = packed
    bit = f.expr("shiftleft(1L, cast(rowId & 63 as int))")
    names = list(deletes.table.partition_names) if by_column else []
    words = (
        deletes.events.select(key.alias("__key"), bit.alias("__bit"), *(_quoted(names)))
        .groupBy("__key", *_quoted(names))
        .agg(f.expr("bit_or(__bit)").alias("__word"))
    )
    for name in names:
        words = words.withColumnRenamed(name, f"__p_{name}")
    words = words.hint("broadcast" if deletes.words <= broadcast_words else "merge")
    left = rows.withColumn("__row_key", key)
    on = f.col("__row_key") == f.col("__key")
    for name in names:
        on = on & f.col(f"`{name}`").eqNullSafe(f.col(f"`__p_{name}`"))
    joined = left.join(words, on, "left")
    alive = f.expr("__word is null or getbit(__word, cast(rowId & 63 as int)) = 0")
    return joined.where(alive).select(*(f"`{name}`" for name in rows.columns))


def _quoted(names: Sequence[str]) -> list[str]:
    return [f"`{name}`" for name in names]


def _packing(deletes: DeleteSet) -> tuple[Column, bool] | None:
    """The key expression, and whether partition columns must be compared beside it."""
    ranges = deletes.ranges
    if not ranges:
        return None
    (write_low, write_high), (bucket_low, bucket_high), (_, row_high) = (
        ranges[key] for key in _KEYS
    )
    row_bits = (row_high >> 6).bit_length()
    bucket_bits = (bucket_high - bucket_low).bit_length()
    write_bits = (write_high - write_low).bit_length()
    several = len(deletes.partitions) > 1
    by_column = several and len(deletes.partitions) > _CASE_PARTITIONS
    part_bits = len(deletes.partitions).bit_length() if several and not by_column else 0
    if part_bits + write_bits + bucket_bits + row_bits > _PACKED_BITS:
        return None
    write, bucket, row = (f.col(key).cast("bigint") for key in _KEYS)
    ordinal = _ordinal(deletes) if part_bits else f.lit(0).cast("bigint")
    key = ordinal
    for value, bits in (
        (write - write_low, write_bits),
        (bucket - bucket_low, bucket_bits),
        (f.shiftright(row, 6), row_bits),
    ):
        key = f.shiftleft(key, bits).bitwiseOR(value)
    inside = (
        write.between(write_low, write_high)
        & bucket.between(bucket_low, bucket_high)
        & row.between(0, row_high)
        & (ordinal >= 0)
    )
    return f.when(inside, key).otherwise(f.lit(-1).cast("bigint")), by_column


def _ordinal(deletes: DeleteSet) -> Column:
    """The place of the row's partition in the list; -1 for any other."""
    result: Column = f.lit(-1).cast("bigint")
    for number, partition in reversed(list(enumerate(deletes.partitions))):
        same: Column = f.lit(True)
        for value, column in zip(partition.values, deletes.table.partition_columns, strict=True):
            typed = f.lit(value).cast(spark_type(column.type))
            same = same & f.col(f"`{column.name}`").eqNullSafe(typed)
        result = f.when(same, f.lit(number).cast("bigint")).otherwise(result)
    return result


def _anti_join(rows: DataFrame, deletes: DeleteSet) -> DataFrame:
    """The fallback: every key column compared as it is."""
    names = [*_KEYS, *deletes.table.partition_names]
    events = deletes.events.select(*(f.col(f"`{name}`").alias(f"__d_{name}") for name in names))
    on = f.lit(True)
    for name in names:
        on = on & f.col(f"`{name}`").eqNullSafe(f.col(f"`__d_{name}`"))
    return rows.join(events.hint("merge"), on, "left_anti")
