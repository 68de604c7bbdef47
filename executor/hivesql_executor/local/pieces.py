"""Which rows of which files have to be read, and whether that is little enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from hivesql_executor.files.api import Files
from hivesql_executor.orc.statistics import ColumnPath, Stripe, read_groups, read_statistics
from hivesql_executor.orc.tail import OrcTail
from hivesql_planner.predicates.predicate import Predicate
from hivesql_planner.predicates.ranges import may_hold, ranged_columns

Runs = tuple[tuple[int, int], ...]
"""First row in the file and number of rows of each run."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of a file that are read: all of it, one stripe, or some runs of rows in a stripe."""

    path: str
    rows: int
    bytes: int
    first_row: int = 0
    stripe: int | None = None
    runs: Runs | None = None


def pieces_of(
    files: Files,
    path: str,
    length: int,
    tail: OrcTail,
    where: Predicate | None,
    places: Mapping[str, ColumnPath],
    *,
    in_runs: bool,
) -> Iterator[Piece]:
    """Yield the pieces of a file that may hold a row of which the predicate is true.

    ``places`` says where the file has the columns whose statistics mean what they say. Without
    ``in_runs`` a stripe is read whole.
    """
    file_piece = Piece(path, tail.rows, length)
    names = tuple(dict.fromkeys(ranged_columns(where))) if where is not None else ()
    tested = tuple(name for name in names if name in places)
    if not tail.rows:
        return
    if not tested:
        yield file_piece
        return
    paths = tuple(places[name] for name in tested)
    modified = tail.modified
    statistics = read_statistics(files, path, length, modified, paths)
    if statistics is None or sum(stripe.rows for stripe in statistics.stripes) != tail.rows:
        yield file_piece
        return

    def fits(extents: Sequence[object]) -> bool:
        by_name = zip(tested, extents, strict=True)
        return may_hold(where, {name: extent for name, extent in by_name if extent is not None})  # type: ignore[misc]

    pieces = []
    for stripe in statistics.stripes:
        if not fits(stripe.extents):
            continue
        groups = (
            read_groups(files, path, length, modified, paths, stripe.number)
            if in_runs and stripe.rows > statistics.stride
            else ()
        )
        pieces.append(_piece(path, stripe, [fits(group) for group in groups], statistics.stride))
    pieces = [piece for piece in pieces if piece.rows]
    if sum(piece.rows for piece in pieces) == tail.rows:
        yield file_piece
    else:
        yield from pieces


def _piece(path: str, stripe: Stripe, fits: Sequence[bool], stride: int) -> Piece:
    if all(fits):
        return Piece(path, stripe.rows, stripe.length, stripe.first_row, stripe.number)
    firsts = (group * stride for group, fit in enumerate(fits) if fit)
    groups = ((stripe.first_row + start, min(stride, stripe.rows - start)) for start in firsts)
    runs = joined(groups)
    rows = sum(count for _, count in runs)
    share = stripe.length * rows // stripe.rows if stripe.rows else 0
    return Piece(path, rows, share, stripe.first_row, stripe.number, runs)


def joined(runs: Iterable[tuple[int, int]], gap: int = 0) -> Runs:
    """Fewer runs that hold these (in order), and what lies in gaps of at most so many rows."""
    fewer: list[tuple[int, int]] = []
    for first, count in runs:
        if fewer and first <= sum(fewer[-1]) + gap:
            fewer[-1] = fewer[-1][0], first + count - fewer[-1][0]
        else:
            fewer.append((first, count))
    return tuple(fewer)


@dataclass(slots=True)
class ReadCounts:
    """What EXPLAIN ANALYZE tells: rows of each data file of a snapshot, and those that are read."""

    in_files: dict[str, int] = field(default_factory=dict)
    decoded: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        rows = self.decoded.total()
        return (
            f"{len(self.decoded)} files read, {len(self.in_files) - len(self.decoded)} skipped; "
            f"{rows} rows decoded, {sum(self.in_files.values()) - rows} skipped"
        )


_counts: ContextVar[ReadCounts | None] = ContextVar("read_counts", default=None)


@contextmanager
def counting_reads() -> Iterator[ReadCounts]:
    """Count what this thread reads without Spark until the block ends."""
    counts = ReadCounts()
    token = _counts.set(counts)
    try:
        yield counts
    finally:
        _counts.reset(token)


def note_files(rows: Iterable[tuple[str, int]]) -> None:
    """Note data files that a statement may read, with their rows."""
    if (counts := _counts.get()) is not None:
        counts.in_files.update(rows)


def note_pieces(pieces: Iterable[Piece]) -> None:
    """Note parts of data files that are read."""
    if (counts := _counts.get()) is not None:
        for piece in pieces:
            counts.decoded[piece.path] += piece.rows
