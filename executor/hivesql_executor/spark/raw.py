"""Files of an ACID table that hold plain rows: originals, and what LOAD DATA brought."""

from __future__ import annotations

import threading
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.spark.types import spark_type
from hivesql_planner.acid.row_id import encode_bucket
from hivesql_planner.acid.snapshot import DataFile
from hivesql_planner.table import Table

_WHOLE_FILE = str(2**60)
_SPLIT_SETTINGS = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
_settings = threading.Lock()


def raw_rows(
    spark: SparkSession,
    table: Table,
    path: str,
    names: tuple[str, ...],
    file: DataFile,
    offset: int,
) -> DataFrame:
    """Rows of a raw file, columns by position; the row number is not known (-1)."""
    return _keyed(_plain(spark, table, path, names), table, file, f.lit(-1).cast("bigint"))


def numbered_rows(
    spark: SparkSession,
    table: Table,
    path: str,
    names: tuple[str, ...],
    file: DataFile,
    offset: int,
) -> DataFrame:
    """Rows of a raw file with their numbers, counted from ``offset``, as Hive numbers them."""
    rows = _plain(spark, table, path, names)
    number = f.monotonically_increasing_id().bitwiseAND(f.lit(2**33 - 1)) + f.lit(offset)
    numbered = _keyed(rows, table, file, number)
    return _pinned(spark, numbered)


def _plain(spark: SparkSession, table: Table, path: str, names: tuple[str, ...]) -> DataFrame:
    present = table.columns[: len(names)]
    schema = ", ".join(
        f"`{name}` {spark_type(column.type)}" for name, column in zip(names, present, strict=False)
    )
    rows = spark.read.schema(schema).orc(path)
    return rows.select(
        *(
            f.col(f"`{names[i]}`").alias(column.name)
            if i < len(names)
            else f.lit(None).cast(spark_type(column.type)).alias(column.name)
            for i, column in enumerate(table.columns)
        )
    )


def _keyed(rows: DataFrame, table: Table, file: DataFile, number: Any) -> DataFrame:
    assert file.raw is not None
    write_id = f.lit(file.raw.write_id).cast("bigint")
    bucket = encode_bucket(file.bucket, file.raw.statement_id)
    return rows.select(
        write_id.alias("originalTransaction"),
        f.lit(bucket).alias("bucket"),
        number.alias("rowId"),
        write_id.alias("currentTransaction"),
        *(f"`{name}`" for name in table.column_names),
    )


def _pinned(spark: SparkSession, rows: DataFrame) -> DataFrame:
    """Fix how the file is split: one task reads it all, so that counting rows gives row numbers.

    Spark decides on splits when it builds the job, from session settings; building it here, under
    these settings, and wrapping the result keeps later changes away.
    """
    session: Any = spark._jsparkSession
    with _settings:
        before = {key: spark.conf.get(key, None) for key in _SPLIT_SETTINGS}
        try:
            for key in _SPLIT_SETTINGS:
                spark.conf.set(key, _WHOLE_FILE)
            execution = rows._jdf.queryExecution()
            built = execution.toRdd()
            built.getNumPartitions()
        finally:
            for key, value in before.items():
                if value is None:
                    spark.conf.unset(key)
                else:
                    spark.conf.set(key, value)
    pinned = session.internalCreateDataFrame(built, rows._jdf.schema(), False)
    return DataFrame(pinned, spark)
