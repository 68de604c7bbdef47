"""Faults of every kind, at any call of a metastore, of files or of Spark."""

from __future__ import annotations

import errno
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyorc
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from thriftpy2.thrift import TApplicationException
from thriftpy2.transport import TTransportException

import hivesql
from hivesql import connections
from hivesql.sessions.spark_start import LazySpark
from hivesql_executor.files.local import LocalFiles
from hivesql_planner.errors import HiveSqlError


def _system(number: int) -> OSError:
    return OSError(number, "the disk says no", "/some/file")


@contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """No file of this process can become longer, as on a disk that is full.

    The system tells of it behind an open file, without its path.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


FAULTS: dict[str, Callable[[], Exception]] = {
    "ENOSPC": lambda: _system(errno.ENOSPC),
    "EROFS": lambda: _system(errno.EROFS),
    "ENAMETOOLONG": lambda: _system(errno.ENAMETOOLONG),
    "EACCES": lambda: _system(errno.EACCES),
    "ECONNRESET": lambda: ConnectionResetError(errno.ECONNRESET, "reset by peer"),
    "timeout": lambda: TimeoutError("timed out"),
    "encode": lambda: UnicodeEncodeError("utf-8", "a\udcff", 1, 2, "surrogates not allowed"),
    "decode": lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    "recursion": lambda: RecursionError("maximum recursion depth exceeded"),
    "memory": lambda: MemoryError(),
    "import": lambda: ModuleNotFoundError("No module named 'psycopg'", name="psycopg"),
    "py4j": lambda: Py4JError("An error occurred while calling o1.x"),
    "py4j network": lambda: Py4JNetworkError("Answer from Java side is empty"),
    "pyspark": lambda: PySparkException("it failed"),
    "sqlite": lambda: sqlite3.OperationalError("disk I/O error"),
    "sqlalchemy": lambda: SQLAlchemyError("no connection is left"),
    "driver": lambda: OperationalError("SELECT 1", {}, sqlite3.OperationalError("locked")),
    "arrow": lambda: pa.ArrowInvalid("a value does not fit"),
    "orc": lambda: pyorc.ORCError("bad footer"),
    "thrift": lambda: TApplicationException(6, "internal error"),
    "transport": lambda: TTransportException(4, "read 0 bytes"),
    "key": lambda: KeyError("x"),
    "value": lambda: ValueError("x"),
    "attribute": lambda: AttributeError("'NoneType' object has no attribute 'sc'"),
    "assertion": lambda: AssertionError(),
}
PASSING = {"ECONNRESET", "timeout", "py4j", "py4j network", "thrift", "transport"}
"""After which the same statement may succeed."""


@dataclass(slots=True)
class Faults:
    """Raises at the first call of a name that goes through it; with no name it only looks on."""

    raises: Callable[[], Exception] = field(default=lambda: KeyError("x"))
    at: str = ""
    seen: list[str] = field(default_factory=list)
    hit: bool = False

    def call(self, name: str) -> None:
        """One call is about to be made."""
        self.seen.append(name)
        if name == self.at and not self.hit:
            self.hit = True
            raise self.raises()


class _Watched:
    """Something all of whose calls go through the faults first."""

    def __init__(self, real: Any, faults: Faults, name: str) -> None:
        self._real, self._faults, self._name = real, faults, name

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if not callable(found):
            return found

        def call(*arguments: Any, **named: Any) -> Any:
            # Both would be counted: what is inside is.
            if name not in ("run_in_transaction", "close"):
                self._faults.call(f"{self._name}.{name}")
            return found(*arguments, **named)

        return call


class _WatchedFiles(LocalFiles):
    """Local files, and so they are to whoever asks."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or not callable(found):
            return found
        faults: Faults = super().__getattribute__("__dict__")["faults"]

        def call(*arguments: Any, **named: Any) -> Any:
            faults.call(f"files.{name}")
            return found(*arguments, **named)

        return call


class _NoSpark(LazySpark):
    """A Spark that fails to start, and is not there otherwise."""

    faults: Faults

    def __call__(self) -> Any:
        self.faults.call("spark.start")
        raise HiveSqlError("there is no Spark in this test")


@contextmanager
def connecting(faults: Faults, ended: list[str]) -> Iterator[None]:
    """Let opening a metastore, and every call of it, go through the faults; what is closed."""
    opening = connections.open_metastore

    def open_metastore(*arguments: Any, **named: Any) -> Any:
        faults.call("open")
        store = opening(*arguments, **named)
        watched = _Watched(store, faults, "metastore")
        watched.close = lambda: (store.close(), ended.append("closed"))  # type: ignore[attr-defined]
        return watched

    connections.open_metastore = open_metastore
    try:
        yield
    finally:
        connections.open_metastore = opening


@contextmanager
def faulty(
    session: hivesql.Session, faults: Faults, *, has_spark: bool = False, has_files: bool = False
) -> Iterator[None]:
    """Let every call that the session makes go through the faults.

    Unless it ``has_spark``, there is none, and its start is such a call too. Unless it
    ``has_files``, which are left alone, its files are this machine's.
    """
    before = session.runtime, session.temporary.runtime, session._spark

    def files(place: str) -> LocalFiles:
        found = _WatchedFiles()
        found.__dict__["faults"] = faults
        return found

    spark = before[2]
    if not has_spark:
        spark = _NoSpark()
        spark.faults = faults
    store: Any = _Watched(before[0].metastore, faults, "metastore")
    runtime = replace(session.runtime, metastore=store, spark=spark)
    if not has_files:
        runtime = replace(runtime, files=files)
    session.runtime = session.temporary.runtime = runtime
    session._spark = spark
    try:
        yield
    finally:
        session.runtime, session.temporary.runtime, session._spark = before
