"""Merge-on-read: the rows of ACID files that a snapshot sees, minus the deleted ones.

Three traps of reading ACID ORC with Spark shape this file. ORC treats a file with the six event
columns specially, so a read that prunes any of them gets shifted values: every read asks for all
six (and for a field ``__none`` that no file has, so that the row itself costs nothing). Pushed-down
filters would be resolved against the row struct under the wrong names: they stay off, and a search
argument of our own goes along. And columns inside ``row`` are found by position, as in Hive,
whatever the names in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.spark.deletes import DeleteSet, without_deleted
from hivesql_executor.spark.events import ALL_READ, EVENTS, visible_writes
from hivesql_executor.spark.placed import read_placed, with_partition
from hivesql_executor.spark.raw import numbered_rows, raw_rows
from hivesql_executor.spark.sarg import search_argument
from hivesql_executor.spark.types import spark_type
from hivesql_executor.storage.files import Files
from hivesql_executor.storage.orc import OrcTail, cached_tail
from hivesql_planner.acid.layout import STATS
from hivesql_planner.acid.snapshot import DataFile, FilesToRead
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.table import Partition, Table

KEY_COLUMNS = ("originalTransaction", "bucket", "rowId", "currentTransaction")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFiles:
    """The files of one partition (None: the whole table) that a snapshot reads."""

    partition: Partition | None
    location: str
    files: FilesToRead


@dataclass(frozen=True, slots=True)
class _Read:
    """What all parts of one scan share."""

    spark: SparkSession
    table: Table
    visible: ValidWriteIdList
    files: Files
    where: str | None


@dataclass(frozen=True, slots=True)
class _Piece:
    """One data file, where it is, and the names of the columns inside it."""

    part: PartitionFiles
    file: DataFile
    names: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"{self.part.location}/{self.file.path}"


def scan(
    spark: SparkSession,
    table: Table,
    parts: Sequence[PartitionFiles],
    *,
    visible: ValidWriteIdList,
    with_row_id: bool,
    where: str | None,
    files: Files,
    broadcast_words: int = 4_000_000,
) -> DataFrame:
    """The visible rows: data columns, partition columns, then ``row__id`` if wanted.

    ``where`` only helps to skip stripes; the caller filters all the same. Row ids repeat across
    partitions, so deletes are matched within their partition. Raises DataError for a file that is
    not what its name says.
    """
    read = _Read(spark, table, visible, files, where)
    with_deletes = [part for part in parts if part.files.data and part.files.deletes]
    without = [part for part in parts if part.files.data and not part.files.deletes]
    frames = []
    if without:
        frames.append(_events(read, without, numbered=with_row_id))
    if with_deletes:
        rows = _events(read, with_deletes, numbered=True)
        deletes = DeleteSet.of(
            spark,
            table,
            [(p.partition, p.location, p.files.deletes) for p in with_deletes],
            visible=visible,
            files=files,
        )
        frames.append(without_deleted(rows, deletes, broadcast_words=broadcast_words))
    if not frames:
        return spark.createDataFrame([], _schema(table, with_row_id=with_row_id))
    return reduce(DataFrame.unionByName, [_output(one, table, with_row_id) for one in frames])


def _schema(table: Table, *, with_row_id: bool) -> str:
    fields = [f"`{column.name}` {spark_type(column.type)}" for column in table.all_columns]
    row_id = ["row__id struct<writeid:bigint,bucketid:int,rowid:bigint>"] if with_row_id else []
    return ", ".join([*fields, *row_id])


def _output(rows: DataFrame, table: Table, with_row_id: bool) -> DataFrame:
    columns: list[Column] = [f.col(f"`{column.name}`") for column in table.all_columns]
    if with_row_id:
        key = f.struct(
            f.col("originalTransaction").alias("writeid"),
            f.col("bucket").alias("bucketid"),
            f.col("rowId").alias("rowid"),
        )
        columns.append(key.alias("row__id"))
    return rows.select(*columns)


def _events(read: _Read, parts: Sequence[PartitionFiles], *, numbered: bool) -> DataFrame:
    """Key columns and user columns of all data files of some partitions."""
    groups: dict[tuple[tuple[str, ...], bool], list[_Piece]] = {}
    raw: list[_Piece] = []
    for piece in _pieces(read, parts):
        if piece.file.raw is not None:
            raw.append(piece)
            continue
        groups.setdefault((piece.names, piece.file.write_id_filter), []).append(piece)
    frames = [
        _acid_rows(read, pieces, names, filtered=filtered)
        for (names, filtered), pieces in groups.items()
    ]
    frames += _raw_frames(read, raw, numbered=numbered)
    return reduce(DataFrame.unionByName, frames)


def _pieces(read: _Read, parts: Iterable[PartitionFiles]) -> Iterable[_Piece]:
    """Every data file with its column names; one footer is read per directory."""
    for part in parts:
        known: dict[tuple[str, bool], OrcTail] = {}
        for file in part.files.data:
            if file.side_file:
                raise NotSupported(
                    f"reading {part.location}/{file.path} while its streaming writer is open: "
                    "wait until the writer closes the batch"
                )
            directory = (file.path.rpartition("/")[0], file.raw is not None)
            path = f"{part.location}/{file.path}"
            if directory not in known or file.raw is not None:
                tail = cached_tail(read.files, path, file.length)
                _check_kind(path, file, tail)
                known[directory] = tail
            yield _Piece(part, file, known[directory].row_fields)


def _check_kind(path: str, file: DataFile, tail: OrcTail) -> None:
    if file.raw is not None:
        if tail.is_acid:
            raise DataError(
                f"{path} carries ACID row ids but lies where only plain files belong", code=10413
            )
        return
    if not tail.is_acid and (tail.rows or tail.row_fields):
        raise DataError(f"{path} has no ACID columns though its directory says so", code=30020)
    stats = tail.metadata.get(STATS, b"0,0,0").decode().split(",")
    if stats[1:] != ["0", "0"]:
        raise NotSupported(
            f"{path} holds update or delete events of ACID version 1: run a major compaction in "
            "Hive 2 or 3 first"
        )


def _acid_rows(
    read: _Read, pieces: Sequence[_Piece], names: tuple[str, ...], *, filtered: bool
) -> DataFrame:
    table = read.table
    present = table.columns[: len(names)]
    fields = ["`__none`:boolean"] + [
        f"`{name}`:{spark_type(column.type)}" for name, column in zip(names, present, strict=False)
    ]
    schema = EVENTS.format(fields=",".join(fields))
    places: dict[str, tuple[Partition | None, str, list[str]]] = {}
    for piece in pieces:
        part = piece.part
        place = places.setdefault(part.location, (part.partition, part.location, []))
        place[2].append(piece.path)
    options = {}
    if read.where and tuple(name.lower() for name in names) == table.column_names:
        columns = [(c.name, spark_type(c.type)) for c in present]
        options = search_argument(read.spark, read.where, columns)
    rows = read_placed(read.spark, table, schema, list(places.values()), options, ALL_READ)
    if filtered:
        rows = rows.where(visible_writes("currentTransaction", read.visible))
    user = [
        f.col(f"row.`{names[i]}`").alias(column.name)
        if i < len(names)
        else f.lit(None).cast(spark_type(column.type)).alias(column.name)
        for i, column in enumerate(table.columns)
    ]
    return rows.select(*KEY_COLUMNS, *user, *(f"`{name}`" for name in table.partition_names))


def _raw_frames(read: _Read, raw: Sequence[_Piece], *, numbered: bool) -> list[DataFrame]:
    """Files without ACID columns; their rows get ids from their place in the file."""
    offsets: dict[tuple[str, str, int], int] = {}
    frames = []
    for piece in raw:
        file, part = piece.file, piece.part
        assert file.raw is not None
        # Originals of a root are counted together, those of a delta or base on their own.
        scope = file.path.partition("/")[0] if file.raw.write_id else ""
        key = (part.location, scope, file.bucket)
        offset = offsets.get(key, 0)
        offsets[key] = offset + cached_tail(read.files, piece.path, file.length).rows
        make = numbered_rows if numbered else raw_rows
        rows = make(read.spark, read.table, piece.path, piece.names, file, offset)
        frames.append(with_partition(rows, read.table, part.partition) if part.partition else rows)
    return frames
