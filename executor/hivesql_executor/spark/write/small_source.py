"""What is wanted of a MERGE's source of few rows, computed by Spark and brought here."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import IntegralType

from hivesql_executor.jvm import gateway
from hivesql_executor.local.read import OnlySpark
from hivesql_executor.local.types import arrow_type
from hivesql_executor.runtime import Runtime
from hivesql_executor.spark.buckets import texts_of
from hivesql_executor.spark.functions import register_called
from hivesql_executor.spark.lines import collect_arrow
from hivesql_executor.spark.scan.nanoseconds import nanosecond_rows_of
from hivesql_executor.spark.scan.sources import as_user_errors
from hivesql_executor.spark.shapes import change_each, columns_named, select
from hivesql_executor.spark.values import as_wall_clock, partition_text, stored_value
from hivesql_executor.tracing import span
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.few_rows import SmallMerge
from hivesql_planner.local.decide import MOST_ROWS
from hivesql_planner.model.hive_type import INTEGERS
from hivesql_planner.plan import Change

_ROW_BYTES = 400
"""What a row of a source is taken for where nobody knows how many there are."""

_MOST_TASKS = 4096
"""With this between, a LIMIT does not go into the parts of a UNION: Spark numbers those that it
generates code for, and compiles each statement's anew."""


def items_by_spark(
    change: Change, merge: SmallMerge, txn: Transaction, runtime: Runtime
) -> list[pa.Array]:
    """Return the items of all rows of the source.

    OnlySpark where it is made of much, has more rows than are worth it, or gives each time
    something else: of rows that two branches see, both must see the same.
    """
    register_called(runtime.spark(), texts_of(change))
    source = nanosecond_rows_of(merge.source, txn, runtime)
    if source.nanoseconds:
        raise OnlySpark
    names = [f"c{i}" for i in range(len(merge.items))]
    values = change_each(
        columns_named(names, names),
        [(item.type, item.is_partition) for item in merge.items],
        lambda value, kind: (partition_text if kind[1] else stored_value)(value, kind[0]),
    )
    texts = [f"({item.sql}) AS {name}" for item, name in zip(merge.items, names, strict=True)]
    with as_user_errors():
        named = source.rows.alias(change.source_alias or "")
        _check_types(merge, named)
        wanted = select(named, texts, values)
        rows = as_wall_clock(wanted)
        _check_size(merge, rows)
        if not rows._jdf.queryExecution().analyzed().deterministic():
            raise OnlySpark
        with span("jobs"):
            table = collect_arrow(rows.coalesce(_MOST_TASKS).limit(merge.most_rows + 1))
    if len(table) > merge.most_rows:
        raise OnlySpark
    kinds = [pa.string() if item.is_partition else arrow_type(item.type) for item in merge.items]
    return [
        column.cast(kind).combine_chunks()
        for column, kind in zip(table.columns, kinds, strict=True)
    ]


def _check_size(merge: SmallMerge, rows: DataFrame) -> None:
    """OnlySpark where a source is likely to have many rows, and would be computed in vain."""
    spark = gateway(rows.sparkSession)
    most = merge.most_bytes if merge.by_any else merge.most_rows * _ROW_BYTES
    if spark.bytesRead(rows._jdf) <= min(most, merge.most_bytes):
        return
    # Of what is filtered few may be left, and to look costs less than a join that Spark plans.
    if spark.rowsFiltered(rows._jdf) > MOST_ROWS:
        raise OnlySpark


def _check_types(merge: SmallMerge, source: DataFrame) -> None:
    """OnlySpark where a key is of another type than its column, so that Spark casts both."""
    unknown = [item for item in merge.items if item.is_unknown]
    if not unknown:
        return
    fields = source.select(*(f.expr(item.sql) for item in unknown)).schema.fields
    for item, field in zip(unknown, fields, strict=True):
        is_whole = item.type.kind in INTEGERS and isinstance(field.dataType, IntegralType)
        if not is_whole and field.dataType.simpleString() != item.type.spark:
            raise OnlySpark
