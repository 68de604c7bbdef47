"""Files of an ACID table that hold plain rows: originals, and what LOAD DATA brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.orc.types import spark_type
from hivesql_executor.spark.values import read_value
from hivesql_planner.acid.files_to_read import OriginalFile
from hivesql_planner.acid.row_id import encode_bucket
from hivesql_planner.model.table import Table

_WHOLE_FILE = str(2**60)
_SPLIT_SETTINGS = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")


def position_schema(table: Table, names: Sequence[str]) -> str:
    """Return the Spark schema of a plain ORC file whose columns have these names."""
    types = [spark_type(column.type) for column in table.columns]
    # Spark refuses generated names (_col0, …) unless it is told of all of them.
    types += ["string"] * (len(names) - len(types))
    return ", ".join(f"`{name}` {kind}" for name, kind in zip(names, types, strict=False))


def by_position(table: Table, names: Sequence[str], *, inside: str = "") -> list[Column]:
    """Return the table's data columns from a file's columns of these names; missing ones are NULL.

    ``inside``: the struct that holds the file's columns, with a dot.
    """
    return [
        read_value(f.col(f"{inside}`{names[i]}`"), column.type).alias(column.name)
        if i < len(names)
        else f.lit(None).cast(spark_type(column.type)).alias(column.name)
        for i, column in enumerate(table.columns)
    ]


def original_rows(
    spark: SparkSession,
    table: Table,
    path: str,
    names: Sequence[str],
    original: OriginalFile,
    bucket: int,
) -> DataFrame:
    """Rows of an original file without their numbers (NULL)."""
    reader = spark.read.schema(position_schema(table, names)).option("__globPaths__", "false")
    columns = by_position(table, names)
    return reader.orc(path).select(*columns, *_ids(original, bucket, f.lit(None).cast("bigint")))


def numbered_rows(
    spark: SparkSession,
    table: Table,
    path: str,
    names: Sequence[str],
    original: OriginalFile,
    bucket: int,
    first: int,
) -> DataFrame:
    """Rows of an original file with their numbers, counted from ``first``, as Hive numbers them.

    One task reads the whole file, so that counting its rows gives row numbers. Spark decides on
    splits when it builds the job, from its session's settings: a session made for that keeps them
    away from other queries.
    """
    session: Any = spark._jsparkSession
    unsplit = session.cloneSession()
    for key in _SPLIT_SETTINGS:
        unsplit.conf().set(key, _WHOLE_FILE)
    reader = unsplit.read().schema(position_schema(table, names)).option("__globPaths__", "false")
    number = f.monotonically_increasing_id().bitwiseAND(f.lit(2**33 - 1)) + f.lit(first)
    rows = DataFrame(reader.orc(path), spark)
    frame: Any = rows.select(*by_position(table, names), *_ids(original, bucket, number))._jdf
    built = frame.queryExecution().toRdd()
    built.getNumPartitions()
    return DataFrame(session.internalCreateDataFrame(built, frame.schema(), False), spark)


def _ids(original: OriginalFile, bucket: int, number: Column) -> list[Column]:
    return [
        f.lit(original.write_id).cast("bigint").alias("__write"),
        f.lit(encode_bucket(bucket, original.statement_id)).alias("__bucket"),
        number.alias("__row"),
    ]
