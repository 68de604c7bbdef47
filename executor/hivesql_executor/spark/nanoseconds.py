"""Timestamps finer than Spark's: Hive keeps nanoseconds, Spark microseconds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from hivesql_executor.flushed import spark_path
from hivesql_executor.spark.events import event_read
from hivesql_executor.spark.footers import read_footers
from hivesql_executor.spark.jvm import know_flushed_files
from hivesql_executor.spark.raw import position_schema
from hivesql_executor.spark.types import spark_type
from hivesql_executor.storage.files import Files
from hivesql_planner.acid.snapshot import DataFile
from hivesql_planner.errors import NotSupported
from hivesql_planner.table import Column, Table

_SPARK = "org.apache.spark.version"
_FINER = r":[0-9]{2}\.[0-9]{7}"


def refuse_nanoseconds(
    spark: SparkSession, table: Table, location: str, data: Sequence[DataFile], *, files: Files
) -> None:
    """NotSupported when one of these files holds a timestamp that Spark would cut.

    Reads only timestamp columns, as text, and only of files that another writer than Spark made.
    """
    timed = {column.name for column in table.columns if "timestamp" in spark_type(column.type)}
    if not timed:
        return
    tails = read_footers(files, [(f"{location}/{file.path}", file.length) for file in data])
    paths_of = {f"{location}/{file.path}": spark_path(location, file) for file in data}
    groups: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    for path, tail in tails.items():
        if tail.rows and _SPARK not in tail.metadata:
            groups.setdefault((tail.row_fields, tail.is_acid), []).append(paths_of[path])
    if any(file.side_file for file in data):
        know_flushed_files(spark)
    for (names, is_acid), paths in groups.items():
        found = _finer(spark, table, timed, names, paths, is_acid=is_acid)
        if found:
            raise NotSupported(
                f"compaction of {table.name}: {found} holds timestamps with nanoseconds, which "
                "would be cut to microseconds. Compact the table in Hive"
            )


def _finer(
    spark: SparkSession,
    table: Table,
    timed: set[str],
    names: tuple[str, ...],
    paths: Sequence[str],
    *,
    is_acid: bool,
) -> str | None:
    """A path of those that hold nanoseconds."""
    texts = tuple(Column(one.name, _as_text(one.type)) for one in table.columns)
    reader = spark.read.option("__globPaths__", "false")
    if is_acid:
        schema, where = event_read(names, [spark_type(column.type) for column in texts])
        rows = reader.schema(schema).orc(list(paths)).where(where)
    else:
        rows = reader.schema(position_schema(table, names, texts)).orc(list(paths))
    inside = "row." if is_acid else ""
    finer = f.lit(False)
    for name, column in zip(names, table.columns, strict=False):
        if column.name in timed:
            text = f.col(f"{inside}`{name}`").cast("string")
            finer = finer | f.coalesce(text.rlike(_FINER), f.lit(False))
    row = rows.where(finer).select("_metadata.file_path").first()
    return str(row[0]) if row else None


def _as_text(hive_type: str) -> str:
    return re.sub(r"\btimestamp\b(?! ?:)", "string", spark_type(hive_type))
