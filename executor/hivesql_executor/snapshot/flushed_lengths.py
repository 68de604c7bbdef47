"""How much of a growing file counts: what its streaming writer has flushed, by its side file."""

from __future__ import annotations

from collections.abc import Sequence

from hivesql_executor.files.api import Files
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile
from hivesql_planner.acid.layout import SIDE_FILE_SUFFIX, is_side_file, parse_directory
from hivesql_planner.acid.snapshot import FileStatus
from hivesql_planner.errors import DataError

_NUMBER = 8
_SCHEME = "hivesqlflushed"


def with_flushed_lengths(
    files: Files, location: str, listing: Sequence[FileStatus]
) -> Sequence[FileStatus]:
    """Return the listing, in which growing files have the length of their last complete flush.

    As in Hive, what follows is of no transaction that has committed: it is being written, or its
    writer has died. DataError when a file is shorter than that.
    """
    sides = {file.path for file in listing if is_side_file(file.path) and _counts(file.path)}
    if not sides:
        return listing
    return [
        _flushed(files, location, file) if f"{file.path}{SIDE_FILE_SUFFIX}" in sides else file
        for file in listing
    ]


def _counts(path: str) -> bool:
    directory = parse_directory(path.rpartition("/")[0])
    return directory is not None and directory.may_grow


def _flushed(files: Files, location: str, status: FileStatus) -> FileStatus:
    path = f"{location}/{status.path}"
    side = f"{path}{SIDE_FILE_SUFFIX}"
    try:
        count = files.size(side) // _NUMBER
        last = files.read(side, (count - 1) * _NUMBER, _NUMBER) if count else b""
    except DataError:
        # The writer has closed the file since it was listed: now it is whole.
        return status._replace(length=files.size(path))
    length = int.from_bytes(last, "big")
    if length > status.length and length > files.size(path):
        raise DataError(
            f"{path} has {status.length} bytes, but its writer flushed {length}: the file is "
            "truncated. Restore it before you read the table"
        )
    return status._replace(length=length)


def spark_path(location: str, file: DataFile | DeleteFile) -> str:
    """Tell where Spark reads a file: one that may still grow, only up to its length.

    ``FlushedFiles.java`` understands these paths.
    """
    path = f"{location}/{file.path}"
    if isinstance(file, DeleteFile) or not file.side_file:
        return path
    scheme, colon, rest = path.partition(":") if ":" in path.partition("/")[0] else ("", "", path)
    authority = ""
    if colon and rest.startswith("//"):
        authority, _, rest = rest[2:].partition("/")
    return f"{_SCHEME}:/{file.length}/{scheme},{authority}/{rest.lstrip('/')}"
