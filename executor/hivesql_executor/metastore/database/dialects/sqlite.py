"""SQLite: a file with one writer at a time."""

from __future__ import annotations

import errno
import os
import shlex
import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    BigInteger,
    ColumnElement,
    Connection,
    Engine,
    cast,
    create_engine,
    event,
    func,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError

from hivesql_executor.metastore.database import sqlite_terms
from hivesql_executor.metastore.database.dialects.conflicts import OnConflict
from hivesql_executor.metastore.database.dialects.execution import run_text
from hivesql_executor.metastore.database.dialects.terms import (
    ANSWER_SECONDS,
    OTHER_ADVICE,
    POOL,
)
from hivesql_planner.errors import SemanticError

_COPY = (
    "queries write their transactions into it too. Where that cannot be, copy the file to where it "
    "may be written (chmod u+w) and connect to the copy, which reads the same tables"
)
_FILES = 4
"""The database, its log, the index of that, and a journal."""
_MORE_FILES = "Raise the limit of open files (ulimit -n), then run the statement again"
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
# Windows syncs only what is open for writing.
_SYNCS = sys.platform != "win32"
_SYNCHRONOUS = "hivesql_synchronous"
_ASKS = "hivesql_asks"


def _require_directory(place: Path) -> None:
    """Refuse to make a metastore where a name may be misspelt."""
    if not place.exists():
        raise SemanticError(
            f"the metastore's directory {place} is not there: correct the address, or make it: "
            f"mkdir -p {shlex.quote(str(place))}"
        )


class SqliteTerms(OnConflict):
    """A file with one writer at a time, which holds it as a whole."""

    now = sqlite_terms.NOW
    has_one_writer = True
    reader_options: Mapping[str, Any] = {}
    asker_options: Mapping[str, Any] = {_ASKS: True}
    insert: Callable[..., Any] = staticmethod(sqlite.insert)

    def create_engine(self, url: URL, seconds: float = ANSWER_SECONDS) -> Engine:
        """Return an engine whose writers hold the file from their beginning."""
        _require_directory(Path(str(url.database)).absolute().parent)
        if url.query and not str(url.database).startswith("file:"):
            raise ArgumentError(
                f"SQLite knows no {', '.join(url.query)}, and no name may have a question mark"
            )
        engine = create_engine(
            url,
            pool_size=10,
            max_overflow=-1,
            pool_logging_name=POOL,
            connect_args={"timeout": sqlite_terms.BUSY_SECONDS, "check_same_thread": False},
        )
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
        return engine

    def is_retryable(self, error: DBAPIError) -> bool:
        """Tell whether somebody else held the file for too long."""
        return _name(error.orig).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))

    def is_lost(self, error: DBAPIError) -> bool:
        """Tell whether SQLAlchemy has given the connection up."""
        return bool(error.connection_invalidated)

    def is_rolled_back(self, error: DBAPIError) -> bool:
        """Tell whether SQLite says that the commit did not happen."""
        return not self.is_lost(error) and _name(error.orig).startswith(_NOT_COMMITTED)

    def advice(self, cause: BaseException | None) -> str:
        """Tell the user what to do about the file."""
        name = _name(cause)
        if name.startswith("SQLITE_CANTOPEN") and _has_no_file_left():
            return _MORE_FILES
        matching = (advice for start, advice in _ADVICE.items() if name.startswith(start))
        return next(matching, OTHER_ADVICE)

    def lock_txn_table(self, db: Connection, *, shared: bool) -> None:
        """Do nothing: whoever writes holds the file."""

    def hold_mutex(self, db: Connection, name: str) -> None:
        """Do nothing: whoever writes holds the file."""

    def await_disk(self, db: Connection) -> None:
        """Sync the log of the file, where SQLite itself would do so while others wait.

        A log that is gone, or begun anew, has been brought into the file and synced before.
        """
        if not _SYNCS:
            return
        try:
            place = os.open(f"{db.engine.url.database}-wal", os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            os.fsync(place)
        finally:
            os.close(place)

    def hold_until_durable(self, db: Connection) -> None:
        """Do nothing: who follows the log is gone at power loss too."""

    def begin_log(self, db: Connection) -> None:
        """Do nothing: whoever writes holds the file."""

    def pass_log(self, db: Connection) -> None:
        """Do nothing: whoever writes holds the file."""

    def commit_millis(self, timestamp: ColumnElement[Any]) -> ColumnElement[Any]:
        """Milliseconds since the epoch of a text in UTC."""
        return cast(func.strftime("%s", timestamp), BigInteger) * 1000

    def noted_time(self, moment: datetime) -> Any:
        """Return a moment in UTC without its zone."""
        return moment.astimezone(timezone.utc).replace(tzinfo=None)

    def has_digits_only(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """Tell it by SQLite's patterns, since it has no regular expressions."""
        return value.op("NOT GLOB", is_comparison=True)("*[^0-9]*")


def _name(error: BaseException | None) -> str:
    """Return SQLite's name of an error, such as SQLITE_BUSY; empty where it is not SQLite's."""
    if not isinstance(error, sqlite3.Error):
        return ""
    name = getattr(error, "sqlite_errorname", None)
    if name is None:
        broken = isinstance(error, sqlite3.IntegrityError)
        name = "SQLITE_CONSTRAINT" if broken else _NAMES.get(str(error).partition(":")[0], "")
    return str(name)


def _has_no_file_left() -> bool:
    """Tell whether this process has no room for a database's files, which SQLite does not say."""
    with ExitStack() as opened:
        try:
            for _ in range(_FILES):
                opened.enter_context(Path(os.devnull).open("rb", buffering=0))
        except OSError as error:
            return error.errno in (errno.EMFILE, errno.ENFILE)
    return False


def _on_connect(connection: Any, record: Any) -> None:
    # The driver must not begin transactions by itself: it would begin them as readers.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode=WAL")


def _on_begin(db: Connection) -> None:
    options = db.get_execution_options()
    if options.get("hivesql_reads", False):
        # One query is a transaction of its own.
        if not options.get(_ASKS, False):
            run_text(db, "BEGIN")
        return
    # Less than FULL may forget a commit at power loss and give out its write id again. A later
    # commit with FULL brings all earlier ones to the disk as well.
    is_early = _SYNCS and options.get("hivesql_early", False)
    mode = "NORMAL" if is_early or options.get("hivesql_quick", False) else "FULL"
    if db.connection.info.get(_SYNCHRONOUS) != mode:
        run_text(db, f"PRAGMA synchronous={mode}")
        db.connection.info[_SYNCHRONOUS] = mode
    run_text(db, "BEGIN IMMEDIATE")
