"""ACID events into ORC files, straight from Spark's rows.

Spark's own writer makes nested objects of each row, and leaves the footer's entries to be added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import unquote_plus

from py4j.java_collections import ListConverter
from pyspark.sql import DataFrame, SparkSession

from hivesql_executor.event_file import EventFile
from hivesql_executor.spark.jvm import java_class, new_object
from hivesql_executor.spark.types import orc_type
from hivesql_planner.plan import Write, WriteKind
from hivesql_planner.table import Table

_LISTS = ("statements", "deletes")
_SIZES = ("orc.stripe.size", "orc.row.index.stride", "orc.compress.size")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventColumns:
    """Where a frame has what an event is made of, as positions; None for what it has not.

    Without ``branch`` all rows are inserts of the first write. Without ``writer`` the task's number
    is the writer's. ``row_id`` is the first of three columns: write id, bucket and row id of the
    row to delete. With ``by``, the write of each event, inserts too have the ids that are given;
    without it they are numbered, and all events are of one write. Without ``row``, the table's
    columns are the frame's first. ``fine`` is a struct of texts that are written in the place of
    the columns of their names (see ``nanoseconds``). ``keys``, the texts of partition values, are
    all columns from there on.
    """

    branch: int | None = None
    writer: int | None = None
    row_id: int | None = None
    by: int | None = None
    row: int | None = None
    fine: int | None = None
    keys: int | None = None


def write_events(
    rows: DataFrame,
    columns: EventColumns,
    writes: tuple[Write, ...],
    *,
    write_id: int,
    directory: str,
    even_empty: bool = False,
) -> tuple[EventFile, ...]:
    """One Spark job: files of events in a directory, each task's in the order of its rows.

    Rows of one file must come together. What a failed attempt of a task leaves there is not told.
    ``even_empty`` gives a file without rows where there are none; only for columns without ``row``.
    """
    spark = rows.sparkSession

    def writer(columns: EventColumns, *, even_empty: bool) -> Any:
        plan = _plan(spark, columns, writes, write_id, directory) | {"even empty": even_empty}
        return _writer(spark, plan, rows._jdf.schema(), writes[0].table)

    query = rows._jdf.queryExecution()
    job = new_object(spark, "EventJob", query, writer(columns, even_empty=False))
    # One text over the gateway, not one for each file.
    text = java_class(spark, "org.apache.commons.lang3.StringUtils").join(job.run(), "\n")
    if text or not even_empty:
        return tuple(map(_file, text.splitlines()))
    nothing = spark.sparkContext._jsc.parallelize(java_class(spark, "java.util.ArrayList")(), 1)
    empty = writer(EventColumns(), even_empty=True)
    return tuple(map(_file, nothing.mapPartitionsWithIndex(empty, True).collect()))


def _plan(
    spark: SparkSession,
    columns: EventColumns,
    writes: tuple[Write, ...],
    write_id: int,
    directory: str,
) -> dict[str, Any]:
    """What AcidWriter.java takes."""
    ordinals = {f"{field.name} at": getattr(columns, field.name) for field in fields(columns)}
    return {
        "directory": directory,
        "schema": event_type(writes[0].table),
        "spark version": spark.version,
        "write id": write_id,
        "statements": [write.statement_id for write in writes],
        "deletes": [write.kind is WriteKind.DELETE_DELTA for write in writes],
        **{name: -1 if at is None else at for name, at in ordinals.items()},
    }


def _writer(spark: SparkSession, plan: Mapping[str, Any], schema: Any, table: Table) -> Any:
    context: Any = spark.sparkContext
    configuration = java_class(spark, "org.apache.hadoop.conf.Configuration")
    settings = configuration(context._jsc.hadoopConfiguration())
    for key, value in orc_settings(table).items():
        settings.set(key, value)
    options = java_class(spark, "java.util.HashMap")()
    for key, value in plan.items():
        client = context._gateway._gateway_client
        options.put(key, ListConverter().convert(value, client) if key in _LISTS else value)
    return new_object(spark, "AcidWriter", options, schema, settings)


def _file(line: str) -> EventFile:
    name, rows, length, branch, writer, *keys = line.split(" ")
    return EventFile(
        name=name,
        rows=int(rows),
        bytes=int(length),
        branch=int(branch),
        writer=int(writer),
        keys=tuple(map(unquote_plus, keys)),
    )


def event_type(table: Table) -> str:
    """The ORC type of an ACID table's files."""
    columns = ",".join(
        f"`{column.name.replace('`', '``')}`:{orc_type(column.type)}" for column in table.columns
    )
    return (
        "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,"
        f"currentTransaction:bigint,row:struct<{columns}>>"
    )


def orc_settings(table: Table) -> dict[str, str]:
    """ORC's own settings that the table's properties give; zlib is Hive's default."""
    sizes = {key: table.properties[key] for key in _SIZES if key in table.properties}
    return {"orc.compress": table.properties.get("orc.compress", "ZLIB").upper(), **sizes}
