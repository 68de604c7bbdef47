"""Merge-on-read: the rows of ACID files that a snapshot sees, minus the deleted ones.

Columns are found by position, as in Hive, whatever the names in a file. What kinds of files there
are, and what has become of their columns since, is a matter of ``AcidReader.java``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from hivesql_executor.files.api import Files
from hivesql_executor.files.small_contents import KnownFiles
from hivesql_executor.orc.footers import check_file, check_orphans, read_footers
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.file_paths import FILE_NAME
from hivesql_executor.spark.lines import empty_frame
from hivesql_executor.spark.nanoseconds.columns import nanosecond_column, nanosecond_columns
from hivesql_executor.spark.scan.acid_relation import (
    ID_COLUMNS,
    AcidPath,
    AcidScan,
    EndingPath,
    OriginalRows,
    acid_frames,
    layout,
)
from hivesql_executor.spark.scan.delete_filter import DeleteFiles, delete_files
from hivesql_executor.spark.scan.partition_columns import Place, output, text_columns
from hivesql_executor.spark.scan.task_assignment import tasks_by_path, writer_of
from hivesql_executor.spark.values import check_instants
from hivesql_planner.acid.files_to_read import DataFile, FilesToRead
from hivesql_planner.acid.row_id import encode_bucket
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.statistics import ColumnStatistics
from hivesql_planner.model.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRequest:
    """What is read, under which snapshot, and which columns the rows shall have."""

    table: Table
    parts: Sequence[PartitionFiles]
    visible: ValidWriteIdList
    files: Files
    with_row_id: bool
    with_file_name: bool = False
    with_partition_texts: bool = False
    """Adds the texts of the partition values as the catalog has them, which a change needs to find
    back to the directory: the values do not tell ``01`` from ``1``."""
    with_nanosecond_texts: Collection[int] = ()
    """Adds a ``nanosecond_column`` for each of these that may hold nanoseconds."""
    broadcast_words: int = 4_000_000
    """Up to so many 64-row words of deletes are kept whole by every executor."""
    known: Sequence[ColumnStatistics] = ()
    """What Spark plans with."""
    filter_rows: int = -1
    """From so many rows on, tasks apply Spark's filter before they decode other columns; never
    below 0."""
    by_writer: bool = False
    """Asks for tasks that have all rows of their writers, where that is worth it."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """One data file, where it is, and its footer."""

    place: Place
    file: DataFile
    tail: OrcTail

    @property
    def path(self) -> str:
        return f"{self.place.location}/{self.file.path}"


@dataclass(frozen=True, slots=True)
class Scanned:
    """The rows of a scan."""

    rows: DataFrame
    whole_writers: bool = False
    """Whether each task has all rows of its writers, in each partition."""


def scan(spark: SparkSession, request: ScanRequest) -> Scanned:
    """Return the visible rows: data columns, partition columns, ``row__id`` and file if wanted.

    Row ids repeat across partitions, so deletes are matched within their partition. DataError for
    a file that is not what its name says.
    """
    table, parts, files = request.table, request.parts, request.files
    check_instants(table)
    _check_orphans(files, parts)
    placed = [
        (Place(number, part.partition, part.location), part.files)
        for number, part in enumerate(part for part in parts if part.files.data)
    ]
    pieces = _pieces(files, placed)
    texts = text_columns(table) if request.with_partition_texts else []
    nanoseconds: tuple[int, ...] = ()
    if request.with_nanosecond_texts:
        in_files = {i for piece in pieces for i in nanosecond_columns(table, piece.tail)}
        nanoseconds = tuple(sorted(in_files & set(request.with_nanosecond_texts)))
        texts += map(nanosecond_column, nanoseconds)
    if not pieces:
        schema = _schema(table, with_row_id=request.with_row_id, texts=texts)
        schema += ", input__file__name string" if request.with_file_name else ""
        return Scanned(empty_frame(spark, schema))
    columns = _output(table, request.with_row_id, texts)
    if request.with_file_name:
        columns.append(FILE_NAME)
    gone = delete_files([(place, chosen.deletes) for place, chosen in placed], files)
    gone = gone.with_changes((piece.place, piece.file, piece.path, piece.tail) for piece in pieces)
    read = AcidScan(
        spark, table, request.visible, nanoseconds, tuple(request.known), request.filter_rows,
        whole=gone.count_bitmap_words(files, request.broadcast_words) <= request.broadcast_words,
        remembered=KnownFiles(files),
    )  # fmt: skip
    tasks = _tasks(read, pieces) if request.by_writer else None
    frames = acid_frames(
        read, _acid_paths(pieces, tasks or {}), _ending_paths(gone), (("select", columns),)
    )
    return Scanned(reduce(DataFrame.union, frames), whole_writers=tasks is not None)


def _check_orphans(files: Files, parts: Sequence[PartitionFiles]) -> None:
    orphans = [
        (f"{part.location}/{file.path}", file.length) for part in parts
        for file in part.files.orphans
    ]  # fmt: skip
    check_orphans([path for path, _ in orphans], read_footers(files, orphans))


def _schema(table: Table, *, with_row_id: bool, texts: Sequence[str]) -> str:
    fields = [f"{quote_name(column.name)} {column.type.spark}" for column in table.all_columns]
    row_id = ["row__id struct<writeid:bigint,bucketid:int,rowid:bigint>"] if with_row_id else []
    return ", ".join([*fields, *row_id, *(f"{quote_name(text)} string" for text in texts)])


def _output(table: Table, with_row_id: bool, texts: Sequence[str]) -> list[str]:
    columns = output(table)
    if with_row_id:
        parts = zip(ID_COLUMNS, ("writeid", "bucketid", "rowid"), strict=True)
        fields = ", ".join(f"{quote_name(column)} as {part}" for column, part in parts)
        columns.append(f"struct({fields}) as row__id")
    return [*columns, *texts]


def _pieces(files: Files, files_by_place: Sequence[tuple[Place, FilesToRead]]) -> list[_Piece]:
    """Every data file that has rows."""
    data_files = [
        (place, file, f"{place.location}/{file.path}")
        for place, chosen in files_by_place
        for file in chosen.data
    ]
    lengths = [(path, file.length) for _, file, path in data_files]
    tails = read_footers(files, lengths, {path: file.modified for _, file, path in data_files})
    pieces = []
    for place, file, path in data_files:
        tail = tails[path]
        check_file(path, file, tail)
        if tail.rows:
            pieces.append(_Piece(place, file, tail))
    return pieces


def _tasks(read: AcidScan, pieces: Sequence[_Piece]) -> dict[str, int] | None:
    """Return the task for each file, all of a writer in one."""
    if len({layout(read, piece.tail) for piece in pieces}) > 1:
        return None
    files = (
        (piece.path, piece.file.length, piece.place.number, _writer_of(piece.file, piece.tail))
        for piece in pieces
    )
    return tasks_by_path(files, read.spark.sparkContext.defaultParallelism)


def _writer_of(file: DataFile, tail: OrcTail) -> int | None:
    return writer_of(tail) if file.original is None else file.bucket


def _acid_paths(pieces: Sequence[_Piece], tasks: Mapping[str, int]) -> list[AcidPath]:
    """Return what the reader has to know of each file; rows of originals are numbered here."""
    counts: dict[tuple[Place, str, int], int] = {}
    paths = []
    for piece in pieces:
        file, original = piece.file, piece.file.original
        path = AcidPath(
            piece.place, piece.path, file.length, file.write_id_filter, piece.tail,
            tasks.get(piece.path),
        )  # fmt: skip
        if original is not None:
            # Originals of a root are counted together, those of a delta or base on their own.
            scope = file.path.partition("/")[0] if original.write_id else ""
            key = (piece.place, scope, file.bucket)
            first = counts.get(key, 0)
            counts[key] = first + piece.tail.rows
            unit = original.write_id, encode_bucket(file.bucket, original.statement_id)
            path = replace(path, original=OriginalRows(unit, first))
        paths.append(path)
    return paths


def _ending_paths(gone: DeleteFiles) -> list[EndingPath]:
    return [
        EndingPath(
            place, path, file.length, file.write_id_filter, gone.version(file, path),
            isinstance(file, DataFile), gone.tails[path],
        )
        for place, file, path in gone.files
    ]  # fmt: skip
