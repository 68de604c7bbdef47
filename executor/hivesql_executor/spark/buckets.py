"""The bucket of a row as a Spark column.

Spark's own Murmur3 takes its words and its tail in another order than Hive's, so hashes are
computed by ``BucketHash.java``; only version 1 of the small integers is an expression of Spark's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.jvm import call_static
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import TIMESTAMPS, Kind
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Change

if TYPE_CHECKING:
    from hivesql_planner.model.table import Column as TableColumn

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
    kind = column.type.kind
    if column.type.is_nested or (kind is Kind.INSTANT and version == 1):
        raise NotSupported(f"CLUSTERED BY a column of type {column.type}")
    if version == 1 and kind in (Kind.TINYINT, Kind.SMALLINT, Kind.INT):
        return f.coalesce(value.cast("int"), f.lit(0))
    typed = column.type.spark
    if kind in TIMESTAMPS:
        typed = "timestamp_ntz"
        value = value.cast(typed)
    # CHAR and VARCHAR hash differently from STRING.
    text_kind = kind.value if column.type.is_text else ""
    untyped: Any = value  # the JVM's column has no public name
    return Column(
        call_static(
            SparkSession.active(), "BucketHash", "hashed", untyped._jc, version, text_kind, typed
        )
    )


_CALL = re.compile(r"\bhive_hash_([12])_([a-z]+)\(")


def register_hashes(spark: SparkSession, texts: Iterable[str]) -> None:
    """Make the session know each ``hive_hash_<version>_<type>`` that is called."""
    own: Any = spark  # no public way to register functions of the JVM that take any type
    for version, kind in {call for text in texts for call in _CALL.findall(text)}:
        name = f"hive_hash_{version}_{kind}"
        call_static(spark, "BucketHash", "register", own._jsparkSession, name, int(version), kind)


def texts_of(change: Change) -> Iterator[str]:
    """Every expression of a change."""
    expressions = [change.on, change.check]
    for branch in change.branches:
        expressions += [branch.condition, *branch.values]
    return (expression.sql for expression in expressions if expression is not None)
