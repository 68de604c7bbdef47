"""What a cold start asks of a metastore in an SQLite file, with Python's own driver.

To import SQLAlchemy takes longer than all answers together, so its constructs were compiled before
(``compiled_questions``). Every method is one transaction that reads, and answers None where it is
not sure: then ``DatabaseMetastore`` answers, which asks the same, and more.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from hivesql_executor.metastore.database.catalog.catalog_values import (
    STATISTICS,
    STATISTICS_FIELDS,
    STORAGE_MARK,
    TableDetails,
    constraint_of,
    database_of,
    due_since,
    name_patterns,
    parameters_of,
    partitions_of,
    table_of,
)
from hivesql_executor.metastore.database.dialects.forks import CALLS
from hivesql_executor.metastore.database.migrations.known_revisions import REVISIONS
from hivesql_executor.metastore.database.sqlite_terms import BUSY_SECONDS, NOW
from hivesql_executor.metastore.database.transactions.txn_rows import txn_row
from hivesql_executor.metastore.sqlite_fast_start import compiled_questions as ask
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.table import Column, Database, Partition, Table, TableName

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import LockRow, TxnRow
    from hivesql_planner.model.statistics import Statistics
    from hivesql_planner.predicates.partitions import PartitionTest

T = TypeVar("T")

QUESTIONS = frozenset(
    (
        "needs_housekeeping", "database", "databases", "tables", "some_tables", "table",
        "statistics", "function_names", "partitions", "partition_count", "locks", "transactions",
    )
)  # fmt: skip
"""The methods that answer as those of a metastore do, or None."""
_MOST_PARTITIONS = 1000
_PREFIX = "sqlite:///"

# A table with more partitions is not asked for in one piece.
_MANY = 'SELECT 1 FROM "PARTITIONS" WHERE "TBL_ID" = :owner LIMIT 1 OFFSET :most'


class SqliteReads:
    """The answers; safe to ask from several threads."""

    def __init__(self, path: Path) -> None:
        self._guard = threading.Lock()
        with CALLS:
            self._db = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        self._db.row_factory = _named

    @classmethod
    def open(cls, url: str) -> SqliteReads | None:
        """Open the file of a metastore; None unless it is there and has the latest schema."""
        path = Path(url.removeprefix(_PREFIX))
        if not url.startswith(_PREFIX) or "?" in url or "file:" in url or not path.is_file():
            return None
        try:
            reads = cls(path.absolute())
        except sqlite3.Error:
            # The slower way meets it too, and tells what helps.
            return None
        if reads.revision() == REVISIONS[-1]:
            return reads
        reads.close()
        return None

    def close(self) -> None:
        """Let go of the file, when nobody reads it: closed beneath a reader it ends the process."""
        with CALLS, self._guard:
            self._db.close()

    def revision(self) -> str | None:
        """Return the revision of the schema."""
        return self._read(lambda db: _only(db, ask.REVISION).revision)

    def needs_housekeeping(self, timeout: float, time_to_live: float) -> bool | None:
        """Tell whether housekeeping has anything to do; ``time_to_live`` is that of events."""

        def look(db: sqlite3.Connection) -> bool:
            moment = _only(db, f"SELECT {NOW} AS moment").moment
            since = due_since(moment, timeout, time_to_live)
            return bool(_only(db, ask.HOUSEKEEPING_IS_DUE, **since).found)

        return self._read(look)

    def database(self, name: str) -> Database | None:
        """Return the database of that name."""

        def find(db: sqlite3.Connection) -> Database:
            row = _only(db, ask.DATABASE, database=name.lower())
            return database_of(row, _parameters(db, ask.DATABASE_PARAMETERS, row.id))

        return self._read(find)

    def databases(self) -> tuple[str, ...] | None:
        """Names of all databases, sorted."""
        return self._read(lambda db: tuple(sorted(row.name for row in db.execute(ask.DATABASES))))

    def tables(self, database: str) -> tuple[TableName, ...] | None:
        """Tables and views of a database, sorted."""
        database = database.lower()

        def find(db: sqlite3.Connection) -> tuple[TableName, ...]:
            owner = _only(db, ask.DATABASE, database=database).id
            rows = db.execute(ask.TABLES, {"owner": owner})
            return tuple(TableName(database, name) for name in sorted(row.name for row in rows))

        return self._read(find)

    def some_tables(self, database: str, most: int, near: str = "") -> tuple[TableName, ...] | None:
        """At most so many of the tables and views, of those that are near a name; sorted."""
        database = database.lower()

        def find(db: sqlite3.Connection) -> tuple[TableName, ...]:
            owner = _only(db, ask.DATABASE, database=database).id
            values = {"owner": owner, "most": most, **name_patterns(near)}
            rows = db.execute(ask.SOME_TABLES, values)
            return tuple(TableName(database, name) for name in sorted(row.name for row in rows))

        return self._read(find)

    def table(self, name: TableName) -> Table | None:
        """Return the table or view of that name."""
        return self._read(lambda db: _table(db, name.lower()))

    def statistics(
        self, name: TableName, values: Sequence[str | None] | None = None
    ) -> Statistics | None:
        """Tell what is known of a table without partitions."""
        if values is not None:
            return None
        from dataclasses import replace

        from hivesql_planner.model.statistics import (
            ColumnStatistics,
            present_columns,
            read_basics,
        )

        def find(db: sqlite3.Connection) -> Statistics | None:
            table = _table(db, name.lower())
            if table.partition_columns:
                return None
            parameters = _parameters(db, ask.TABLE_PARAMETERS, table.id)
            basics = read_basics({key: parameters[key] for key in STATISTICS if key in parameters})
            rows = (
                dict(zip(STATISTICS_FIELDS, vars(row).values(), strict=True))
                for row in db.execute(ask.MEASURED, {"owner": table.id})
            )
            columns = (
                ColumnStatistics(**row | {"type": HiveType.as_stored(row["type"])}) for row in rows
            )
            types = {column.name: column.type for column in table.columns}
            measured = tuple(column for column in columns if types.get(column.name) == column.type)
            accurate = present_columns(basics, (column.name for column in measured), table)
            return replace(basics, columns=measured, accurate_columns=accurate)

        return self._read(find)

    def function_names(self) -> tuple[str, ...] | None:
        """Return the names of all functions with their databases, sorted."""

        def find(db: sqlite3.Connection) -> tuple[str, ...]:
            rows = db.execute(ask.FUNCTION_NAMES)
            return tuple(sorted(f"{row.database}.{row.name}" for row in rows))

        return self._read(find)

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...] | None:
        """Return the partitions that may pass all tests, by name, of a table with few of them."""
        name = name.lower()
        from hivesql_planner.predicates.partitions import may_pass

        def find(db: sqlite3.Connection) -> tuple[Partition, ...] | None:
            table = _only(db, ask.TABLE, database=name.database, table=name.name)
            if db.execute(ask.MARKED, {"table_id": table.id, "mark": STORAGE_MARK}).fetchone():
                return None
            if db.execute(_MANY, {"owner": table.id, "most": _MOST_PARTITIONS}).fetchone():
                return None
            return tuple(
                partition
                for partition in partitions_of(db.execute(ask.PARTITIONS, {"owner": table.id}))
                if all(may_pass(partition.values[test.position], test) for test in tests)
            )

        return self._read(find)

    def partition_count(self, name: TableName) -> int | None:
        """Tell how many partitions a table has."""
        name = name.lower()

        def find(db: sqlite3.Connection) -> int:
            table = _only(db, ask.TABLE, database=name.database, table=name.name)
            return int(_only(db, ask.PARTITION_COUNT, owner=table.id).found)

        return self._read(find)

    def locks(
        self, database: str | None = None, table: str | None = None, partition: str | None = None
    ) -> tuple[LockRow, ...] | None:
        """Locks, filtered by equality, in the order of SHOW LOCKS."""
        from hivesql_executor.metastore.database.transactions.lock_rows import lock_row

        place = {
            "in_database": database and database.lower(),
            "in_table": table and table.lower(),
            "in_partition": partition,
        }

        def find(db: sqlite3.Connection) -> tuple[LockRow, ...]:
            rows = (lock_row(row) for row in db.execute(ask.LOCKS, place))
            return tuple(sorted(rows, key=lambda row: row.rank))

        return self._read(find)

    def transactions(self) -> tuple[TxnRow, ...] | None:
        """Open and aborted transactions, by id."""
        return self._read(lambda db: tuple(txn_row(row) for row in db.execute(ask.TRANSACTIONS)))

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Tell what ``work`` finds in one state of the file; None for what is missing or fails."""
        with CALLS, self._guard, suppress(sqlite3.Error, _Missing):
            self._db.execute("BEGIN")
            try:
                return work(self._db)
            finally:
                self._db.execute("ROLLBACK")
        return None


class _Missing(Exception):
    """A row that was looked for."""


def _named(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> SimpleNamespace:
    return SimpleNamespace(
        **dict(zip((description[0] for description in cursor.description), row, strict=True))
    )


def _only(db: sqlite3.Connection, query: str, **values: object) -> SimpleNamespace:
    row: SimpleNamespace | None = db.execute(query, values).fetchone()
    if row is None:
        raise _Missing
    return row


def _table(db: sqlite3.Connection, name: TableName) -> Table:
    row = _only(db, ask.TABLE, database=name.database, table=name.name)
    storage = _only(db, ask.STORAGE, sd_id=row.sd_id)
    # Without buckets there is nothing to ask: most tables have none.
    buckets = storage.bucket_count > 0
    constraints = db.execute(ask.CONSTRAINTS, {"owner": row.id})
    details = TableDetails(
        parameters=_parameters(db, ask.TABLE_PARAMETERS, row.id),
        serde_properties=_parameters(db, ask.SERDE_PARAMETERS, storage.serde_id),
        columns=_columns(db, ask.COLUMNS, storage.cd_id),
        partition_columns=_columns(db, ask.PARTITION_COLUMNS, row.id),
        bucket_columns=_names(db, row.sd_id) if buckets else (),
        sorting=_sorting(db, row.sd_id) if buckets else {},
        constraints=tuple(constraint_of(constraint) for constraint in constraints),
    )
    return table_of(name, row, storage, details)


def _parameters(db: sqlite3.Connection, query: str, owner: int) -> dict[str, str]:
    return parameters_of((row.name, row.value) for row in db.execute(query, {"owner": owner}))


def _columns(db: sqlite3.Connection, query: str, owner: int) -> tuple[Column, ...]:
    rows = db.execute(query, {"owner": owner})
    return tuple(Column.of(row.name, row.type, row.comment) for row in rows)


def _names(db: sqlite3.Connection, sd_id: int) -> tuple[str, ...]:
    return tuple(row.name for row in db.execute(ask.BUCKET_COLUMNS, {"owner": sd_id}))


def _sorting(db: sqlite3.Connection, sd_id: int) -> dict[str, int]:
    return {row.name: row.order for row in db.execute(ask.SORTING, {"owner": sd_id})}
