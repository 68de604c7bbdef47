"""Tables without row ids: insert-only ones, and tables that are not transactional."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.spark.placed import with_partition
from hivesql_executor.spark.types import spark_type
from hivesql_executor.storage.files import Files
from hivesql_executor.storage.orc import cached_tail
from hivesql_planner.errors import NotSupported
from hivesql_planner.table import Partition, Table, partition_name

Part = tuple[Partition | None, str, Sequence[tuple[str, int]]]


def scan_plain(
    spark: SparkSession, table: Table, parts: Sequence[Part], *, files: Files
) -> DataFrame:
    """All rows of some directories' files (absolute path and length): data, then partition columns.

    ORC and delimited text by position, Parquet and JSON by name.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    homes: dict[str, Partition | None] = {}
    for partition, location, found in parts:
        base = _base_path(table, partition, location)
        homes[base] = partition
        for path, length in found:
            if length == 0:
                continue
            names = table.column_names
            if table.format == "orc":
                names = cached_tail(files, path, length).row_fields
            groups.setdefault((base, names), []).append(path)
    frames = [
        _rows(spark, table, paths, base, homes[base], names)
        for (base, names), paths in groups.items()
    ]
    if not frames:
        fields = (f"`{c.name}` {spark_type(c.type)}" for c in table.all_columns)
        return spark.createDataFrame([], ", ".join(fields))
    return reduce(DataFrame.union, frames)


def _base_path(table: Table, partition: Partition | None, location: str) -> str:
    """Where Spark's partition discovery starts; ``!…`` for a partition that lives elsewhere."""
    if partition is None:
        return table.location
    name = partition_name(table.partition_names, partition.values)
    return table.location if location == f"{table.location}/{name}" else f"!{location}"


def _read_files(
    spark: SparkSession,
    table: Table,
    schema: str,
    paths: Sequence[str],
    base: str,
    partition: Partition | None,
    file_format: str,
) -> DataFrame:
    """Files with their partition columns, found in the path or given by ``partition``."""
    reader = spark.read.format(file_format)
    if not table.partition_columns:
        return reader.schema(schema).load(list(paths))
    if base.startswith("!"):
        assert partition is not None
        return with_partition(reader.schema(schema).load(list(paths)), table, partition)
    parts = ", ".join(f"`{c.name}` {spark_type(c.type)}" for c in table.partition_columns)
    placed = reader.option("basePath", base).schema(f"{schema}, {parts}")
    return placed.load(list(paths))


def _rows(
    spark: SparkSession,
    table: Table,
    paths: Sequence[str],
    base: str,
    partition: Partition | None,
    names: tuple[str, ...],
) -> DataFrame:
    parts = [f"`{name}`" for name in table.partition_names]
    if table.format == "textfile":
        lines = _read_files(spark, table, "value string", paths, base, partition, "text")
        return lines.select(*_split(table), *parts)
    if table.format not in ("orc", "parquet", "json"):
        raise NotSupported(f"reading {table.format} tables")
    present = table.columns[: len(names)]
    schema = ", ".join(
        f"`{name}` {spark_type(column.type)}" for name, column in zip(names, present, strict=False)
    )
    rows = _read_files(spark, table, schema, paths, base, partition, table.format)
    values = [
        f.col(f"`{names[i]}`").alias(column.name)
        if i < len(names)
        else f.lit(None).cast(spark_type(column.type)).alias(column.name)
        for i, column in enumerate(table.columns)
    ]
    return rows.select(*values, *parts)


def _split(table: Table) -> list[Column]:
    """Hive's LazySimpleSerDe: fields by their delimiter, missing and unreadable ones NULL."""
    serde = table.serde_properties
    separator = serde.get("field.delim", "\x01")
    null = serde.get("serialization.null.format", "\\N")
    fields = f.split(f.col("value"), re.escape(separator), -1)
    columns = []
    for i, column in enumerate(table.columns):
        if column.type.lower().startswith(("array", "map", "struct", "uniontype")):
            raise NotSupported(f"column {column.name} {column.type} in a text table")
        text = f.get(fields, i)
        value = f.when(text != f.lit(null), text)
        columns.append(value.cast(spark_type(column.type)).alias(column.name))
    return columns
