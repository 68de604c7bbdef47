"""Event files of a snapshot, read in pieces, or nothing where only Spark reads them rightly."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyorc
from pyarrow import orc

from hivesql_executor.files.api import Files, readable_rows
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.local.events import has_early_fractions
from hivesql_executor.local.pieces import Piece, Runs, note_files
from hivesql_executor.local.runs import PLAIN_NAME, can_seek, read_runs
from hivesql_executor.local.times import has_plain_times
from hivesql_executor.local.types import arrow_type
from hivesql_executor.orc.footers import check_file, check_orphans, holds_changes, read_footers
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile
from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.local.decide import is_small
from hivesql_planner.model.hive_type import TEXTS, TIMESTAMPS, Kind
from hivesql_planner.model.table import Column, Table

_CODEC_V1 = 1
_CODEC_SHIFT = 29
"""Where a bucket's number tells how it is made."""
_REMEMBERED = 128 * 1024
"""Files of at most so many bytes are kept in memory."""
_TINY = 8 * 1024
"""Of files of at most so many bytes, as changes of few rows leave in each partition, more are."""

_UNREADABLE = (
    pyorc.ORCError, RuntimeError, ValueError, LookupError, ArithmeticError, pa.ArrowException,
)  # fmt: skip
"""What a damaged file may end in where single rows of it are read."""


class OnlySpark(Exception):
    """These files hold something that is read rightly by Spark alone."""


@dataclass(frozen=True, slots=True)
class SmallSnapshot:
    """The files of a snapshot, of which little is to be read."""

    table: Table
    files: Files
    visible: ValidWriteIdList
    parts: tuple[PartitionFiles, ...]
    tails: dict[str, OrcTail]


def small_snapshot(
    table: Table,
    parts: Sequence[PartitionFiles],
    visible: ValidWriteIdList,
    files: Files,
    most_bytes: int,
) -> SmallSnapshot:
    """Look at every file's footer; OnlySpark when there are too many files or there is an odd one.

    DataError, as in any reading, for a file that is not what its name says.
    """
    paths_and_files = [entry for part in parts for entry in _all_files(part)]
    if len(paths_and_files) > files.most_small:
        lengths_of_all = [file.length for _, file in paths_and_files]
        if not isinstance(files, LocalFiles) or not is_small(lengths_of_all, (), most_bytes):
            raise OnlySpark
    if any(isinstance(file, DataFile) and file.original for _, file in paths_and_files):
        raise OnlySpark
    lengths = [(path, file.length) for path, file in paths_and_files]
    modified = {path: file.modified for path, file in paths_and_files}
    tails = dict(read_footers(files, lengths, modified))
    for part in parts:
        check_orphans([f"{part.location}/{file.path}" for file in part.files.orphans], tails)
    for path, file in paths_and_files:
        check_file(path, file, tails[path])
        if isinstance(file, DataFile) and holds_changes(tails[path]):
            raise OnlySpark
    note_files(
        (path, tails[path].rows) for path, file in paths_and_files if isinstance(file, DataFile)
    )
    return SmallSnapshot(table, files, visible, tuple(parts), tails)


def _all_files(part: PartitionFiles) -> Iterator[tuple[str, DataFile | DeleteFile]]:
    for data in part.files.data:
        yield f"{part.location}/{data.path}", data
    for deletes in (*part.files.deletes, *part.files.orphans):
        yield f"{part.location}/{deletes.path}", deletes


@dataclass(frozen=True, slots=True)
class Stored:
    """Events of a file: ids, who wrote each, and wanted data columns by name."""

    ids: dict[str, pa.Array]
    writers: pa.Array
    columns: dict[str, pa.Array]

    def take(self, chosen: pa.Array) -> Stored:
        """Choose some of the events."""
        return Stored(
            {name: array.take(chosen) for name, array in self.ids.items()},
            self.writers.take(chosen),
            {name: array.take(chosen) for name, array in self.columns.items()},
        )


def read_piece(
    snapshot: SmallSnapshot,
    piece: Piece,
    length: int,
    columns: tuple[Column, ...],
    *,
    remember: bool = True,
) -> Stored:
    """Return the events of a piece as they are stored; without ``columns`` the ids alone.

    Without ``remember`` the file itself is read, whatever was read of it before.
    """
    files, path = snapshot.files, piece.path
    modified = snapshot.tails[path].modified
    fields = _fields(snapshot, path, columns)
    is_whole = piece.runs is None and piece.stripe is None
    if is_whole and sum(each.name is not None for each in fields) == _width(snapshot, path):
        # Before its parts are looked at, each of which would be asked for by itself.
        readable_rows(files, path, length, 1 << 20, modified=modified, is_whole=True)
    if any(map(_is_timed, columns)) and not has_plain_times(files, path, length, modified):
        raise OnlySpark
    if piece.runs is not None:
        return _of_runs(snapshot, piece.path, length, piece.runs, fields)
    read: Callable[..., Stored] = _read
    if remember and length <= _REMEMBERED:
        read = _remembered if length > _TINY else _remembered_tiny
    return read(files, path, length, modified, piece.stripe, fields, _width(snapshot, path))


def _width(snapshot: SmallSnapshot, path: str) -> int:
    """Return the number of a file's data columns."""
    return len(snapshot.tails[path].row_fields)


def is_seekable(snapshot: SmallSnapshot, path: str, columns: Sequence[Column]) -> bool:
    """Tell whether single rows of a file can be read."""
    present = [
        orc_field for orc_field in _fields(snapshot, path, columns) if orc_field.name is not None
    ]
    return can_seek(
        [orc_field.name or "" for orc_field in present], [orc_field.column for orc_field in present]
    )


_ALIKE = TEXTS | TIMESTAMPS


@dataclass(frozen=True, slots=True)
class _Field:
    """A wanted column, its place in the file's row and its name there; None where it is newer."""

    column: Column
    position: int
    name: str | None


def _fields(snapshot: SmallSnapshot, path: str, columns: Sequence[Column]) -> tuple[_Field, ...]:
    """By position in the file, as Hive finds columns. OnlySpark where values are to be converted.

    What Arrow reads as another type it does not take; texts and times of all kinds it reads alike.
    """
    tail = snapshot.tails[path]
    places = {column.name: i for i, column in enumerate(snapshot.table.columns)}
    orc_fields = []
    for column in columns:
        position = places[column.name]
        is_present = position < len(tail.row_fields)
        if is_present and column.type.holds(*_ALIKE) and not is_as_stored(tail, position, column):
            raise OnlySpark
        name = tail.row_fields[position] if is_present else None
        orc_fields.append(_Field(column, position, name))
    return tuple(orc_fields)


def is_as_stored(tail: OrcTail, position: int, column: Column) -> bool:
    """Tell whether the file has the column, and of the type that it has in the table."""
    return position < len(tail.row_types) and str(tail.row_types[position]) == column.type.orc


def _of_runs(
    snapshot: SmallSnapshot, path: str, length: int, runs: Runs, fields: Sequence[_Field]
) -> Stored:
    tail = snapshot.tails[path]
    stored = sorted(
        (orc_field.position, orc_field) for orc_field in fields if orc_field.name is not None
    )
    if not all(is_as_stored(tail, position, orc_field.column) for position, orc_field in stored):
        raise OnlySpark
    named = [(orc_field.name or "", orc_field.column) for _, orc_field in stored]
    try:
        ids, columns = read_runs(snapshot.files, path, length, runs, named, modified=tail.modified)
    except _UNREADABLE:
        # Spark shall say what is wrong with it.
        raise OnlySpark from None
    writers = ids.pop(ACID_FIELDS[4])
    _check_codec(ids["bucket"])
    count = len(writers)
    values = {
        orc_field.column.name: pa.nulls(count, arrow_type(orc_field.column.type))
        if orc_field.name is None
        else _value(columns[orc_field.column.name], orc_field.column)
        for orc_field in fields
    }
    return Stored(ids, writers, values)


def _read(
    files: Files,
    path: str,
    length: int,
    modified: int,
    stripe: int | None,
    fields: tuple[_Field, ...],
    width: int,
) -> Stored:
    """Return a file or one stripe as it is stored; ``width`` is the number of its data columns."""
    names = {
        orc_field.position: orc_field.name for orc_field in fields if orc_field.name is not None
    }
    positions = sorted(names)
    some = len(positions) < width and all(map(PLAIN_NAME.fullmatch, names.values()))
    is_whole = stripe is None and bool(positions) and not some
    source = readable_rows(files, path, length, 1 << 20, modified=modified, is_whole=is_whole)
    expected: tuple[str, ...] = ACID_FIELDS if positions else ACID_FIELDS[:-1]
    chosen: list[str] | None = [*ACID_FIELDS[:-1], *(f"row.{names[i]}" for i in positions)]
    if positions and not some:
        chosen = None
    try:
        reader = orc.ORCFile(source)
        events = reader.read(chosen) if stripe is None else reader.read_stripe(stripe, chosen)
    except (pa.ArrowException, OSError):
        # Spark shall say what is wrong with it.
        raise OnlySpark from None
    if tuple(events.schema.names) != expected:
        raise OnlySpark
    if isinstance(events, pa.RecordBatch):
        events = pa.Table.from_batches([events])
    _check_codec(events.column("bucket"))
    row = events.column("row").combine_chunks() if "row" in events.schema.names else None
    places = {position: i for i, position in enumerate(positions)} if some else None
    # All at once: to ask for a field of a struct takes longer the more fields it has.
    values = None if row is None else row.flatten()
    return Stored(
        ids={name: events.column(name).combine_chunks() for name in ACID_FIELDS[1:4]},
        writers=events.column("currentTransaction").combine_chunks(),
        columns={
            orc_field.column.name: _column(values, orc_field, places, len(events))
            for orc_field in fields
        },
    )


_remembered = functools.lru_cache(maxsize=256)(_read)
"""Files never change, and a session that changes rows one by one reads the same ones again."""
_remembered_tiny = functools.lru_cache(maxsize=4096)(_read)


def _check_codec(buckets: pa.Array) -> None:
    # One question instead of three, which take longer than to read a small file.
    ends = pc.min_max(buckets).as_py().values()
    if any(end is not None and end >> _CODEC_SHIFT != _CODEC_V1 for end in ends):
        raise OnlySpark


def _column(
    values: list[pa.Array] | None, field: _Field, places: dict[int, int] | None, count: int
) -> pa.Array:
    """Return a column by its position in the file; NULL when the file is older than the column."""
    if field.name is None or values is None:
        return pa.nulls(count, arrow_type(field.column.type))
    position = field.position if places is None else places[field.position]
    return _value(values[position], field.column)


def _value(array: pa.Array, column: Column) -> pa.Array:
    kind = arrow_type(column.type)
    if pa.types.is_timestamp(kind):
        return _microseconds(array)
    if not _is_same(array.type, kind):
        raise OnlySpark
    if column.type.kind is Kind.CHAR:
        # CHAR compares without its padding.
        return pc.utf8_rtrim(array, " ")
    return array.cast(kind)


def _is_same(actual: pa.DataType, expected: pa.DataType) -> bool:
    """Equal but for names inside lists and maps, which mean nothing."""
    if pa.types.is_nested(expected):
        inner = [expected.field(i) for i in range(expected.num_fields)]
        others = [actual.field(i) for i in range(actual.num_fields)]
        named = not pa.types.is_struct(expected) or [a.name for a in inner] == [
            b.name for b in others
        ]
        return (
            actual.id == expected.id
            and len(inner) == len(others)
            and named
            and all(_is_same(b.type, a.type) for a, b in zip(inner, others, strict=True))
        )
    return bool(actual == expected)


def _microseconds(array: pa.Array) -> pa.Array:
    if array.type != pa.timestamp("ns"):
        raise OnlySpark
    try:
        cast = array.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        # Spark cuts nanoseconds; what it makes of them stays its own affair.
        raise OnlySpark from None
    if has_early_fractions(cast):
        raise OnlySpark
    return cast


def _is_timed(column: Column) -> bool:
    return column.type.holds(Kind.DATE, *TIMESTAMPS)
