"""DB-API 2.0 (PEP 249): ``hivesql.dbapi.connect(…).cursor()``.

Unlike other Hive drivers it has transactions: with ``autocommit`` off (PEP 249's default) the
first SELECT, INSERT, UPDATE, DELETE or MERGE begins one, and commit() or rollback() ends it.
DDL commits by itself and must stand outside.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

import hivesql
from hivesql import dbapi_errors as errors
from hivesql.dbapi_errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from hivesql.dbapi_literals import Parameters, interpolate
from hivesql.positional_parameters import Positional, has_marks
from hivesql.script import StatementText
from hivesql.session import Session
from hivesql.sessions.open_transaction import LostTransaction
from hivesql_executor.statements.context import OrRows
from hivesql_executor.translate_errors import as_user_errors, translate_errors
from hivesql_planner.model.hive_type import HiveType

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

apilevel = "2.0"
threadsafety = 1
paramstyle = "pyformat"

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes
DateFromTicks: Callable[[float], datetime.date] = datetime.date.fromtimestamp
TimestampFromTicks: Callable[[float], datetime.datetime] = datetime.datetime.fromtimestamp

_door = partial(translate_errors, translate=errors.as_dbapi)
Description = tuple[str, str, None, None, int | None, int | None, bool]
_IN_TRANSACTIONS = ("select", "with", "values", "from", "insert", "update", "delete", "merge", "(")


def TimeFromTicks(ticks: float) -> datetime.time:  # noqa: N802 - the standard's name
    """Return the local time of day at a moment in seconds since the epoch."""
    return datetime.datetime.fromtimestamp(ticks).time()


class _TypeGroup(frozenset[str]):
    """Equal to the Hive type names in it, as PEP 249's type objects are."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return HiveType.parse(other).kind.value in self
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()


STRING = _TypeGroup({"string", "varchar", "char"})
BINARY = _TypeGroup({"binary"})
NUMBER = _TypeGroup({"tinyint", "smallint", "int", "bigint", "float", "double", "decimal"})
DATETIME = _TypeGroup({"date", "timestamp"})
ROWID = _TypeGroup({"struct"})


def connect(
    metastore: str | None = None,
    warehouse: str | None = None,
    *,
    database: str = "default",
    settings: Mapping[str, str] | None = None,
    spark: SparkSession | None = None,
    autocommit: bool = False,
    idempotency_key: str | None = None,
    user: str | None = None,
) -> Connection:
    """Open a connection; the arguments are those of ``hivesql.connect``.

    Under an ``idempotency_key`` the connection's n-th transaction commits at most once, in
    whichever process it runs: a program that was killed can be run again from its start.
    """
    with as_user_errors(errors.as_dbapi):
        session = hivesql.connect(
            metastore, warehouse, database=database, settings=settings, spark=spark, user=user
        )
    return Connection(session, autocommit=autocommit, idempotency_key=idempotency_key)


@_door
class Connection:
    """A session and its open transaction. ``autocommit`` may be set at any time."""

    Warning = Warning
    Error = Error
    InterfaceError = InterfaceError
    DatabaseError = DatabaseError
    DataError = DataError
    OperationalError = OperationalError
    IntegrityError = IntegrityError
    InternalError = InternalError
    ProgrammingError = ProgrammingError
    NotSupportedError = NotSupportedError

    def __init__(
        self, session: Session, *, autocommit: bool = False, idempotency_key: str | None = None
    ) -> None:
        self._session: Session | None = session
        self.autocommit = autocommit
        self._key = idempotency_key
        self._transactions = 0
        self._lost = LostTransaction()

    @property
    def session(self) -> Session:
        """The session behind; InterfaceError when the connection, or the session, is closed."""
        if self._session is None or self._session.closed:
            raise InterfaceError("the connection is closed")
        return self._session

    def cursor(self) -> Cursor:
        """Return a new cursor; cursors of one connection share its transaction."""
        self.session  # noqa: B018 - raises when closed
        return Cursor(self)

    def commit(self) -> None:
        """Commit the open transaction, if any."""
        self._end("COMMIT")

    def rollback(self) -> None:
        """Undo the open transaction, if any."""
        self._end("ROLLBACK")

    def close(self) -> None:
        """Roll back what is open and let go of everything."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def run(self, text: str, consume: Callable[[DataFrame], Any] | None = None) -> hivesql.Result:
        """Run one statement, inside a transaction where the connection wants one."""
        session = self.session
        statement = StatementText(text.lstrip())
        implied = not self.autocommit
        begins = implied and statement.text.lower().startswith(_IN_TRANSACTIONS)
        with self._lost.watch(session, statement, is_implied=implied) as is_run:
            if not is_run:
                return hivesql.Result(statement=text)
            if begins and not self._is_open:
                start = StatementText("START TRANSACTION")
                session.run_statement(start, idempotency_key=self._next_key())
            key = None if self._is_open else self._next_key()
            return session.run_statement(statement, consume=consume, idempotency_key=key)

    def _end(self, word: str) -> None:
        if self._is_open or self._lost.is_lost:
            self.run(word)

    @property
    def _is_open(self) -> bool:
        return self.session.in_transaction

    def _next_key(self) -> str | None:
        self._transactions += 1
        return None if self._key is None else f"{self._key}/{self._transactions}"

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            if error is None:
                self.commit()
            self.close()


@_door
class Cursor:
    """Runs statements and hands out their rows, which are kept as an Arrow table."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self.rowcount: int = -1
        self.description: tuple[Description, ...] | None = None
        self._table: pa.Table | None = None
        self._rows: Iterator[tuple[Any, ...]] | None = None
        self._closed = False

    def execute(self, operation: str, parameters: Parameters | None = None) -> Cursor:
        """Run one statement, with parameters put in as literals.

        They stand where ``%(name)s``, ``%s`` or ``?`` do; in a statement with ``?`` a ``%`` is
        nothing but itself.
        """
        self._check_open()
        text = operation.strip().rstrip(";").rstrip()
        if parameters is not None:
            text = _with_values(text, parameters)
        self._forget()
        result = self.connection.run(text, OrRows(_to_arrow))
        self._keep(result)
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Parameters]) -> Cursor:
        """Run a statement once for each set of parameters; ``rowcount`` is the sum.

        One INSERT with many rows of VALUES is much faster than many with one.
        """
        total = 0
        for parameters in seq_of_parameters:
            self.execute(operation, parameters)
            total += max(self.rowcount, 0)
        self.rowcount = total
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, or None."""
        return next(self._unread_rows(), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """Return the next ``size`` rows, by default ``arraysize``."""
        rows = self._unread_rows()
        count = self.arraysize if size is None else size
        return [row for _, row in zip(range(count), rows, strict=False)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        return list(self._unread_rows())

    def fetch_arrow_table(self) -> pa.Table:
        """All rows of the last query, those that were fetched too."""
        self._unread_rows()
        assert self._table is not None
        return self._table

    def fetch_df(self) -> pd.DataFrame:
        """All rows of the last query as a pandas DataFrame."""
        frame: pd.DataFrame = self.fetch_arrow_table().to_pandas()
        return frame

    def cancel(self) -> None:
        """Stop the statement that another thread runs on this connection."""
        self.connection.session.cancel()

    def close(self) -> None:
        """Forget the rows; nothing can be run any more."""
        self._forget()
        self._closed = True

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Nothing to do."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing to do."""

    def nextset(self) -> None:
        """There is never a second result."""
        raise NotSupportedError("a statement has one result")

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self

    def __next__(self) -> tuple[Any, ...]:
        return next(self._unread_rows())

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise InterfaceError("the cursor is closed")

    def _forget(self) -> None:
        self._table, self._rows, self.description, self.rowcount = None, None, None, -1

    def _keep(self, result: hivesql.Result) -> None:
        if result.columns:
            self.description = tuple(map(_described, result.columns, result.types))
            self._table = result.to_arrow()
            self._rows = _rows_of(self._table)
            self.rowcount = self._table.num_rows
        elif result.affected is not None:
            self.rowcount = result.affected

    def _unread_rows(self) -> Iterator[tuple[Any, ...]]:
        self._check_open()
        if self._rows is None:
            raise ProgrammingError("there are no rows: the last statement was no query")
        return self._rows


def _with_values(text: str, parameters: Parameters) -> str:
    if not isinstance(parameters, Mapping) and has_marks(text):
        return Positional(text, parameters).put_into(StatementText(text)).text
    try:
        return interpolate(text, parameters)
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise ProgrammingError(f"bad parameters: {error}") from error


def _to_arrow(frame: DataFrame) -> pa.Table:
    from hivesql_executor.spark.lines import collect_arrow

    return collect_arrow(frame)


def _rows_of(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    for batch in table.to_batches(max_chunksize=10_000):
        columns = [_python_values(column) for column in batch.columns]
        yield from zip(*columns, strict=True)


def _python_values(column: pa.Array) -> list[Any]:
    import pyarrow as pa

    is_map = pa.types.is_map(column.type)
    values: list[Any] = column.to_pylist(maps_as_pydicts="strict" if is_map else None)
    return values


def _described(name: str, kind: str) -> Description:
    type_ = HiveType.parse(kind)
    precision, scale = type_.arguments if type_.scale is not None else (None, None)
    return name, kind, None, None, precision, scale, True
