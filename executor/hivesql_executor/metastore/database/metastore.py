"""The metastore in an SQLite file or a PostgreSQL database of our own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection

from hivesql_executor.metastore.database import housekeeping, notification_log, revisions, schema
from hivesql_executor.metastore.database.catalog import (
    functions,
    statistics_changes,
    statistics_rows,
)
from hivesql_executor.metastore.database.catalog import partitions as partition_rows
from hivesql_executor.metastore.database.catalog import tables as catalog
from hivesql_executor.metastore.database.compaction_calls import CompactionCalls
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.migrations.known_revisions import REVISIONS
from hivesql_executor.metastore.database.notification_calls import NotificationCalls
from hivesql_executor.metastore.database.transaction_calls import TransactionCalls
from hivesql_executor.metastore.database.transactions import moves
from hivesql_executor.metastore.database.transactions.idempotence import IdempotenceCalls
from hivesql_executor.metastore.database.transactions.moves import MoveCalls
from hivesql_executor.metastore.database.transactions.object_locks import ObjectLockCalls
from hivesql_planner.model.functions import StoredFunction
from hivesql_planner.model.statistics import Statistics, StatisticsChange
from hivesql_planner.model.table import Database, Partition, Table, TableName
from hivesql_planner.predicates.partitions import PartitionTest

T = TypeVar("T")


class _Changing(threading.local):
    """For whom a thread changes the catalog: transactions, and what they have noted."""

    going_on: tuple[tuple[int, str], ...] = ()


class DatabaseMetastore(
    TransactionCalls,
    CompactionCalls,
    ObjectLockCalls,
    IdempotenceCalls,
    NotificationCalls,
    MoveCalls,
):
    """Metastore over Hive's tables: every method is one database transaction."""

    def __init__(self, rdbms: Rdbms) -> None:
        self._rdbms = rdbms
        self._warehouse = ""
        self._changing = _Changing()

    @classmethod
    def open(cls, url: str, warehouse: str) -> DatabaseMetastore:
        """Open the metastore at a database URL; create it, and ``default``, when absent.

        ``warehouse`` is the directory of the ``default`` database; the others get
        ``<warehouse>/<name>.db``.
        """
        store = cls(Rdbms(url))
        store._warehouse = warehouse.rstrip("/") or "/"
        try:
            # Nearly every opening finds the latest schema, and then need not wait for a writer.
            if store._read(revisions.current_revision) != REVISIONS[-1]:
                store._write(lambda db: revisions.prepare(db, store._warehouse))
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Let go of the database."""
        self._rdbms.close()

    def version(self) -> str:
        """Return the schema's revision, and the release of Hive whose tables it has."""
        found = self._read(revisions.current_revision)
        return f"schema revision {found}, Hive {schema.SCHEMA_VERSION}"

    # -- catalog
    def create_database(self, database: Database, *, if_not_exists: bool = False) -> None:
        """Add a database; SemanticError 10242 when it exists."""
        self._change(
            lambda db: catalog.create_database(
                db, database, self._warehouse, if_not_exists=if_not_exists
            )
        )

    def database_home(self, database: Database) -> str:
        """Tell where a new database will live; empty where only its creation tells."""
        return database.location or catalog.default_home(self._warehouse, database.name)

    def database(self, name: str) -> Database:
        """Return the database of that name."""
        return self._read(lambda db: catalog.database(db, name))

    def databases(self) -> tuple[str, ...]:
        """Names of all databases, sorted."""
        return self._read(catalog.databases)

    def alter_database(self, database: Database) -> None:
        """Replace the description of a database."""
        self._change(lambda db: catalog.alter_database(db, database))

    def drop_database(self, name: str, *, cascade: bool = False) -> None:
        """Drop an empty database, or with ``cascade`` any but ``default``."""
        self._change(lambda db: catalog.drop_database(db, name, cascade=cascade))

    def create_table(self, table: Table, *, if_not_exists: bool = False) -> Table:
        """Add a table or view; returns it with id, location and time of creation."""
        return self._change(lambda db: catalog.create_table(db, table, if_not_exists=if_not_exists))

    def home_of(self, table: Table) -> str:
        """Tell where a new table will live; empty where only its creation tells."""
        return table.location or self._read(lambda db: catalog.home_of(db, table))

    def table(self, name: TableName) -> Table:
        """Return the table or view of that name."""
        return self._read(lambda db: catalog.table(db, name))

    def tables(self, database: str) -> tuple[TableName, ...]:
        """Tables and views of a database, sorted."""
        return self._read(lambda db: catalog.tables(db, database))

    def alter_table(
        self, name: TableName, table: Table, *, txn_id: int = 0, cascade: bool = True
    ) -> None:
        """Replace the description of a table, its name included.

        Without ``cascade`` its partitions keep the columns that it had.

        When it is renamed, partitions under its old location follow it to the new one. With a
        ``txn_id`` the change belongs to that transaction's write in the table, as in the calls
        about partitions below: while a notification log is kept, it gets a write id for that.
        """
        self._change(
            lambda db: catalog.alter_table(db, name, table, txn_id=txn_id, cascade=cascade)
        )

    def drop_table(self, name: TableName) -> None:
        """Drop a table or view with its partitions and its write history."""
        self._change(lambda db: catalog.drop_table(db, name))

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]:
        """Return the partitions of a table that pass all tests, by name; perhaps some more."""
        return self._read(lambda db: partition_rows.partitions(db, name, tests))

    def partition_count(self, name: TableName) -> int:
        """Tell how many partitions a table has."""
        return self._read(lambda db: partition_rows.partition_count(db, name))

    def foreign_partitions(self, name: TableName) -> tuple[Partition, ...]:
        """Return the partitions that do not live where a new one of that name would."""
        return self._read(lambda db: partition_rows.foreign_partitions(db, name))

    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None:
        """Return the partition with these values, or None."""
        return self._read(lambda db: partition_rows.partition(db, name, values))

    def add_partitions(
        self, name: TableName, partitions: Collection[Partition], *, if_not_exists: bool = False,
        txn_id: int = 0, for_rows: bool = False,
    ) -> None:  # fmt: skip
        """Add partitions; those without a location live under the table.

        Those ``for_rows`` that the transaction writes are known to hold none yet.
        """
        self._change(
            lambda db: partition_rows.add_partitions(
                db, name, partitions, if_not_exists=if_not_exists, txn_id=txn_id, for_rows=for_rows
            )
        )

    def drop_partitions(
        self, name: TableName, values: Collection[tuple[str | None, ...]], *, txn_id: int = 0
    ) -> None:
        """Drop partitions with their write history."""
        self._change(lambda db: partition_rows.drop_partitions(db, name, values, txn_id=txn_id))

    def alter_partition(
        self, name: TableName, values: Sequence[str | None], partition: Partition, *,
        txn_id: int = 0,
    ) -> None:  # fmt: skip
        """Give the partition with these values other values or another location."""
        self._change(
            lambda db: partition_rows.alter_partition(db, name, values, partition, txn_id=txn_id)
        )

    def exchange_partitions(
        self, source: TableName, target: TableName, partitions: Collection[Partition], *,
        txn_id: int = 0,
    ) -> None:  # fmt: skip
        """Drop partitions from one table and add them to another, at their new locations."""
        self._change(
            lambda db: partition_rows.exchange_partitions(
                db, source, target, partitions, txn_id=txn_id
            )
        )

    def create_function(self, function: StoredFunction) -> None:
        """Add a function; SemanticError when its database has one of that name."""
        self._change(lambda db: functions.create_function(db, function))

    def drop_function(self, database: str, name: str) -> None:
        """Drop a function; nothing where there is none."""
        self._change(lambda db: functions.drop_function(db, database, name))

    def function(self, database: str, name: str) -> StoredFunction | None:
        """Return the function of that name; None where there is none."""
        return self._read(lambda db: functions.function(db, database, name))

    def function_names(self) -> tuple[str, ...]:
        """Return the names of all functions with their databases, sorted."""
        return self._read(functions.function_names)

    def put_statistics(self, name: TableName, found: Collection[Statistics]) -> None:
        """Store what ANALYZE found of a table or of some partitions."""
        self._change(lambda db: statistics_rows.put_statistics(db, name, found))

    def count_changes(self, changes: Collection[StatisticsChange]) -> None:
        """Add what was written outside of transactions to what is known."""
        self._change(lambda db: statistics_changes.count(db, 0, changes))

    def statistics(self, name: TableName, values: Sequence[str | None] | None = None) -> Statistics:
        """Tell what is known of a table, or of the partition with these values."""
        return self._read(lambda db: statistics_rows.statistics(db, name, values))

    # -- housekeeping
    def needs_housekeeping(self, timeout: float, kept: float) -> bool:
        """Tell whether the calls below have anything worth doing; ``kept`` is the age of events."""
        return self._read(lambda db: housekeeping.is_due(db, timeout, kept))

    def reap(self, timeout: float) -> tuple[int, ...]:
        """Abort transactions and drop locks silent for so many seconds; who was aborted."""
        return self._write(lambda db: housekeeping.reap(db, timeout))

    def clean_txns(self) -> None:
        """Forget ended transactions that left nothing behind."""
        self._write(housekeeping.clean_txns)

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

    def _write(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        return self._rdbms.write(lambda db: notification_log.logged(db, work), durable=durable)
