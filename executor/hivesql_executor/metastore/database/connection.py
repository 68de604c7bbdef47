"""Database transactions: how each RDBMS begins, what is tried again, what a lost commit means."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Connection, Engine, create_engine, event, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from hivesql_executor.metastore.database import schema, sqlite_terms
from hivesql_planner.errors import CommitUnknown, ExecutionError, SemanticError, SessionClosed

T = TypeVar("T")

_ATTEMPTS = 10
_PAUSE = 0.05
# Serialization failure, deadlock, duplicate key of two racing inserts.
_RETRYABLE_STATES = frozenset({"40001", "40P01", "23505"})
_OPEN_WINDOW = 1000
_COPY = (
    "queries write their transactions into it too. Where that cannot be, copy the file to where it "
    "may be written (chmod u+w) and connect to the copy, which reads the same tables"
)
_ADVICE = {
    "SQLITE_FULL": "Make room on its disk, then run the statement again",
    # Also what a full disk is told by, where SQLite makes the files beside the database.
    "SQLITE_IOERR": "Its disk is full, or fails: make room on it, then run the statement again",
    "SQLITE_READONLY": f"Give yourself the right to write its file and directory: {_COPY}",
    "SQLITE_CANTOPEN": (
        "Look whether its directory is there, and give yourself the right to write it: " + _COPY
    ),
    "SQLITE_CORRUPT": "Its file is damaged: restore it from a backup",
    "SQLITE_NOTADB": "Its file is no SQLite database: name another one",
}
_PASSWORD = re.compile(r"(//[^/:@]*):[^/@]*@")
# After these SQLite has rolled back, or is about to. A sync that failed tells nothing.
_NOT_COMMITTED = (
    "SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_READONLY", "SQLITE_NOMEM",
    "SQLITE_INTERRUPT", "SQLITE_CONSTRAINT", "SQLITE_PERM", "SQLITE_CANTOPEN", "SQLITE_TOOBIG",
)  # fmt: skip
# What SQLite says of them: Python 3.10 tells no names.
_NAMES = {
    "database is locked": "SQLITE_BUSY",
    "database table is locked": "SQLITE_LOCKED",
    "database schema is locked": "SQLITE_LOCKED",
    "database or disk is full": "SQLITE_FULL",
    "attempt to write a readonly database": "SQLITE_READONLY",
    "unable to open database file": "SQLITE_CANTOPEN",
    "database disk image is malformed": "SQLITE_CORRUPT",
    "file is not a database": "SQLITE_NOTADB",
    "out of memory": "SQLITE_NOMEM",
    "interrupted": "SQLITE_INTERRUPT",
    "access permission denied": "SQLITE_PERM",
    "string or blob too big": "SQLITE_TOOBIG",
}
_SYNCHRONOUS = "hivesql_synchronous"


class TryAgain(Exception):
    """The database transaction was overtaken and must be run again."""


class millis_now(FunctionElement[int]):  # noqa: N801 - reads as an SQL function
    """Milliseconds since the epoch by the clock of the RDBMS."""

    type = BigInteger()
    inherit_cache = True


@compiles(millis_now, "sqlite")
def _sqlite_now(element: millis_now, compiler: Any, **_: Any) -> str:
    return sqlite_terms.NOW


@compiles(millis_now, "postgresql")
def _postgres_now(element: millis_now, compiler: Any, **_: Any) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"


_NOW = select(millis_now())


def now(db: Connection) -> int:
    """Return the time in milliseconds by the clock of the RDBMS."""
    return int(db.execute(_NOW).scalar_one())


def open_window(db: Connection) -> int:
    """Milliseconds for which a missing transaction id may still appear.

    Only PostgreSQL can commit ids out of order (metastore.txn.opentxn.timeout); SQLite has one
    writer at a time.
    """
    return _OPEN_WINDOW if db.dialect.name == "postgresql" else 0


def lock_txn_table(db: Connection, mode: str) -> None:
    """Keep openings (``SHARE``) and commits (``EXCLUSIVE``) apart, as Hive does."""
    if db.dialect.name == "postgresql":
        db.execute(text(f'LOCK TABLE "{schema.txn_lock.name}" IN {mode} MODE'))


def hold_mutex(db: Connection, name: str) -> None:
    """Hold a named mutex until the end of the database transaction."""
    if db.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        first = postgresql.insert(schema.aux).values(name=name, value=0)
        db.execute(first.on_conflict_do_nothing())
        db.execute(select(schema.aux).where(schema.aux.c.name == name).with_for_update())


class _Joined(threading.local):
    """The transaction of ``run_in_transaction`` that a thread is in."""

    connection: Connection | None = None


class Rdbms:
    """An SQLite file or a PostgreSQL database."""

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        sqlite = self._engine.dialect.name == "sqlite"
        # Threads queue here rather than in SQLite's busy handler, which sleeps and is not fair.
        self._turn: AbstractContextManager[Any] = threading.Lock() if sqlite else nullcontext()
        self._joined = _Joined()
        self._closed = False
        self._quick_engine = self._engine.execution_options(hivesql_quick=True)
        self._reader = self._engine.execution_options(
            hivesql_reads=True, **({} if sqlite else {"isolation_level": "REPEATABLE READ"})
        )

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run queries on one consistent state of the database, or inside ``run_in_transaction``."""
        if self._joined.connection is not None:
            return work(self._joined.connection)

        def attempt() -> T:
            with self._reader.connect() as db, db.begin():
                return work(db)

        return self._retry(attempt)

    def write(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Run ``work`` in one database transaction and commit it.

        One that is not ``durable`` may be forgotten at power loss until a durable one has followed:
        for what means nothing to anybody before that other one. Inside ``run_in_transaction`` the
        work is a part of that transaction, which is durable or not.
        Deadlocks and busy databases are tried again. CommitUnknown when the answer to the commit
        was lost, ExecutionError 10280 when the database fails.
        """
        if self._joined.connection is not None:
            return work(self._joined.connection)

        def attempt() -> T:
            with self._turn:
                return self._write_once(work, self._engine if durable else self._quick_engine)

        return self._retry(attempt)

    def run_in_transaction(self, work: Callable[[], T], *, durable: bool = True) -> T:
        """Run ``work``, all of whose reads and writes on this thread are one transaction.

        It may be run again, as ``write`` runs things again, so it must do nothing else. Inside
        another one it is a part of that.
        """
        if self._joined.connection is not None:
            return work()

        def joined(db: Connection) -> T:
            self._joined.connection = db
            try:
                return work()
            finally:
                self._joined.connection = None

        return self.write(joined, durable=durable)

    def close(self) -> None:
        """Let go of all connections."""
        self._closed = True
        self._engine.dispose()

    def _write_once(self, work: Callable[[Connection], T], engine: Engine) -> T:
        with engine.connect() as db:
            transaction = db.begin()
            try:
                result = work(db)
            except BaseException:
                transaction.rollback()
                raise
            try:
                transaction.commit()
            except DBAPIError as error:
                if _rolled_back(error):
                    with suppress(DBAPIError):
                        transaction.rollback()
                    raise
                raise CommitUnknown(
                    f"the metastore's answer to a commit was lost ({error.orig}); the change may "
                    "or may not have happened. Look before running the statement again"
                ) from error
            return result

    def _retry(self, attempt: Callable[[], T]) -> T:
        if self._closed:
            raise SessionClosed
        for tried in range(1, _ATTEMPTS + 1):
            try:
                return attempt()
            except (DBAPIError, TryAgain) as error:
                if tried == _ATTEMPTS or not _retryable(error):
                    raise _failure(error, self._engine) from error
            time.sleep(_PAUSE * tried)
        raise AssertionError("unreachable")


def _failure(error: DBAPIError | TryAgain, engine: Engine) -> ExecutionError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = _sqlite_name(cause)
    matching = (advice for start, advice in _ADVICE.items() if name.startswith(start))
    advice = next(matching, "Check that it is reachable and run the statement again")
    place = f" {engine.url.database}" if engine.dialect.name == "sqlite" else ""
    return ExecutionError(f"the metastore's database{place} failed: {cause}. {advice}", code=10280)


def _sqlite_name(error: BaseException | None) -> str:
    """Return SQLite's name of an error, such as SQLITE_BUSY; empty where it is not SQLite's."""
    if not isinstance(error, sqlite3.Error):
        return ""
    name = getattr(error, "sqlite_errorname", None)
    if name is None:
        broken = isinstance(error, sqlite3.IntegrityError)
        name = "SQLITE_CONSTRAINT" if broken else _NAMES.get(str(error).partition(":")[0], "")
    return str(name)


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise _unusable(url) from error
    except ValueError as error:
        # SQLAlchemy's own words are "invalid literal for int()".
        raise _unusable(url, "its port is no number") from error
    name = parsed.get_backend_name()
    if name == "postgresql":
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        try:
            return create_engine(parsed, isolation_level="READ COMMITTED", pool_size=10)
        except NoSuchModuleError as error:
            raise _unusable(parsed.render_as_string(), str(error)) from error
    if name != "sqlite" or parsed.database in (None, "", ":memory:"):
        raise _unusable(parsed.render_as_string())
    Path(str(parsed.database)).absolute().parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(
        parsed,
        pool_size=10,
        max_overflow=-1,
        connect_args={"timeout": sqlite_terms.BUSY_SECONDS, "check_same_thread": False},
    )
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def _unusable(url: str, why: str = "") -> SemanticError:
    masked = _PASSWORD.sub(r"\1:***@", url)
    return SemanticError(
        f"the metastore cannot live in {masked}{why and f' ({why})'}: give a file as "
        "sqlite:///path/metastore.db, or postgresql://user@host/database"
    )


def _on_connect(connection: Any, record: Any) -> None:
    # The driver must not begin transactions by itself: it would begin them as readers.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode=WAL")


def _on_begin(db: Connection) -> None:
    options = db.get_execution_options()
    if options.get("hivesql_reads", False):
        db.exec_driver_sql("BEGIN")
        return
    # Less than FULL may forget a commit at power loss and give out its write id again. A later
    # commit with FULL brings all earlier ones to the disk as well.
    mode = "NORMAL" if options.get("hivesql_quick", False) else "FULL"
    if db.connection.info.get(_SYNCHRONOUS) != mode:
        db.exec_driver_sql(f"PRAGMA synchronous={mode}")
        db.connection.info[_SYNCHRONOUS] = mode
    db.exec_driver_sql("BEGIN IMMEDIATE")


def _state(error: DBAPIError) -> str:
    return str(getattr(error.orig, "sqlstate", None) or "")


def _busy(error: DBAPIError) -> bool:
    name = _sqlite_name(error.orig)
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _lost(error: DBAPIError) -> bool:
    return bool(error.connection_invalidated) or _state(error).startswith(("08", "57P"))


def _retryable(error: DBAPIError | TryAgain) -> bool:
    if isinstance(error, TryAgain):
        return True
    return _state(error) in _RETRYABLE_STATES or _busy(error) or _lost(error)


def _rolled_back(error: DBAPIError) -> bool:
    """Tell whether the server itself said that the commit did not happen."""
    name = _sqlite_name(error.orig)
    return not _lost(error) and (bool(_state(error)) or name.startswith(_NOT_COMMITTED))
