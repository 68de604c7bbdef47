"""What only the rows of event files can tell of their files: order, buckets, keys, missing rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from hivesql_executor.orc.event_order import (
    MORE_FILES,
    MORE_GAPS,
    MOST,
    Disorder,
    KeyedFile,
    gap_problem,
)
from hivesql_executor.spark.formats.listed_files import listed_number, read_listed
from hivesql_executor.spark.lines import frame_of
from hivesql_executor.spark.scan.event_schema import KEYS, are_generated, event_read
from hivesql_planner.model.table import Table

_BUCKET = "if(shiftrightunsigned(bucket, 29) = 0, bucket, shiftrightunsigned(bucket, 16) & 4095)"
_ENDS = pa.list_(pa.struct([(KEYS[0], pa.int64()), (KEYS[1], pa.int32()), (KEYS[2], pa.int64())]))


def files_by_names(files: Sequence[KeyedFile]) -> Mapping[tuple[str, ...], list[int]]:
    """Numbers of files that have events, by the names without which ORC cannot read them."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, file in enumerate(files):
        if file.tail.rows:
            names = file.tail.row_fields
            groups.setdefault(names if are_generated(names) else (), []).append(number)
    return groups


def file_problems(
    spark: SparkSession, table: Table, files: Sequence[KeyedFile]
) -> Iterator[tuple[str, str]]:
    """Path and problem of each file that is not sorted, has other rows, or a wrong key index."""
    rows = _events(spark, table, files)
    if rows is None:
        return
    key = f.struct(*KEYS)
    before = f.lag(key).over(Window.partitionBy("number", "block").orderBy("at"))
    # A row may be deleted twice, but it exists once.
    unsorted = (before > key) | ((before == key) & ~f.col("deletes"))
    stripe = f.size(f.filter("ends", lambda end: end < key))
    ends = rows.select(
        "number",
        f.when(f.size("ends") > 0, stripe).alias("stripe"),
        key.alias("key"),
        unsorted.alias("unsorted"),
        f.expr(f"{_BUCKET} <> home").alias("foreign"),
        "ends",
        "sizes",
    )
    stripes = ends.groupBy("number", "stripe").agg(
        f.count_if("unsorted").alias("unsorted"),
        f.count_if("foreign").alias("foreign"),
        f.count("*").alias("rows"),
        f.max("key").alias("last"),
        f.first("ends").alias("ends"),
        f.first("sizes").alias("sizes"),
    )
    fits = "rows <=> get(sizes, stripe) and last <=> get(ends, stripe)"
    counted = (
        stripes.withColumn("astray", f.expr(f"stripe is not null and not ({fits})"))
        .groupBy("number")
        .agg(
            f.sum("unsorted").alias("unsorted"),
            f.sum("foreign").alias("foreign"),
            f.max("astray").alias("astray"),
        )
        .where("unsorted > 0 or foreign > 0 or astray")
    )
    rows_with_problems = counted.orderBy("number").limit(MOST + 1).collect()
    for row in rows_with_problems[:MOST]:
        path = files[row["number"]].path
        disorder = Disorder(row["unsorted"], row["foreign"], row["astray"])
        yield from ((path, problem) for problem in disorder.problems())
    if len(rows_with_problems) > MOST:
        yield table.location, MORE_FILES


def missing_rows(
    spark: SparkSession, table: Table, files: Sequence[KeyedFile]
) -> Iterator[tuple[str, str]]:
    """Partition and problem where rows of deltas are gone: each write numbers its rows from 0."""
    rows = _events(spark, table, [file for file in files if file.whole])
    if rows is None:
        return
    counted = (
        rows.groupBy("place", *KEYS[:2])
        .agg(f.count("*").alias("rows"), (f.max(KEYS[2]) + 1).alias("numbered"))
        .where("rows < numbered")
    )
    gaps = counted.orderBy("place", *KEYS[:2]).limit(MOST + 1).collect()
    for row in gaps[:MOST]:
        counted_rows = row["rows"], row["numbered"]
        yield row["place"], gap_problem(row[KEYS[0]], row[KEYS[1]], *counted_rows)
    if len(gaps) > MOST:
        yield table.location, MORE_GAPS


def _events(spark: SparkSession, table: Table, files: Sequence[KeyedFile]) -> DataFrame | None:
    """Return the ids of all events, and beside them what is known of their file."""
    frames = []
    for names, numbers in files_by_names(files).items():
        schema, where = event_read(names, [column.type.spark for column in table.columns])
        listed = [(files[number].path, files[number].length, number) for number in numbers]
        events = read_listed(spark, schema, listed, {}).where(where)
        frames.append(
            events.select(
                *KEYS,
                listed_number().alias("number"),
                f.col("_metadata.file_block_start").alias("block"),
                f.monotonically_increasing_id().alias("at"),
            )
        )
    if not frames:
        return None
    about = pa.table({
        "number": pa.array(range(len(files)), pa.int32()),
        "place": pa.array([file.place for file in files]),
        "home": pa.array([file.bucket for file in files], pa.int32()),
        "deletes": pa.array([file.deletes for file in files]),
        "ends": pa.array([[dict(zip(KEYS, end, strict=True)) for end in file.ends]
                          for file in files], _ENDS),
        "sizes": pa.array([file.tail.stripe_rows for file in files], pa.list_(pa.int64())),
    })  # fmt: skip
    file_values = frame_of(about, spark).hint("broadcast")
    return reduce(DataFrame.unionByName, frames).join(file_values, "number")
