"""Rows of ``sys`` and ``information_schema`` as a frame of Spark's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from hivesql_executor.local.types import arrow_type
from hivesql_executor.spark.lines import frame_of
from hivesql_planner.model.table import Table


def arrow_rows(table: Table, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Return rows in the columns of a table."""
    columns = list(zip(*rows, strict=True)) or [()] * len(table.columns)
    arrays = [
        pa.array(values, arrow_type(column.type))
        for column, values in zip(table.columns, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=list(table.column_names))


def system_frame(table: Table, rows: Sequence[Sequence[Any]], spark: SparkSession) -> DataFrame:
    """Return the rows as a relation that Spark holds itself."""
    return frame_of(arrow_rows(table, rows), spark)
