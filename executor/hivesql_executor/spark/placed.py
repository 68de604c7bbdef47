"""Event files of many partitions in one read, with the partition that each row comes from.

Spark's own partition discovery cannot be used on ACID files: it appends the partition columns to
the schema that ORC gets, which then no longer looks like that of an ACID file, and every column
shifts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.spark.listed import listed_number, read_listed
from hivesql_executor.spark.values import partition_value
from hivesql_planner.table import DEFAULT_PARTITION, Partition, Table

PLACE = "__place"
"""The number of the row's partition in its scan. Values could not tell ``p=1`` from ``p=01``."""

# Up to this many partitions each gets a read of its own; above it, one read and a lookup by number.
MOST_READS = 16
_NUMBER = "__number"


@dataclass(frozen=True, slots=True)
class Place:
    """A partition (None: the whole table), its number in the scan, and where it is."""

    number: int
    partition: Partition | None
    location: str


Found = Sequence[tuple[Place, Sequence[tuple[str, int]]]]
"""Absolute paths and lengths in bytes of some places' files."""


def value_column(number: int) -> str:
    """The name under which a partition column travels until the user's names can be given."""
    return f"__value{number}"


def text_column(number: int) -> str:
    """The name under which the text of a partition value travels: ``01`` is an int that is 1."""
    return f"__text{number}"


def text_columns(table: Table) -> list[str]:
    """Where the texts of all partition values are."""
    return [text_column(i) for i in range(len(table.partition_columns))]


def value_columns(table: Table) -> list[str]:
    """All of both, values and texts."""
    values = [value_column(i) for i in range(len(table.partition_columns))]
    return values + text_columns(table)


def read_placed(
    spark: SparkSession,
    table: Table,
    schema: str,
    found: Found,
    options: Mapping[str, str],
    where: str,
) -> DataFrame:
    """The rows of some ORC files that satisfy ``where``, with their place and partition values."""

    def read(some: Found) -> DataFrame:
        files = [(path, length, place.number) for place, files in some for path, length in files]
        return read_listed(spark, schema, files, options).where(where)

    if len(found) > MOST_READS:
        rows = read(found).withColumn(PLACE, listed_number())
        return with_places(spark, table, rows, [place for place, _ in found])
    frames = [with_place(read([one]), table, one[0]) for one in found]
    return reduce(DataFrame.unionByName, frames)


def with_place(rows: DataFrame, table: Table, place: Place) -> DataFrame:
    """Add one place, and its partition's values as typed columns."""
    values = place.partition.values if place.partition else ()
    typed, texts = [], []
    for i, (value, column) in enumerate(zip(values, table.partition_columns, strict=False)):
        typed.append(partition_value(f.lit(value), column.type).alias(value_column(i)))
        texts.append(f.lit(value or DEFAULT_PARTITION).alias(text_column(i)))
    return rows.select("*", f.lit(place.number).alias(PLACE), *typed, *texts)


def with_places(
    spark: SparkSession, table: Table, rows: DataFrame, places: Sequence[Place]
) -> DataFrame:
    """Add the values of each row's partition, whose number is in PLACE."""
    depth = len(table.partition_columns)
    values = [place.partition.values if place.partition else () for place in places]
    known = pa.table(
        {_NUMBER: pa.array([place.number for place in places], pa.int32())}
        | {text_column(i): pa.array([one[i] for one in values], pa.string()) for i in range(depth)}
    )
    lookup = spark.createDataFrame(known).hint("broadcast")
    joined = rows.join(lookup, f.col(PLACE) == f.col(_NUMBER), "left")
    # A place that is not found would silently lose its partition: fail instead.
    problem = f.raise_error(f.concat(f.lit("no partition has the number "), f.col(PLACE)))
    number = f.when(f.col(_NUMBER).isNull(), problem.cast("int")).otherwise(f.col(_NUMBER))
    typed = [
        partition_value(f.col(text_column(i)), column.type).alias(value_column(i))
        for i, column in enumerate(table.partition_columns)
    ]
    plain = [
        f.coalesce(text_column(i), f.lit(DEFAULT_PARTITION)).alias(text_column(i))
        for i in range(depth)
    ]
    user = (f"`{one}`" for one in rows.columns if one != PLACE)
    return joined.select(*user, number.alias(PLACE), *typed, *plain)
