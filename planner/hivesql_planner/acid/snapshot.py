"""From a directory listing and a snapshot to the files to read: Hive's getAcidState, pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hivesql_planner.acid.layout import (
    ACID_PREFIXES,
    METADATA_FILE,
    SIDE_FILE_SUFFIX,
    VERSION_FILE,
    AcidDirectory,
    DirectoryKind,
    is_hidden,
    is_side_file,
    parse_bucket_file,
    parse_directory,
    parse_original_file,
)
from hivesql_planner.acid.write_ids import Range, ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import DataError

_SMALLEST = -(2**63)
_DATA_FORMATS = frozenset({"compacted", "truncated", "dropped"})


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A file: path relative to the partition root, length in bytes, time in milliseconds."""

    path: str
    length: int
    modified: int = 0


@dataclass(frozen=True, slots=True)
class ListedDirectory:
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


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file without ACID columns: the write and statement id that its rows get."""

    write_id: int
    statement_id: int


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of rows. ``write_id_filter``: some rows belong to writes that are not visible."""

    path: str
    length: int
    bucket: int
    write_id_filter: bool = False
    raw: RawFile | None = None
    side_file: bool = False
    """Only ``length`` bytes count: a streaming writer is at work behind them, or died there."""


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """A file of delete events."""

    path: str
    length: int
    bucket: int
    write_id_filter: bool = False


@dataclass(frozen=True, slots=True)
class FilesToRead:
    """Data files in path order, and the delete events that apply to all of them."""

    data: tuple[DataFile, ...] = ()
    deletes: tuple[DeleteFile, ...] = ()
    orphans: tuple[DeleteFile, ...] = ()
    """Delete files of buckets that have no data file though no base can have dropped it."""


@dataclass(slots=True)
class _Found:
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
) -> AcidState:
    """Choose base, deltas and originals that the snapshot sees.

    ``metadata`` maps a directory to the dataFormat in its ``_metadata_acid`` file. Raises
    DataError 10327 when the history the snapshot needs was cleaned away, and DataError for a
    directory or a dataFormat that only looks like Hive's: rows must not be guessed.
    Source: AcidUtils.getAcidState of Hive 4, except that a base of INSERT OVERWRITE is only used
    when its own write id is visible (Hive also takes one that is still open and the lowest).
    """
    metadata = {name: _known_format(name, text) for name, text in (metadata or {}).items()}
    directories, originals = _group(files)
    found = _Found()
    for entry in directories:
        if entry.directory.kind is DirectoryKind.BASE:
            _judge_base(entry, found, write_ids, txns, metadata)
        else:
            _judge_delta(entry, found, write_ids, txns)
    if found.base is not None:
        found.obsolete += _original_names(originals)
        originals = []
    deltas = _uncovered(found, write_ids)
    oldest = found.oldest_base
    if oldest and found.base is None and _is_compacted(oldest, metadata):
        first = min(write_ids.exceptions, default=None)
        raise DataError(
            f"Not enough history available for ({write_ids.high_watermark},{first}). "
            f"Oldest available base: {location}/{oldest.name}",
            code=10327,
        )
    return AcidState(
        base=found.base,
        deltas=tuple(deltas),
        originals=tuple(sorted(originals, key=lambda file: file.path)),
        obsolete=tuple(found.obsolete),
        aborted=tuple(found.aborted),
        uncompacted_aborts=found.uncompacted_aborts,
    )


def _group(files: Iterable[FileStatus]) -> tuple[list[ListedDirectory], list[FileStatus]]:
    """Files by their ACID directory; everything else is an original file."""
    grouped: dict[str, list[FileStatus]] = {}
    parsed: dict[str, AcidDirectory] = {}
    originals: list[FileStatus] = []
    for status in files:
        if is_hidden(status.path):
            continue
        name = status.path.partition("/")[0] if "/" in status.path else ""
        if name not in grouped:
            directory = parse_directory(name) if name else None
            if directory is None:
                if name.startswith(ACID_PREFIXES):
                    raise DataError(
                        f"{name} begins like an ACID directory but is none: rename or remove it"
                    )
                originals.append(status)
                continue
            parsed[name], grouped[name] = directory, []
        grouped[name].append(status)
    entries = [ListedDirectory(name, parsed[name], tuple(grouped[name])) for name in grouped]
    entries.sort(key=lambda entry: entry.name)
    return entries, [one for one in originals if not _is_marker(one.path)]


def _is_marker(path: str) -> bool:
    return path.rpartition("/")[2] in (VERSION_FILE, METADATA_FILE)


def _known_format(name: str, text: str) -> str:
    if text.lower() not in _DATA_FORMATS:
        raise DataError(f"{name}/{METADATA_FILE} has an unknown dataFormat: {text!r}")
    return text.lower()


def _is_compacted(entry: ListedDirectory, metadata: Mapping[str, str]) -> bool:
    return entry.directory.visibility_txn > 0 or metadata.get(entry.name) == "compacted"


def _txn_ok(entry: ListedDirectory, found: _Found, txns: ValidTxnList) -> bool:
    txn = entry.directory.visibility_txn
    if txn == 0 or txns.sees(txn):
        return True
    if txns.is_aborted(txn):
        found.aborted.append(entry.name)
    return False


def _judge_base(
    entry: ListedDirectory,
    found: _Found,
    write_ids: ValidWriteIdList,
    txns: ValidTxnList,
    metadata: Mapping[str, str],
) -> None:
    if not _txn_ok(entry, found, txns):
        return
    write_id = entry.directory.max_write_id
    if found.oldest_base is None or write_id < found.oldest_base.directory.max_write_id:
        found.oldest_base = entry
    compacted = _is_compacted(entry, metadata)
    if write_ids.is_aborted(write_id) and not compacted:
        found.aborted.append(entry.name)
        return
    if found.base is not None and not _is_newer(entry, found.base, compacted):
        found.obsolete.append(entry.name)
        return
    if not _is_usable(write_id, write_ids, compacted):
        return
    if found.base is not None:
        found.obsolete.append(found.base.name)
    found.base = entry


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
    entry: ListedDirectory, found: _Found, write_ids: ValidWriteIdList, txns: ValidTxnList
) -> None:
    if not _txn_ok(entry, found, txns):
        return
    low, high = entry.directory.min_write_id, entry.directory.max_write_id
    aborted = write_ids.range_aborted(low, high)
    if aborted is Range.ALL:
        found.aborted.append(entry.name)
        return
    if aborted is Range.SOME:
        found.uncompacted_aborts = True
    if write_ids.range_valid(low, high) is not Range.NONE:
        found.working.append(entry)


def _uncovered(found: _Found, write_ids: ValidWriteIdList) -> list[ListedDirectory]:
    """Deltas that no wider delta and no base covers, in reading order."""
    found.working.sort(
        key=lambda entry: (
            entry.directory.min_write_id,
            -entry.directory.max_write_id,
            entry.directory.statement_id,
            entry.name,
        )
    )
    current = found.base.directory.max_write_id if found.base else 0
    last_statement = -1
    previous: AcidDirectory | None = None
    taken: list[ListedDirectory] = []
    for entry in found.working:
        delta = entry.directory
        if delta.max_write_id > current:
            if write_ids.range_valid(current + 1, delta.max_write_id) is not Range.NONE:
                taken.append(entry)
                current, last_statement = delta.max_write_id, delta.statement_id
                previous = delta
        elif (delta.max_write_id == current and last_statement >= 0) or (
            previous is not None and _same_span(delta, previous)
        ):
            taken.append(entry)
            previous = delta
        else:
            found.obsolete.append(entry.name)
    return taken


def _same_span(one: AcidDirectory, other: AcidDirectory) -> bool:
    return (one.min_write_id, one.max_write_id, one.statement_id) == (
        other.min_write_id,
        other.max_write_id,
        other.statement_id,
    )


def _original_names(originals: Iterable[FileStatus]) -> list[str]:
    return sorted(file.path for file in originals)


def files_to_read(
    state: AcidState,
    write_ids: ValidWriteIdList,
    *,
    insert_only: bool = False,
    keep_deletes: bool = False,
) -> FilesToRead:
    """The data files and delete files of a state.

    Files of insert-only tables are taken whole, whatever their names; originals of such tables
    are not read (hive.mm.allow.originals=false). A delete file whose name says no bucket raises
    DataError: silently skipping it would bring deleted rows back. Deletes are left out when there
    are no rows to delete, unless ``keep_deletes``.
    """
    data: list[DataFile] = []
    deletes: list[DeleteFile] = []
    for entry in (*([state.base] if state.base else []), *state.deltas):
        if entry.directory.kind is DirectoryKind.DELETE_DELTA:
            deletes += _delete_files(entry, write_ids)
        elif insert_only:
            data += [
                DataFile(file.path, file.length, 0)
                for file in sorted(entry.files, key=lambda one: one.path)
                if not _is_marker(file.path)
            ]
        else:
            data += _data_files(entry, write_ids)
    if not insert_only:
        data += [_original(file) for file in state.originals if file.length > 0]
    buckets = {file.bucket for file in data}
    orphans = [file for file in deletes if state.base is None and file.bucket not in buckets]
    kept = tuple(deletes) if data or keep_deletes else ()
    return FilesToRead(tuple(data), kept, tuple(orphans))


def _filtered(entry: ListedDirectory, write_ids: ValidWriteIdList) -> bool:
    low, high = entry.directory.min_write_id, entry.directory.max_write_id
    if entry.directory.kind is DirectoryKind.BASE:
        return False
    some_valid = write_ids.range_valid(low, high) is Range.SOME
    return some_valid or write_ids.range_aborted(low, high) is Range.SOME


def _data_files(entry: ListedDirectory, write_ids: ValidWriteIdList) -> list[DataFile]:
    directory = entry.directory
    side_files = {file.path for file in entry.files if is_side_file(file.path)}
    filtered = _filtered(entry, write_ids)
    chosen = []
    for file in sorted(entry.files, key=lambda one: one.path):
        name = file.path.rpartition("/")[2]
        if _is_marker(file.path) or file.path in side_files:
            continue
        parsed = parse_bucket_file(name)
        if parsed is not None:
            side = directory.may_grow and f"{file.path}{SIDE_FILE_SUFFIX}" in side_files
            if side and not file.length:
                continue
            chosen.append(DataFile(file.path, file.length, parsed[0], filtered, None, side))
            continue
        if file.length == 0:
            continue
        bucket = parse_original_file(name)
        if bucket is None:
            raise DataError(f"{file.path} is neither an ACID nor an original data file")
        if directory.min_write_id != directory.max_write_id or directory.visibility_txn:
            raise DataError(f"{file.path} has no row ids and cannot be given any in this directory")
        raw = RawFile(directory.max_write_id, max(0, directory.statement_id))
        chosen.append(DataFile(file.path, file.length, bucket, False, raw))
    return chosen


def _delete_files(entry: ListedDirectory, write_ids: ValidWriteIdList) -> list[DeleteFile]:
    filtered = _filtered(entry, write_ids)
    chosen = []
    for file in sorted(entry.files, key=lambda one: one.path):
        if _is_marker(file.path) or is_side_file(file.path):
            continue
        parsed = parse_bucket_file(file.path.rpartition("/")[2])
        if parsed is None:
            raise DataError(
                f"{file.path}: the name of this delete file says no bucket, so its deletes "
                "cannot be applied. Remove or rename it if it does not belong here"
            )
        chosen.append(DeleteFile(file.path, file.length, parsed[0], filtered))
    return chosen


def _original(file: FileStatus) -> DataFile:
    name = file.path.rpartition("/")[2]
    bucket = parse_original_file(name)
    if bucket is None:
        raise DataError(
            f"{file.path}: original files of an ACID table must be named like 000000_0, "
            "otherwise their rows cannot be given ids"
        )
    return DataFile(file.path, file.length, bucket, False, RawFile(0, 0))
