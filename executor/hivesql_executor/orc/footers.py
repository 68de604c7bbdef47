"""The footers of a scan's files, and what is wrong with a file that is not what its place says."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from hivesql_executor.files.api import Files
from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.orc.tail import OrcTail, cached_tail, known_tail
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile
from hivesql_planner.acid.layout import (
    ACID_FIELDS,
    DELETE_EVENT,
    INSERT_EVENT,
    STATS,
    VERSION,
    VERSION_TEXT,
    DirectoryKind,
    parse_directory,
)
from hivesql_planner.errors import DataError

KEY, ROW = ACID_FIELDS[1], ACID_FIELDS[-1]
# So many local ones are read before the threads of a pool have started.
_FEW = 64


def read_footers(
    files: Files, lengths: Sequence[tuple[str, int]], modified: Mapping[str, int] | None = None
) -> Mapping[str, OrcTail]:
    """Return the footer of every file, given with its length in bytes, by path.

    All of them: one file of another kind among its neighbours would otherwise lose its rows without
    a word, because Spark takes columns that it misses for NULL and an empty file for no file.
    ``modified`` are times of files that were listed just now, which are not asked for again.
    """
    for path, length in lengths:
        if length == 0:
            raise DataError(
                f"{path} is empty: a write into it was cut off. Restore it, or remove it if its "
                "rows are not wanted"
            )
    times = modified or {}
    listed = [(path, length, times.get(path, 0)) for path, length in lengths]
    is_local = isinstance(files, LocalFiles)
    # Elsewhere to look whether a file is still the same is a request, better made in a thread.
    looked = (
        (path, known_tail(files, path, length, time))
        for path, length, time in listed
        if is_local or time
    )
    cached = {path: tail for path, tail in looked if tail is not None}
    missing = [file for file in listed if file[0] not in cached]
    tails = each_at_once(files, lambda file: cached_tail(files, *file), missing, few=_FEW)
    return cached | {file[0]: tail for file, tail in zip(missing, tails, strict=True)}


def check_file(path: str, file: DataFile | DeleteFile, tail: OrcTail) -> None:
    """Raise unless a file is of the kind, and of the writes, that its place and name say."""
    if isinstance(file, DeleteFile):
        check_deletes(path, tail)
    elif file.original is None:
        check_inserts(path, tail)
    else:
        _check_plain_rows(path, tail)
    if file.write_id_filter:
        _check_writes(path, tail)


def check_inserts(path: str, tail: OrcTail) -> None:
    """Raise unless this is a file of events, with rows in them."""
    _check_acid(path, tail)
    if not holds_changes(tail):
        if ROW in tail.lacking:
            raise DataError(f"{path} holds inserted rows without their columns: it is damaged")
        return
    if tail.metadata.get(VERSION) == VERSION_TEXT:
        raise DataError(
            f"{path} holds updates or deletes, which version 2 keeps in directories of their own: "
            "it does not belong here. Restore the file that was here"
        )


def _check_writes(path: str, tail: OrcTail) -> None:
    """Raise when events would be left out because they are of writes that cannot be here."""
    problem = foreign_writes(path, tail)
    if problem is not None:
        raise DataError(f"{path} {problem}. Restore the file that was here")


def foreign_writes(path: str, tail: OrcTail) -> str | None:
    """Tell what is wrong with the write ids of events in this file's directory, if anything."""
    directory = parse_directory(path.rsplit("/", 2)[-2])
    if directory is None or tail.writers is None or not tail.key_range:
        return None
    low, high = tail.writers
    if directory.kind is DirectoryKind.DELTA and not holds_changes(tail):
        # An inserted row is of the write that its event is of.
        low, high = min(low, *tail.key_range[KEY]), max(high, *tail.key_range[KEY])
    least = 0 if directory.kind is DirectoryKind.BASE else directory.min_write_id
    if least <= low and high <= directory.max_write_id:
        return None
    writes = f"write {low}" if low == high else f"writes {low} to {high}"
    return f"holds events of {writes}, and lies in {directory.name}"


def holds_changes(tail: OrcTail) -> bool:
    """Tell whether a data file has update or delete events too: ACID version 1."""
    _, updates, deletes = _statistics(tail)
    has_changes = tail.operations is not None and tail.operations[1] != INSERT_EVENT
    return tail.is_acid and (has_changes or updates + deletes > 0)


def check_deletes(path: str, tail: OrcTail) -> None:
    """Raise unless this is a file of delete events."""
    _check_acid(path, tail)
    inserts, updates, _ = _statistics(tail)
    has_others = tail.operations is not None and tail.operations[0] != DELETE_EVENT
    if has_others or inserts or updates:
        raise DataError(f"{path} holds inserted rows though its directory is one of deletes")


def check_orphans(paths: Sequence[str], tails: Mapping[str, OrcTail]) -> None:
    """Raise when one of these delete files, whose bucket has no data file, deletes anything.

    Rows were there when they were deleted, and only a base could have dropped them since.
    """
    for path in paths:
        if tails[path].rows:
            raise DataError(
                f"{path} deletes rows of a bucket that has no data file: a data file is missing. "
                "Restore it; the table would otherwise show fewer rows than it has"
            )


def _check_plain_rows(path: str, tail: OrcTail) -> None:
    """Raise when a file that should hold plain rows holds events."""
    if tail.is_acid:
        raise DataError(
            f"{path} carries ACID row ids but is named like a plain file: it was copied here from "
            "another table. Load it with INSERT … SELECT instead",
            code=10413,
        )


def _check_acid(path: str, tail: OrcTail) -> None:
    without = [name for name in tail.lacking if name != ROW]
    if without:
        raise DataError(
            f"{path} holds events without {', '.join(without)}: their rows cannot be told from "
            "others. It is damaged, or of no ACID writer"
        )
    # Hive may leave a file without any columns where a statement had no rows.
    if not tail.is_acid and (tail.rows or tail.row_fields):
        raise DataError(
            f"{path} has no ACID columns though its name says so: it was not written by an ACID "
            "writer. Take it out of the table's directory",
            code=30020,
        )


def _statistics(tail: OrcTail) -> tuple[int, int, int]:
    return _read_statistics(tail.metadata.get(STATS, b""))


@functools.lru_cache(maxsize=1_000)
def _read_statistics(written: bytes) -> tuple[int, int, int]:
    text = written.decode("ascii", "replace")
    numbers = [int(part) for part in text.split(",") if part.strip().isdigit()]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else (0, 0, 0)
