"""From a state to the files to read: its data, its delete events, and what their rows need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hivesql_planner.acid.layout import (
    SIDE_FILE_SUFFIX,
    AcidDirectory,
    DirectoryKind,
    is_marker,
    is_side_file,
    parse_bucket_file,
    parse_original_file,
)
from hivesql_planner.acid.snapshot import AcidState, FileStatus, ListedDirectory
from hivesql_planner.acid.write_ids import Range, ValidWriteIdList
from hivesql_planner.errors import DataError

_DELETE_DELTA = DirectoryKind.DELETE_DELTA


class OriginalFile(NamedTuple):
    """A file without ACID columns: the write and statement id that its rows get."""

    write_id: int
    statement_id: int


class DataFile(NamedTuple):
    """A file of rows. ``write_id_filter``: some rows belong to writes that are not visible."""

    path: str
    length: int
    bucket: int
    write_id_filter: bool = False
    original: OriginalFile | None = None
    side_file: bool = False
    """Only ``length`` bytes count: a streaming writer is at work behind them, or died there."""
    modified: int = 0
    """When it was last changed, as it was listed; 0 where that was not told."""


class DeleteFile(NamedTuple):
    """A file of delete events."""

    path: str
    length: int
    bucket: int
    write_id_filter: bool = False
    modified: int = 0
    """As above."""


@dataclass(frozen=True, slots=True)
class FilesToRead:
    """Data files in path order, and the delete events that apply to all of them."""

    data: tuple[DataFile, ...] = ()
    deletes: tuple[DeleteFile, ...] = ()
    orphans: tuple[DeleteFile, ...] = ()
    """Delete files of buckets that have no data file though no base can have dropped it."""


def files_to_read(
    state: AcidState,
    write_ids: ValidWriteIdList,
    *,
    insert_only: bool = False,
    keep_deletes: bool = False,
    location: str = "",
) -> FilesToRead:
    """Return the data files and delete files of a state.

    Files of insert-only tables are taken whole, whatever their names; originals of such tables
    are not read (hive.mm.allow.originals=false). DataError 10327 where a compaction has merged
    writes that are not visible with others: rows of such tables tell no write. A delete file whose
    name says no bucket raises DataError: silently skipping it would bring deleted rows back.
    Deletes are left out when there are no rows to delete, unless ``keep_deletes``. ``location``:
    where to say that it is.
    """
    data: list[DataFile] = []
    deletes: list[DeleteFile] = []
    for entry in state.directories:
        if entry.directory.kind is _DELETE_DELTA:
            _add_delete_files(deletes, entry, write_ids, location)
        elif insert_only:
            _require_whole(entry, write_ids, location)
            data += [
                DataFile(file.path, file.length, 0, modified=file.modified)
                for file in _files_of(entry)
            ]
        else:
            _add_data_files(data, entry, write_ids, location)
    if not insert_only:
        data += [_original(file, location) for file in state.originals if file.length > 0]
    buckets = {file.bucket for file in data}
    orphans = [file for file in deletes if state.base is None and file.bucket not in buckets]
    delete_files = tuple(deletes) if data or keep_deletes else ()
    return FilesToRead(tuple(data), delete_files, tuple(orphans))


def _require_whole(entry: ListedDirectory, write_ids: ValidWriteIdList, location: str) -> None:
    """Raise where only some writes of an insert-only delta count; aborted ones are not in it."""
    _, low, high, _, _ = entry.directory
    hidden = [write_id for write_id in write_ids.open if low <= write_id <= high]
    if high > write_ids.high_watermark or hidden:
        raise DataError(
            f"{location}/{entry.name}: a compaction has merged the writes {low} to {high} of an "
            "insert-only table, whose rows do not tell which of them has written them. Ask for the "
            f"state before write {low}, or from write {high} on",
            code=10327,
        )


def _files_of(entry: ListedDirectory) -> list[FileStatus]:
    """Give the directory's files in path order, without those that only say something about it."""
    chosen = [file for file in entry.files if not is_marker(file.path)]
    if len(chosen) > 1:
        chosen.sort(key=lambda file: file.path)
    return chosen


def _filtered(directory: AcidDirectory, write_ids: ValidWriteIdList) -> bool:
    low, high = directory.min_write_id, directory.max_write_id
    if low == high:  # as in a base
        return False
    some_valid = write_ids.range_valid(low, high) is Range.SOME
    return some_valid or write_ids.range_aborted(low, high) is Range.SOME


def _add_data_files(
    data: list[DataFile], entry: ListedDirectory, write_ids: ValidWriteIdList, location: str
) -> None:
    directory = entry.directory
    filtered = _filtered(directory, write_ids)
    files = _files_of(entry)
    side_files = {file.path for file in files if is_side_file(file.path)}
    for file in files:
        path = file.path
        parsed = parse_bucket_file(path.rpartition("/")[2])
        if parsed is not None:
            side = bool(side_files) and directory.may_grow and path + SIDE_FILE_SUFFIX in side_files
            if file.length or not side:
                length, bucket = file.length, parsed[0]
                data.append(DataFile(path, length, bucket, filtered, None, side, file.modified))
        elif file.length and path not in side_files:
            data.append(_original_file(file, directory, location))


def _original_file(file: FileStatus, directory: AcidDirectory, location: str) -> DataFile:
    bucket = parse_original_file(file.path.rpartition("/")[2])
    if bucket is None:
        raise DataError(
            f"{_at(location, file)} is neither an ACID nor an original data file. Move it out of "
            "the table's directory"
        )
    if directory.min_write_id != directory.max_write_id or directory.visibility_txn:
        raise DataError(
            f"{_at(location, file)} has no row ids and cannot be given any in this directory. "
            "Move it out of the table's directory, and load it with LOAD DATA"
        )
    original = OriginalFile(directory.max_write_id, max(0, directory.statement_id))
    return DataFile(file.path, file.length, bucket, False, original, modified=file.modified)


def _add_delete_files(
    deletes: list[DeleteFile], entry: ListedDirectory, write_ids: ValidWriteIdList, location: str
) -> None:
    filtered = _filtered(entry.directory, write_ids)
    for file in _files_of(entry):
        if is_side_file(file.path):
            continue
        parsed = parse_bucket_file(file.path.rpartition("/")[2])
        if parsed is None:
            raise DataError(
                f"{_at(location, file)}: the name of this delete file says no bucket, so its "
                "deletes cannot be applied. Remove or rename it if it does not belong here"
            )
        deletes.append(DeleteFile(file.path, file.length, parsed[0], filtered, file.modified))


def _original(file: FileStatus, location: str) -> DataFile:
    name = file.path.rpartition("/")[2]
    bucket = parse_original_file(name)
    if bucket is None:
        raise DataError(
            f"{_at(location, file)}: original files of an ACID table must be named like 000000_0, "
            "otherwise their rows cannot be given ids. Move it out of the table's directory if it "
            "is none"
        )
    original = OriginalFile(0, 0)
    return DataFile(file.path, file.length, bucket, False, original, modified=file.modified)


def _at(location: str, file: FileStatus) -> str:
    return f"{location}/{file.path}" if location else file.path
