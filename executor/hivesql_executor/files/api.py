"""File systems as the executor sees them: local ones without a JVM, all others through Hadoop."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.files.near_bytes import read_near
from hivesql_executor.files.small_contents import LARGEST, SMALL, recall_content, remember_content

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hivesql_executor.files.hadoop import HadoopFiles
    from hivesql_executor.files.stores.store import StoreFiles
    from hivesql_executor.files.top import Top
    from hivesql_executor.files.uploads import LeftUploads, Uploads
    from hivesql_planner.acid.snapshot import FileStatus


_OTHER_SCHEME = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]*:")
READ_WHOLE = LARGEST
"""Bytes of files of other machines that are read whole: a request takes longer than they do."""
_OBJECT_STORE = re.compile(r"(?:s3[an]?|gs|abfss?):")


class Files(Protocol):
    """What a warehouse needs of a file system. Paths are absolute paths or URIs."""

    @property
    def has_directories(self) -> bool:
        """Tell whether directories are there without files; in object stores they are not."""
        ...

    @property
    def syncs(self) -> bool:
        """Tell whether `sync` does anything: else nobody need find out what there is to bring."""
        ...

    @property
    def most_small(self) -> int:
        """Say of how many files a small statement is read here; more are a matter for Spark."""
        ...

    @property
    def most_at_once(self) -> int:
        """Say on how many files it pays to work at once without Spark."""
        ...

    def uploads(self, location: str) -> Uploads | None:
        """Return what completes files below a location; None where they are written and moved."""
        ...

    def left_uploads(self, location: str) -> LeftUploads | None:
        """Return what tells and gives up uploads of the dead; None where they leave none."""
        ...

    def __hash__(self) -> int:
        """Footers are remembered by file system and path."""
        ...

    def require(self, location: str) -> None:
        """Fail with SemanticError where there is no file system for it."""
        ...

    def list(self, location: str, only: Sequence[str] | None = None) -> tuple[FileStatus, ...]:
        """Every file below a directory, relative to it; hidden ones left out; () if missing.

        With ``only``, those below some of the directories that are in it.
        """
        ...

    def list_many(
        self, location: str, directories: Sequence[str]
    ) -> Mapping[str, Sequence[FileStatus]]:
        """List what several directories below one have, as far as that takes few requests.

        The others are to be listed by themselves.
        """
        ...

    def contents(self, location: str, directories: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return all paths below each of several directories, hidden ones too.

        Of those alone of which few requests tell it, and where a move would cost more; what is
        told is all that `delete_each` needs.
        """
        ...

    def top(self, location: str, before: Top | None = None) -> Top | None:
        """Return what is right below a directory; None where to list all below costs no more.

        ``before`` is what was there earlier, of which what cannot have changed is taken.
        """
        ...

    def all_directories(self, location: str) -> tuple[str, ...]:
        """Names of the directories right below, sorted, hidden ones too; () if missing."""
        ...

    def survey(self, location: str) -> tuple[tuple[FileStatus, ...], tuple[str, ...]]:
        """Return what ``list`` and ``all_directories`` do, by one request where that tells both."""
        ...

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or directory."""
        ...

    def is_file(self, path: str) -> bool:
        """Tell whether there is a file, and no directory."""
        ...

    def directories(self, location: str) -> tuple[str, ...]:
        """Names of a directory's own subdirectories, sorted; hidden ones left out."""
        ...

    def size(self, path: str) -> int:
        """Length of a file in bytes; DataError when it is missing."""
        ...

    def modified(self, path: str) -> int:
        """Tell a number that changes with the file: its time, or one of its contents.

        DataError when it is missing.
        """
        ...

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Return a range of a file; DataError when it is missing."""
        ...

    def write(self, path: str, data: bytes) -> None:
        """Write a small new file, whole; an error where there is one: never overwrites."""
        ...

    def sync(self, paths: Sequence[str]) -> None:
        """Bring local files, and the names in directories, down to the disk.

        Of others that is the file system's affair.
        """
        ...

    def make_directories(self, path: str) -> None:
        """Make a directory and its parents."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory; ExecutionError when the target exists: never overwrites."""
        ...

    def bring(self, source: str, target: str) -> int:
        """Move a file, as `rename` does; tell the number that ``modified`` told before."""
        ...

    def hide(self, location: str, listed: Sequence[FileStatus], hidden: str) -> None:
        """Move files of a directory, as they were listed, into one that nobody else knows."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Copy a file that this machine can reach; ExecutionError when the target exists."""
        ...

    def delete(self, path: str) -> None:
        """Remove a file or a whole directory; nothing happens when it is missing."""
        ...

    def delete_below(
        self, location: str, names: Sequence[str], listing: Sequence[FileStatus] | None = None
    ) -> None:
        """Remove files and whole directories of a directory.

        ``listing`` is what ``list`` told of it, where the caller knows: hidden files may stay then.
        """
        ...

    def delete_each(self, paths: Sequence[str]) -> None:
        """Remove files, as `contents` tells them; those that are missing are left out."""
        ...

    def remove_if_empty(self, path: str) -> None:
        """Remove a directory in which there is nothing, hidden or not; leave anything else."""
        ...

    def replace_tail(self, path: str, offset: int, data: bytes) -> None:
        """Cut a file at ``offset`` and append ``data``."""
        ...


def _hadoops_alone() -> None:
    """Say that nobody but Spark knows the settings of file systems."""


def files_for(
    location: str,
    spark: Callable[[], SparkSession],
    settings: Callable[[], Mapping[str, str] | None] = _hadoops_alone,
) -> Files:
    """Return the file system of a location; local paths never start a JVM.

    Nor do object stores, where their client is installed and ``settings``, Hadoop's, say all of
    it; None of them where Spark alone knows them.
    """
    return _choose_files(location, spark, settings)


def _choose_files(
    location: str,
    spark: Callable[[], SparkSession],
    settings: Callable[[], Mapping[str, str] | None],
) -> LocalFiles | HadoopFiles | StoreFiles:
    if _OBJECT_STORE.match(location):
        from hivesql_executor.files.stores.object_store import store_files

        return store_files(
            location, spark, settings, lambda place: _choose_files(place, spark, settings)
        )
    if _OTHER_SCHEME.match(location):
        from hivesql_executor.files.hadoop import HadoopFiles

        return HadoopFiles(spark)
    return LocalFiles()


def readable(files: Files, path: str, length: int, buffer: int, *, modified: int = 0) -> BinaryIO:
    """Return a file to read from here and there: one that is no longer than its buffer at once.

    A small one of another machine is read once as long as ``modified``, where it is given, stays.
    """
    if modified and not isinstance(files, LocalFiles):
        data = recall_content(files, path, length, modified)
        if data is not None or length <= SMALL:
            return io.BytesIO(data or _read_once(files, path, length, modified))
        if length > READ_WHOLE:
            return io.BufferedReader(RangeFile(files, path, length, modified))
    if length <= buffer:
        return io.BytesIO(files.read(path, 0, length))
    return io.BufferedReader(RangeFile(files, path, length), buffer)


def read_range(
    files: Files,
    path: str,
    offset: int,
    count: int,
    *,
    length: int,
    modified: int,
    most: int = SMALL,
) -> bytes:
    """Return a range of a file that is so long; of a small one of another machine, what was read.

    ``modified``, as it was listed, tells the file from another one of its name; one of no more
    than ``most`` bytes is read whole.
    """
    if modified and not isinstance(files, LocalFiles):
        data = recall_content(files, path, length, modified)
        if data is not None or length <= most:
            data = data or _read_once(files, path, length, modified)
            return data[offset : offset + count]
        if length > READ_WHOLE:
            return read_near(files, path, offset, count, length=length, modified=modified)
    return files.read(path, offset, count)


def _read_once(files: Files, path: str, length: int, modified: int) -> bytes:
    data = recall_content(files, path, length, modified)
    if data is None:
        data = files.read(path, 0, length)
        remember_content(files, path, modified, data)
    return data


def readable_rows(
    files: Files, path: str, length: int, buffer: int, *, modified: int = 0, is_whole: bool = False
) -> BinaryIO:
    """Return a file whose rows are wanted, here and there: a small one of another machine whole.

    So is a larger one with ``is_whole``, which says that hardly anything of it is not wanted.
    """
    if not isinstance(files, LocalFiles):
        if modified and length <= READ_WHOLE:
            return io.BytesIO(_read_once(files, path, length, modified))
        if modified and is_whole:
            return io.BytesIO(read_near(files, path, 0, length, length=length, modified=modified))
        return readable(files, path, length, READ_WHOLE, modified=modified)
    return readable(files, path, length, buffer, modified=modified)


class RangeFile(io.RawIOBase):
    """A read-only file object over ranges of a file, for readers that seek.

    Where ``modified`` tells the file from others of its name, what is near is read with them.
    """

    def __init__(self, files: Files, path: str, length: int, modified: int = 0) -> None:
        super().__init__()
        self._files, self._path, self._length, self._at = files, path, length, 0
        self._modified = modified

    def readable(self) -> bool:
        """Say yes."""
        return True

    def seekable(self) -> bool:
        """Say yes."""
        return True

    def tell(self) -> int:
        """Tell where the next read begins."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move; returns the new place."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        self._at = start + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer from where we are; how many bytes there were."""
        count = min(len(buffer), max(0, self._length - self._at))
        if count and self._modified:
            data = read_near(
                self._files, self._path, self._at, count, length=self._length,
                modified=self._modified,
            )  # fmt: skip
        else:
            data = self._files.read(self._path, self._at, count) if count else b""
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
