"""The living rows of a snapshot that a predicate takes, from few pieces of its files."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.local.evaluate import evaluate
from hivesql_executor.local.pieces import Piece, Runs, joined, note_pieces, pieces_of
from hivesql_executor.local.read import (
    OnlySpark,
    SmallSnapshot,
    Stored,
    is_as_stored,
    is_seekable,
    read_piece,
)
from hivesql_executor.local.types import arrow_type
from hivesql_executor.orc.event_ids import seen_by
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile
from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.local.decide import MOST_ROWS, is_small
from hivesql_planner.model.hive_type import Kind
from hivesql_planner.model.table import Column, Partition, Table
from hivesql_planner.predicates.predicate import Predicate, columns_of
from hivesql_planner.predicates.ranges import any_of_ids

Row = TypeVar("Row")
Only = frozenset[str] | None
"""Files whose row groups are looked at; None for all files, by stripes."""
KEYS = ACID_FIELDS[1:4]
_ROW = ACID_FIELDS.index("row")
_MANY = 20_000
"""Of more rows, the columns of the predicate are read first."""
_MOST_SEEKS = 1_000
_ROWS_OF_SEEK = 10_000
"""A jump to a row takes as long as so many of a whole stripe."""
_MOST_INDEXES = 100
"""Of more stripes and files, row groups are not looked at."""
_FIRST = 1_000
_SLOWER = 5
"""A row of a run takes as long as so many of a whole stripe."""
_GAP = 255
"""So many rows are rather read than jumped over."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """Rows of one data file: the id columns and the wanted data columns, by name."""

    part: PartitionFiles
    ids: dict[str, pa.Array]
    columns: dict[str, pa.Array]

    def take(self, chosen: pa.Array) -> Fitting:
        """Choose some of the rows."""
        return Fitting(
            self.part,
            {name: array.take(chosen) for name, array in self.ids.items()},
            {name: array.take(chosen) for name, array in self.columns.items()},
        )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A piece of a data file, and the file as the snapshot takes it."""

    part: PartitionFiles
    file: DataFile
    piece: Piece


def fitting(
    snapshot: SmallSnapshot,
    where: Predicate | None,
    columns: tuple[Column, ...],
    most_bytes: int,
    most_rows: int = MOST_ROWS,
) -> list[Fitting]:
    """Return the rows with these data columns; files without one are left out.

    OnlySpark when more would have to be read than is worth no Spark job.
    """

    def wanted_of(only: Only) -> list[_Wanted]:
        sought = [file for part in snapshot.parts for file in _sought(snapshot, part, only)]

        def look(file: tuple[PartitionFiles, DataFile]) -> list[_Wanted]:
            return [*_wanted(snapshot, *file, where, columns, in_runs=only is not None)]

        return [*chain.from_iterable(each_at_once(snapshot.files, look, sought))]

    pieces = _narrowed(wanted_of, lambda file_piece: file_piece.piece, most_bytes, most_rows)
    check_small([file_piece.piece for file_piece in pieces], most_bytes, most_rows)
    note_pieces(file_piece.piece for file_piece in pieces)
    by_part: dict[int, list[Fitting]] = {}
    for rows in each_at_once(
        snapshot.files, lambda piece: _fitting(snapshot, piece, where, columns), pieces
    ):
        if rows is not None:
            by_part.setdefault(id(rows.part), []).append(rows)

    def alive(fittings: Sequence[Fitting]) -> list[Fitting]:
        return [*_alive(fittings, snapshot, fittings[0].part, most_bytes)]

    return [*chain.from_iterable(each_at_once(snapshot.files, alive, [*by_part.values()]))]


def first_rows(
    snapshot: SmallSnapshot, columns: tuple[Column, ...], count: int, most_bytes: int
) -> list[Fitting]:
    """At least so many living rows with these columns, if there are so many; in order of files.

    OnlySpark when more would have to be read than is worth no Spark job.
    """
    fittings: list[Fitting] = []
    read: list[Piece] = []
    for part in snapshot.parts:
        pieces = (_wanted(snapshot, *file, None, columns) for file in _sought(snapshot, part))
        for file_piece in chain.from_iterable(pieces):
            for piece in _chunks(snapshot, file_piece.piece, columns, max(count, _FIRST)):
                if count <= 0:
                    return fittings
                read.append(piece)
                check_small(read, most_bytes)
                note_pieces([piece])
                rows = _fitting(snapshot, replace(file_piece, piece=piece), None, columns)
                alive = list(_alive([rows], snapshot, part, most_bytes)) if rows else []
                fittings += alive
                count -= sum(len(rows.ids["rowId"]) for rows in alive)
    return fittings


def _chunks(
    snapshot: SmallSnapshot, piece: Piece, columns: tuple[Column, ...], first: int
) -> Iterator[Piece]:
    """Yield a file in pieces, each ten times as large as the one before."""
    is_quick = piece.rows > _MANY and are_quick(((0, first),), piece.rows)
    if not is_quick or not is_seekable(snapshot, piece.path, columns):
        yield piece
        return
    start = 0
    while start < piece.rows:
        count = min(first, piece.rows - start)
        share = piece.bytes * count // piece.rows
        yield Piece(piece.path, count, share, runs=((start, count),))
        start, first = start + count, first * 10


def check_small(pieces: Sequence[Piece], most_bytes: int, most_rows: int = MOST_ROWS) -> None:
    """OnlySpark when to read these pieces is worth a Spark job."""
    if not _are_small(pieces, most_bytes, most_rows):
        raise OnlySpark


def _are_small(pieces: Sequence[Piece], most_bytes: int, most_rows: int) -> bool:
    return is_small(
        [piece.bytes for piece in pieces], [piece.rows for piece in pieces], most_bytes, most_rows
    )


def _narrowed(
    read: Callable[[Only], list[Row]],
    piece_of: Callable[[Row], Piece],
    most_bytes: int,
    most_rows: int = MOST_ROWS,
) -> list[Row]:
    """Pieces by stripes, or by row groups where that saves much and few indexes tell of them."""
    by_stripes = read(None)
    pieces = list(map(piece_of, by_stripes))
    rows = sum(piece.rows for piece in pieces)
    if len(pieces) > _MOST_INDEXES or (rows <= _MANY and is_small(
        (piece.bytes for piece in pieces), (), most_bytes
    )):  # fmt: skip
        return by_stripes
    by_groups = read(frozenset(piece.path for piece in pieces))
    fewer = sum(piece_of(row).rows for row in by_groups)
    # Whole stripes are read in columns, runs of rows one by one.
    is_slower = fewer * _SLOWER > rows and _are_small(pieces, most_bytes, most_rows)
    return by_stripes if is_slower else by_groups


def _sought(
    snapshot: SmallSnapshot, part: PartitionFiles, only: Only = None
) -> Iterator[tuple[PartitionFiles, DataFile]]:
    """Yield the data files of a part that may have a living row."""
    gone = _certainly_deleted(snapshot, part)
    for file in part.files.data:
        path = f"{part.location}/{file.path}"
        is_gone = gone and snapshot.tails[path].only in gone
        if (only is None or path in only) and not is_gone:
            yield part, file


def _wanted(
    snapshot: SmallSnapshot,
    part: PartitionFiles,
    file: DataFile,
    where: Predicate | None,
    columns: tuple[Column, ...],
    *,
    in_runs: bool = False,
) -> Iterator[_Wanted]:
    tested = frozenset(columns_of(where)) if where is not None else frozenset()
    path = f"{part.location}/{file.path}"
    tail = snapshot.tails[path]
    places = {
        column.name: (_ROW, i)
        for i, column in enumerate(snapshot.table.columns)
        if column.name in tested and is_as_stored(tail, i, column)
    }
    can_run = in_runs and is_seekable(snapshot, path, columns)
    for piece in pieces_of(snapshot.files, path, file.length, tail, where, places, in_runs=can_run):
        yield _Wanted(part, file, piece)


def _certainly_deleted(snapshot: SmallSnapshot, part: PartitionFiles) -> set[tuple[int, ...]]:
    """Ids of deleted rows that footers tell: those of files with one event.

    A row that is changed again and again leaves many versions, each alone in its file.
    """
    tails = (
        snapshot.tails[f"{part.location}/{file.path}"]
        for file in part.files.deletes
        if not file.write_id_filter
    )
    return {tail.only for tail in tails if tail.only is not None}


def _fitting(
    snapshot: SmallSnapshot,
    file_piece: _Wanted,
    where: Predicate | None,
    columns: tuple[Column, ...],
) -> Fitting | None:
    """Return the piece's visible rows that fit, deleted or not; None without one."""
    names_tested = set(columns_of(where)) if where is not None else set()
    tested = tuple(column for column in snapshot.table.columns if column.name in names_tested)
    names = {column.name for column in columns}
    is_short = file_piece.piece.rows <= _MANY and file_piece.piece.runs is None
    if is_short or names <= names_tested:
        both = columns + tuple(column for column in tested if column.name not in names)
        events = read_piece(snapshot, file_piece.piece, file_piece.file.length, both)
        stored = events.take(_chosen(snapshot, file_piece, where, events))
    else:
        events = read_piece(snapshot, file_piece.piece, file_piece.file.length, tested)
        stored = _again(snapshot, file_piece, _chosen(snapshot, file_piece, where, events), columns)
    if not len(stored.writers):
        return None
    return Fitting(file_piece.part, stored.ids, {name: stored.columns[name] for name in names})


def _chosen(
    snapshot: SmallSnapshot, file_piece: _Wanted, where: Predicate | None, events: Stored
) -> pa.Array:
    """Find the indices of the events that are seen and fit."""
    fits = pa.array(np.ones(len(events.writers), np.bool_))
    if where is not None:
        values = events.columns | partition_columns(
            file_piece.part.partition, snapshot.table, len(events.writers), {*columns_of(where)}
        )
        fits = pc.fill_null(evaluate(where, values), False)
    if file_piece.file.write_id_filter:
        fits = pc.and_(fits, seen_by(snapshot.visible, events.writers))
    return pc.indices_nonzero(fits)


def _again(
    snapshot: SmallSnapshot, file_piece: _Wanted, chosen: pa.Array, columns: tuple[Column, ...]
) -> Stored:
    """Return the chosen rows of a piece with these columns."""
    piece, length = file_piece.piece, file_piece.file.length
    if len(chosen) <= _MOST_SEEKS and is_seekable(snapshot, piece.path, columns):
        numbers = _numbers(piece)[chosen.to_numpy()]
        runs = joined(((number, 1) for number in numbers.tolist()), _GAP)
        # What was looked at as a whole stripe is read in columns.
        if piece.runs is not None or are_quick(runs, piece.rows):
            few = replace(piece, runs=runs)
            events = read_piece(snapshot, few, length, columns)
            return events.take(pa.array(np.searchsorted(_numbers(few), numbers)))
    return read_piece(snapshot, piece, length, columns).take(chosen)


def are_quick(runs: Runs, rows: int) -> bool:
    """Tell whether runs are read sooner than all rows of the stripes that they are in.

    Rows that lie close together make one long run, whose rows are still read one by one.
    """
    in_runs = sum(count for _, count in runs)
    return len(runs) * _ROWS_OF_SEEK + in_runs * _SLOWER < rows


def _numbers(piece: Piece) -> npt.NDArray[np.int64]:
    """Numbers in the file of the piece's rows."""
    runs = ((piece.first_row, piece.rows),) if piece.runs is None else piece.runs
    ranges = (np.arange(first, first + count) for first, count in runs)
    return np.concatenate([np.empty(0, np.int64), *ranges])


def _alive(
    fittings: Sequence[Fitting], snapshot: SmallSnapshot, part: PartitionFiles, most_bytes: int
) -> Iterator[Fitting]:
    """Yield the rows of the files that nothing has deleted; files without one are left out."""
    ids = {name: pa.concat_arrays([file.ids[name] for file in fittings]) for name in KEYS}
    keys = list(zip(*(column.to_pylist() for column in ids.values()), strict=True))
    certain = _certainly_deleted(snapshot, part)
    events = _deletes(ids, snapshot, part, most_bytes) if not certain.issuperset(keys) else ()
    deleted = certain | _keys_among(ids, events)
    gone, start = pa.array([key in deleted for key in keys], pa.bool_()), 0
    for file in fittings:
        count = len(file.ids["rowId"])
        living = pc.indices_nonzero(pc.invert(gone.slice(start, count)))
        start += count
        if len(living) == count:
            yield file
        elif len(living):
            yield file.take(living)


def _deletes(
    ids: dict[str, pa.Array], snapshot: SmallSnapshot, part: PartitionFiles, most_bytes: int
) -> list[Stored]:
    """Return the visible delete events that may be of rows with these ids, but for certain ones."""
    numbers = {name: array.to_numpy() for name, array in ids.items()}
    ends = {name: (int(array.min()), int(array.max())) for name, array in numbers.items()}
    places = {name: (ACID_FIELDS.index(name),) for name in KEYS}

    def may_tell(file: DeleteFile) -> bool:
        tail = snapshot.tails[f"{part.location}/{file.path}"]
        is_certain = tail.only is not None and not file.write_id_filter
        return not is_certain and _meet(ends, tail.key_range)

    def pieces_near(file: DeleteFile, *, in_runs: bool) -> Iterator[tuple[DeleteFile, Piece]]:
        path = f"{part.location}/{file.path}"
        tail = snapshot.tails[path]
        near = _within(numbers, tail.key_range)
        if len(near["rowId"]):
            where = any_of_ids({name: array.tolist() for name, array in near.items()})
            for piece in pieces_of(
                snapshot.files, path, file.length, tail, where, places, in_runs=in_runs
            ):
                yield file, piece

    def wanted_of(only: Only) -> list[tuple[DeleteFile, Piece]]:
        sought = [
            file
            for file in part.files.deletes
            if (only is None or f"{part.location}/{file.path}" in only) and may_tell(file)
        ]

        def look(file: DeleteFile) -> list[tuple[DeleteFile, Piece]]:
            return [*pieces_near(file, in_runs=only is not None)]

        return [*chain.from_iterable(each_at_once(snapshot.files, look, sought))]

    file_pieces = _narrowed(wanted_of, lambda pair: pair[1], most_bytes)
    check_small([piece for _, piece in file_pieces], most_bytes)

    def read(pair: tuple[DeleteFile, Piece]) -> Stored:
        file, piece = pair
        events = read_piece(snapshot, piece, file.length, ())
        if file.write_id_filter:
            is_visible = seen_by(snapshot.visible, events.writers)
            events = events.take(pc.indices_nonzero(is_visible))
        return events

    return each_at_once(snapshot.files, read, file_pieces)


def _meet(ends: Mapping[str, tuple[int, int]], others: Mapping[str, tuple[int, int]]) -> bool:
    """Tell whether each part of an id may be the same in both; without ends it may be anything."""
    return all(
        ends[name][0] <= high and low <= ends[name][1] for name, (low, high) in others.items()
    )


def _within(
    ids: Mapping[str, npt.NDArray[Any]], ends: Mapping[str, tuple[int, int]]
) -> Mapping[str, npt.NDArray[Any]]:
    """Give the ids between the ends of each of their parts; parts without ends may be anything."""
    if not ends:
        return ids
    fit = np.logical_and.reduce(
        [(ids[name] >= low) & (ids[name] <= high) for name, (low, high) in ends.items()]
    )
    return {name: array[fit] for name, array in ids.items()}


def _keys_among(ids: dict[str, pa.Array], deletes: Sequence[Stored]) -> set[tuple[int, ...]]:
    """Return the ids of these events, perhaps without some that are of no row with these ids."""
    if not deletes:
        return set()
    near_by = np.isin(
        np.concatenate([stored.ids["rowId"].to_numpy() for stored in deletes]),
        ids["rowId"].to_numpy(),
    )
    keys = (pa.chunked_array([stored.ids[name] for stored in deletes]) for name in ids)
    return set(zip(*(key.filter(pa.array(near_by)).to_pylist() for key in keys), strict=True))


def partition_columns(
    partition: Partition | None, table: Table, count: int, names: Container[str] | None = None
) -> dict[str, pa.Array]:
    """Give the partition's values as columns; those of types that nobody asks for are left out.

    ``names`` are the columns that somebody asks for, None for all.
    """
    values = table.read_values(partition) if partition else ()
    arrays = {}
    for column, text in zip(table.partition_columns, values, strict=True):
        if names is not None and column.name not in names:
            continue
        kind = arrow_type(column.type)
        if text is None:
            arrays[column.name] = pa.nulls(count, kind)
        elif column.type.kind is Kind.STRING:
            arrays[column.name] = pa.repeat(pa.scalar(text), count)
        elif pa.types.is_integer(kind) or pa.types.is_date(kind):
            arrays[column.name] = pa.repeat(_typed(text, kind), count)
    return arrays


def _typed(text: str, kind: pa.DataType) -> pa.Scalar:
    try:
        return pa.scalar(text).cast(kind)
    except pa.ArrowInvalid:
        # Spark has rules of its own for texts that are not quite of the type.
        raise OnlySpark from None
