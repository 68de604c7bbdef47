"""Compaction as Spark jobs: row ids stay, deleted and aborted rows go.

Files that are sorted, as ACID files are, are merged bucket by bucket (``merge_files``); where they
cannot be, Spark reads all rows, shuffles and sorts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.files.staging import working_directory
from hivesql_executor.files.uploads import Upload, Uploads
from hivesql_executor.orc.footers import holds_changes, read_footers
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.compact.merge import Merge, plan_deletes, plan_inserts, run_merges
from hivesql_executor.spark.nanoseconds.columns import TEXTS, nanosecond_struct
from hivesql_executor.spark.scan.delete_filter import read_delete_events
from hivesql_executor.spark.scan.scan import ScanRequest, scan
from hivesql_executor.spark.values import stored_row
from hivesql_executor.spark.write.change import struct_ddl
from hivesql_executor.spark.write.event_files import (
    EventColumns,
    UploadPlaces,
    orc_settings,
    write_events,
)
from hivesql_executor.spark.write.write import BUCKET_OF_ROW_ID
from hivesql_planner.acid.files_to_read import FilesToRead, files_to_read
from hivesql_planner.acid.layout import (
    VERSION_FILE,
    VERSION_TEXT,
    AcidDirectory,
    DirectoryKind,
    bucket_file_name,
)
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Write, WriteKind

_ROW_ID = ("row__id.writeid", "row__id.bucketid", "row__id.rowid")


def compact_major(
    spark: SparkSession,
    table: Table,
    location: str,
    state: AcidState,
    *,
    result: AcidDirectory,
    visible: ValidWriteIdList,
    files: Files,
    most_files: int,
) -> None:
    """Write every live row of a directory into one new base, row ids unchanged.

    With more than ``most_files`` open at once for one bucket, rows are shuffled instead.
    """
    merges = plan_inserts(location, files_to_read(state, visible, location=location), files)
    if _merge(spark, table, location, merges, result, visible, files, most_files):
        return
    rows = live_rows(spark, table, location, state, visible, files)
    _write(rows, table, location, result, WriteKind.BASE, files)


def compact_minor(
    spark: SparkSession,
    table: Table,
    location: str,
    state: AcidState,
    *,
    results: tuple[AcidDirectory, ...],
    visible: ValidWriteIdList,
    files: Files,
    most_files: int,
) -> None:
    """Write the insert events of all deltas into one delta, their delete events into another."""
    delta, delete_delta = results
    kinds = {entry.directory.kind for entry in state.deltas}
    deltas = replace(state, base=None, originals=())
    if DirectoryKind.DELTA in kinds:
        inserts = tuple(d for d in deltas.deltas if d.directory.kind is DirectoryKind.DELTA)
        alone = replace(deltas, deltas=inserts)
        chosen = files_to_read(alone, visible, location=location)
        _refuse_version_1(table, location, chosen, files)
        merges = plan_inserts(location, chosen, files)
        if not _merge(spark, table, location, merges, delta, visible, files, most_files):
            rows = live_rows(spark, table, location, alone, visible, files)
            _write(rows, table, location, delta, WriteKind.DELTA, files)
    if DirectoryKind.DELETE_DELTA in kinds:
        deletes = files_to_read(deltas, visible, keep_deletes=True).deletes
        merges = plan_deletes(location, deletes, files)
        if not _merge(spark, table, location, merges, delete_delta, visible, files, most_files):
            sized_files = [(f"{location}/{file.path}", file.length) for file in deletes]
            events = read_delete_events(spark, sized_files, visible)
            _write(events, table, location, delete_delta, WriteKind.DELETE_DELTA, files)


def _merge(
    spark: SparkSession,
    table: Table,
    location: str,
    merges: Sequence[Merge] | None,
    result: AcidDirectory,
    visible: ValidWriteIdList,
    files: Files,
    most_files: int,
) -> bool:
    """Merge sorted files into a new directory; False when Spark has to sort their rows."""
    if merges is None or any(merge.open_files > most_files for merge in merges):
        return False
    staging = working_directory(location, result.visibility_txn)
    directory, uploads = f"{location}/{result.name}", files.uploads(location)
    try:
        merged = run_merges(
            spark, merges, staging=staging, settings=orc_settings(table),
            upload_to=directory if uploads else None, visible=visible,
        )  # fmt: skip
        if merged is None:
            return False
        done = [(file.path, file.upload, file.bucket) for file in merged if file.path]
        _publish(done, directory, uploads, files)
    finally:
        if uploads is None:
            files.delete(staging)
    return True


def _publish(
    done: Sequence[tuple[str, Upload, int]], directory: str, uploads: Uploads | None, files: Files
) -> None:
    """Let files be seen in a new directory, which says first of which version it is.

    Of each the path where it is, or to which it was uploaded, its upload and its bucket.
    """
    if files.has_directories:
        files.make_directories(directory)
    files.write(f"{directory}/{VERSION_FILE}", VERSION_TEXT)
    if uploads:
        uploads.complete([(path, upload) for path, upload, _ in done])
        return
    for path, _, bucket in done:
        files.rename(path, f"{directory}/{bucket_file_name(bucket)}")


def _refuse_version_1(table: Table, location: str, chosen: FilesToRead, files: Files) -> None:
    """Version 1 may change rows of the base, which a minor compaction does not see."""
    data_files = [(f"{location}/{file.path}", file.length) for file in chosen.data]
    if any(map(holds_changes, read_footers(files, data_files).values())):
        raise NotSupported(
            f"minor compaction of {table.name}, whose deltas are of ACID version 1: run a major one"
        )


def live_rows(
    spark: SparkSession,
    table: Table,
    location: str,
    state: AcidState,
    visible: ValidWriteIdList,
    files: Files,
) -> DataFrame:
    """Event rows: row id, the write that made the row, the row, and TEXTS where it is needed."""
    alone = replace(table, partition_columns=(), location=location)
    part = PartitionFiles(partition=None, location=location, files=files_to_read(state, visible))
    request = ScanRequest(
        table=alone,
        parts=[part],
        visible=visible,
        files=files,
        with_row_id=True,
        with_nanosecond_texts=range(len(table.columns)),
    )
    rows = scan(spark, request).rows
    columns = [f.col(quote_name(name)) for name in table.column_names]
    texts = nanosecond_struct(table, rows)
    events = rows.select(
        "row__id",
        f.col("row__id.writeid").alias("by"),
        f.struct(*columns).alias("row"),
        *([] if texts is None else [texts.alias(TEXTS)]),
    )
    return events.withColumn("row", stored_row(table, "row"))


def _write(
    rows: DataFrame,
    table: Table,
    location: str,
    result: AcidDirectory,
    kind: WriteKind,
    files: Files,
) -> None:
    numbered = rows.withColumn("n", f.expr(BUCKET_OF_ROW_ID).cast("int"))
    if kind is WriteKind.DELETE_DELTA:
        numbered = numbered.withColumn("row", f.lit(None).cast(struct_ddl(table)))
    sorted_rows = numbered.repartition("n").sortWithinPartitions("n", *_ROW_ID)
    write_buckets(sorted_rows, table, location, result, kind, files)


def write_buckets(
    rows: DataFrame,
    table: Table,
    location: str,
    result: AcidDirectory,
    kind: WriteKind,
    files: Files,
) -> None:
    """Write event rows and ``n``, the bucket, into a new directory.

    All of one bucket must be in one task, in order.
    """
    nanoseconds = [TEXTS] if TEXTS in rows.columns else []
    events = rows.select("n", *map(f.col, _ROW_ID), "by", "row", *nanoseconds)
    columns = EventColumns(writer=0, row_id=1, by=4, row=5, nanoseconds=6 if nanoseconds else None)
    staging = working_directory(location, result.visibility_txn)
    directory, uploads = f"{location}/{result.name}", files.uploads(location)
    try:
        place = UploadPlaces(table=location, directories=[result.name]) if uploads else staging
        written = write_events(
            events, columns, (Write(kind=kind, table=table),), write_id=0, directory=place
        )
        # An upload's name is the path where it belongs.
        paths = [file.name if uploads else f"{staging}/{file.name}" for file in written]
        done = [(path, file.upload, file.writer) for path, file in zip(paths, written, strict=True)]
        _publish(done, directory, uploads, files)
    finally:
        if uploads is None:
            files.delete(staging)
