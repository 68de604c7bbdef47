"""ACID events into ORC files, straight from Spark's rows.

Spark's own writer makes nested objects of each row, and leaves the footer's entries to be added.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import unquote_plus

from pyspark.sql import DataFrame, SparkSession

from hivesql_executor.jvm import gateway
from hivesql_executor.snapshot.partition_files import EventFile
from hivesql_executor.spark.task_answers import TaskAnswers
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import BLOOM_FILTER_COLUMNS, Table, escape_path_part
from hivesql_planner.plan import Write, WriteKind
from hivesql_planner.rewrite.orc_files import COMPRESS, codec_of, uncompressed_bytes
from hivesql_planner.statements.unions import check_written

_AS_THEY_ARE = (
    "orc.stripe.size", "orc.row.index.stride", "orc.compress.size", "orc.bloom.filter.fpp",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class EventColumns:
    """Where a frame has what an event is made of, as positions; None for what it has not.

    Without ``branch`` all rows are of the first. Without ``writer`` the task's number
    is the writer's. ``row_id`` is the first of three columns: write id, bucket and row id of the
    row to delete. With ``by``, the write of each event, inserts too have the ids that are given;
    without it they are numbered, and all events are of one write. Without ``row``, the table's
    columns are the frame's first. ``nanoseconds`` is a struct of texts written in the place of the
    columns of their names (see ``nanoseconds``). ``keys``, the texts of partition values, are
    all columns from there on.
    """

    branch: int | None = None
    writer: int | None = None
    row_id: int | None = None
    by: int | None = None
    row: int | None = None
    nanoseconds: int | None = None
    keys: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadPlaces:
    """Where tasks upload files to: the table's directory, or a partition's, and those of writes.

    ``partition`` are its columns, with the values of static ones, None for those of keys;
    ``locations`` are partitions elsewhere, by name; ``directories`` one for each write.
    """

    table: str
    partition: Sequence[tuple[str, str | None]] = ()
    locations: Mapping[str, str] = field(default_factory=dict)
    directories: Sequence[str]

    def as_plan(self) -> dict[str, Any]:
        """Tell what UploadPlaces.java takes."""
        return {
            "table": self.table,
            "partition": [
                {
                    "name": escape_path_part(name.lower()),
                    "value": None if value is None else escape_path_part(value),
                }
                for name, value in self.partition
            ],
            "locations": dict(self.locations),
            "directories": list(self.directories),
        }


def write_events(
    rows: DataFrame,
    columns: EventColumns,
    writes: tuple[Write, ...],
    *,
    write_id: int,
    directory: str | UploadPlaces,
    branches: Sequence[Sequence[int]] = (),
    even_empty: bool = False,
    once: bool = False,
) -> tuple[EventFile, ...]:
    """Run one Spark job: files of events in a directory, each task's in the order of its rows.

    ``branches`` tells which of the writes a row of each branch is an event of; without them each
    write is a branch. Rows of one file must come together. What a failed attempt of a task leaves
    there is not told. At UploadPlaces each file waits, uploaded, to be completed. With ``once``
    rows of one file's branches come by row id, not by branch, and the job fails at two rows with
    one id, also of no branch (a negative number).
    ``even_empty`` gives a file without rows where there are none; only for columns without ``row``.
    """
    spark = rows.sparkSession
    settings = json.dumps(orc_settings(writes[0].table))

    def plan(columns: EventColumns, *, even_empty: bool) -> str:
        plan = _plan(spark, columns, writes, write_id, directory)
        groups = branches or [[i] for i in range(len(writes))]
        return json.dumps({**plan, "branches": groups, "even empty": even_empty, "once": once})

    jvm = gateway(spark)
    answers = TaskAnswers(jvm.write(rows._jdf, plan(columns, even_empty=False), settings))
    if even_empty and not answers.text:
        nothing = plan(EventColumns(), even_empty=True)
        answers = TaskAnswers(jvm.writeNothing(rows._jdf, nothing, settings))
    return tuple(_file(line, answers) for line in answers.text.splitlines())


def _plan(
    spark: SparkSession,
    columns: EventColumns,
    writes: tuple[Write, ...],
    write_id: int,
    directory: str | UploadPlaces,
) -> dict[str, Any]:
    """Tell what AcidWriter.java takes."""
    ordinals = {f"{place.name} at": getattr(columns, place.name) for place in fields(columns)}
    return {
        "directory": directory if isinstance(directory, str) else "",
        "uploads": None if isinstance(directory, str) else directory.as_plan(),
        "schema": event_type(writes[0].table),
        "spark version": spark.version,
        "uncompressed bytes": uncompressed_bytes(writes[0].table),
        "write id": write_id,
        "writes": [
            {"statement": write.statement_id, "deletes": write.kind is WriteKind.DELETE_DELTA}
            for write in writes
        ],
        **{name: -1 if at is None else at for name, at in ordinals.items()},
    }


def _file(line: str, answers: TaskAnswers) -> EventFile:
    name, rows, length, write, writer, upload, *keys = line.split(" ")
    return EventFile(
        name=unquote_plus(name),
        rows=int(rows),
        bytes=int(length),
        write=int(write),
        writer=int(writer),
        upload="" if upload == "-" else answers.upload(upload, int(length)),
        keys=tuple(map(unquote_plus, keys)),
    )


def event_type(table: Table) -> str:
    """Return the ORC type of an ACID table's files."""
    return (
        "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,"
        f"currentTransaction:bigint,row:{columns_type(table)}>"
    )


def columns_type(table: Table) -> str:
    """Return the ORC type of the table's data columns, as one struct."""
    check_written(table.columns)
    columns = ",".join(f"{quote_name(column.name)}:{column.type.orc}" for column in table.columns)
    return f"struct<{columns}>"


def orc_settings(table: Table) -> dict[str, str]:
    """ORC's own settings that the table's properties give; zlib is Hive's default."""
    settings = {key: table.properties[key] for key in _AS_THEY_ARE if key in table.properties}
    if columns := table.bloom_filter_columns:
        # ORC itself looks for them in the row of an event.
        settings[BLOOM_FILTER_COLUMNS] = ",".join(columns)
    return {COMPRESS: codec_of(table), **settings}
