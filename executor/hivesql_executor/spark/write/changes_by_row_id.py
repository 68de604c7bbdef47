"""Changes of rows that somebody else has found already: plain Spark, for its own statements."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from hivesql_executor.spark.buckets import bucket_column
from hivesql_executor.spark.nanoseconds.changes import Texts
from hivesql_executor.spark.nanoseconds.columns import nanosecond_column
from hivesql_executor.spark.scan.partition_columns import text_column, text_columns
from hivesql_executor.spark.values import partition_value, read_value
from hivesql_executor.spark.write.write import OLD_WRITER
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import Kind, quote_name
from hivesql_planner.model.table import DEFAULT_PARTITION, Table, default_value
from hivesql_planner.plan import Change

ROW_ID, PARTITION = "row__id", "row__partition"
"""Columns of the source: the id of the row to change (NULL for a new one), and the texts of its
partition's values."""
IS_UPDATE = "row__is__updated"
"""A column of the source that tells updates from deletes."""
_MOVED = "Updating values of partition columns is not supported"
_REHASHED = "Updating values of bucketing columns is not supported"


def rows_by_row_id(change: Change, source: DataFrame) -> DataFrame:
    """Return the source's rows as those of a join: a struct for the old row, one for the new.

    The job fails at a row that would change its partition or its bucket.
    """
    table = change.target.table
    old = [f.col(ROW_ID).alias(ROW_ID)]
    old += [f.get(PARTITION, i).alias(text_column(i)) for i in range(len(table.partition_columns))]
    # Nobody may assign to these, and they are the same.
    old += [f.col(quote_name(name)) for name in table.bucket_columns]
    return _checked(table, source).select(
        f.struct(*old).alias(change.target_alias),
        f.struct(*(f.col(quote_name(name)) for name in source.columns)).alias(
            change.source_alias or ""
        ),
    )


def with_old_texts(change: Change, source: DataFrame, target: DataFrame) -> tuple[DataFrame, Texts]:
    """Return the source with the texts of times that stay as they were, and where these are.

    Spark cuts times to microseconds when it reads them. A column that has still the time of the old
    row was not assigned, and keeps what the old row has of it. ``target`` has the table's columns
    of nanoseconds; without any the source is returned as it is.
    """
    table = change.target.table
    texts = {
        column.name: nanosecond_column(i)
        for i, column in enumerate(table.columns)
        if nanosecond_column(i) in target.columns and not column.type.holds(Kind.MAP)
    }
    if not texts:
        return source, {}
    keys = [f.col(quote_name(name)) for name in text_columns(table)]
    old = target.select(
        f.struct(ROW_ID, f.array(*keys).cast("array<string>")).alias("old_place"),
        f.struct(*(f.col(quote_name(name)) for name in texts)).alias("old"),
        f.struct(*(f.col(quote_name(text)) for text in texts.values())).alias("old_texts"),
    )
    # As one key: of two, Spark would take that of the partition for one to prune files by.
    is_old = f.struct(ROW_ID, PARTITION) == f.col("old_place")
    stays = {
        text: f.when(
            f.col(quote_name(name)).eqNullSafe(f.col(f"old.{quote_name(name)}")),
            f.col(f"old_texts.{quote_name(text)}"),
        )
        for name, text in texts.items()
    }
    joined = source.join(old, is_old, "left")
    kinds = {column.name: column.type.spark for column in table.columns}
    return (
        joined.select(*(f.col(quote_name(name)) for name in source.columns),
                      *(column.alias(text) for text, column in stays.items())),
        {name: (kinds[name], text) for name, text in texts.items()},
    )  # fmt: skip


def _checked(table: Table, source: DataFrame) -> DataFrame:
    wrong = [
        f.when(~_same_partition(table, i), f.lit(f"{_MOVED}: {column.name}"))
        for i, column in enumerate(table.partition_columns)
    ]
    if table.is_bucketed:
        new = bucket_column(table, [f.col(quote_name(name)) for name in table.column_names])
        names = ", ".join(table.bucket_columns)
        moved = new.cast("int") != f.expr(OLD_WRITER)
        wrong.append(f.when(moved, f.lit(f"{_REHASHED}: {names}")))
    if not wrong:
        return source
    is_update = f.col(ROW_ID).isNotNull() & f.col(IS_UPDATE)
    problem = f.coalesce(*wrong)
    return source.where(
        f.when(is_update & problem.isNotNull(), f.raise_error(problem).cast("boolean")).otherwise(
            f.lit(True)
        )
    )


def _same_partition(table: Table, number: int) -> Column:
    column = table.partition_columns[number]
    text = f.get(PARTITION, number)
    is_text = default_value(column.type) is not None
    old = text if is_text else f.nullif(text, f.lit(DEFAULT_PARTITION))
    new = f.col(quote_name(column.name)).cast(column.type.spark)
    return partition_value(old, column.type).eqNullSafe(read_value(new, column.type))


def moved_row(error: Exception) -> SemanticError | None:
    """Return the user's error, when that is what made the job fail, else None."""
    for text, code in ((_MOVED, 10292), (_REHASHED, 10302)):
        start = str(error).find(text)
        if start >= 0:
            line = str(error)[start:].splitlines()[0]
            return SemanticError(line.partition("'")[0].partition(" SQLSTATE")[0], code=code)
    return None
