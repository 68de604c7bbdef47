"""The bucket of a row as a Spark column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql.functions import arrow_udf

from hivesql_executor.spark import hashing
from hivesql_planner.errors import NotSupported
from hivesql_planner.table import Table

if TYPE_CHECKING:
    from hivesql_planner.table import Column as TableColumn

# Workers of a cluster need not have this package installed.
cloudpickle.register_pickle_by_value(hashing)

_NESTED = ("array", "map", "struct", "uniontype")


def bucket_column(table: Table, values: Sequence[Column]) -> Column:
    """Hive's bucket number (int) of a row; ``values`` are the table's data columns in order."""
    by_name = dict(zip(table.column_names, zip(table.columns, values, strict=True), strict=True))
    total: Column | None = None
    for name in table.bucket_columns:
        column, value = by_name[name]
        hashed = _hashed(value, column, table.bucketing_version)
        # Non-ANSI arithmetic wraps around like Java's.
        total = hashed if total is None else (total * f.lit(31) + hashed).cast("int")
    assert total is not None
    positive = total.bitwiseAND(f.lit(0x7FFFFFFF))
    return (positive % f.lit(table.bucket_count)).cast("int")


def _hashed(value: Column, column: TableColumn, version: int) -> Column:
    kind = column.type.lower()
    if kind.startswith(_NESTED):
        raise NotSupported(f"CLUSTERED BY a column of type {column.type}")
    if version == 1 and kind in ("tinyint", "smallint", "int"):
        return f.coalesce(value.cast("int"), f.lit(0))
    if kind == "timestamp":
        value = value.cast("timestamp_ntz")
    hash_udf = arrow_udf(_hasher(kind, version), "int")
    return f.coalesce(hash_udf(value), f.lit(0))


def _hasher(kind: str, version: int) -> Callable[[pa.Array], pa.Array]:
    # A closure without annotations of its own: Spark reads the types of the function it is given.
    def hash_values(array: pa.Array) -> pa.Array:
        return pa.array(hashing.hash_array(array, kind, version), pa.int32())

    return hash_values


