"""The bucket of a row as a Spark column.

Spark's own Murmur3 takes its words and its tail in another order than Hive's, so hashes are
computed by a vectorised Arrow function; only version 1 of the small integers is an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.functions import arrow_udf

from hivesql_executor.orc import bucket_hash as hashing
from hivesql_executor.orc import nested_bucket_hash as nested_hashing
from hivesql_executor.orc.types import is_nested, spark_type
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Change

if TYPE_CHECKING:
    from hivesql_planner.model.table import Column as TableColumn

# Workers of a cluster need not have this package installed.
cloudpickle.register_pickle_by_value(hashing)  # type: ignore[no-untyped-call]
cloudpickle.register_pickle_by_value(nested_hashing)  # type: ignore[no-untyped-call]

_WORD = 0xFFFFFFFF


def bucket_column(table: Table, values: Sequence[Column]) -> Column:
    """Hive's bucket number (int) of a row; ``values`` are the table's data columns in order.

    NotSupported for bucket columns whose hash this release does not know.
    """
    by_name = dict(zip(table.column_names, zip(table.columns, values, strict=True), strict=True))
    total = f.lit(0).cast("bigint")
    for name in table.bucket_columns:
        column, value = by_name[name]
        hashed = _hashed(value, column, table.bucketing_version).cast("bigint")
        # 32-bit arithmetic in 64 bits: it wraps around like Java's, in ANSI mode too.
        total = (total * f.lit(31) + hashed).bitwiseAND(f.lit(_WORD))
    positive = total.bitwiseAND(f.lit(_WORD >> 1))
    return (positive % f.lit(table.bucket_count)).cast("int")


def _hashed(value: Column, column: TableColumn, version: int) -> Column:
    kind = column.type.lower()
    typed = spark_type(kind)
    instant = typed == "timestamp" and kind != "timestamp"
    if is_nested(kind) or (instant and version == 1):
        raise NotSupported(f"CLUSTERED BY a column of type {column.type}")
    if version == 1 and typed in ("tinyint", "smallint", "int"):
        return f.coalesce(value.cast("int"), f.lit(0))
    if typed == "timestamp":
        value = value.cast("timestamp_ntz")
    # CHAR and VARCHAR hash differently from STRING, so they keep their Hive type.
    known = typed if typed != "string" else kind
    return f.coalesce(hash_function(known, version)(value), f.lit(0))


def hash_function(kind: str, version: int) -> Any:
    """Return the hash of a value of a Hive type, as a function of Spark that takes columns.

    ``nested`` is any type without CHAR and VARCHAR.
    """
    return arrow_udf(_hasher(kind, version), "int")  # type: ignore[call-overload]


def _hasher(kind: str, version: int) -> Callable[[pa.Array], pa.Array]:
    # A closure without annotations of its own: Spark reads the types of the function it is given.
    def hash_values(array: pa.Array) -> pa.Array:
        if kind == "nested":
            return pa.array(nested_hashing.hash_nested(array, version), pa.int32())
        return pa.array(hashing.hash_array(array, kind, version), pa.int32())

    return hash_values


_CALL = re.compile(r"\bhive_hash_([12])_([a-z]+)\(")


def register_hashes(spark: SparkSession, texts: Iterable[str]) -> None:
    """Make the session know each ``hive_hash_<version>_<type>`` that is called."""
    for version, kind in {call for text in texts for call in _CALL.findall(text)}:
        spark.udf.register(f"hive_hash_{version}_{kind}", hash_function(kind, int(version)))


def texts_of(change: Change) -> Iterator[str]:
    """Every expression of a change."""
    given = [change.on, change.check]
    for branch in change.branches:
        given += [branch.condition, *branch.values]
    return (one.sql for one in given if one is not None)
