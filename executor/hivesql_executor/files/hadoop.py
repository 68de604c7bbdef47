"""Any file system that Spark can reach, through Hadoop's FileSystem in Spark's JVM."""

from __future__ import annotations

import base64
import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from hivesql_executor.beats import answer_of
from hivesql_executor.files.identity import identity_of
from hivesql_executor.files.one_by_one import OneByOne
from hivesql_executor.files.refusals import PlaceTaken, missing_connector, refusal_of
from hivesql_executor.files.top import Top
from hivesql_executor.jvm import java_class, new_object
from hivesql_planner.acid.layout import HIDDEN_STARTS, MARKERS, is_hidden
from hivesql_planner.acid.snapshot import FileStatus
from hivesql_planner.errors import DataError, ExecutionError, HiveSqlError, SemanticError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from hivesql_executor.files.uploads import LeftUploads, Upload, Uploads

T = TypeVar("T")
# PySpark turns some Java exceptions, UnsupportedOperationException among them, into its own.
_FAILURES = (Py4JError, PySparkException)
_trees: WeakKeyDictionary[SparkContext, dict[str | None, Any]] = WeakKeyDictionary()


def _reaching(ask: Callable[..., T]) -> Callable[..., T]:
    """Tell of a file system that does not answer as one of our errors.

    A statement that was cancelled waits for none: Hadoop itself would for minutes, or for ever.
    """

    @functools.wraps(ask)
    def wrapped(files: HadoopFiles, path: str, *arguments: Any) -> T:
        try:
            return answer_of(lambda: ask(files, path, *arguments), path)
        except _FAILURES as error:
            if (refusal := files.refusal(error)) is not None:
                raise refusal from error
            raise ExecutionError(
                f"{path} cannot be reached: {_reason(error)}. Check the place, and the settings of "
                "its file system",
                code=40000,
            ) from error

    return wrapped


@dataclass(frozen=True)
class HadoopFiles(OneByOne):
    """The Files protocol over py4j.

    With a ``user`` in that user's name, whom Spark's login may act for.
    """

    spark: Callable[[], SparkSession]
    user: str | None = None

    @property
    def has_directories(self) -> bool:
        """Say yes."""
        return True

    @property
    def most_small(self) -> int:
        """Say few: they are read one after the other, and by Spark at once."""
        return 8

    @property
    def most_at_once(self) -> int:
        """Say as many as FileTree.java asks for: each waits for an answer."""
        return 16

    def uploads(self, location: str) -> Uploads | None:
        """Return None: to move a file is one step."""
        return None

    def left_uploads(self, location: str) -> LeftUploads | None:
        """Return what tells and gives up uploads of the dead; None where they leave none."""
        return self.uploads(location)

    def _open(self, location: str) -> tuple[Any, Any, Any]:
        """JVM, path and file system of a location."""
        context: Any = self.spark().sparkContext
        # PySpark has no public way to the JVM.
        jvm = context._jvm
        path = jvm.org.apache.hadoop.fs.Path(location)
        if self.user is not None:
            return jvm, path, self._tree().system(path)
        return jvm, path, path.getFileSystem(context._jsc.hadoopConfiguration())

    def _tree(self) -> Any:
        """Tell what answers in one call where Hadoop's own classes would take one for each word."""
        spark = self.spark()
        context: Any = spark.sparkContext
        trees = _trees.setdefault(context, {})
        tree = trees.get(self.user)
        if tree is None:
            if self.user is None:
                conf = context._jsc.hadoopConfiguration()
                hidden, markers = "/".join(HIDDEN_STARTS), "/".join(MARKERS)
                tree = new_object(spark, "FileTree", conf, hidden, markers)
            else:
                # Of the same user each time: Hadoop opens a file system anew for another object.
                tree = getattr(replace(self, user=None)._tree(), "as")(self.user)
            trees[self.user] = tree
        return tree

    @_reaching
    def owner(self, path: str) -> str:
        """Tell whose a file or directory is."""
        return str(self._tree().owner(path))

    def user_name(self) -> str:
        """Tell in whose name files are asked for."""
        return str(self._tree().userName())

    def refusal(self, error: Exception) -> HiveSqlError | None:
        """Return what a file system refused as our error; None if the error tells of no refusal."""
        hadoop = java_class(self.spark(), "org.apache.hadoop.util.VersionInfo")
        return refusal_of(str(error)) or missing_connector(str(error), hadoop.getVersion())

    @_reaching
    def _status(self, path: str) -> tuple[int, int]:
        """Length, and what changes with the file."""
        status = self._tree().status(path)
        if status is None:
            raise DataError(
                f"{path} is missing: it was listed a moment ago, or the catalog names it"
            )
        length, modified = str(status).split()
        return int(length), _identity(modified)

    def require(self, location: str) -> None:
        """Fail where Hadoop has no file system for the scheme; asks no server."""
        context: Any = self.spark().sparkContext
        scheme = location.partition(":")[0]
        system = context._jvm.org.apache.hadoop.fs.FileSystem
        try:
            system.getFileSystemClass(scheme, context._jsc.hadoopConfiguration())
        except _FAILURES as error:
            if (refusal := self.refusal(error)) is not None:
                raise refusal from error
            raise SemanticError(
                f'{location}: No FileSystem for scheme "{scheme}". Give Spark the jar of that file '
                "system, or name another place"
            ) from error

    @_reaching
    def list(self, location: str, only: Sequence[str] | None = None) -> tuple[FileStatus, ...]:
        """Every file below a directory, or below some of those in it."""
        tree = self._tree()
        if only is None:
            return _statuses(str(tree.list(location)))
        return _statuses(str(tree.listSome(location, "\0".join(only)))) if only else ()

    @_reaching
    def top(self, location: str, before: Top | None = None) -> Top | None:
        """Return what is right below a directory; None in a store that lists all at once."""
        text = self._tree().top(location)
        if text is None:
            return None
        below = _statuses(str(text))
        directories = {
            status.path[:-1]: (status.modified,) for status in below if status.path.endswith("/")
        }
        return Top(
            (), directories, tuple(status for status in below if not status.path.endswith("/"))
        )

    @_reaching
    def all_directories(self, location: str) -> tuple[str, ...]:
        """Names of the directories right below, hidden ones too."""
        _, path, system = self._open(location)
        statuses = system.listStatus(path) if system.exists(path) else ()
        names = (str(status.getPath().getName()) for status in statuses if status.isDirectory())
        return tuple(sorted(names))

    @_reaching
    def survey(self, location: str) -> tuple[tuple[FileStatus, ...], tuple[str, ...]]:
        """Every file below a directory, and the names of the directories right below."""
        return self.list(location), self.all_directories(location)

    @_reaching
    def exists(self, path: str) -> bool:
        """Tell whether there is a file or directory."""
        _, target, system = self._open(path)
        return bool(system.exists(target))

    @_reaching
    def is_file(self, path: str) -> bool:
        """Tell whether there is a file."""
        _, target, system = self._open(path)
        return bool(system.exists(target) and system.getFileStatus(target).isFile())

    @_reaching
    def directories(self, location: str) -> tuple[str, ...]:
        """Names of a directory's own subdirectories."""
        _, path, system = self._open(location)
        if not system.exists(path):
            return ()
        directories = [status for status in system.listStatus(path) if status.isDirectory()]
        names = [str(status.getPath().getName()) for status in directories]
        return tuple(sorted(name for name in names if not is_hidden(name)))

    def size(self, path: str) -> int:
        """Length of a file."""
        return self._status(path)[0]

    def modified(self, path: str) -> int:
        """Tell when a file was last changed, in milliseconds, or a number of its contents."""
        return self._status(path)[1]

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Return a range of a file."""
        try:
            return answer_of(lambda: bytes(self._tree().read(path, offset, length)), path)
        except _FAILURES as error:
            if (refusal := self.refusal(error)) is not None:
                raise refusal from error
            raise DataError(f"{path} cannot be read: {_reason(error)}") from error

    def sync(self, paths: Sequence[str]) -> None:
        """Do nothing: it is the file system's affair."""

    @_reaching
    def write(self, path: str, data: bytes) -> None:
        """Write a small new file."""
        _, target, system = self._open(path)
        stream = system.create(target, False)
        try:
            stream.write(bytearray(data))
        finally:
            stream.close()

    @_reaching
    def make_directories(self, path: str) -> None:
        """Make a directory and its parents."""
        _, target, system = self._open(path)
        if not system.mkdirs(target):
            raise ExecutionError(f"the directory {path} cannot be made", code=40000)

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory."""
        try:
            _, old, system = self._open(source)
            _, new, _ = self._open(target)
            if system.exists(new):
                raise PlaceTaken(f"{target} exists already; {source} was not moved over it")
            system.mkdirs(new.getParent())
            moved = system.rename(old, new)
        except _FAILURES as error:
            if (refusal := self.refusal(error)) is not None:
                raise refusal from error
            raise ExecutionError(
                f"{source} could not be moved to {target}: {_reason(error)}"
            ) from error
        if not moved:
            raise ExecutionError(f"{source} could not be moved to {target}; look at both")

    def copy(self, source: str, target: str) -> None:
        """Copy a file, from any file system."""
        context: Any = self.spark().sparkContext
        conf = context._jsc.hadoopConfiguration()
        try:
            jvm, old, source_system = self._open(source)
            _, new, system = self._open(target)
            if system.exists(new):
                raise ExecutionError(f"{target} exists already; {source} was not copied over it")
            system.mkdirs(new.getParent())
            jvm.org.apache.hadoop.fs.FileUtil.copy(source_system, old, system, new, False, conf)
        except _FAILURES as error:
            if (refusal := self.refusal(error)) is not None:
                raise refusal from error
            raise ExecutionError(
                f"{source} could not be copied to {target}: {_reason(error)}"
            ) from error

    @_reaching
    def delete(self, path: str) -> None:
        """Remove a file or a tree."""
        _, target, system = self._open(path)
        system.delete(target, True)

    @_reaching
    def remove_if_empty(self, path: str) -> None:
        """Remove a directory in which there is nothing."""
        _, target, system = self._open(path)
        if not system.exists(target) or system.getFileStatus(target).isFile():
            return
        if not len(system.listStatus(target)):
            system.delete(target, False)

    @_reaching
    def replace_tail(self, path: str, offset: int, data: bytes) -> None:
        """Cut and append; where the file system cannot, the file is copied with its new tail."""
        _, target, system = self._open(path)
        try:
            if not system.truncate(target, offset):
                # HDFS shortens the last block in the background.
                _wait_until_closed(system, target)
            stream = system.append(target)
        except _FAILURES:
            # Unsupported, or the block is not free yet: the bytes before offset are still there.
            self._copy_with_tail(path, offset, data)
            return
        try:
            stream.write(bytearray(data))
        finally:
            stream.close()

    def _copy_with_tail(self, path: str, offset: int, data: bytes) -> None:
        jvm, target, system = self._open(path)
        copy = jvm.org.apache.hadoop.fs.Path(f"{path}.amended")
        source, sink = system.open(target), system.create(copy, True)
        try:
            io = jvm.org.apache.commons.io.IOUtils
            io.copyLarge(source, sink, 0, offset)
            sink.write(bytearray(data))
        finally:
            source.close()
            sink.close()
        system.delete(target, False)
        if not system.rename(copy, target):
            raise ExecutionError(f"{path}.amended could not be renamed to {path}")


@dataclass(frozen=True)
class ObjectStoreFiles(HadoopFiles):
    """Those of S3: each question is a request there, and a move copies."""

    @property
    def has_directories(self) -> bool:
        """Say no: a marker may stand for an empty one."""
        return False

    @_reaching
    def uploads(self, location: str) -> Uploads | None:
        """Return what completes the uploads of tasks; None where Hadoop's connector takes none."""
        return _HadoopUploads(self) if self._tree().takesUploads(location) else None

    def make_directories(self, path: str) -> None:
        """Do nothing: a directory is there as long as there are files in it."""

    def write(self, path: str, data: bytes) -> None:
        """Write a small new file by one request."""
        try:
            answer_of(lambda: self._tree().write(path, data), path)
        except _FAILURES as error:
            if (refusal := self.refusal(error)) is not None:
                raise refusal from error
            raise ExecutionError(
                f"{path} could not be written: {_reason(error)}. Run the statement again"
            ) from error


@dataclass(frozen=True, slots=True)
class _HadoopUploads:
    """The Uploads protocol over Hadoop's MultipartUploader."""

    files: HadoopFiles

    def complete(self, uploaded: Sequence[tuple[str, Upload]]) -> None:
        """Let files be seen."""
        try:
            self.files._tree().complete(_text_of(uploaded))
        except _FAILURES as error:
            raise ExecutionError(
                f"an upload could not be completed: {_reason(error)}. Run the statement again"
            ) from error

    def abort(self, uploaded: Sequence[tuple[str, Upload]]) -> None:
        """Give up what is not completed."""
        try:
            self.files._tree().abort(_text_of(uploaded))
        except _FAILURES as error:
            raise ExecutionError(f"an upload could not be given up: {_reason(error)}") from error

    def waiting(self, location: str) -> list[tuple[str, str]]:
        """List all below a location that wait."""
        try:
            parts = str(self.files._tree().waiting(location)).split("\0")
        except _FAILURES as error:
            raise ExecutionError(
                f"the uploads below {location} cannot be listed: {_reason(error)}"
            ) from error
        return [*zip(parts[::2], parts[1::2], strict=False)]


def _statuses(text: str) -> tuple[FileStatus, ...]:
    """Read what ``FileTree.java`` tells of files: path, length and identity of each."""
    parts = text.split("\0")
    triples = zip(parts[::3], parts[1::3], parts[2::3], strict=False)
    return tuple(sorted(FileStatus(path, int(n), _identity(time)) for path, n, time in triples))


def _identity(text: str) -> int:
    return identity_of(text) if text.startswith("e") else int(text)


def _text_of(uploaded: Sequence[tuple[str, Upload]]) -> str:
    return "".join(f"{path}\0{_word_of(upload)}\0" for path, upload in uploaded)


def _word_of(upload: Upload) -> str:
    """Return an upload as ``Uploads.java`` takes it, where it may be all of a file."""
    if isinstance(upload, str):
        return upload
    return f"={base64.urlsafe_b64encode(upload).decode()}"


def _reason(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    text = str(java.toString()) if java is not None else str(error)
    # A name node tells where in itself it came to that.
    return text.partition("\n\tat ")[0]


def _wait_until_closed(system: Any, path: Any) -> None:
    deadline = time.monotonic() + 60
    while not system.isFileClosed(path) and time.monotonic() < deadline:
        time.sleep(0.1)
