"""Compaction of insert-only tables: their files, whatever the format, joined into few."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.files.small_contents import KnownFiles
from hivesql_executor.files.staging import working_directory
from hivesql_executor.orc.footers import read_footers
from hivesql_executor.orc.row_counts import row_count
from hivesql_executor.orc.tail import amend
from hivesql_executor.orc.uploaded_rows import complete_counted, count_waiting, plain_types
from hivesql_executor.snapshot.partition_files import PlainFile
from hivesql_executor.spark.compact.merge import Merge, SortedFile, origin, run_merges
from hivesql_executor.spark.formats.listed_files import FileKind, read_grouped
from hivesql_executor.spark.formats.text_tables import is_of_lines, skipped_lines
from hivesql_executor.spark.nanoseconds.columns import refuse_nanoseconds
from hivesql_executor.spark.scan.plain_tables import scan_plain
from hivesql_executor.spark.values import written_value
from hivesql_executor.spark.write.event_files import UploadPlaces, orc_settings
from hivesql_executor.spark.write.plain_files import PlainJob
from hivesql_executor.spark.write.write import orc_options
from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.layout import (
    original_file_name,
    parse_directory,
    parse_original_file,
)
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.model.hive_type import SIZED_TEXTS, quote_name
from hivesql_planner.model.table import Table

if TYPE_CHECKING:
    from hivesql_executor.files.uploads import Uploads
    from hivesql_planner.acid.files_to_read import DataFile

_FILE_BYTES = 128 << 20
_PART = re.compile(r"part-(\d+)-")
_BUCKET = "bucket:n"


def compact_plain(
    spark: SparkSession,
    table: Table,
    location: str,
    state: AcidState,
    *,
    directory: str,
    visible: ValidWriteIdList,
    files: Files,
) -> None:
    """Write every row of the state's files into ``directory`` (absolute), which appears last.

    Rows of a bucketed table stay in their buckets. No rows, no directory.
    """
    _check(table)
    chosen = files_to_read(state, visible, insert_only=True).data
    full = [file for file in chosen if file.length > 0]
    chosen_files = [(f"{location}/{file.path}", file.length) for file in full]
    if not chosen_files:
        return
    result = parse_directory(directory.rpartition("/")[2])
    staging = working_directory(location, result.visibility_txn if result else 0)
    uploads = files.uploads(location)
    try:
        if table.format == "orc":
            if _merge(spark, table, location, full, staging, directory, files, uploads):
                return
            refuse_nanoseconds(spark, table, location, full, files=files)
        if table.is_bucketed:
            rows = _of_buckets(spark, table, location, chosen_files, files)
        else:
            count = 1 + sum(length for _, length in chosen_files) // _FILE_BYTES
            rows = _rows(spark, table, location, chosen_files, files).coalesce(count)
        if uploads:
            _upload(rows, table, staging, directory, files, uploads)
        else:
            _stage(rows, table, staging)
            _publish(table, staging, directory, files)
    finally:
        if uploads is None:
            files.delete(staging)


def _check(table: Table) -> None:
    if table.format not in ("textfile", "csv", "json", "orc", "parquet"):
        raise NotSupported(f"compaction of {table.format} tables")
    if is_of_lines(table) and any(skipped_lines(table)):
        raise NotSupported(f"compaction of {table.name}: text with headers or footers")


def _merge(
    spark: SparkSession,
    table: Table,
    location: str,
    chosen: Sequence[DataFile],
    staging: str,
    directory: str,
    files: Files,
    uploads: Uploads | None,
) -> bool:
    """Join ORC files as they are; False when their columns differ."""
    sized = {f"{location}/{file.path}": file for file in chosen}
    sized_files = [(path, file.length) for path, file in sized.items()]
    tails = read_footers(files, sized_files, {path: file.modified for path, file in sized.items()})
    full = [(path, length) for path, length in sized_files if tails[path].rows]
    if len({tails[path].schema for path, _ in full}) > 1 or table.bloom_filter_columns:
        # Stripes would be copied, whose columns may have no Bloom filters.
        return False
    groups = _by_bucket(full) if table.is_bucketed else dict(enumerate(_by_size(full)))
    remembered = KnownFiles(files)
    merges = [
        Merge(
            bucket=number,
            kind="plain",
            groups=[
                [
                    SortedFile(
                        path, length, known=remembered.tell(path, length, sized[path].modified)
                    )
                ]
                for path, length in group
            ],
            metadata=origin([tails[path] for path, _ in group]),
        )
        for number, group in sorted(groups.items())
    ]
    merged = run_merges(
        spark, merges, staging=staging, settings=orc_settings(table),
        upload_to=directory if uploads else None,
    )  # fmt: skip
    done = [file for file in merged or () if file.path]
    if uploads:
        uploads.complete([(file.path, file.upload) for file in done])
        return True
    for file in done:
        files.make_directories(directory)
        files.rename(file.path, f"{directory}/{original_file_name(file.bucket)}")
    return True


def _by_size(sized_files: Sequence[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Neighbours together, as long as a file does not become too large."""
    groups: list[list[tuple[str, int]]] = []
    size = _FILE_BYTES
    for path, length in sized_files:
        if size + length > _FILE_BYTES:
            groups.append([])
            size = 0
        groups[-1].append((path, length))
        size += length
    return groups


def _by_bucket(sized_files: Sequence[tuple[str, int]]) -> dict[int, list[tuple[str, int]]]:
    groups: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for path, length in sized_files:
        bucket = parse_original_file(path.rpartition("/")[2])
        if bucket is None:
            raise DataError(f"{path}: the name of this file of a bucketed table says no bucket")
        groups[bucket].append((path, length))
    return groups


def _rows(
    spark: SparkSession,
    table: Table,
    location: str,
    sized_files: Sequence[tuple[str, int]],
    files: Files,
) -> DataFrame:
    if is_of_lines(table):
        # Lines are copied as they stand, so that nothing is lost that Spark cannot read.
        kind = FileKind("text", "value string", {"lineSep": "\n"})
        return read_grouped(spark, kind, [((), sized_files)])
    alone = replace(table, partition_columns=(), location=location)
    rows = scan_plain(
        spark, alone, [(None, location, [PlainFile(*file) for file in sized_files])], files=files
    )
    if table.format == "orc":
        return rows
    return rows.select(
        *(
            written_value(f.col(quote_name(c.name)), c.type, table.format).alias(c.name)
            if c.type.holds(*SIZED_TEXTS)
            else quote_name(c.name)
            for c in table.columns
        )
    )


def _of_buckets(
    spark: SparkSession,
    table: Table,
    location: str,
    sized_files: Sequence[tuple[str, int]],
    files: Files,
) -> DataFrame:
    frames = [
        _rows(spark, table, location, group, files).coalesce(1).withColumn(_BUCKET, f.lit(bucket))
        for bucket, group in sorted(_by_bucket(sized_files).items())
    ]
    return reduce(DataFrame.union, frames)


def _upload(
    rows: DataFrame, table: Table, staging: str, directory: str, files: Files, uploads: Uploads
) -> None:
    """Let tasks upload files to where they belong, and those that have rows be seen."""
    options = {"lineSep": "\n"} if is_of_lines(table) else {}
    if table.format == "orc":
        options = orc_options(table)
    kind = "text" if is_of_lines(table) else table.format
    job = PlainJob(rows, [_BUCKET] if table.is_bucketed else [], kind, options)
    home, _, name = directory.rpartition("/")
    places = UploadPlaces(table=home, directories=[name])
    listed = job.upload(staging, places, in_buckets=table.is_bucketed, even_empty=False)
    lengths = {listed.uploaded[status.path].path: status.length for status in listed.statuses}
    uploaded = listed.uploaded.values()
    waiting = {file.path: file.upload for file in uploaded}
    try:
        counts = count_waiting(uploaded, waiting, table, uploads, even_empty=False)
        completed = complete_counted(
            waiting, lengths, counts, table, files, uploads, even_empty=False
        )
        deque(completed, maxlen=0)
    except BaseException:
        uploads.abort([*waiting.items()])
        raise


def _stage(rows: DataFrame, table: Table, staging: str) -> None:
    writer = rows.write.option("maxRecordsPerFile", 0)
    if table.is_bucketed:
        writer = writer.partitionBy(_BUCKET)
    if is_of_lines(table):
        writer.option("lineSep", "\n").text(staging)
    elif table.format == "orc":
        writer.options(**orc_options(table)).orc(staging)
    else:
        writer.parquet(staging)


def _publish(table: Table, staging: str, directory: str, files: Files) -> None:
    staged = sorted(files.list(staging), key=lambda status: status.path)
    numbered = 0
    for status in staged:
        path = f"{staging}/{status.path}"
        if status.length == 0 or row_count(files, path, status.length, table.format) == 0:
            continue
        folder, _, name = status.path.rpartition("/")
        if _PART.match(name) is None:
            raise DataError(f"unexpected staged file {status.path}")
        number = int(folder.rpartition("=")[2]) if folder else numbered
        if types := plain_types(table):
            amend(files, path, {}, types=types)
        files.make_directories(directory)
        files.rename(path, f"{directory}/{original_file_name(number)}")
        numbered += 1
