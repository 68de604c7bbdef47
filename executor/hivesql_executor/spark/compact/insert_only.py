"""Compaction of insert-only tables: their files, whatever the format, joined into few."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.files.staging import working_directory
from hivesql_executor.orc.footers import read_footers
from hivesql_executor.orc.row_counts import row_count
from hivesql_executor.orc.tail import amend
from hivesql_executor.orc.uploaded_rows import plain_types
from hivesql_executor.spark.compact.merge import Merge, SortedFile, origin, run_merges
from hivesql_executor.spark.file_paths import literal_paths
from hivesql_executor.spark.formats.text_tables import is_of_lines, skipped_lines
from hivesql_executor.spark.nanoseconds.columns import refuse_nanoseconds
from hivesql_executor.spark.scan.plain_tables import scan_plain
from hivesql_executor.spark.values import stored_value
from hivesql_executor.spark.write.event_files import orc_settings
from hivesql_executor.spark.write.write import orc_options
from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.layout import parse_directory, parse_original_file
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table

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
    chosen_files = [(f"{location}/{file.path}", file.length) for file in chosen if file.length > 0]
    if not chosen_files:
        return
    result = parse_directory(directory.rpartition("/")[2])
    staging = working_directory(location, result.visibility_txn if result else 0)
    try:
        if table.format == "orc":
            if _merge(spark, table, chosen_files, staging, directory, files):
                return
            full = [file for file in chosen if file.length > 0]
            refuse_nanoseconds(spark, table, location, full, files=files)
        if table.is_bucketed:
            rows = _of_buckets(spark, table, location, chosen_files, files)
        else:
            count = 1 + sum(length for _, length in chosen_files) // _FILE_BYTES
            rows = _rows(spark, table, location, chosen_files, files).coalesce(count)
        _stage(rows, table, staging)
        _publish(table, staging, directory, files)
    finally:
        files.delete(staging)


def _check(table: Table) -> None:
    if table.format not in ("textfile", "csv", "json", "orc", "parquet"):
        raise NotSupported(f"compaction of {table.format} tables")
    if is_of_lines(table) and any(skipped_lines(table)):
        raise NotSupported(f"compaction of {table.name}: text with headers or footers")


def _merge(
    spark: SparkSession,
    table: Table,
    sized_files: Sequence[tuple[str, int]],
    staging: str,
    directory: str,
    files: Files,
) -> bool:
    """Join ORC files as they are; False when their columns differ."""
    tails = read_footers(files, sized_files)
    full = [(path, length) for path, length in sized_files if tails[path].rows]
    if len({tails[path].schema for path, _ in full}) > 1 or table.bloom_filter_columns:
        # Stripes would be copied, whose columns may have no Bloom filters.
        return False
    groups = _by_bucket(full) if table.is_bucketed else dict(enumerate(_by_size(full)))
    merges = [
        Merge(
            bucket=number,
            kind="plain",
            groups=[[SortedFile(path, length)] for path, length in group],
            metadata=origin([tails[path] for path, _ in group]),
        )
        for number, group in sorted(groups.items())
    ]
    merged = run_merges(spark, merges, staging=staging, settings=orc_settings(table))
    for file in merged or ():
        files.make_directories(directory)
        files.rename(file.path, f"{directory}/{file.bucket:06d}_0")
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
        named, options = literal_paths([path for path, _ in sized_files])
        return spark.read.option("lineSep", "\n").options(**options).text(named)
    alone = replace(table, partition_columns=(), location=location)
    rows = scan_plain(spark, alone, [(None, location, sized_files)], files=files)
    if table.format == "orc":
        return rows
    return rows.select(
        *(stored_value(f.col(quote_name(c.name)), c.type).alias(c.name) for c in table.columns)
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
        files.rename(path, f"{directory}/{number:06d}_0")
        numbered += 1
