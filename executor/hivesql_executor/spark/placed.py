"""Event files of many partitions in one read, with the partition that each row comes from.

Spark's own partition discovery cannot be used on ACID files: it appends the partition columns to
the schema that ORC gets, which then no longer looks like that of an ACID file, and every column
shifts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.spark.values import partition_value
from hivesql_planner.table import DEFAULT_PARTITION, Partition, Table, partition_name

PLACE = "__place"
"""The number of the row's partition in its scan. Values could not tell ``p=1`` from ``p=01``."""

# Up to this many partitions each gets a read of its own; above it, one read and a lookup by path.
_MOST_READS = 16
_NAME = "__name"


@dataclass(frozen=True, slots=True)
class Place:
    """A partition (None: the whole table), its number in the scan, and where it is."""

    number: int
    partition: Partition | None
    location: str


Found = Sequence[tuple[Place, Sequence[str]]]
"""Absolute paths ``<location>/<ACID directory>/<file>`` of some places."""


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

    def read(paths: Sequence[str]) -> DataFrame:
        # Paths are meant as they stand: brackets and stars are no patterns.
        reader = spark.read.schema(schema).option("__globPaths__", "false").options(**options)
        return reader.orc(list(paths)).where(where)

    homes = [one for one in found if _is_home(table, one[0])]
    if len(homes) <= _MOST_READS:
        homes = []
    looked_up = {place.number for place, _ in homes}
    frames = [
        with_place(read(paths), table, place)
        for place, paths in found
        if place.number not in looked_up
    ]
    if homes:
        rows = read([path for _, paths in homes for path in paths])
        frames.append(_with_places(spark, table, rows, [place for place, _ in homes]))
    return reduce(DataFrame.unionByName, frames)


def with_place(rows: DataFrame, table: Table, place: Place) -> DataFrame:
    """Add one place, and its partition's values as typed columns."""
    values = place.partition.values if place.partition else ()
    typed, texts = [], []
    for i, (value, column) in enumerate(zip(values, table.partition_columns, strict=False)):
        typed.append(partition_value(f.lit(value), column.type).alias(value_column(i)))
        texts.append(f.lit(value or DEFAULT_PARTITION).alias(text_column(i)))
    return rows.select("*", f.lit(place.number).alias(PLACE), *typed, *texts)


def _is_home(table: Table, place: Place) -> bool:
    return place.partition is not None and place.location == table.home_of(place.partition.values)


def _with_places(
    spark: SparkSession, table: Table, rows: DataFrame, homes: Sequence[Place]
) -> DataFrame:
    depth = len(table.partition_columns)
    # …/<k=v>/…/<ACID directory>/<file>
    tail = f.substring_index(f.col("_metadata.file_path"), "/", -(depth + 2))
    name = f.substring_index(tail, "/", depth)
    known = [
        (_encoded(spark, partition_name(table.partition_names, home.partition.values)),
         home.number, *home.partition.values)
        for home in homes
        if home.partition
    ]  # fmt: skip
    texts = ", ".join(f"`{text_column(i)}` string" for i in range(depth))
    places = spark.createDataFrame(known, f"`{_NAME}` string, `number` int, {texts}")
    named = rows.withColumn("__path", name)
    joined = named.join(places.hint("broadcast"), f.col("__path") == f.col(_NAME), "left")
    # A path that is not found would silently lose its partition: fail instead.
    problem = f.raise_error(f.concat(f.lit("no partition for "), f.col("__path")))
    lost = f.col(_NAME).isNull()
    number: Column = f.when(lost, problem.cast("int")).otherwise(f.col("number"))
    typed = [
        partition_value(
            f.when(lost, problem.cast("string")).otherwise(f.col(text_column(i))), column.type
        ).alias(value_column(i))
        for i, column in enumerate(table.partition_columns)
    ]
    plain = [
        f.coalesce(text_column(i), f.lit(DEFAULT_PARTITION)).alias(text_column(i))
        for i in range(depth)
    ]
    user = (f"`{one}`" for one in rows.columns)
    return joined.select(*user, number.alias(PLACE), *typed, *plain)


def _encoded(spark: SparkSession, name: str) -> str:
    """A relative path as it stands in a URI."""
    if all((char.isalnum() and char.isascii()) or char in "=_-./" for char in name):
        return name
    jvm: Any = spark._jvm
    return str(jvm.org.apache.hadoop.fs.Path(f"/{name}").toUri().toString())[1:]
