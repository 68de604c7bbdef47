"""Files of object stores by a client of this process; Spark's JVM does what it alone can."""

from __future__ import annotations

import functools
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError, PermissionDeniedError

from hivesql_executor.beats import answer_of, pause
from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.files.identity import identity_of
from hivesql_executor.files.near_bytes import remember_written
from hivesql_executor.files.refusals import (
    is_bucket_missing,
    refusal_of_no_store,
    refusal_of_store,
)
from hivesql_executor.files.stores.clients import (
    BASE,
    LONGEST_PAUSE,
    MOST_SECONDS,
    Access,
    longest_wait,
    open_store,
)
from hivesql_executor.files.stores.completed import StoreUploads
from hivesql_executor.files.stores.flat_lists import list_many
from hivesql_executor.files.stores.moves import move_all, move_file, move_tree
from hivesql_executor.files.stores.pages import (
    list_directories,
    list_files,
    lists_anything,
    read_range,
)
from hivesql_planner.acid.layout import MARKERS, is_hidden
from hivesql_planner.acid.snapshot import FileStatus
from hivesql_planner.errors import DataError, ExecutionError
from hivesql_planner.settings.azure_access import AzureAccess
from hivesql_planner.settings.gcs_access import GcsAccess
from hivesql_planner.settings.s3_access import S3Access

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hivesql_executor.files.hadoop import HadoopFiles, ObjectStoreFiles
    from hivesql_executor.files.local import LocalFiles
    from hivesql_executor.files.top import Top
    from hivesql_executor.files.uploads import LeftUploads, Uploads

_PROVEN_SECONDS = 60.0
_NOBODYS = "_hivesql_nobody_writes_this"
"""A file that is nowhere."""
# A client that keeps parts of paths cannot say these.
_UNSPEAKABLE = re.compile(r"[\x00-\x1f\x7f]|(?:^|/)\.\.?(?:/|$)|//|/$")
_OF_DIRECTORY = "hdi_isfolder"
# The store has said no, and would again; not that it took too long (408), or too many came (429).
_REFUSED = re.compile(r"non-2xx status code: 4(?!08|29)\d\d")


@dataclass(frozen=True, slots=True)
class Entries:
    """What is below a directory, and whether there is something that stands for directories."""

    files: tuple[FileStatus, ...]
    has_markers: bool
    """Whether some of it only Hadoop can name: their names end with a slash."""
    markers: tuple[str, ...] = ()
    """Paths of what stands for directories and is named like them, as in Azure."""


@dataclass(frozen=True)
class StoreFiles:
    """The Files protocol by obstore; what tasks upload, and copies, go through Hadoop.

    Of one bucket, ``home``. Partitions may lie elsewhere: their paths go to ``elsewhere``, which
    gives the file system of any place.
    """

    spark: Callable[[], SparkSession]
    access: Access
    home: str
    elsewhere: Callable[[str], LocalFiles | HadoopFiles | StoreFiles] = field(compare=False)

    @property
    def has_directories(self) -> bool:
        """Say no: a marker may stand for an empty one."""
        return False

    @property
    def syncs(self) -> bool:
        """Say no: a store keeps what it has said yes to."""
        return False

    @property
    def most_small(self) -> int:
        """Say some: Spark, which may have to start, asks more of the store for each."""
        return 100

    @property
    def hadoop(self) -> ObjectStoreFiles:
        """The same files through Spark's JVM, which is started for what is asked of them."""
        from hivesql_executor.files.hadoop import ObjectStoreFiles

        return ObjectStoreFiles(self.spark)

    def _is_home(self, path: str) -> bool:
        return path.startswith(self.home) and path[len(self.home) :][:1] in ("", "/")

    def _other(self, path: str) -> LocalFiles | HadoopFiles | StoreFiles | None:
        """Return who knows a path that this client cannot say or reach; None for all others."""
        if not self._is_home(path):
            return self.elsewhere(path)
        return self.hadoop if _is_unspeakable(path) else None

    @property
    def most_at_once(self) -> int:
        """Say some: each waits for an answer."""
        return 16

    def uploads(self, location: str) -> Uploads | None:
        """Return what completes the uploads of tasks; None where Hadoop's connector takes none."""
        if not self._is_home(location):
            return self.elsewhere(location).uploads(location)
        of_hadoop = self.hadoop.uploads(location)
        return StoreUploads(self, of_hadoop) if of_hadoop is not None else None

    def left_uploads(self, location: str) -> LeftUploads | None:
        """Return what tells and gives up uploads of the dead; None where they leave none.

        Google forgets them by itself, and in Azure they are hidden files, which go with their
        directories.
        """
        if not self._is_home(location):
            return self.elsewhere(location).left_uploads(location)
        if not isinstance(self.access, S3Access):
            return None
        if self.access.keys is None:
            return self.hadoop.uploads(location)
        from hivesql_executor.files.stores.s3_uploads import S3Uploads

        return S3Uploads(self.access)

    def require(self, location: str) -> None:
        """Nothing: the client is here."""

    def list(self, location: str, only: Sequence[str] | None = None) -> tuple[FileStatus, ...]:
        """Every file below a directory, by one request for each thousand of them."""
        if (other := self._other(location)) is not None:
            return tuple(other.list(location, only))
        entries = self.entries(location)
        listed = (status for status in entries.files if not _is_hidden_path(status.path))
        if only is None:
            return tuple(listed)
        return tuple(status for status in listed if status.path.partition("/")[0] in only)

    def list_many(
        self, location: str, directories: Sequence[str]
    ) -> dict[str, tuple[FileStatus, ...]]:
        """Every file below some directories of a tree, of those that few requests tell it of."""
        return {
            directory: tuple(status for status in entries.files if not _is_hidden_path(status.path))
            for directory, entries in self._many_entries(location, directories).items()
        }

    def contents(self, location: str, directories: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """All paths below some directories, of those in which is nothing that Hadoop alone names.

        Hidden ones and, last, what stands for directories, too; few requests where they are in a
        tree.
        """
        named = [directory for directory in directories if self._other(directory) is None]
        listed = self._many_entries(location, named)
        others = [directory for directory in named if directory not in listed]
        listed |= zip(others, each_at_once(self, self.entries, others), strict=True)
        return {
            directory: (*(status.path for status in entries.files), *reversed(entries.markers))
            for directory, entries in listed.items()
            if not entries.has_markers
        }

    def _many_entries(self, location: str, directories: Sequence[str]) -> dict[str, Entries]:
        inside = {
            _key(directory): directory
            for directory in directories
            if directory.startswith(f"{location}/") and self._other(directory) is None
        }
        # In Azure a list begins with the first name.
        if len(inside) <= self.most_at_once or isinstance(self.access, AzureAccess):
            return {}
        with _asking(location):
            seconds = longest_wait(self.access)
            listed_by_key = list_many(
                self._store, _key(location), [*inside], location, seconds, worth=self.most_at_once
            )
        return {
            inside[key]: self._entries_of(inside[key], listed)
            for key, listed in listed_by_key.items()
        }

    def top(self, location: str, before: Top | None = None) -> None:
        """Return None: one request lists all that is below."""

    def all_directories(self, location: str) -> tuple[str, ...]:
        """Names of the directories right below, hidden ones too."""
        if (other := self._other(location)) is not None:
            return other.all_directories(location)
        with _asking(location):
            seconds = longest_wait(self.access)
            names = list_directories(self._store, _key(location), location, seconds)
        self._require_store(location, is_proven=bool(names))
        return tuple(names)

    def survey(self, location: str) -> tuple[tuple[FileStatus, ...], tuple[str, ...]]:
        """Every file below a directory, and first parts of the names of all that is below."""
        if (other := self._other(location)) is not None:
            return other.survey(location)
        entries = self.entries(location)
        if entries.has_markers or entries.markers:
            return self.list(location), self.all_directories(location)
        names = {status.path.partition("/")[0] for status in entries.files if "/" in status.path}
        listed = (status for status in entries.files if not _is_hidden_path(status.path))
        return tuple(listed), tuple(sorted(names))

    def directories(self, location: str) -> tuple[str, ...]:
        """Names of a directory's own subdirectories."""
        return tuple(name for name in self.all_directories(location) if not is_hidden(name))

    def exists(self, path: str) -> bool:
        """Tell whether there is a file, or anything below a directory."""
        if (other := self._other(path)) is not None:
            return other.exists(path)
        with _asking(path):
            # What stands for an empty directory is listed as the directory itself.
            is_there = lists_anything(self._store, _key(path), path, longest_wait(self.access))
        self._require_store(path, is_proven=is_there)
        return is_there or self._head(path) is not None

    def is_file(self, path: str) -> bool:
        """Tell whether there is a file."""
        if (other := self._other(path)) is not None:
            return other.is_file(path)
        status = self._head(path)
        return status is not None and not (not status[0] and self._is_marker(path))

    def is_taken(self, path: str) -> bool:
        """Tell whether there is a file, or what stands for a directory, of exactly this name."""
        return self._head(path) is not None

    def size(self, path: str) -> int:
        """Length of a file."""
        return self.status(path)[0]

    def modified(self, path: str) -> int:
        """Tell a number that changes with the contents."""
        return self.status(path)[1]

    def status(self, path: str) -> tuple[int, int]:
        """Length of a file, and a number that changes with the contents."""
        if (other := self._other(path)) is not None:
            return other.size(path), other.modified(path)
        status = self._head(path)
        if status is None:
            raise _missing(path)
        return status

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Return a range of a file."""
        if not length:
            return b""
        if (other := self._other(path)) is not None:
            return other.read(path, offset, length)
        with _asking(path):
            return read_range(self._store, _key(path), path, offset, length)

    def write(self, path: str, data: bytes) -> None:
        """Write a small new file by one request, on condition that there is none."""
        if (other := self._other(path)) is not None:
            if other.has_directories:
                other.make_directories(path.rpartition("/")[0])
            other.write(path, data)
            return
        with _asking(path):
            self._write(path, data)

    def _write(self, path: str, data: bytes) -> None:
        """Write a file; again, where the store failed or its answer was lost.

        Then it may be there already, and be ours: what was written is compared.
        """
        access, once, may_be_ours = self.access, open_store(self.access, 0), False
        deadline = time.monotonic() + MOST_SECONDS
        for number in range(access.retries + 1):
            try:
                written = answer_of(
                    lambda: once.put(_key(path), data, mode="create", use_multipart=False),
                    self.home,
                )
            except AlreadyExistsError as error:
                if may_be_ours and self._holds(path, data):
                    return
                raise ExecutionError(
                    f"{path} exists already, and was not written over. Run the statement again"
                ) from error
            except BaseError as error:
                is_last = number == access.retries or time.monotonic() > deadline
                if is_last or _REFUSED.search(str(error)):
                    raise
                may_be_ours = True
                longest = min(access.pause * BASE**number, LONGEST_PAUSE)
                # As others do at the same time: not all of them at the same moment again.
                pause(random.uniform(longest / 2, longest), self.home)
            else:
                if written["e_tag"]:
                    remember_written(self, path, identity_of(written["e_tag"]), data)
                return

    def _holds(self, path: str, data: bytes) -> bool:
        status = self._head(path)
        return (
            status is not None
            and status[0] == len(data)
            and (self.read(path, 0, len(data)) == data)
        )

    def sync(self, paths: Sequence[str]) -> None:
        """Do nothing: it is the store's affair."""

    def make_directories(self, path: str) -> None:
        """Do nothing: a directory is there as long as there are files in it."""
        if not self._is_home(path):
            self.elsewhere(path).make_directories(path)

    def rename(self, source: str, target: str) -> None:
        """Copy a file or all of a directory inside the store, then delete the first."""
        if self._is_elsewhere(source, target):
            self._rename_elsewhere(source, target)
        else:
            move_tree(self, source, target)

    def bring(self, source: str, target: str) -> int:
        """Move a file, with one question for each of its names; what was modified before."""
        if self._is_elsewhere(source, target):
            modified = self.modified(source)
            self._rename_elsewhere(source, target)
            return modified
        return move_file(self, source, target)

    def hide(self, location: str, listed: Sequence[FileStatus], hidden: str) -> None:
        """Copy files side by side, then delete the first by one request."""
        if any(self._is_elsewhere(f"{location}/{status.path}", hidden) for status in listed):
            for status in listed:
                self.rename(f"{location}/{status.path}", f"{hidden}/{status.path}")
        else:
            move_all(self, listed, location, hidden)

    def _is_elsewhere(self, source: str, target: str) -> bool:
        return self._other(source) is not None or self._other(target) is not None

    def _rename_elsewhere(self, source: str, target: str) -> None:
        """Move what is in another place; between two of them it is copied by Hadoop."""
        there = self.elsewhere(source)
        if there == self or there != self.elsewhere(target):
            self.hadoop.rename(source, target)
        else:
            there.rename(source, target)

    def copy_each(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Copy files inside the store side by side, whatever is there."""
        with _asking(pairs[0][0]):
            each_at_once(self, self._copy, pairs)

    def _copy(self, pair: tuple[str, str]) -> None:
        answer_of(lambda: self._store.copy(*map(_key, pair)), self.home)

    def copy(self, source: str, target: str) -> None:
        """Copy a file, from any file system."""
        self.hadoop.copy(source, target)

    def replace_tail(self, path: str, offset: int, data: bytes) -> None:
        """Copy a file with its new tail."""
        self.hadoop.replace_tail(path, offset, data)

    def delete(self, path: str) -> None:
        """Remove a file or a tree: one request to list it, and one for each thousand files."""
        if (other := self._other(path)) is not None:
            other.delete(path)
            return
        entries = self.entries(path)
        names = (*(status.path for status in entries.files), *reversed(entries.markers))
        # S3 takes what is not there with the rest; others are asked once more.
        alone = [path] if isinstance(self.access, S3Access) else []
        if names or alone:
            self._delete([*(f"{path}/{name}" for name in names), *alone])
        if not alone and not (names and isinstance(self.access, GcsAccess)):
            self._delete([path])
        if entries.has_markers:
            self.hadoop.delete(path)

    def delete_below(
        self, location: str, names: Sequence[str], listing: Sequence[FileStatus] | None = None
    ) -> None:
        """Remove files and whole directories of a directory, listed by one request for them all."""
        inner = tuple(f"{name}/" for name in names)
        if (other := self._other(location)) is not None:
            other.delete_below(location, names, listing)
            return
        if listing is not None:
            paths = (status.path for status in listing)
            self.delete_each([
                f"{location}/{path}" for path in paths if path in names or path.startswith(inner)
            ])  # fmt: skip
            return
        entries = self.entries(location)
        if entries.has_markers:
            for name in names:
                self.delete(f"{location}/{name}")
            return
        listed = [*(status.path for status in entries.files), *reversed(entries.markers)]
        doomed = [path for path in listed if path in names or path.startswith(inner)]
        self.delete_each([f"{location}/{path}" for path in doomed])

    def delete_each(self, paths: Sequence[str]) -> None:
        """Remove files by one request for each thousand of them."""
        here = [path for path in paths if self._is_home(path)]
        if here:
            self._delete(here)
        for path in paths if len(here) < len(paths) else ():
            if not self._is_home(path):
                self.elsewhere(path).delete(path)

    def _delete(self, paths: Sequence[str]) -> None:
        with _asking(paths[0]):
            try:
                self._ask_to_delete([*map(_key, paths)])
            except (NotFoundError, FileNotFoundError) as error:
                if is_bucket_missing(error):
                    raise
                # Another has deleted one of them, or none was there: the rest goes by itself.
                for path in paths:
                    with suppress(NotFoundError, FileNotFoundError):
                        self._ask_to_delete(_key(path))

    def _ask_to_delete(self, keys: str | Sequence[str]) -> None:
        answer_of(lambda: self._store.delete(keys), self.home)

    def remove_if_empty(self, path: str) -> None:
        """Remove what stands for a directory in which there is nothing."""
        if (other := self._other(path)) is not None:
            other.remove_if_empty(path)
        elif self.entries(path).has_markers:
            self.hadoop.remove_if_empty(path)

    @property
    def _store(self) -> Any:
        return open_store(self.access, self.access.retries)

    def _is_marker(self, path: str) -> bool:
        """Tell whether an empty blob stands for a directory, as ABFS makes them; none elsewhere."""
        if not isinstance(self.access, AzureAccess):
            return False
        with _asking(path):
            head = answer_of(lambda: self._store.get(_key(path), options={"head": True}), self.home)
            attributes = head.attributes
        return any(str(name).lower() == _OF_DIRECTORY for name in attributes)

    def _require_store(self, path: str, *, is_proven: bool) -> None:
        """Raise the error for what answers as a web page does, of which a list is empty.

        ``is_proven`` says that the answer itself shows that there is a store. Else it is asked for
        a file that nobody wrote, whose absence only a store tells in the words of S3; not again
        for some seconds.
        """
        if not isinstance(self.access, S3Access):
            return
        proof, now = _proof(self.access), time.monotonic()
        if not is_proven and now >= proof.until:
            with _asking(path):
                try:
                    answer_of(lambda: self._store.get(f"{_key(path)}/{_NOBODYS}"), self.home)
                except (NotFoundError, FileNotFoundError, PermissionDeniedError) as error:
                    if "<Code>" not in str(error):
                        raise refusal_of_no_store(path) from error
                else:
                    raise refusal_of_no_store(path)
        proof.until = now + _PROVEN_SECONDS

    def _head(self, path: str) -> tuple[int, int] | None:
        """Length, and a number of the contents; None where there is no file."""
        try:
            with _asking(path):
                status = self._ask_for_status(path)
        except DataError:
            return None
        if not status["e_tag"]:
            raise refusal_of_no_store(path)
        return status["size"], _identity(status)

    def _ask_for_status(self, path: str) -> Any:
        """Ask for a file's status; why that is refused only the answer to a list says."""
        try:
            return answer_of(lambda: self._store.head(_key(path)), self.home)
        except (NotFoundError, FileNotFoundError):
            raise
        except BaseError as error:
            if _REFUSED.search(str(error)):
                lists_anything(self._store, _key(path), path, longest_wait(self.access))
            raise

    def entries(self, location: str) -> Entries:
        """List every file below a directory, hidden ones too."""
        with _asking(location):
            listed = list_files(self._store, _key(location), location, longest_wait(self.access))
        self._require_store(location, is_proven=bool(listed))
        return self._entries_of(location, listed)

    def _entries_of(self, location: str, listed: Sequence[Any]) -> Entries:
        """Tell files from what stands for directories, in what was listed below a directory."""
        home = _key(location)
        above = f"{home}/"
        files: list[FileStatus] = []
        empty: list[FileStatus] = []
        has_markers = any(entry["path"] == home for entry in listed)
        for entry in listed:
            if not entry["path"].startswith(above):
                continue
            status = FileStatus(entry["path"].removeprefix(above), entry["size"], _identity(entry))
            (files if entry["size"] else empty).append(status)
        # The client tells nothing of a slash at the end, which what stands for a directory has.
        inner = {
            "/".join(parts[:depth])
            for entry in files
            for parts in [entry.path.split("/")]
            for depth in range(1, len(parts))
        }
        alone = [status.path for status in empty if status.path not in inner]
        # Mostly there are few.
        are_files = each_at_once(self, lambda path: self.is_file(f"{location}/{path}"), alone)
        empty_files = {path for path, is_file in zip(alone, are_files, strict=True) if is_file}
        markers = []
        for status in empty:
            if status.path in empty_files:
                files.append(status)
            elif isinstance(self.access, AzureAccess):
                markers.append(status.path)
            else:
                has_markers = True
        return Entries(tuple(sorted(files)), has_markers, tuple(markers))


@dataclass
class _Proof:
    """Until when a store is taken for one without being asked, by time.monotonic()."""

    until: float = 0.0


@functools.lru_cache(maxsize=100)
def _proof(access: S3Access) -> _Proof:
    return _Proof()


@contextmanager
def _asking(path: str) -> Iterator[None]:
    """Tell of a store that does not answer, or not as wanted, as one of our errors."""
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        if is_bucket_missing(error):
            raise refusal_of_store(path, str(error)) from error
        raise _missing(path) from error
    except BaseError as error:
        raise refusal_of_store(path, str(error)) from error


def _key(path: str) -> str:
    return path.partition("://")[2].partition("/")[2].rstrip("/")


def _is_unspeakable(path: str) -> bool:
    key = _key(path)
    return not key or _UNSPEAKABLE.search(key) is not None


def _is_hidden_path(path: str) -> bool:
    return any(is_hidden(name) and name not in MARKERS for name in path.split("/"))


def _identity(status: Any) -> int:
    return identity_of(status["e_tag"] or status["last_modified"].isoformat())


def _missing(path: str) -> DataError:
    return DataError(f"{path} is missing: it was listed a moment ago, or the catalog names it")
