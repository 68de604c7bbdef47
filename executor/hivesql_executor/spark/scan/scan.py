"""Merge-on-read: the rows of ACID files that a snapshot sees, minus the deleted ones.

Traps of reading ACID ORC with Spark shape this file. ORC treats a file with the six event columns
specially, so a read that prunes any of them gets shifted values: every read asks for all six.
Pushed-down filters would be resolved against the row struct under the wrong names: they stay off,
and a search argument of our own goes along. And columns inside ``row`` are found by position, as
in Hive, whatever the names in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.jvm import know_flushed_files
from hivesql_executor.orc.footers import check_file, check_orphans, holds_changes, read_footers
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.orc.types import spark_type
from hivesql_executor.snapshot.flushed_lengths import spark_path
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.nanoseconds.columns import (
    nanosecond_column,
    nanosecond_columns,
    with_texts,
    with_values,
)
from hivesql_executor.spark.original_files import by_position, numbered_rows, original_rows
from hivesql_executor.spark.scan.acid_relation import (
    DeletePath,
    EventPath,
    EventScan,
    direct_rows,
    is_direct,
    layout,
)
from hivesql_executor.spark.scan.acid_v1 import OPERATION, WRITER, newest
from hivesql_executor.spark.scan.delete_filter import (
    ID_COLUMNS,
    DeleteFiles,
    DeleteSet,
    delete_files,
    without_deleted,
)
from hivesql_executor.spark.scan.event_schema import event_read, visible_writes
from hivesql_executor.spark.scan.partition_columns import (
    PLACE,
    Found,
    Place,
    read_placed,
    text_columns,
    value_column,
    value_columns,
    with_place,
)
from hivesql_executor.spark.scan.row_id_keys import KEYS
from hivesql_executor.spark.scan.search_argument import search_argument
from hivesql_executor.spark.scan.task_assignment import tasks_by_path
from hivesql_executor.spark.steps import Step, after
from hivesql_executor.spark.values import check_instants
from hivesql_planner.acid.files_to_read import DataFile, FilesToRead
from hivesql_planner.acid.layout import INSERT_EVENT
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.statistics import ColumnStatistics
from hivesql_planner.model.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRequest:
    """What is read, under which snapshot, and which columns the rows shall have."""

    table: Table
    parts: Sequence[PartitionFiles]
    visible: ValidWriteIdList
    files: Files
    where: str | None = None
    """Only helps to skip stripes; the caller filters all the same."""
    with_row_id: bool
    with_file_name: bool = False
    with_partition_texts: bool = False
    """Adds the texts of the partition values as the catalog has them, which a change needs to find
    back to the directory: the values do not tell ``01`` from ``1``."""
    with_nanosecond_texts: Collection[int] = ()
    """Adds a ``nanosecond_column`` for each of these that may hold nanoseconds."""
    broadcast_words: int = 4_000_000
    """Up to so many 64-row words of deletes go to every executor."""
    local_events: int = 1_000_000
    """Up to so many delete events are read without a job."""
    known: Sequence[ColumnStatistics] = ()
    """What Spark plans with."""
    filter_rows: int = -1
    """From so many rows on, tasks apply Spark's filter before they decode other columns; never
    below 0."""
    by_writer: bool = False
    """Asks for tasks that have all rows of their writers, where that is worth it."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What all parts of one scan share."""

    events: EventScan
    where: str | None
    with_events: bool = False
    """Whether rows carry what their event does, and who wrote it."""
    nanoseconds: tuple[int, ...] = ()
    """Columns whose timestamps are wanted as texts too, see ``nanoseconds``."""

    @property
    def spark(self) -> SparkSession:
        return self.events.spark

    @property
    def table(self) -> Table:
        return self.events.table

    @property
    def visible(self) -> ValidWriteIdList:
        return self.events.visible

    def nanoseconds_in(self, tail: OrcTail) -> tuple[int, ...]:
        """Return those of them that are read as texts in a file."""
        found = nanosecond_columns(self.table, tail) if self.nanoseconds else ()
        return tuple(i for i in found if i in self.nanoseconds)


# Spark writes file:///a%20b, Hive file:/a b.
FILE_NAME = (
    "regexp_replace(url_decode(replace(input_file_name(), '+', '%2B')), '^(?:file:)?/+', 'file:/') "
    "AS input__file__name"
)
"""Spark SQL of the file that a row was read from; only right next to the scan."""
_Columns = tuple[tuple[str, ...], tuple[str, ...]]
"""Names and types of a file's columns."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """One data file, where it is, and its footer."""

    place: Place
    file: DataFile
    tail: OrcTail

    @property
    def path(self) -> str:
        return spark_path(self.place.location, self.file)


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
    events = EventScan(spark, table, request.visible, tuple(request.known), request.filter_rows)
    read = _Read(events, request.where)
    _check_orphans(files, parts)
    wanted = sorted((part for part in parts if part.files.data), key=lambda p: not p.files.deletes)
    # Partitions with deletes come first, so that their numbers are small.
    placed = [
        (Place(number, part.partition, part.location), part.files)
        for number, part in enumerate(wanted)
    ]
    pieces = _pieces(files, placed)
    if any(piece.file.side_file for piece in pieces):
        know_flushed_files(spark)
    if request.with_nanosecond_texts:
        nanoseconds = {i for piece in pieces for i in nanosecond_columns(table, piece.tail)}
        wanted_texts = nanoseconds & set(request.with_nanosecond_texts)
        read = replace(read, nanoseconds=tuple(sorted(wanted_texts)))
    deletes = [(place, chosen.deletes) for place, chosen in placed if chosen.deletes]
    gone = delete_files(deletes, files)
    words = gone.count_bitmap_words(files, request.broadcast_words)
    untouched = 0 if words <= request.broadcast_words else len(deletes)
    direct = _direct(read, [piece for piece in pieces if piece.place.number >= untouched])
    paths = {piece.path for piece in direct}
    pieces = [piece for piece in pieces if piece.path not in paths]
    tasks = _tasks(read, direct) if request.by_writer and not pieces else None
    hit = [piece for piece in pieces if piece.place.number < len(deletes)]
    spared = [piece for piece in pieces if piece.place.number >= len(deletes)]
    texts = text_columns(table) if request.with_partition_texts else []
    texts += map(nanosecond_column, read.nanoseconds)
    columns = _output(table, request.with_row_id, texts)
    if request.with_file_name:
        if hit or any(holds_changes(piece.tail) for piece in pieces):
            raise NotSupported(f"INPUT__FILE__NAME: {table.name} has files that meet their deletes")
        columns.append(FILE_NAME)
    if direct and not pieces and not read.nanoseconds and not table.partition_columns:
        frames = _direct_rows(read, direct, gone, tasks or {}, (("select", columns),))
        return Scanned(reduce(DataFrame.union, frames), whole_writers=tasks is not None)
    frames = _direct_rows(read, direct, gone, tasks or {})
    frames += _live(read, spared, numbered=request.with_row_id)
    if hit:
        rows = reduce(DataFrame.unionByName, _live(read, hit, numbered=True))
        deleted = DeleteSet.of(
            spark,
            table,
            gone,
            places=len(deletes),
            visible=request.visible,
            files=files,
            words=words,
            local_events=request.local_events,
        )
        frames.append(without_deleted(rows, deleted, broadcast_words=request.broadcast_words))
    if not frames:
        schema = _schema(table, with_row_id=request.with_row_id, texts=texts)
        schema += ", input__file__name string" if request.with_file_name else ""
        return Scanned(spark.createDataFrame([], schema))
    output = [after(one, ("select", columns)) for one in frames]
    return Scanned(reduce(DataFrame.union, output), whole_writers=tasks is not None)


def _check_orphans(files: Files, parts: Sequence[PartitionFiles]) -> None:
    found = [
        (f"{part.location}/{file.path}", file.length) for part in parts
        for file in part.files.orphans
    ]  # fmt: skip
    check_orphans([path for path, _ in found], read_footers(files, found))


def _schema(table: Table, *, with_row_id: bool, texts: Sequence[str]) -> str:
    fields = [f"`{column.name}` {spark_type(column.type)}" for column in table.all_columns]
    row_id = ["row__id struct<writeid:bigint,bucketid:int,rowid:bigint>"] if with_row_id else []
    return ", ".join([*fields, *row_id, *(f"`{text}` string" for text in texts)])


def _output(table: Table, with_row_id: bool, texts: Sequence[str]) -> list[str]:
    columns = [f"`{name}`" for name in table.column_names]
    columns += (f"{value_column(i)} as `{name}`" for i, name in enumerate(table.partition_names))
    if with_row_id:
        parts = zip(ID_COLUMNS, ("writeid", "bucketid", "rowid"), strict=True)
        fields = ", ".join(f"`{column}` as {part}" for column, part in parts)
        columns.append(f"struct({fields}) as row__id")
    return [*columns, *texts]


def _pieces(files: Files, placed: Sequence[tuple[Place, FilesToRead]]) -> list[_Piece]:
    """Every data file that has rows."""
    found = [
        (place, file, f"{place.location}/{file.path}")
        for place, chosen in placed
        for file in chosen.data
    ]
    tails = read_footers(files, [(path, file.length) for _, file, path in found])
    pieces = []
    for place, file, path in found:
        tail = tails[path]
        check_file(path, file, tail)
        if tail.rows:
            pieces.append(_Piece(place, file, tail))
    return pieces


def _direct(read: _Read, pieces: Sequence[_Piece]) -> list[_Piece]:
    """Choose those that a reader of our own can read."""
    changed = {piece.place.number for piece in pieces if holds_changes(piece.tail)}
    return [
        piece
        for piece in pieces
        if piece.file.original is None
        and not piece.file.side_file
        and not read.nanoseconds_in(piece.tail)
        and piece.place.number not in changed
        and is_direct(read.table, piece.tail)
    ]


def _tasks(read: _Read, pieces: Sequence[_Piece]) -> dict[str, int] | None:
    """Return the task for each file, all of a writer in one."""
    if not pieces or len({layout(read.table, piece.tail) for piece in pieces}) > 1:
        return None
    files = ((one.path, one.file.length, one.place.number, one.tail) for one in pieces)
    return tasks_by_path(files, read.spark.sparkContext.defaultParallelism)


def _direct_rows(
    read: _Read,
    pieces: Sequence[_Piece],
    gone: DeleteFiles,
    tasks: Mapping[str, int],
    finish: Sequence[Step] = (),
) -> list[DataFrame]:
    found = [
        EventPath(
            one.place, one.path, one.file.length, one.file.write_id_filter, one.tail,
            tasks.get(one.path),
        )
        for one in pieces
    ]  # fmt: skip
    deletes = [
        DeletePath(place, path, file.write_id_filter, gone.version(file, path))
        for place, file, path in gone.found
    ]
    frames = direct_rows(read.events, found, deletes, finish)
    return [with_values(rows, read.table, (), read.nanoseconds) for rows in frames]


def _live(read: _Read, pieces: Sequence[_Piece], *, numbered: bool) -> list[DataFrame]:
    """``_rows``, with the events of version 1 already merged."""
    changed = {piece.place for piece in pieces if holds_changes(piece.tail)}
    plain = [piece for piece in pieces if piece.place not in changed]
    frames = _rows(read, plain, numbered=numbered)
    if changed:
        merged = [piece for piece in pieces if piece.place in changed]
        # A row's latest event must not be skipped because an earlier one fits the predicate.
        events = _rows(replace(read, where=None, with_events=True), merged, numbered=True)
        frames.append(newest(reduce(DataFrame.unionByName, events)))
    return frames


def _rows(read: _Read, pieces: Sequence[_Piece], *, numbered: bool) -> list[DataFrame]:
    """User columns, ID_COLUMNS, PLACE and partition values of some data files."""
    groups: dict[tuple[_Columns, bool, tuple[int, ...]], dict[Place, list[tuple[str, int]]]] = {}
    originals = []
    for piece in pieces:
        if piece.file.original is not None:
            originals.append(piece)
            continue
        nanoseconds = read.nanoseconds_in(piece.tail)
        columns = piece.tail.row_fields, piece.tail.row_types
        group = groups.setdefault((columns, piece.file.write_id_filter, nanoseconds), {})
        group.setdefault(piece.place, []).append((piece.path, piece.file.length))
    frames = [
        _acid_rows(read, list(group.items()), columns, nanoseconds, filtered=filtered)
        for (columns, filtered, nanoseconds), group in groups.items()
    ]
    return frames + _original_frames(read, originals, numbered=numbered)


def _acid_rows(
    read: _Read,
    found: Found,
    columns: _Columns,
    nanoseconds: tuple[int, ...],
    *,
    filtered: bool,
) -> DataFrame:
    names, types = columns
    table = with_texts(read.table, nanoseconds)
    schema, where = event_read(names, [spark_type(column.type) for column in table.columns])
    options: dict[str, str] = {}
    present = read.table.columns[: len(names)]
    if read.where and [name.lower() for name in names] == [column.name for column in present]:
        options = search_argument(read.spark, read.where, present, types)
    rows = read_placed(read.spark, table, schema, found, options, where)
    if filtered:
        rows = rows.where(visible_writes("currentTransaction", read.visible))
    user = by_position(table, names, inside="row.")
    ids = (f.col(key).alias(name) for key, name in zip(KEYS, ID_COLUMNS, strict=True))
    event = [f.col("operation").alias(OPERATION), f.col("currentTransaction").alias(WRITER)]
    event = event if read.with_events else []
    rows = rows.select(*user, *ids, PLACE, *value_columns(table), *event)
    return with_values(rows, read.table, nanoseconds, read.nanoseconds)


def _original_frames(
    read: _Read, originals: Sequence[_Piece], *, numbered: bool
) -> list[DataFrame]:
    """Files without ACID columns; their rows get ids from their place in the file."""
    counts: dict[tuple[Place, str, int], int] = {}
    frames = []
    for piece in originals:
        file, names = piece.file, piece.tail.row_fields
        assert file.original is not None
        # Originals of a root are counted together, those of a delta or base on their own.
        scope = file.path.partition("/")[0] if file.original.write_id else ""
        key = (piece.place, scope, file.bucket)
        first = counts.get(key, 0)
        counts[key] = first + piece.tail.rows
        nanoseconds = read.nanoseconds_in(piece.tail)
        table = with_texts(read.table, nanoseconds)
        about = (read.spark, table, piece.path, names, file.original, file.bucket)
        rows = numbered_rows(*about, first) if numbered else original_rows(*about)
        rows = with_values(rows, read.table, nanoseconds, read.nanoseconds)
        if read.with_events:
            rows = rows.withColumns({OPERATION: f.lit(INSERT_EVENT), WRITER: f.col(ID_COLUMNS[0])})
        frames.append(with_place(rows, read.table, piece.place))
    return frames
