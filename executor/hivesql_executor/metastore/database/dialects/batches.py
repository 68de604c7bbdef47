"""Statements whose answer nobody waits for, which go to PostgreSQL together with the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, event

if TYPE_CHECKING:
    from psycopg import Connection as Driver
    from psycopg import Cursor
    from sqlalchemy.sql import Executable

_LATER = {"hivesql_later": True}
# psycopg's TransactionStatus.IDLE: psycopg is imported with the first engine that needs it.
_IDLE = 0
Pending = list[tuple[str, Any]]


class Batches:
    """The statements that wait, by connection of psycopg.

    They run in their order, each on the state that it finds then, as if they had been sent alone;
    only the ways there and back are saved, and BEGIN goes with the first of them. What fails is
    told by the statement, or the commit, that they were sent with.
    """

    def __init__(self, engine: Engine) -> None:
        self._pending: WeakKeyDictionary[Any, Pending] = WeakKeyDictionary()
        dialect: Any = engine.dialect
        dialect.do_commit = self._commit
        dialect.do_rollback = self._rollback
        event.listen(engine, "do_execute", self._execute)
        event.listen(engine, "do_executemany", self._execute_many)

    def _execute(self, cursor: Cursor, statement: str, parameters: Any, context: Any) -> bool:
        driver = cursor.connection
        if context is not None and context.execution_options.get("hivesql_later", False):
            self._pending.setdefault(driver, []).append((statement, parameters))
            return True
        pending = self._pending.pop(driver, [])
        if not pending and driver.pgconn.transaction_status != _IDLE:
            return False
        with driver.pipeline():
            _send(driver, pending)
            cursor.execute(statement, parameters)
        return True

    def _execute_many(self, cursor: Cursor, statement: str, parameters: Any, context: Any) -> bool:
        driver = cursor.connection
        if context is not None and context.execution_options.get("hivesql_later", False):
            waiting = self._pending.setdefault(driver, [])
            waiting += ((statement, row) for row in parameters)
            return True
        self._flush(driver)
        return False

    def _flush(self, driver: Driver) -> None:
        if pending := self._pending.pop(driver, []):
            with driver.pipeline():
                _send(driver, pending)

    def _commit(self, connection: Any) -> None:
        driver = _driver(connection)
        pending = self._pending.pop(driver, [])
        if not pending:
            driver.commit()
            return
        with driver.pipeline():
            _send(driver, pending)
            driver.commit()

    def _rollback(self, connection: Any) -> None:
        driver = _driver(connection)
        self._pending.pop(driver, None)
        driver.rollback()


def run_later(db: Connection, statement: Executable, parameters: Any = None) -> None:
    """Run a statement with the next one of the database transaction, or its commit."""
    db.execute(statement, parameters, execution_options=_LATER)


def _send(driver: Driver, pending: Pending) -> None:
    for statement, parameters in pending:
        driver.execute(statement, parameters)


def _driver(connection: Any) -> Any:
    """Return psycopg's own connection; the pool hands out a proxy."""
    return getattr(connection, "driver_connection", connection)
