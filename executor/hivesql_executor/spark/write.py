"""Rows into ACID directories: one Spark job into a staging directory, then published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from hivesql_executor.failpoints import FailPoint, reach
from hivesql_executor.spark.buckets import bucket_column
from hivesql_executor.spark.checks import held
from hivesql_executor.spark.publish import Publication, WrittenFile, publish
from hivesql_executor.spark.values import partition_text, stored_row, stored_value, text_line
from hivesql_executor.storage.files import Files
from hivesql_planner.acid.layout import DELETE_EVENT, INSERT_EVENT
from hivesql_planner.acid.row_id import MAX_BUCKET
from hivesql_planner.errors import NotSupported
from hivesql_planner.plan import Expr, Write, WriteKind
from hivesql_planner.table import DEFAULT_PARTITION, Table

__all__ = ["WrittenFile", "partition_text", "write_change", "write_insert"]

_NUMBER_IN_TASK = "monotonically_increasing_id() & 8589934591L"
"""Spark puts the task into the upper bits; the lower 33 count its rows."""
_WRITER = "shiftrightunsigned(row__id.bucketid, 16) & 4095"
BUCKET_OF_ROW_ID = f"if(shiftrightunsigned(row__id.bucketid, 29) = 0, row__id.bucketid, {_WRITER})"
_ORC_SIZES = ("orc.stripe.size", "orc.row.index.stride", "orc.compress.size")
# Beside a plain table's own columns: no column of Hive has a colon in its name.
_PLAIN_KEY = "partition:{}"


def write_insert(
    rows: DataFrame,
    write: Write,
    *,
    write_id: int,
    static_partition: Mapping[str, str | None],
    dynamic_partition: Sequence[str],
    files: Files,
    staging: str,
    locations: Mapping[str, str],
    check: Expr | None = None,
) -> tuple[WrittenFile, ...]:
    """Write a query's rows into one directory per partition.

    ``rows`` has the data columns in the table's order, then the dynamic partition columns; types
    are cast by position. ``locations`` has the directories of partitions that do not live under
    their table. Nothing is visible before the transaction commits; staging is always removed.
    """
    table = write.table
    types = {column.name: column.type for column in table.all_columns}
    named = rows.toDF(*(f"c{i}" for i in range(len(rows.columns))))
    values = [
        stored_value(f.col(f"c{i}"), column.type).alias(column.name)
        for i, column in enumerate(table.columns)
    ]
    if check is not None:
        named = held(named.select("*", f.struct(*values).alias("row")), check).drop("row")
    parts = [
        partition_text(f.col(f"c{len(values) + i}"), types[name])
        for i, name in enumerate(dynamic_partition)
    ]
    if table.is_full_acid:
        staged, keys = _insert_events(named, write, write_id, values, parts)
        staged_format, options = "orc", orc_options(table)
    else:
        staged, keys = _plain_rows(named, table, values, parts)
        staged_format, options = _plain_format(table)
    publication = Publication(
        writes=(write,),
        write_id=write_id,
        staging=staging,
        static_partition=dict(static_partition),
        dynamic_partition=tuple(dynamic_partition),
        locations=dict(locations),
    )
    return _run(
        staged,
        keys,
        staged_format=staged_format,
        options=options,
        publication=publication,
        files=files,
    )


def _plain_rows(
    named: DataFrame, table: Table, values: list[Column], parts: list[Column]
) -> tuple[DataFrame, list[str]]:
    """Rows of a table without row ids, and the staging keys."""
    if table.is_bucketed:
        raise NotSupported("writing a bucketed table that is not full ACID")
    keys = [_PLAIN_KEY.format(i) for i in range(len(parts))]
    placed = [part.alias(key) for part, key in zip(parts, keys, strict=True)]
    rows = named.select(*values, *placed)
    if table.format == "textfile":
        rows = rows.select(text_line(table).alias("value"), *(f"`{key}`" for key in keys))
    return rows, keys


def _insert_events(
    named: DataFrame, write: Write, write_id: int, values: list[Column], parts: list[Column]
) -> tuple[DataFrame, list[str]]:
    """Insert events, and the staging keys. Only bucketed tables are shuffled."""
    table = write.table
    keys = [f"p{i}" for i in range(len(parts))]
    placed = [part.alias(key) for part, key in zip(parts, keys, strict=True)]
    rows = named.select(f.struct(*values).alias("row"), *placed)
    if table.is_bucketed:
        columns = [f.col("row")[name] for name in table.column_names]
        rows = rows.withColumn("n", bucket_column(table, columns))
        rows = rows.repartition(table.bucket_count, "n")
        rows = rows.sortWithinPartitions("n", *keys)
        order = Window.partitionBy("n", *keys).orderBy(f.lit(1))
        row_id = (f.row_number().over(order) - 1).cast("bigint")
        keys = ["n", *keys]
        return _event_frame(rows, write, write_id, keys, writer=f.col("n"), row_id=row_id)
    # A writer number has twelve bits.
    rows = rows.coalesce(MAX_BUCKET + 1)
    if keys:
        rows = rows.sortWithinPartitions(*keys)
    row_id = f.expr(_NUMBER_IN_TASK)
    writer = f.spark_partition_id()
    return _event_frame(rows, write, write_id, keys, writer=writer, row_id=row_id)


def _event_frame(
    rows: DataFrame,
    write: Write,
    write_id: int,
    keys: list[str],
    *,
    writer: Column,
    row_id: Column,
) -> tuple[DataFrame, list[str]]:
    bucket = f.lit(1 << 29 | write.statement_id).bitwiseOR(f.shiftleft(writer, 16))
    events = rows.select(
        f.lit(INSERT_EVENT).alias("operation"),
        f.lit(write_id).cast("bigint").alias("originalTransaction"),
        bucket.cast("int").alias("bucket"),
        row_id.alias("rowId"),
        f.lit(write_id).cast("bigint").alias("currentTransaction"),
        "row",
        *keys,
    )
    return events, keys


def write_change(
    events: DataFrame,
    writes: tuple[Write, ...],
    *,
    write_id: int,
    files: Files,
    staging: str,
    locations: Mapping[str, str],
) -> tuple[WrittenFile, ...]:
    """Write delete and insert events in one job.

    ``events`` has ``branch`` (an index into ``writes``), ``row__id`` of the old row (NULL for a new
    one), ``row`` (NULL for a delete) and the partition value texts ``p0…``. Delete events land in
    the bucket file of the row they delete, sorted by row id, as Hive's readers rely on.
    """
    table = writes[0].table
    keys = [f"p{i}" for i in range(len(table.partition_columns))]
    stored = events.withColumn("row", stored_row(table, "row"))
    for key in keys:
        # Spark sorts again, and loses the order of rows, when a partition text may be NULL.
        stored = stored.withColumn(key, f.coalesce(f.col(key), f.lit(DEFAULT_PARTITION)))
    rows = stored.withColumn("n", _writer_of(table, stored))
    rows = rows.repartition(*keys, "n")
    ids = [f.col(f"row__id.{part}") for part in ("writeid", "bucketid", "rowid")]
    ordered = rows.sortWithinPartitions("branch", "n", *keys, *ids)
    in_file = Window.partitionBy("branch", "n", *keys).orderBy(*ids)
    number = (f.row_number().over(in_file) - 1).cast("bigint")
    deletes = [i for i, write in enumerate(writes) if write.kind is WriteKind.DELETE_DELTA]
    is_delete = f.col("branch").isin(deletes) if deletes else f.lit(False)
    statements = f.lit(0)
    for i, write in enumerate(writes):
        statements = f.when(f.col("branch") == i, f.lit(write.statement_id)).otherwise(statements)
    bucket = f.lit(1 << 29).bitwiseOR(f.shiftleft("n", 16)).bitwiseOR(statements)
    staged = ordered.withColumn("number", number).select(
        f.when(is_delete, DELETE_EVENT).otherwise(INSERT_EVENT).alias("operation"),
        f.when(is_delete, ids[0]).otherwise(f.lit(write_id)).cast("bigint")
        .alias("originalTransaction"),
        f.when(is_delete, ids[1]).otherwise(bucket).cast("int").alias("bucket"),
        f.when(is_delete, ids[2]).otherwise(f.col("number")).alias("rowId"),
        f.lit(write_id).cast("bigint").alias("currentTransaction"),
        "row", "branch", "n", *keys,
    )  # fmt: skip
    publication = Publication(
        writes=writes,
        write_id=write_id,
        staging=staging,
        static_partition={},
        dynamic_partition=table.partition_names,
        locations=dict(locations),
    )
    return _run(
        staged,
        ["branch", "n", *keys],
        staged_format="orc",
        options=orc_options(table),
        publication=publication,
        files=files,
    )


def _writer_of(table: Table, events: DataFrame) -> Column:
    """Writer number of an event: that of the old row, else by hash."""
    if table.is_bucketed:
        fresh = bucket_column(table, [f.col("row")[name] for name in table.column_names])
    else:
        spread = [f.col("row")[c.name] for c in table.columns if "map" not in c.type.lower()]
        count = events.sparkSession.sparkContext.defaultParallelism
        hashed = f.xxhash64(*spread) if spread else f.lit(0)
        fresh = f.pmod(hashed, f.lit(min(count, MAX_BUCKET + 1)))
    old = f.expr(BUCKET_OF_ROW_ID)
    return f.when(f.col("row__id").isNotNull(), old).otherwise(fresh).cast("int")


def _run(
    staged: DataFrame,
    keys: list[str],
    *,
    staged_format: str,
    options: Mapping[str, str],
    publication: Publication,
    files: Files,
) -> tuple[WrittenFile, ...]:
    try:
        # One file per task: two would claim one bucket.
        writer = staged.write.options(**options).option("maxRecordsPerFile", 0)
        if keys:
            writer = writer.partitionBy(*keys)
        writer.format(staged_format).save(publication.staging)
        if _needs_an_empty_file(publication) and not files.list(publication.staging):
            empty = staged.where("false").drop(*keys).write.options(**options)
            empty.format(staged_format).mode("append").save(publication.staging)
        reach(FailPoint.ROWS_STAGED)
        published = publish(publication, files)
        reach(FailPoint.ROWS_PUBLISHED)
        return published
    finally:
        files.delete(publication.staging)


def _needs_an_empty_file(publication: Publication) -> bool:
    """Whether no rows are something to publish: an overwrite of one known directory."""
    (write, *_) = publication.writes
    return write.kind is WriteKind.BASE and not publication.dynamic_partition


def orc_options(table: Table) -> dict[str, str]:
    """Spark's options for the table's ORC properties."""
    codec = table.properties.get("orc.compress", "ZLIB").lower()
    sizes = {key: table.properties[key] for key in _ORC_SIZES if key in table.properties}
    return {"compression": codec, **sizes}


def _plain_format(table: Table) -> tuple[str, dict[str, str]]:
    match table.format:
        case "orc":
            return "orc", orc_options(table)
        case "parquet" | "json":
            return table.format, {}
        case "textfile":
            return "text", {}
        case other:
            raise NotSupported(f"writing {other} tables")
