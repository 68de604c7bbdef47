"""MariaDB and MySQL, by PyMySQL."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Select,
    Table,
    Update,
    bindparam,
    create_engine,
    event,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects import mysql
from sqlalchemy.dialects.mysql.base import MySQLDDLCompiler, MySQLTypeCompiler
from sqlalchemy.exc import ArgumentError, DBAPIError

from hivesql_executor.metastore.database.dialects.terms import (
    ANSWER_SECONDS,
    LOGIN_ADVICE,
    OTHER_ADVICE,
    POOL,
    Terms,
    idle_seconds,
)
from hivesql_executor.metastore.database.schema import aux, next_write_id, txn_lock
from hivesql_planner.errors import ExecutionError

DRIVER = "mysql+pymysql"
# Zeros are ids like others, too long texts are errors, and texts of SQL are as for other databases.
_MODE = "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ERROR_FOR_DIVISION_BY_ZERO,ANSI_QUOTES"
# Clocks of other zones repeat an hour every year.
_BEGINNING = f"SET SESSION sql_mode='{_MODE}', time_zone='+00:00'"
_WAITS = ("read_timeout", "write_timeout")
# Errors of the server and of the driver, as MariaDB and MySQL number them.
_DEADLOCK, _LOCK_TIMEOUT, _CHANGED_SINCE, _DUPLICATE, _NODE_NOT_READY = 1213, 1205, 1020, 1062, 1047
_RETRYABLE = frozenset({_DEADLOCK, _LOCK_TIMEOUT, _CHANGED_SINCE, _DUPLICATE, _NODE_NOT_READY})
# Shut down, killed, silent for too long; gone away, lost during a query.
_LOST = frozenset({1053, 1158, 1159, 1160, 1161, 1927, 2006, 2013, 2055, 3169, 4031})
# With a deadlock a cluster answers a commit that another node's came before. Read-only servers.
_ROLLED_BACK = frozenset({_DEADLOCK, 1290, 1792, 1836})
_TOO_LONG, _TOO_LARGE, _NO_ROWS_IN_LOG = 1406, 1153, 1665
_NOT_LET_IN = (1044, 1045, 1698)
_ADVICE = {
    **dict.fromkeys(_NOT_LET_IN, LOGIN_ADVICE),
    _TOO_LONG: "Shorten it",
    _TOO_LARGE: "Raise max_allowed_packet in the server's configuration",
    _NO_ROWS_IN_LOG: "Set binlog_format=MIXED or ROW in the server's configuration",
}
_LOG = "NotificationLog"
_SCHEMA_SECONDS = 600
_ROWS = 500
_counter = next_write_id.c


class MySqlTerms(Terms):
    """Many writers, each of which reads what is committed; definitions commit by themselves."""

    # NOW() is the moment when the statement began, perhaps before it waited for a lock.
    now = "CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED)"
    open_window = 1000
    has_transactional_ddl = False
    # A statement of the beginning of a transaction says it, for that transaction alone.
    reader_options: Mapping[str, Any] = {}

    def create_engine(self, url: URL, seconds: float = ANSWER_SECONDS) -> Engine:
        """Return an engine with PyMySQL."""
        if url.drivername not in ("mysql", "mariadb", DRIVER, "mariadb+pymysql"):
            raise ArgumentError(f"{url.drivername}: of the drivers, PyMySQL is known alone")
        if not url.database:
            raise ArgumentError("it names no database")
        _check_options(url)
        engine = create_engine(
            url.set(drivername=DRIVER),
            isolation_level="READ COMMITTED",
            pool_size=20,
            max_overflow=-1,
            pool_logging_name=POOL,
            connect_args={
                "init_command": _beginning(seconds),
                "charset": "utf8mb4",
                **{name: seconds for name in _WAITS if name not in url.query},
            },
        )
        engine.dialect.ddl_compiler = _Definitions
        engine.dialect.type_compiler_instance = _Types(engine.dialect)
        event.listen(engine, "begin", _on_begin)
        event.listen(engine, "do_connect", _connect)
        return engine

    def is_retryable(self, error: DBAPIError) -> bool:
        """Tell whether others came first, or the connection broke."""
        return _number(error.orig) in _RETRYABLE or self.is_lost(error)

    def is_lost(self, error: DBAPIError) -> bool:
        """Tell whether the connection broke, or the server is ending it."""
        return bool(error.connection_invalidated) or _number(error.orig) in _LOST

    def is_rolled_back(self, error: DBAPIError) -> bool:
        """Tell whether the server has answered the commit with a conflict, or writes nothing."""
        return not self.is_lost(error) and _number(error.orig) in _ROLLED_BACK

    def advice(self, cause: BaseException | None) -> str:
        """Tell the user what to do about an error of the server."""
        return _ADVICE.get(_number(cause), OTHER_ADVICE)

    def lock_txn_table(self, db: Connection, *, shared: bool) -> None:
        """Lock the table's one row."""
        db.execute(select(txn_lock.c.lock).with_for_update(read=shared))

    def hold_mutex(self, db: Connection, name: str) -> None:
        """Hold a row of that name, which is made where there is none."""
        mine = select(aux.c.value).where(aux.c.name == name).with_for_update()
        if db.scalar(mine) is None:
            # INSERT IGNORE would share a row, and two who want it alone would then be a deadlock.
            first = mysql.insert(aux).values(name=name, value=0)
            db.execute(first.on_duplicate_key_update(value=aux.c.value))

    @contextmanager
    def creating(self, db: Connection) -> Iterator[None]:
        """Hold a lock of the server's; what the block did is committed before others come."""
        name = func.concat("hivesql.schema.", func.md5(func.database()))
        if db.scalar(select(func.get_lock(name, _SCHEMA_SECONDS))) != 1:
            raise ExecutionError(
                f"another process has been making the metastore's tables for {_SCHEMA_SECONDS} "
                "seconds: try again when it has ended",
                code=10280,
            )
        end = "ROLLBACK"
        try:
            yield
            end = "COMMIT"
        finally:
            with suppress(DBAPIError):
                # Else the lock has ended with the connection.
                db.exec_driver_sql(end)
                db.scalar(select(func.release_lock(name)))

    def seed(self, db: Connection) -> None:
        """Make the row by which writers without a log are waited for."""
        self.hold_mutex(db, _LOG)

    def begin_log(self, db: Connection) -> None:
        """Hold the row that all share who write without a log: without a row no UPDATE locks."""
        db.execute(_of_log().with_for_update())

    def pass_log(self, db: Connection) -> None:
        """Share the row."""
        db.execute(_of_log().with_for_update(read=True))

    def await_disk(self, db: Connection) -> None:
        """Do nothing: how a commit waits for the disk is the server's setting."""

    def hold_until_durable(self, db: Connection) -> None:
        """Do nothing: every commit is as durable as the server makes it."""

    def insert_for_ids(
        self, db: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
    ) -> list[int]:
        """Insert rows; a statement that names all its rows gets ids at equal distances.

        MySQL has no RETURNING.
        """
        if len(rows) == 1 or not any(rows):
            results = (db.execute(insert(table), dict(row)) for row in rows)
            return [int(result.lastrowid) for result in results]
        ids: list[int] = []
        # A cluster's nodes give out every n-th id each.
        step = int(db.exec_driver_sql("SELECT @@SESSION.auto_increment_increment").scalar_one())
        for start in range(0, len(rows), _ROWS):
            part = [dict(row) for row in rows[start : start + _ROWS]]
            first = int(db.execute(insert(table).values(part)).lastrowid)
            ids += range(first, first + step * len(part), step)
        return ids

    def change_for_ids(self, db: Connection, change: Update, ids: Column[int]) -> list[int]:
        """Hold the rows, tell their ids, and change them: an UPDATE returns nothing."""
        assert change.whereclause is not None
        chosen = select(ids).where(change.whereclause).order_by(ids).with_for_update()
        changed = [int(id_) for id_ in db.scalars(chosen)]
        if changed:
            db.execute(change)
        return changed

    def advance(self, db: Connection, counter: Column[Any], by: int = 1) -> int | None:
        """Add in one statement, whose answer carries what LAST_INSERT_ID was given."""
        advanced = update(counter.table).values({counter: func.last_insert_id(counter + by)})
        result = db.execute(advanced)
        return int(result.lastrowid) if result.rowcount else None

    def advance_write_ids(self, db: Connection, database: str, table: str, count: int) -> int:
        """Advance the counter as in ``advance``; it is inserted where there is none."""
        place = {"in_database": database, "in_table": table, "count": count}
        # An INSERT that finds its row locks what is beside it too, and others deadlock there.
        advanced = db.execute(_ADVANCE, place)
        if not advanced.rowcount:
            advanced = db.execute(_insert_or_advance(), place)
        return int(advanced.lastrowid)

    def raise_write_id(self, db: Connection, database: str, table: str, to: int) -> None:
        """Insert the counter, or raise it, in one statement."""
        first = mysql.insert(next_write_id).values(database=database, table=table, next=to)
        db.execute(first.on_duplicate_key_update(next=func.greatest(_counter.next, to)))

    def reread(self, table: Table) -> FromClause:
        """Return its rows as an intermediate table: MySQL deletes from none that it reads."""
        return select(table).distinct().subquery()

    def commit_millis(self, timestamp: ColumnElement[Any]) -> ColumnElement[Any]:
        """Milliseconds since the epoch of a time in UTC, which is the zone of our connections."""
        return func.unix_timestamp(timestamp) * 1000

    def noted_time(self, moment: datetime) -> Any:
        """Return a moment in UTC without its zone."""
        return moment.astimezone(timezone.utc).replace(tzinfo=None)

    def has_digits_only(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """Tell it by a regular expression, where $ would stand before a line break too."""
        return ~value.regexp_match("[^0-9]")


class _Definitions(MySQLDDLCompiler):
    """CREATE TABLE whose texts are compared byte by byte, blanks at their ends too."""

    def post_create_table(self, table: Table) -> str:
        """Say it for each table: what the database itself is set to is not ours to change."""
        is_mariadb = getattr(self.dialect, "is_mariadb", True)
        collation = "utf8mb4_nopad_bin" if is_mariadb else "utf8mb4_0900_bin"
        return f" ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE {collation}"


class _Types(MySQLTypeCompiler):
    """Types that hold what they hold in other databases."""

    def visit_TEXT(self, type_: Any, **_: Any) -> str:  # noqa: N802 - SQLAlchemy's name
        """Return the type of 16 MB; TEXT has 64 KB."""
        return "MEDIUMTEXT"

    def visit_FLOAT(self, type_: Any, **_: Any) -> str:  # noqa: N802 - SQLAlchemy's name
        """Return the type of 8 bytes; FLOAT has 4."""
        return "DOUBLE"


def _beginning(seconds: float) -> str:
    """Compose what each connection begins with; MySQL, which cannot, ends no idle transaction."""
    idle = max(int(idle_seconds(seconds)), 1)
    return f"{_BEGINNING} /*M!100300 , idle_transaction_timeout={idle} */"


def _check_options(url: URL) -> None:
    """Raise ArgumentError for an option that PyMySQL does not know: it would be a TypeError."""
    try:
        from pymysql.connections import Connection as Driver
    except ModuleNotFoundError:
        # create_engine says the same of all drivers.
        return
    known = {*inspect.signature(Driver.__init__).parameters, "ssl_capath", "ssl_cipher"}
    known |= {"ssl_check_hostname"}
    known -= {"self", "init_command", "sql_mode", "autocommit", "cursorclass", "defer_connect"}
    if unknown := sorted(url.query.keys() - known):
        raise ArgumentError(f"PyMySQL takes no {', '.join(unknown)}")


def _connect(_dialect: Any, _record: Any, _arguments: Any, options: Any) -> Any:
    from hivesql_executor.metastore.database.dialects.mysql_connection import LimitedConnection

    return LimitedConnection(**options)


def _on_begin(db: Connection) -> None:
    if db.get_execution_options().get("hivesql_reads", False):
        db.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def _of_log() -> Select[tuple[Any]]:
    return select(aux.c.value).where(aux.c.name == _LOG)


_ADVANCE = (
    update(next_write_id)
    .where(_counter.database == bindparam("in_database"), _counter.table == bindparam("in_table"))
    .values(next=func.last_insert_id(_counter.next + bindparam("count")))
)


@functools.cache
def _insert_or_advance() -> Any:
    first = mysql.insert(next_write_id).values(
        database=bindparam("in_database"),
        table=bindparam("in_table"),
        next=func.last_insert_id(bindparam("count") + 1),
    )
    return first.on_duplicate_key_update(
        next=func.last_insert_id(_counter.next + bindparam("count"))
    )


def _number(error: BaseException | None) -> int:
    """Return the number of an error; 0 where it has none."""
    number = error.args[0] if error is not None and error.args else 0
    return number if isinstance(number, int) else 0
