"""Rows that a caller holds in Spark, Arrow or pandas, as a DataFrame that statements can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from hivesql_executor.orc.types import hive_type
from hivesql_executor.spark.lines import frame_of
from hivesql_executor.spark.steps import query_over
from hivesql_executor.spark.values import retyped
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.table import Column

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Frame = Any
"""A Spark DataFrame, an Arrow table or record batch, or a pandas DataFrame."""


def import_frame(frame: Frame, spark: SparkSession) -> DataFrame:
    """Return the same rows in a session of our own: lower-case names, Hive's kind of timestamps.

    A timestamp without a zone is taken as it is, one with a zone as the wall clock of UTC.
    SemanticError 10036 for two columns of one name, NotSupported for what is no frame.
    """
    rows = _in_spark(frame, spark)
    names = [name.lower() for name in rows.columns]
    for name in names:
        if names.count(name) > 1:
            raise SemanticError(f"Duplicate column name {name} in the frame", code=10036)
    numbered = rows.toDF(*(f"c{i}" for i in range(len(names))))
    # Hive's timestamps, which have no zone, are Spark's TIMESTAMP here.
    kinds = [
        retyped(field.dataType, t.TimestampNTZType(), t.TimestampType())
        for field in rows.schema.fields
    ]
    return numbered.select(
        *(f.col(f"c{i}").cast(kind).alias(names[i]) for i, kind in enumerate(kinds))
    )


def columns_of(rows: DataFrame) -> tuple[Column, ...]:
    """Return the columns with Hive's names of their types."""
    fields = rows.schema.fields
    return tuple(Column(field.name, hive_type(field.dataType.simpleString())) for field in fields)


def _in_spark(frame: Frame, spark: SparkSession) -> DataFrame:
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}"
    if kind.startswith("pyspark.sql.connect."):
        raise NotSupported("DataFrames of Spark Connect")
    if isinstance(frame, DataFrame):
        # As it was analysed there: of a view, Spark 4.3 looks tables up again by our settings.
        return query_over(spark, "SELECT * FROM `frame`", {"frame": frame})
    if kind.startswith("pandas."):
        return _of_pandas(frame, spark)
    if kind in ("pyarrow.lib.Table", "pyarrow.lib.RecordBatch"):
        return _of_arrow(frame, spark)
    raise NotSupported(
        f"rows in a {kind}: give a DataFrame of Spark or pandas, or a table of Arrow"
    )


def _of_pandas(frame: pd.DataFrame, spark: SparkSession) -> DataFrame:
    import pyarrow as pa

    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SemanticError(f"the pandas DataFrame has values of mixed types: {error}") from error
    return _of_arrow(table, spark)


def _of_arrow(arrow: pa.Table | pa.RecordBatch, spark: SparkSession) -> DataFrame:
    import pyarrow as pa

    table = pa.Table.from_batches([arrow]) if isinstance(arrow, pa.RecordBatch) else arrow
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table.column(i).cast(field.type.value_type)
            table = table.set_column(i, field.name, plain)
        elif pa.types.is_timestamp(field.type) and field.type.unit != "us":
            # Spark has microseconds; finer times are cut, as they are everywhere here.
            exact = pa.timestamp("us", field.type.tz)
            table = table.set_column(i, field.name, table.column(i).cast(exact, safe=False))
    return frame_of(table, spark)
