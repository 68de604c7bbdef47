"""Event files of many partitions in one read, with their partition columns.

Spark's own partition discovery cannot be used on ACID files: it appends the partition columns to
the schema that ORC gets, which then no longer looks like that of an ACID file, and every column
shifts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.spark.types import spark_type
from hivesql_planner.table import Partition, Table, partition_name

# Up to this many partitions each gets a read of its own; above it, one read and a lookup by path.
_MOST_READS = 16
_KEY = "__partition"

Place = tuple[Partition | None, str, Sequence[str]]
"""A partition, its location, and absolute paths ``<location>/<ACID directory>/<file>``."""


def read_placed(
    spark: SparkSession,
    table: Table,
    schema: str,
    places: Sequence[Place],
    options: Mapping[str, str],
    where: str,
) -> DataFrame:
    """The rows of some ORC files that satisfy ``where``, with typed partition columns."""

    def read(paths: Sequence[str]) -> DataFrame:
        return spark.read.schema(schema).options(**options).orc(list(paths)).where(where)

    if not table.partition_columns:
        return read([path for _, _, paths in places for path in paths])
    homes = [place for place in places if _at_home(table, place)]
    if len(homes) <= _MOST_READS:
        homes = []
    frames = [
        with_partition(read(paths), table, partition)
        for partition, location, paths in places
        if partition is not None and (partition, location, paths) not in homes
    ]
    if homes:
        frames.append(_looked_up(spark, table, read([p for _, _, ps in homes for p in ps]), homes))
    return reduce(DataFrame.unionByName, frames)


def with_partition(rows: DataFrame, table: Table, partition: Partition) -> DataFrame:
    """Add a partition's values as typed columns."""
    return rows.select(
        "*",
        *(
            f.lit(value).cast(spark_type(column.type)).alias(column.name)
            for value, column in zip(partition.values, table.partition_columns, strict=True)
        ),
    )


def _at_home(table: Table, place: Place) -> bool:
    partition, location, _ = place
    assert partition is not None
    return location == f"{table.location}/{partition_name(table.partition_names, partition.values)}"


def _looked_up(
    spark: SparkSession, table: Table, rows: DataFrame, homes: Sequence[Place]
) -> DataFrame:
    depth = len(table.partition_columns)
    # …/<k=v>/…/<ACID directory>/<file>
    tail = f.substring_index(f.col("_metadata.file_path"), "/", -(depth + 2))
    key = f.substring_index(tail, "/", depth)
    known = [
        (_encoded(spark, partition_name(table.partition_names, place[0].values)),
         *place[0].values)
        for place in homes
        if place[0] is not None
    ]  # fmt: skip
    fields = ", ".join(f"`v{i}` string" for i in range(depth))
    values = spark.createDataFrame(known, f"`{_KEY}` string, {fields}").hint("broadcast")
    keyed = rows.withColumn("__key", key)
    joined = keyed.join(values, f.col("__key") == f.col(_KEY), "left")
    # A path that is not found would silently lose its partition: fail instead.
    problem = f.concat(f.lit("no partition for "), f.col("__key"))
    found: Column = f.when(f.col(_KEY).isNull(), f.raise_error(problem).cast("string"))
    typed = [
        found.otherwise(f.col(f"v{i}")).cast(spark_type(column.type)).alias(column.name)
        for i, column in enumerate(table.partition_columns)
    ]
    return joined.select(*(f"`{name}`" for name in rows.columns), *typed)


def _encoded(spark: SparkSession, name: str) -> str:
    """A relative path as it stands in a URI."""
    if all((char.isalnum() and char.isascii()) or char in "=_-./" for char in name):
        return name
    jvm: Any = spark._jvm
    return str(jvm.org.apache.hadoop.fs.Path(f"/{name}").toUri().toString())[1:]
