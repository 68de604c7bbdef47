"""From a directory listing and a snapshot to the files to read: Hive's getAcidState, pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hivesql_planner.acid.layout import (
    ACID_PREFIXES,
    METADATA_FILE,
    AcidDirectory,
    DirectoryKind,
    is_hidden,
    is_marker,
    parse_directory,
)
from hivesql_planner.acid.write_ids import Range, ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import DataError

_BASE = DirectoryKind.BASE
_NONE, _SOME, _ALL = Range
_SMALLEST = -(2**63)
_DATA_FORMATS = frozenset({"compacted", "truncated", "dropped"})


class FileStatus(NamedTuple):
    """A file: path relative to the partition root, length in bytes, and when it was changed.

    The time is in the unit of its file system, as for single files.
    """

    path: str
    length: int
    modified: int = 0


class ListedDirectory(NamedTuple):
    """An ACID directory with all files below it."""

    name: str
    directory: AcidDirectory
    files: tuple[FileStatus, ...] = ()


@dataclass(frozen=True, slots=True)
class AcidState:
    """What a partition root holds for a snapshot; names are relative to the root."""

    base: ListedDirectory | None = None
    deltas: tuple[ListedDirectory, ...] = ()
    originals: tuple[FileStatus, ...] = ()
    obsolete: tuple[str, ...] = ()
    aborted: tuple[str, ...] = ()
    uncompacted_aborts: bool = False
    doubt: str = ""
    """Why an earlier state may have been cleaned in part; empty where it cannot."""

    @property
    def directories(self) -> tuple[ListedDirectory, ...]:
        """Return those that are read: the base, if there is one, and the deltas."""
        return (*([self.base] if self.base else []), *self.deltas)


@dataclass(slots=True)
class _Selection:
    """Bases and deltas while they are being sorted out."""

    base: ListedDirectory | None = None
    oldest_base: ListedDirectory | None = None
    working: list[ListedDirectory] = field(default_factory=list)
    obsolete: list[str] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)
    uncompacted_aborts: bool = False


def select(
    files: Iterable[FileStatus],
    write_ids: ValidWriteIdList,
    txns: ValidTxnList,
    *,
    metadata: Mapping[str, str] | None = None,
    location: str = "",
    is_earlier: bool = False,
) -> AcidState:
    """Choose base, deltas and originals that the snapshot sees.

    ``metadata`` maps a directory to the dataFormat in its ``_metadata_acid`` file. A state that
    ``is_earlier`` may have a doubt, which is for the caller to clear. Raises
    DataError 10327 when the history the snapshot needs was cleaned away, and DataError for a
    directory or a dataFormat that only looks like Hive's: rows must not be guessed.
    Source: AcidUtils.getAcidState of Hive 4, except that a base of INSERT OVERWRITE is only used
    when its own write id is visible (Hive also takes one that is still open and the lowest), and
    that of two compactions of the same deltas one is read.
    """
    metadata = {name: _known_format(name, text) for name, text in (metadata or {}).items()}
    bases, deltas, originals = _group(files)
    selection = _Selection()
    for entry in bases:
        _judge_base(entry, selection, write_ids, txns, metadata)
    for entry in deltas:
        _judge_delta(entry, selection, write_ids, txns)
    if selection.base is not None:
        selection.obsolete += _original_names(originals)
        originals = []
    current = _uncovered(selection, write_ids)
    oldest = selection.oldest_base
    doubt = ""
    if oldest and selection.base is None and _is_compacted(oldest, metadata):
        first = min(write_ids.exceptions, default=None)
        doubt = (
            f"Not enough history available for ({write_ids.high_watermark},{first}). "
            f"Oldest available base: {location}/{oldest.name}"
        )
    if doubt and not is_earlier:
        raise DataError(doubt, code=10327)
    return AcidState(
        base=selection.base,
        deltas=tuple(current),
        originals=tuple(sorted(originals, key=lambda file: file.path)),
        obsolete=tuple(selection.obsolete),
        aborted=tuple(selection.aborted),
        uncompacted_aborts=selection.uncompacted_aborts,
        doubt=doubt,
    )


def _group(
    files: Iterable[FileStatus],
) -> tuple[list[ListedDirectory], list[ListedDirectory], list[FileStatus]]:
    """Bases and deltas by name, with their files; everything else is an original file.

    Minor compactions of early Hives have left copies of a delta inside of it: they are no rows.
    Source: Hive 3 (4.1 fails or reads them twice), trinodb/trino#16315.
    """
    grouped: dict[str, list[FileStatus]] = {}
    originals: list[FileStatus] = []
    for status in files:
        path = status.path
        if is_hidden(path):
            continue
        name, slash, below = path.partition("/")
        if below.startswith(ACID_PREFIXES) and "/" in below and name.startswith(ACID_PREFIXES):
            continue
        if not slash or not name.startswith(ACID_PREFIXES):
            originals.append(status)
        elif name in grouped:
            grouped[name].append(status)
        else:
            grouped[name] = [status]
    bases: list[ListedDirectory] = []
    deltas: list[ListedDirectory] = []
    for name in sorted(grouped):
        directory = parse_directory(name)
        if directory is None:
            raise DataError(
                f"{name} begins like an ACID directory but is none: rename or remove it"
            )
        kind = bases if directory.kind is _BASE else deltas
        kind.append(ListedDirectory(name, directory, tuple(grouped[name])))
    return bases, deltas, [file for file in originals if not is_marker(file.path)]


def _known_format(name: str, text: str) -> str:
    if text.lower() not in _DATA_FORMATS:
        raise DataError(f"{name}/{METADATA_FILE} has an unknown dataFormat: {text!r}")
    return text.lower()


def is_compacted(directory: AcidDirectory, data_format: str | None) -> bool:
    """Tell whether a compaction made a base, and no overwrite; None has no ``_metadata_acid``."""
    return directory.visibility_txn > 0 or data_format == "compacted"


def _is_compacted(entry: ListedDirectory, metadata: Mapping[str, str]) -> bool:
    return is_compacted(entry.directory, metadata.get(entry.name))


def _txn_ok(entry: ListedDirectory, selection: _Selection, txns: ValidTxnList) -> bool:
    txn = entry.directory.visibility_txn
    if txn == 0 or txns.sees(txn):
        return True
    if txns.is_aborted(txn):
        selection.aborted.append(entry.name)
    return False


def _judge_base(
    entry: ListedDirectory,
    selection: _Selection,
    write_ids: ValidWriteIdList,
    txns: ValidTxnList,
    metadata: Mapping[str, str],
) -> None:
    if not _txn_ok(entry, selection, txns):
        return
    write_id = entry.directory.max_write_id
    if selection.oldest_base is None or write_id < selection.oldest_base.directory.max_write_id:
        selection.oldest_base = entry
    compacted = _is_compacted(entry, metadata)
    if write_ids.is_aborted(write_id) and not compacted:
        selection.aborted.append(entry.name)
        return
    if selection.base is not None and not _is_newer(entry, selection.base, compacted):
        selection.obsolete.append(entry.name)
        return
    if not _is_usable(write_id, write_ids, compacted):
        return
    if selection.base is not None:
        selection.obsolete.append(selection.base.name)
    selection.base = entry


def _is_newer(entry: ListedDirectory, base: ListedDirectory, compacted: bool) -> bool:
    ours, theirs = entry.directory, base.directory
    if ours.max_write_id != theirs.max_write_id:
        return ours.max_write_id > theirs.max_write_id
    # Of two compactions of the same state the later one wins.
    return compacted and ours.visibility_txn > theirs.visibility_txn


def _is_usable(write_id: int, write_ids: ValidWriteIdList, compacted: bool) -> bool:
    if write_id == _SMALLEST:
        return True
    return write_ids.is_valid_base(write_id) if compacted else write_ids.sees(write_id)


def _judge_delta(
    entry: ListedDirectory, selection: _Selection, write_ids: ValidWriteIdList, txns: ValidTxnList
) -> None:
    if not _txn_ok(entry, selection, txns):
        return
    low, high = entry.directory.min_write_id, entry.directory.max_write_id
    aborted = write_ids.range_aborted(low, high)
    if aborted is _ALL:
        selection.aborted.append(entry.name)
        return
    if aborted is _SOME:
        selection.uncompacted_aborts = True
    if write_ids.range_valid(low, high) is not _NONE:
        selection.working.append(entry)


def _uncovered(selection: _Selection, write_ids: ValidWriteIdList) -> list[ListedDirectory]:
    """Deltas that no wider delta and no base covers, in reading order."""
    current = selection.base.directory.max_write_id if selection.base else 0
    last_statement = -1
    previous: AcidDirectory | None = None
    uncovered: list[ListedDirectory] = []
    for entry in sorted(selection.working, key=_reading_order):
        delta = entry.directory
        if delta.max_write_id > current:
            if write_ids.range_valid(current + 1, delta.max_write_id) is not _NONE:
                uncovered.append(entry)
                current, last_statement = delta.max_write_id, delta.statement_id
                previous = delta
        elif (delta.max_write_id == current and last_statement >= 0) or (
            previous is not None and _is_counterpart(delta, previous)
        ):
            uncovered.append(entry)
            previous = delta
        else:
            selection.obsolete.append(entry.name)
    return uncovered


def _reading_order(entry: ListedDirectory) -> tuple[int, int, int, int, str]:
    name, (_, low, high, statement, made_by), _ = entry
    return low, -high, statement, -made_by, name


def _is_counterpart(directory: AcidDirectory, other: AcidDirectory) -> bool:
    """Tell whether one write or compaction made both: one holds its rows, one its deletes.

    Two workers that compacted the same deltas have made the same rows, of which the later ones
    count (HIVE-29210; Hive 4.1 reads both).
    """
    return directory[1:] == other[1:]


def _original_names(originals: Iterable[FileStatus]) -> list[str]:
    return sorted(file.path for file in originals)
