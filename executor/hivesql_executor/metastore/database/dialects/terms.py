"""What the metastore asks of an RDBMS that the RDBMS do in different ways."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any

from sqlalchemy import (
    CTE,
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
    insert,
    update,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.dml import ReturningInsert, ReturningUpdate

from hivesql_executor.metastore.database.dialects.execution import NO_VALUES, Statement, run

OTHER_ADVICE = "Check that it is reachable and run the statement again"
LOGIN_ADVICE = (
    "Check the user and the password. A session goes on with those of its address: open another "
    "one where they have changed"
)
"""What to do where the server lets nobody in, as after a change of passwords."""
POOL = "hivesql"
"""How SQLAlchemy calls the pools of metastores in its log."""
SILENCE_SECONDS = 60
"""How long a server that answered may not even acknowledge what is sent, as with a pulled cable.

TCP alone waits a quarter of an hour, or for hours where nothing is to be sent. A transaction lives
five minutes without a heartbeat (hive.txn.timeout).
"""
PROBES = 3
"""How often it is asked in that time whether it is there, where nothing is to be sent."""
ANSWER_SECONDS = 600.0
"""How long an answer is waited for: hive.metastore.client.socket.timeout, where nobody sets it.

The system of a server whose processes have stopped goes on to acknowledge what is sent.
"""


class NoAnswer(Exception):
    """A driver's error of a server that is connected, and has answered nothing for too long."""


def no_answer(seconds: float) -> str:
    """Say for how many seconds."""
    return (
        f"the server has not answered for {seconds:g} seconds "
        "(hive.metastore.client.socket.timeout)"
    )


def idle_seconds(seconds: float) -> float:
    """Tell how long the server lets one of our transactions idle, whose locks stop everybody else.

    A part of what others wait for an answer, so that they still get theirs.
    """
    return seconds / 2


@functools.cache
def _insert_for_ids(table: Table) -> ReturningInsert[Any]:
    """Compose the statement once: SQLAlchemy takes longer to do so than a database to run it."""
    return insert(table).returning(table.c.id, sort_by_parameter_order=True)


@functools.cache
def _advance(counter: Column[Any]) -> ReturningUpdate[Any]:
    """Compose it once, as ``_insert_for_ids``; the number to add is ``:step``."""
    step = bindparam("step", type_=counter.type)
    return update(counter.table).values({counter: counter + step}).returning(counter)


class Terms(ABC):
    """One RDBMS; as most do it where it is not told otherwise."""

    now: str
    """SQL for the milliseconds since the epoch by its clock, at the moment of the evaluation."""
    has_one_writer = False
    """Whether write transactions take turns in the database as a whole."""
    open_window = 0
    """Milliseconds for which a missing transaction id may still appear; 0 if ids commit in order.

    Hive's metastore.txn.opentxn.timeout.
    """

    has_changing_queries = False
    """Whether a query may have parts (WITH) that insert and change rows."""
    has_transactional_ddl = True
    """Whether what makes and alters tables is a part of the transaction."""
    reader_options: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ"}
    """Options of a connection that reads one state of the database."""

    asker_options: Mapping[str, Any] = {}
    """Options of a connection that asks one query."""

    server: ColumnElement[Any]
    """SQL for which server answers: another one once a standby was promoted, or a backup restored.

    NULL where it may not be written. It is asked only where ``tells_server``.
    """

    server_token: ColumnElement[Any]
    """SQL that takes no time, for a text that changes whenever ``server`` does."""

    def tells_server(self, db: Connection) -> bool:
        """Tell whether the database says which server it is."""
        return False

    # -- connections
    @abstractmethod
    def create_engine(self, url: URL, seconds: float = ANSWER_SECONDS) -> Engine:
        """Return an engine whose write transactions read what is committed.

        A server may take ``seconds`` for each answer.
        """

    # -- errors
    @abstractmethod
    def is_retryable(self, error: DBAPIError) -> bool:
        """Tell whether the same transaction may succeed when it runs again."""

    @abstractmethod
    def is_lost(self, error: DBAPIError) -> bool:
        """Tell whether the connection broke."""

    @abstractmethod
    def is_rolled_back(self, error: DBAPIError) -> bool:
        """Tell whether the server itself said that the commit did not happen."""

    def advice(self, cause: BaseException | None) -> str:
        """Tell the user what to do about an error of the driver."""
        return OTHER_ADVICE

    # -- locks
    @abstractmethod
    def lock_txn_table(self, db: Connection, *, shared: bool) -> None:
        """Keep openings (shared) and commits apart until the transaction ends, as Hive does."""

    @abstractmethod
    def hold_mutex(self, db: Connection, name: str) -> None:
        """Hold a named mutex until the end of the database transaction."""

    def holding_briefly(
        self, db: Connection, statement: Update | Select[Any], values: Mapping[str, Any] = NO_VALUES
    ) -> Statement:
        """Compose what is run to hold what is read or changed until the commit.

        Who waits for it does not wait for the disk too, if the transaction is ``early``.
        """
        return statement, values

    def forgetting(self, db: Connection, statement: Select[Any]) -> Select[Any]:
        """Compose a query whose transaction commits without the disk, if it is not durable.

        Of what was forgotten the clients may live on: an id can be given out again.
        """
        return statement

    @abstractmethod
    def await_disk(self, db: Connection) -> None:
        """Wait until what an ``early`` transaction has just committed is on the disk."""

    @abstractmethod
    def hold_until_durable(self, db: Connection) -> None:
        """Let nobody hear of the transaction before it is on the disk, even if it is ``early``."""

    def creating(self, db: Connection) -> AbstractContextManager[None]:
        """Keep others from making or raising the schema in the block, or until the commit."""
        return nullcontext()

    @abstractmethod
    def seed(self, db: Connection) -> None:
        """Insert what the terms need into a new metastore."""

    @abstractmethod
    def begin_log(self, db: Connection) -> None:
        """Wait for all who have written without a notification log; others wait for the commit."""

    @abstractmethod
    def pass_log(self, db: Connection) -> None:
        """Let ``begin_log`` of others wait until this database transaction has ended."""

    # -- statements
    def insert_for_ids(
        self, db: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
    ) -> list[int]:
        """Insert rows, whose keys are all the same; their generated ids, in the rows' order."""
        added = _insert_for_ids(table)
        if len(rows) == 1:
            return [int(run(db, added, rows[0]).scalar())]
        return [int(id_) for id_ in db.scalars(added, [dict(row) for row in rows])]

    def change_for_ids(self, db: Connection, change: Update, ids: Column[int]) -> list[int]:
        """Change rows; the ids of those that were changed."""
        return [int(id_) for id_ in db.scalars(change.returning(ids))]

    def advance(self, db: Connection, counter: Column[Any], by: int = 1) -> int | None:
        """Add to the number in a table of one row, which is held from then on; the new one.

        None where the table has no row.
        """
        number = run(db, _advance(counter), {"step": by}).scalar()
        return None if number is None else int(number)

    @abstractmethod
    def advance_write_ids(self, db: Connection, database: str, table: str, count: int) -> int:
        """Give out the next write ids of a table; the first one that is not given out."""

    def advancing_write_ids(self, first_row: Select[Any]) -> CTE:
        """Compose what advances the counter of a table, as a part of a query.

        A query that gives the counter's ``first_row`` decides whether it is done. Only where there
        are ``has_changing_queries``.
        """
        raise NotImplementedError

    @abstractmethod
    def raise_write_id(self, db: Connection, database: str, table: str, to: int) -> None:
        """Let a table's next write id be this one, unless it is larger."""

    def reread(self, table: Table) -> FromClause:
        """Return a table as a DELETE from the same one may read it."""
        return table.alias()

    # -- expressions
    @abstractmethod
    def commit_millis(self, timestamp: ColumnElement[Any]) -> ColumnElement[Any]:
        """Milliseconds since the epoch of what the database itself has noted as the time."""

    @abstractmethod
    def noted_time(self, moment: datetime) -> Any:
        """Return a moment, which has its zone, as the database itself would note it."""

    def by_code_points(self, value: ColumnElement[str]) -> ColumnElement[str]:
        """Return a text that is compared by code points, not by a language's order."""
        return value

    @abstractmethod
    def has_digits_only(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """Tell whether a text that is not empty has digits alone."""
