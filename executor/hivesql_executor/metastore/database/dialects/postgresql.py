"""PostgreSQL, by psycopg."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from threading import Event
from typing import Any, cast
from weakref import WeakKeyDictionary, WeakSet

from sqlalchemy import (
    CTE,
    URL,
    ColumnElement,
    Connection,
    Engine,
    ExceptionContext,
    Select,
    Text,
    Update,
    collate,
    create_engine,
    event,
    func,
    literal_column,
    select,
)
from sqlalchemy import text as sql
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError

from hivesql_executor.beats import answer_of
from hivesql_executor.metastore.database.dialects.conflicts import OnConflict, advancing
from hivesql_executor.metastore.database.dialects.execution import (
    NO_VALUES,
    Statement,
    follow_commit,
    follow_no_commit,
    require_followed,
    run_text_later,
)
from hivesql_executor.metastore.database.dialects.terms import (
    ANSWER_SECONDS,
    LOGIN_ADVICE,
    OTHER_ADVICE,
    POOL,
    PROBES,
    SILENCE_SECONDS,
    idle_seconds,
)
from hivesql_executor.metastore.database.notification_schema import notification_sequence
from hivesql_executor.metastore.database.schema import (
    aux,
    txn_lock,
)

# Serialization failure, deadlock, duplicate key of two racing inserts.
_RETRYABLE_STATES = frozenset({"40001", "40P01", "23505"})
# A transaction that did nothing for too long, which the server has ended with its connection.
_IDLED = "25P03"
# A prepared statement that is not there, or is there already: somebody between us and the server
# has forgotten it, or gives one connection of the server to many clients.
_MISPLACED_STATES = frozenset({"26000", "42P05"})
# Whose servers are reached so: nothing is prepared there any more.
_unprepared: WeakSet[Any] = WeakSet()
_LOGIN_REFUSED = re.compile(
    r"authentication failed|no password supplied|no pg_hba\.conf entry|role .* does not exist"
)
_NO_NUL = "Leave the character of code 0 out: no name, comment or property can have it there"
_OPTIONS = {
    # A database of SQL_ASCII gives bytes otherwise, and PGCLIENTENCODING may say anything.
    "client_encoding": "utf8",
    # Who listens and says nothing would be waited for two minutes, at each try.
    "connect_timeout": "20",
    "tcp_user_timeout": str(SILENCE_SECONDS * 1000),
    "keepalives_idle": str(SILENCE_SECONDS // (PROBES + 1)),
    "keepalives_interval": str(SILENCE_SECONDS // (PROBES + 1)),
    "keepalives_count": str(PROBES),
}
"""What libpq is told of texts and of silent servers, unless the URL says something else."""
_LOCK_SHARED, _LOCK = (
    f'LOCK TABLE "{txn_lock.name}" IN {mode} MODE' for mode in ("SHARE", "EXCLUSIVE")
)
# Whose transactions commit without waiting for the disk. The statement that waits, if any has to,
# goes with the commit (True), or is sent after it.
_hasty: WeakKeyDictionary[Connection, bool] = WeakKeyDictionary()
_HASTEN = literal_column("set_config('synchronous_commit', 'off', true)", Text())
_WAIT = sql("SET LOCAL synchronous_commit TO DEFAULT")
# A record of its own: the commit that carries it waits for all before it.
_FLUSH = "SELECT pg_logical_emit_message(true, 'hivesql', '')"
# A standby that is promoted begins a new timeline, of which the names of its logs tell.
_SERVER = (
    "CASE WHEN NOT pg_is_in_recovery() THEN (SELECT system_identifier FROM pg_control_system()) "
    "|| '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END"
)
# The identifier is read from a file each time. What is remembered as long as the server runs is its
# start, and the timeline.
_TOKEN = (
    "CASE WHEN NOT pg_is_in_recovery() THEN pg_postmaster_start_time() "
    "|| '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END"
)
# Services that speak PostgreSQL's protocol need not have its functions.
_telling: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
# Two processes that open an empty database must not both create the tables.
_CREATE_LOCK = 0x48495645


class PostgresTerms(OnConflict):
    """Many writers, each of which reads what is committed, statement by statement."""

    now = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    open_window = 1000
    has_changing_queries = True
    asker_options: Mapping[str, Any] = {"isolation_level": "AUTOCOMMIT"}
    insert: Callable[..., Any] = staticmethod(postgresql.insert)
    server: ColumnElement[Any] = literal_column(_SERVER, Text())
    server_token: ColumnElement[Any] = literal_column(_TOKEN, Text())

    def tells_server(self, db: Connection) -> bool:
        """Tell it of those that let everybody ask, as PostgreSQL itself does; asked once."""
        known = _telling.get(db.dialect)
        if known is None:
            try:
                with db.begin_nested():
                    db.execute(select(self.server))
                known = True
            except DBAPIError as error:
                if self.is_lost(error):
                    raise
                known = False
            _telling[db.dialect] = known
        return known

    def create_engine(self, url: URL, seconds: float = ANSWER_SECONDS) -> Engine:
        """Return an engine with psycopg, unless the URL names another driver."""
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        if url.drivername == "postgresql+psycopg":
            url = url.update_query_dict({**_OPTIONS, **url.query})
        engine = create_engine(
            url,
            isolation_level="READ COMMITTED",
            pool_size=20,
            max_overflow=-1,
            pool_logging_name=POOL,
        )
        # Windows cannot wait for a connection that way.
        if engine.dialect.driver == "psycopg" and sys.platform != "win32":
            event.listen(engine, "do_connect", _connecting(seconds))
            event.listen(engine, "handle_error", _renew)
        return engine

    def is_retryable(self, error: DBAPIError) -> bool:
        """Tell whether others came first, or the connection broke."""
        return (
            _state(error) in _RETRYABLE_STATES or _is_misprepared(error.orig) or self.is_lost(error)
        )

    def is_lost(self, error: DBAPIError) -> bool:
        """Tell whether the connection broke, or the server is ending it."""
        # What is prepared wrongly is given up with its connection, on which the server answers.
        return not _is_misprepared(error.orig) and (
            bool(error.connection_invalidated) or _state(error).startswith(("08", "57P"))
        )

    def advice(self, cause: BaseException | None) -> str:
        """Tell the user what to do about an error of the server or the driver."""
        # Of a connection that is refused psycopg tells no state.
        if _LOGIN_REFUSED.search(str(cause)):
            return LOGIN_ADVICE
        return _NO_NUL if "NUL (0x00)" in str(cause) else OTHER_ADVICE

    def is_rolled_back(self, error: DBAPIError) -> bool:
        """Tell whether the server has answered the commit with an error, or ended it before."""
        return _state(error) == _IDLED or (not self.is_lost(error) and bool(_state(error)))

    def lock_txn_table(self, db: Connection, *, shared: bool) -> None:
        """Lock the table in one of two modes, which stand against each other."""
        run_text_later(db, _LOCK_SHARED if shared else _LOCK)

    def advancing_write_ids(self, first_row: Select[Any]) -> CTE:
        """Compose what inserts the counter, or advances it, and returns it."""
        return cast("CTE", advancing(postgresql.insert, first_row).cte("advanced"))

    def hold_mutex(self, db: Connection, name: str) -> None:
        """Hold a row of that name, which is made where there is none."""
        first = postgresql.insert(aux).values(name=name, value=0)
        db.execute(first.on_conflict_do_nothing())
        db.execute(select(aux).where(aux.c.name == name).with_for_update())

    def holding_briefly(
        self, db: Connection, statement: Update | Select[Any], values: Mapping[str, Any] = NO_VALUES
    ) -> Statement:
        """Let the commit, which frees what is held, not wait for the disk."""
        options = db.get_execution_options()
        if options.get("hivesql_early", False):
            _hasty[db] = follow_commit(db, _FLUSH)
        elif options.get("hivesql_quick", False):
            _hasty[db] = False
        else:
            return statement, values
        return _hastening(statement), values

    def forgetting(self, db: Connection, statement: Select[Any]) -> Select[Any]:
        """Let the commit not wait for the disk."""
        if not db.get_execution_options().get("hivesql_quick", False):
            return statement
        _hasty[db] = False
        return cast("Select[Any]", _hastening(statement))

    def hold_until_durable(self, db: Connection) -> None:
        """Let the commit wait for the disk."""
        if _hasty.pop(db, None) is not None:
            follow_no_commit(db)
            db.execute(_WAIT)

    def await_disk(self, db: Connection) -> None:
        """Commit a record on the same connection, which breaks where the server forgets."""
        follows = _hasty.pop(db, None)
        if follows:
            require_followed(db, _FLUSH)
        elif follows is not None:
            db.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(_FLUSH)

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


@functools.cache
def _hastening(statement: Update | Select[Any]) -> Any:
    return (
        statement.add_columns(_HASTEN)
        if isinstance(statement, Select)
        else statement.returning(_HASTEN)
    )


def _connecting(seconds: float) -> Callable[..., Any]:
    """Return what connects, to a server that may take so long for each answer."""

    def connect(dialect: Any, record: Any, place: list[Any], options: dict[str, Any]) -> Any:
        from hivesql_executor.metastore.database.dialects.pipelined import PipelinedConnection

        if dialect in _unprepared:
            options = {**options, "prepare_threshold": None}
        is_unwanted = Event()

        def log_in() -> PipelinedConnection:
            connection = PipelinedConnection.connect(*place, **options)
            if is_unwanted.is_set():
                connection.close()
            return connection

        try:
            connection = answer_of(log_in, "the metastore's database")
        except BaseException:
            is_unwanted.set()
            raise
        connection.limit_waiting(seconds, idle_seconds(seconds))
        return connection

    return connect


def _renew(context: ExceptionContext) -> None:
    """Give up connections whose prepared statements are not what they were."""
    error = context.original_exception
    if _is_misprepared(error):
        context.is_disconnect = True
        if _sqlstate(error) in _MISPLACED_STATES:
            _unprepared.add(context.dialect)


def _is_misprepared(error: BaseException | None) -> bool:
    """Tell whether a prepared statement is not there, of another, or returns other columns."""
    if _sqlstate(error) in _MISPLACED_STATES:
        return True
    # "cached plan must not change result type", in the server's language.
    place = getattr(getattr(error, "diag", None), "source_function", None)
    return _sqlstate(error) == "0A000" and place == "RevalidateCachedQuery"


def _state(error: DBAPIError) -> str:
    return _sqlstate(error.orig)


def _sqlstate(error: BaseException | None) -> str:
    return str(getattr(error, "sqlstate", None) or "")
