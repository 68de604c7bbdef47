"""PostgreSQL, by psycopg."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Executable,
    collate,
    create_engine,
    func,
    select,
)
from sqlalchemy import text as sql
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError

from hivesql_executor.metastore.database.dialects.batches import Batches, run_later
from hivesql_executor.metastore.database.dialects.conflicts import OnConflict
from hivesql_executor.metastore.database.dialects.terms import PROBES, SILENCE_SECONDS
from hivesql_executor.metastore.database.notification_schema import notification_sequence
from hivesql_executor.metastore.database.schema import aux, txn_lock

# Serialization failure, deadlock, duplicate key of two racing inserts.
_RETRYABLE_STATES = frozenset({"40001", "40P01", "23505"})
_OPTIONS = {
    # Who listens and says nothing would be waited for two minutes, at each try.
    "connect_timeout": "20",
    "tcp_user_timeout": str(SILENCE_SECONDS * 1000),
    "keepalives_idle": str(SILENCE_SECONDS // (PROBES + 1)),
    "keepalives_interval": str(SILENCE_SECONDS // (PROBES + 1)),
    "keepalives_count": str(PROBES),
}
"""What libpq is told of servers that are silent, unless the URL says something else."""
_LOCK_SHARED, _LOCK = (
    sql(f'LOCK TABLE "{txn_lock.name}" IN {mode} MODE') for mode in ("SHARE", "EXCLUSIVE")
)
# Two processes that open an empty database must not both create the tables.
_CREATE_LOCK = 0x48495645


class PostgresTerms(OnConflict):
    """Many writers, each of which reads what is committed, statement by statement."""

    now = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    open_window = 1000
    has_changing_queries = True
    insert: Callable[..., Any] = staticmethod(postgresql.insert)

    def create_engine(self, url: URL) -> Engine:
        """Return an engine with psycopg, unless the URL names another driver."""
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        if url.drivername == "postgresql+psycopg":
            url = url.update_query_dict({**_OPTIONS, **url.query})
        engine = create_engine(url, isolation_level="READ COMMITTED", pool_size=20, max_overflow=-1)
        if engine.dialect.driver == "psycopg":
            Batches(engine)
        return engine

    def run_later(self, db: Connection, statement: Executable, parameters: Any = None) -> None:
        """Let psycopg send it with the next one."""
        if db.dialect.driver == "psycopg":
            run_later(db, statement, parameters)
        else:
            db.execute(statement, parameters)

    def is_retryable(self, error: DBAPIError) -> bool:
        """Tell whether others came first, or the connection broke."""
        return _state(error) in _RETRYABLE_STATES or self.is_lost(error)

    def is_lost(self, error: DBAPIError) -> bool:
        """Tell whether the connection broke, or the server is ending it."""
        return bool(error.connection_invalidated) or _state(error).startswith(("08", "57P"))

    def is_rolled_back(self, error: DBAPIError) -> bool:
        """Tell whether the server has answered the commit with an error."""
        return not self.is_lost(error) and bool(_state(error))

    def lock_txn_table(self, db: Connection, *, shared: bool) -> None:
        """Lock the table in one of two modes, which stand against each other."""
        self.run_later(db, _LOCK_SHARED if shared else _LOCK)

    def hold_mutex(self, db: Connection, name: str) -> None:
        """Hold a row of that name, which is made where there is none."""
        first = postgresql.insert(aux).values(name=name, value=0)
        db.execute(first.on_conflict_do_nothing())
        db.execute(select(aux).where(aux.c.name == name).with_for_update())

    @contextmanager
    def creating(self, db: Connection) -> Iterator[None]:
        """Hold a lock until the commit: what makes tables is a part of the transaction."""
        db.execute(sql("SELECT pg_advisory_xact_lock(:key)"), {"key": _CREATE_LOCK})
        yield

    def begin_log(self, db: Connection) -> None:
        """Wait for all who have passed the sequence without finding a row in it."""
        db.execute(sql(f'LOCK TABLE "{notification_sequence.name}" IN EXCLUSIVE MODE'))

    def pass_log(self, db: Connection) -> None:
        """Do nothing: an UPDATE of the sequence locks the table, even where it has no row."""

    def commit_millis(self, timestamp: ColumnElement[Any]) -> ColumnElement[Any]:
        """Milliseconds since the epoch of a time in the session's zone."""
        zone = func.current_setting("TimeZone")
        return func.extract("epoch", func.timezone(zone, timestamp)) * 1000

    def noted_time(self, moment: datetime) -> Any:
        """Return a moment as a time in the session's zone."""
        return func.timezone(func.current_setting("TimeZone"), moment)

    def by_code_points(self, value: ColumnElement[str]) -> ColumnElement[str]:
        """Return a text with the collation of code points."""
        return collate(value, "C")

    def has_digits_only(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """Tell it by a regular expression."""
        return value.regexp_match("^[0-9]+$")


def _state(error: DBAPIError) -> str:
    return str(getattr(error.orig, "sqlstate", None) or "")
