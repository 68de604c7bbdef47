"""How a function over one connection becomes a method: it runs in a database transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from hivesql_executor.metastore.database import notification_log
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.transactions import moves

P = ParamSpec("P")
T = TypeVar("T")


class _Changing(threading.local):
    """For whom a thread changes the catalog: transactions, and what they have noted."""

    going_on: tuple[tuple[int, str], ...] = ()


class Calls:
    """A database, and the transactions in which it is read, written and its catalog changed."""

    def __init__(self, rdbms: Rdbms, warehouse: str = "") -> None:
        self._rdbms = rdbms
        self._warehouse = warehouse
        self._changing = _Changing()

    def run_in_transaction(
        self, work: Callable[[], T], *, durable: bool = True, early: bool = False
    ) -> T:
        """Run ``work``, whose calls on this thread are one database transaction.

        It may be run again, so it must do nothing else. What one that is not ``durable`` did may be
        forgotten at power loss until a durable one has followed. Of one that is ``early`` others
        may hear before it is on the disk, where it is when this returns: not for what lets anybody
        delete a file.
        """
        return self._rdbms.run_in_transaction(
            lambda: self._write(lambda _: work()), durable=durable, early=early
        )

    @contextmanager
    def changing_for(self, txn_id: int, key: str = "") -> Iterator[None]:
        """Let this thread change the catalog only while a transaction (0: none) goes on.

        That is while it is open, and nobody has taken what it noted under ``key``: else every
        change of the catalog in the block raises TransactionLost. What was noted is right with it.
        """
        outer = self._changing.going_on
        self._changing.going_on = (*outer, (txn_id, key))
        try:
            yield
        finally:
            self._changing.going_on = outer

    def _change(self, work: Callable[[Connection], T]) -> T:
        """Write what belongs to the catalog."""

        def change(db: Connection) -> T:
            for txn_id, key in self._changing.going_on:
                moves.require_going_on(db, txn_id, key)
                moves.settle_moved(db, key)
            return work(db)

        return self._write(change)

    def _read(self, work: Callable[[Connection], T]) -> T:
        return self._rdbms.read(work)

    def _write(
        self, work: Callable[[Connection], T], *, durable: bool = True, early: bool = False
    ) -> T:
        return self._rdbms.write(
            lambda db: notification_log.logged(db, work), durable=durable, early=early
        )


def reading(work: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[Calls, P], T]:
    """Make a method that reads one consistent state of the database."""

    @wraps(work)
    def read(self: Calls, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._read(_with(work, *args, **kwargs))

    return read


def asking(work: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[Calls, P], T]:
    """Make a method that asks the database one question, which needs no transaction."""

    @wraps(work)
    def ask(self: Calls, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._rdbms.read(_with(work, *args, **kwargs), at_once=True)

    return ask


def writing(work: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[Calls, P], T]:
    """Make a method that writes in one database transaction, durably."""

    @wraps(work)
    def write(self: Calls, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._write(_with(work, *args, **kwargs))

    return write


def changing(work: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[Calls, P], T]:
    """Make a method that changes the catalog, for those alone who may (``changing_for``)."""

    @wraps(work)
    def change(self: Calls, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._change(_with(work, *args, **kwargs))

    return change


def _with(
    work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
) -> Callable[[Connection], T]:
    """Return the work that waits for nothing but its connection, under its own name."""

    def call(db: Connection) -> T:
        return work(db, *args, **kwargs)

    call.__qualname__ = work.__qualname__
    return call
