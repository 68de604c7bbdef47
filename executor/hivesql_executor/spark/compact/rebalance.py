"""REBALANCE: all rows numbered anew and spread over files of one size."""

from __future__ import annotations

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.spark.compact.shuffle import live_rows, write_buckets
from hivesql_executor.spark.compact.z_order import Z_VALUE, with_z_value
from hivesql_executor.spark.nanoseconds.columns import TEXTS
from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.layout import AcidDirectory
from hivesql_planner.acid.row_id import MAX_BUCKET
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.compaction.queue import Compaction
from hivesql_planner.compaction.request import OrderKey, parse_order
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table
from hivesql_planner.plan import WriteKind

_ROW_ID = ("row__id.writeid", "row__id.bucketid", "row__id.rowid")
_NUMBER_IN_TASK = "monotonically_increasing_id() & 8589934591L"


def rebalance(
    spark: SparkSession,
    table: Table,
    location: str,
    state: AcidState,
    *,
    result: AcidDirectory,
    visible: ValidWriteIdList,
    files: Files,
    request: Compaction,
) -> None:
    """Write all live rows into a new base of ``bucket_count`` files; every row gets a new id.

    Without a count there are as many files as before. Rows keep the write that made them, unless
    the request has an order to sort them by: then all get the newest one.
    """
    order = parse_order(request.order or "")
    chosen = files_to_read(state, visible).data
    count = request.bucket_count or len({file.bucket for file in chosen}) or 1
    if count > MAX_BUCKET + 1:
        raise SemanticError(f"{count} buckets: there can be at most {MAX_BUCKET + 1}")
    rows = live_rows(spark, table, location, state, visible, files)
    if order and order[0].in_z_order:
        rows, keys = with_z_value(rows, table, [key.column for key in order]), [f.col(Z_VALUE)]
    else:
        keys = [_sort_key(key) for key in order]
    ordered = rows.sort(*keys, *map(f.col, _ROW_ID))
    # Kept: a second run of the sort might cut the rows into tasks at other places.
    numbered = ordered.select(
        "*", f.spark_partition_id().alias("task"), f.expr(_NUMBER_IN_TASK).alias("place")
    ).persist(StorageLevel.DISK_ONLY)
    try:
        events = _events(numbered, count, by_newest=bool(order))
        write_buckets(events, table, location, result, WriteKind.BASE, files)
    finally:
        numbered.unpersist()


def _sort_key(key: OrderKey) -> Column:
    column = f.col(f"row.{quote_name(key.column)}")
    if key.descending:
        return column.desc_nulls_first() if key.puts_nulls_first else column.desc_nulls_last()
    return column.asc_nulls_first() if key.puts_nulls_first else column.asc_nulls_last()


def _events(numbered: DataFrame, count: int, *, by_newest: bool) -> DataFrame:
    tasks = numbered.groupBy("task").agg(f.count("*"), f.max("row__id.writeid")).collect()
    offsets, total, newest = [0], 0, 0
    for task, rows, write_id in sorted(tuple(row) for row in tasks):
        offsets += [total] * (task + 1 - len(offsets))
        offsets[task] = total
        total, newest = total + rows, max(newest, write_id)
    starts = f.array(*(f.lit(offset).cast("bigint") for offset in offsets))
    number = f.get(starts, f.col("task")) + f.col("place")
    size = max(1, -(-total // count))
    placed = numbered.withColumn("number", number)
    placed = placed.withColumn("n", f.expr(f"number div {size}L").cast("int"))
    write_id = f.lit(newest).cast("bigint") if by_newest else f.col("row__id.writeid")
    nanoseconds = [TEXTS] if TEXTS in numbered.columns else []
    bucket = f.lit(1 << 29).bitwiseOR(f.shiftleft("n", 16))
    return (
        placed.repartition("n")
        .sortWithinPartitions("n", "number")
        .select(
            f.struct(
                write_id.alias("writeid"),
                bucket.cast("int").alias("bucketid"),
                f.col("number").alias("rowid"),
            ).alias("row__id"),
            write_id.alias("by"),
            "row",
            *nanoseconds,
            "n",
        )
    )
