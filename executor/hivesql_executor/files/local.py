"""Local files, without a JVM."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hivesql_executor.files.one_by_one import OneByOne
from hivesql_executor.files.top import Top
from hivesql_planner.acid.layout import HIDDEN_STARTS, MARKERS, is_hidden
from hivesql_planner.acid.snapshot import FileStatus
from hivesql_planner.errors import DataError, ExecutionError, NotSupported

_SYNCS = 8
"""Files that are brought down to the disk at once."""
_PARENTS_GONE = 3
"""How often a parent may be removed by a cleaner just before its first entry is made."""
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


_OTHER = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]*://")


def local_name(location: str) -> str:
    """Return the path of a ``file:`` location or of a plain path, as the system takes it.

    Percent signs are taken as they are, as Hadoop's Path does: ``p=a%2Fb`` is a directory's name.
    NotSupported for a place of another file system, which would pass for a name in the working
    directory: a table's partition may lie there.
    """
    if "://" in location and _OTHER.match(location):
        raise NotSupported(
            f"{location} in a table on a local disk: partitions in object stores or HDFS. "
            "Make the table there, or give the partition a place on the disk"
        )
    if location.startswith("file:"):
        return "/" + location.removeprefix("file:").lstrip("/")
    return location


def local_path(location: str) -> Path:
    """Return the same as a Path, which takes longer to make than a small file takes to open."""
    return Path(local_name(location))


def _said(error: OSError) -> str:
    """Say what the system refused, and what helps."""
    # Imported late: most statements are refused nothing.
    from hivesql_executor.files.refusals import remedy_of_system

    return f"{error.strerror or error}. {remedy_of_system(error)}"


@contextmanager
def name_path(path: str) -> Iterator[None]:
    """Add the path to errors of a file that is open: the system names those of opening alone."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = path
        raise


def _sync(path: str) -> None:
    with name_path(path):
        # A directory, too: what it calls its files is as good as what is in them.
        opened = os.open(local_name(path), os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@dataclass(frozen=True)
class LocalFiles(OneByOne):
    """The Files protocol on this machine's disk."""

    few_directories: ClassVar[int] = 32
    """So many are listed in half a millisecond, and files that somebody changes there are seen."""

    @property
    def has_directories(self) -> bool:
        """Say yes."""
        return True

    @property
    def most_small(self) -> int:
        """Say many: even of those, what they say about themselves is read, where all are small."""
        return 2_000

    @property
    def most_at_once(self) -> int:
        """Say as many as there are cores: Arrow holds no lock of Python's."""
        return min(4, os.cpu_count() or 1)

    def uploads(self, location: str) -> None:
        """Return None: to move a file is one step."""

    def left_uploads(self, location: str) -> None:
        """Return None: there are none."""

    def require(self, location: str) -> None:
        """Nothing: the local file system is always there."""

    def list(self, location: str, only: Sequence[str] | None = None) -> tuple[FileStatus, ...]:
        """Every file below a directory, or below some of those in it."""
        statuses: list[FileStatus] = []
        home = str(local_path(location))
        if only is None:
            _walk(home, "", statuses)
        for name in only or ():
            _walk(f"{home}/{name}", f"{name}/", statuses)
        return tuple(sorted(statuses))

    def top(self, location: str, before: Top | None = None) -> Top | None:
        """Return what is right below a directory; None where that is little.

        Names are read each time, which says all about what is new, on any file system. A directory
        that was removed and made again is told by its number and time, which are asked only when
        the directory above has changed: to ask takes longer than to read the name.
        """
        home = str(local_path(location))
        try:
            status = os.stat(home)  # noqa: PTH116
        except OSError:
            # Who lists it says what there is.
            return None
        identity = status.st_dev, status.st_ino, status.st_mtime_ns
        known = before.directories if before is not None and before.home == identity else {}
        directories: dict[str, tuple[int, ...]] = {}
        files: list[FileStatus] = []
        for entry in _entries(home):
            if entry.is_dir():
                earlier = known.get(entry.name)
                is_same = earlier and earlier[0] == entry.inode()
                directories[entry.name] = earlier if is_same and earlier else _identity(entry)
            elif (file := _status(entry, entry.name)) is not None:
                files.append(file)
        if len(directories) <= self.few_directories:
            return None
        return Top(identity, directories, tuple(sorted(files)))

    def all_directories(self, location: str) -> tuple[str, ...]:
        """Names of the directories right below, hidden ones too."""
        return _directories(location)

    def survey(self, location: str) -> tuple[tuple[FileStatus, ...], tuple[str, ...]]:
        """Every file below a directory, and the names of the directories right below."""
        return self.list(location), self.all_directories(location)

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or directory."""
        # Unlike Path's own, these answer no for names that are too long.
        return os.path.exists(local_name(path))  # noqa: PTH110

    def is_file(self, path: str) -> bool:
        """Tell whether there is a file."""
        return os.path.isfile(local_name(path))  # noqa: PTH113

    def directories(self, location: str) -> tuple[str, ...]:
        """Names of a directory's own subdirectories."""
        return tuple(name for name in _directories(location) if not is_hidden(name))

    def size(self, path: str) -> int:
        """Length of a file."""
        try:
            return local_path(path).stat().st_size
        except FileNotFoundError as error:
            raise _missing(path) from error

    def modified(self, path: str) -> int:
        """Tell when a file was last changed, in nanoseconds."""
        try:
            # Asked for every file of a snapshot: a Path would cost more than the answer.
            return os.stat(local_name(path)).st_mtime_ns  # noqa: PTH116
        except FileNotFoundError as error:
            raise _missing(path) from error

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Return a range of a file."""
        try:
            with name_path(path), open(local_name(path), "rb") as file:  # noqa: PTH123 - see local_path
                file.seek(offset)
                return file.read(length)
        except FileNotFoundError as error:
            raise _missing(path) from error

    def write(self, path: str, data: bytes) -> None:
        """Write a small new file."""
        with name_path(path), open(local_name(path), "xb") as file:  # noqa: PTH123 - see local_path
            file.write(data)

    @property
    def syncs(self) -> bool:
        """Say yes."""
        return True

    def sync(self, paths: Sequence[str]) -> None:
        """Bring files, and names in directories, down to the disk.

        All at once: it takes much the same for many as for one.
        """
        if len(paths) == 1:
            _sync(paths[0])
        elif paths:
            # Statements that write nothing need none of it, and start sooner.
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(min(len(paths), _SYNCS)) as threads:
                list(threads.map(_sync, paths))

    def make_directories(self, path: str) -> None:
        """Make a directory and its parents."""
        try:
            if _is_made(local_name(path)):
                return
            for _ in range(_PARENTS_GONE):
                with suppress(FileNotFoundError):
                    local_path(path).mkdir(parents=True, exist_ok=True)
                    return
            local_path(path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ExecutionError(
                f"the directory {path} cannot be made: {_said(error)}", code=40000
            ) from error

    def rename(self, source: str, target: str) -> None:
        """Move; the checksum that Hadoop left beside a file does not come along."""
        old, new = local_path(source), local_path(target)
        new.parent.mkdir(parents=True, exist_ok=True)
        try:
            _move(old, new)
        except FileExistsError as error:
            raise ExecutionError(
                f"{target} exists already; {source} was not moved over it"
            ) from error
        except OSError as error:
            raise ExecutionError(
                f"{source} could not be moved to {target}: {_said(error)}"
            ) from error
        if not new.is_dir():
            _drop_checksum(old)

    def copy(self, source: str, target: str) -> None:
        """Copy a file."""
        new = local_path(target)
        new.parent.mkdir(parents=True, exist_ok=True)
        try:
            with (
                name_path(target),
                local_path(source).open("rb") as old,
                new.open("xb") as copied,
            ):
                shutil.copyfileobj(old, copied)
        except FileExistsError as error:
            raise ExecutionError(
                f"{target} exists already; {source} was not copied over it"
            ) from error
        except FileNotFoundError as error:
            raise _missing(source) from error

    def delete(self, path: str) -> None:
        """Remove a file or a tree."""
        target = local_path(path)
        if target.is_symlink():
            # As Hadoop does: what it leads to stays.
            target.unlink(missing_ok=True)
        elif target.is_dir():
            shutil.rmtree(target, ignore_errors=False)
        else:
            target.unlink(missing_ok=True)
            _drop_checksum(target)

    def remove_if_empty(self, path: str) -> None:
        """Remove a directory in which there is nothing; a link to one stays."""
        with suppress(OSError):
            local_path(path).rmdir()

    def replace_tail(self, path: str, offset: int, data: bytes) -> None:
        """Cut and append in place, down to the disk."""
        target = local_path(path)
        with name_path(path), target.open("r+b") as file:
            file.seek(offset)
            file.write(data)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        # Hadoop would compare the old checksum with the new bytes and refuse the file.
        _drop_checksum(target)


def _is_made(directory: str) -> bool:
    """Make a directory where that above it is there; whether it is there now."""
    try:
        os.mkdir(directory)  # noqa: PTH102 - see local_path
    except FileNotFoundError:
        return False
    except FileExistsError:
        return os.path.isdir(directory)  # noqa: PTH112 - see local_path
    return True


def _move(old: Path, new: Path) -> None:
    """Rename, but raise FileExistsError where rename would replace a file."""
    if old.is_dir() or new.exists():
        if new.exists():
            raise FileExistsError(new)
        old.rename(new)
        return
    try:
        # A link fails when the name was taken a moment ago; a rename would destroy that file.
        os.link(old, new)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        old.rename(new)
        return
    old.unlink()


def _walk(directory: str, prefix: str, statuses: list[FileStatus]) -> None:
    for entry in _entries(directory):
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            _walk(entry.path, f"{path}/", statuses)
        elif (status := _status(entry, path)) is not None:
            statuses.append(status)


def _directories(location: str) -> tuple[str, ...]:
    """Names of what is right below a directory; a listing tells directories without a look."""
    home = local_path(location)
    if not os.path.isdir(home):  # noqa: PTH112 - no for names that are too long
        return ()
    with os.scandir(home) as entries:
        return tuple(sorted(entry.name for entry in entries if entry.is_dir()))


def _entries(directory: str) -> list[os.DirEntry[str]]:
    """Give what is in a directory and not hidden; nothing where there is none."""
    try:
        with os.scandir(directory) as entries:
            return [
                entry
                for entry in entries
                if not entry.name.startswith(HIDDEN_STARTS) or entry.name in MARKERS
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        # Nothing can be there.
        return []


def _status(entry: os.DirEntry[str], path: str) -> FileStatus | None:
    """Return a file's length and time; None when a cleaner has removed it while we look."""
    try:
        status = entry.stat()
    except FileNotFoundError:
        if entry.is_symlink() and os.path.lexists(entry.path):
            raise DataError(f"{entry.path} is a link to a file that is missing") from None
        return None
    return FileStatus(path, status.st_size, status.st_mtime_ns)


def _identity(entry: os.DirEntry[str]) -> tuple[int, ...]:
    """Tell a directory from another one of its name; nothing does where it is elsewhere."""
    try:
        return () if entry.is_symlink() else (entry.inode(), entry.stat().st_mtime_ns)
    except FileNotFoundError:
        return ()


def _drop_checksum(path: Path) -> None:
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def _missing(path: str) -> DataError:
    return DataError(f"{path} is missing: it was listed a moment ago, or the catalog names it")


FileState = tuple[int, int, int]
NO_FILE: FileState = (0, 0, 0)


def read_file_state(path: Path) -> FileState:
    """Return what differs once a file has been written or replaced; zeros where it is not there."""
    try:
        status = path.stat()
    except OSError:
        return NO_FILE
    return status.st_mtime_ns, status.st_size, status.st_ino
