"""Database transactions: how each RDBMS begins, what is tried again, what a lost commit means."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Connection, Engine, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from hivesql_executor.metastore.database.dialects.engines import give_back_engine, take_engine
from hivesql_executor.metastore.database.dialects.forks import CALLS
from hivesql_executor.metastore.database.dialects.registry import terms_named
from hivesql_executor.metastore.database.dialects.terms import ANSWER_SECONDS, NoAnswer
from hivesql_planner.errors import CommitUnknown, ExecutionError, SessionClosed

T = TypeVar("T")

_ATTEMPTS = 10
_PAUSE = 0.05


class TryAgain(Exception):
    """The database transaction was overtaken and must be run again."""


class millis_now(FunctionElement[int]):  # noqa: N801 - reads as an SQL function
    """Milliseconds since the epoch by the clock of the RDBMS."""

    type = BigInteger()
    inherit_cache = True


@compiles(millis_now)
def _millis_now(element: millis_now, compiler: Any, **_: Any) -> str:
    return terms_named(compiler.dialect.name).now


_NOW = select(millis_now())


def now(db: Connection) -> int:
    """Return the time in milliseconds by the clock of the RDBMS."""
    return int(db.execute(_NOW).scalar_one())


class _Joined(threading.local):
    """The transaction of ``run_in_transaction`` that a thread is in."""

    connection: Connection | None = None


class Rdbms:
    """An SQLite file, or a database of PostgreSQL, MariaDB or MySQL.

    A server may take ``seconds`` for each answer.
    """

    def __init__(self, url: str, seconds: float = ANSWER_SECONDS) -> None:
        self._shared = take_engine(url, seconds)
        # Its pool and what it has compiled are shared; who listens to it hears of this one alone.
        self._engine = self._shared.engine.execution_options()
        self._terms = terms_named(self._engine.dialect.name)
        self._turn = self._shared.turn
        is_file = self._engine.dialect.name == "sqlite"
        self._calls: AbstractContextManager[None] = CALLS if is_file else nullcontext()
        self._joined = _Joined()
        self._closed = False
        self._quick_engine = self._engine.execution_options(hivesql_quick=True)
        self._early_engine = self._engine.execution_options(hivesql_early=True)
        self._reader = self._engine.execution_options(
            hivesql_reads=True, **self._terms.reader_options
        )
        self._asker = self._engine.execution_options(
            hivesql_reads=True, **self._terms.asker_options
        )

    def read(self, work: Callable[[Connection], T], *, at_once: bool = False) -> T:
        """Run queries on one consistent state of the database, or inside ``run_in_transaction``.

        What is done ``at_once`` is one query.
        """
        if self._joined.connection is not None:
            return work(self._joined.connection)

        def attempt() -> T:
            with (self._asker if at_once else self._reader).connect() as db, db.begin():
                return work(db)

        return self._retry(attempt)

    def write(
        self, work: Callable[[Connection], T], *, durable: bool = True, early: bool = False
    ) -> T:
        """Run ``work`` in one database transaction and commit it.

        One that is not ``durable`` may be forgotten at power loss until a durable one has followed:
        for what means nothing to anybody before that other one. ``early`` lets others go on before
        it is on the disk, where it is when the call returns: for what means nothing to anybody once
        power loss ended its owner's work. Inside ``run_in_transaction`` the work is a part of that
        transaction.
        Deadlocks and busy databases are tried again. CommitUnknown when the answer to the commit
        was lost, ExecutionError 10280 when the database fails.
        """
        if self._joined.connection is not None:
            return work(self._joined.connection)

        engine = self._early_engine if early else self._engine

        def attempt() -> T:
            return self._write_once(work, engine if durable else self._quick_engine)

        return self._retry(attempt)

    def run_in_transaction(
        self, work: Callable[[], T], *, durable: bool = True, early: bool = False
    ) -> T:
        """Run ``work``, all of whose reads and writes on this thread are one transaction.

        It may be run again, as ``write`` runs things again, so it must do nothing else. Inside
        another one it is a part of that. ``durable`` and ``early`` are those of ``write``.
        """
        if self._joined.connection is not None:
            return work()

        def joined(db: Connection) -> T:
            try:
                self._joined.connection = db
                return work()
            finally:
                self._joined.connection = None

        return self.write(joined, durable=durable, early=early)

    def close(self) -> None:
        """Let go of the database; its connections end with the last who uses it here."""
        if not self._closed:
            self._closed = True
            give_back_engine(self._shared)

    def _write_once(self, work: Callable[[Connection], T], engine: Engine) -> T:
        with engine.connect() as db:
            with self._turn:
                result = self._commit_once(work, db)
            if db.get_execution_options().get("hivesql_early", False):
                try:
                    self._terms.await_disk(db)
                except (DBAPIError, OSError) as error:
                    raise _unknown(error) from error
            return result

    def _commit_once(self, work: Callable[[Connection], T], db: Connection) -> T:
        transaction = db.begin()
        try:
            result = work(db)
        except BaseException:
            transaction.rollback()
            raise
        try:
            transaction.commit()
        except DBAPIError as error:
            if self._terms.is_rolled_back(error):
                with suppress(DBAPIError):
                    transaction.rollback()
                raise
            raise _unknown(error) from error
        return result

    def _retry(self, attempt: Callable[[], T]) -> T:
        if self._closed:
            raise SessionClosed
        for tried in range(1, _ATTEMPTS + 1):
            try:
                with self._calls:
                    return attempt()
            except (DBAPIError, TryAgain) as error:
                if tried == _ATTEMPTS or not self._is_retryable(error):
                    raise _failure(error, self._engine) from error
            time.sleep(_PAUSE * tried)
        raise AssertionError("unreachable")

    def _is_retryable(self, error: DBAPIError | TryAgain) -> bool:
        if isinstance(error, TryAgain):
            return True
        # Who was waited for in vain is not waited for ten times.
        return not isinstance(error.orig, NoAnswer) and self._terms.is_retryable(error)


def _unknown(error: DBAPIError | OSError) -> CommitUnknown:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return CommitUnknown(
        f"the metastore's answer to a commit was lost ({cause}); the change may "
        "or may not have happened. Look before running the statement again"
    )


def _failure(error: DBAPIError | TryAgain, engine: Engine) -> ExecutionError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    terms = terms_named(engine.dialect.name)
    place = f" {engine.url.database}" if engine.dialect.name == "sqlite" else ""
    return ExecutionError(
        f"the metastore's database{place} failed: {cause}. {terms.advice(cause)}", code=10280
    )
