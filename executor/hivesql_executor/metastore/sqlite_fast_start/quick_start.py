"""A metastore in an SQLite file that loads its database layer when that is first needed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hivesql_executor.metastore.sqlite_fast_start.sqlite_reads import SqliteReads
from hivesql_planner.errors import SessionClosed

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import LockRow, TxnRow
    from hivesql_executor.metastore.database.metastore import DatabaseMetastore
    from hivesql_planner.model.statistics import Statistics
    from hivesql_planner.model.table import Database, Partition, Table, TableName
    from hivesql_planner.predicates.partitions import PartitionTest


class QuickStart:
    """``DatabaseMetastore``, some of whose questions are answered by ``SqliteReads``.

    What that is not sure of, and all other calls, go to the metastore behind.
    """

    def __init__(self, reads: SqliteReads, url: str, warehouse: str) -> None:
        self._reads = reads
        self._url = url
        self._warehouse = warehouse
        self._guard = threading.Lock()
        self._opened: DatabaseMetastore | None = None
        self._closed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind(), name)

    def _behind(self) -> DatabaseMetastore:
        from hivesql_executor.metastore.database.metastore import DatabaseMetastore

        with self._guard:
            if self._closed:
                raise SessionClosed
            if self._opened is None:
                self._opened = DatabaseMetastore.open(self._url, self._warehouse)
            return self._opened

    def close(self) -> None:
        """Let go of the database."""
        with self._guard:
            self._closed = True
        self._reads.close()
        if self._opened is not None:
            self._opened.close()

    def needs_housekeeping(self, timeout: float, kept: float) -> bool:
        """Tell whether housekeeping has anything worth doing; ``kept`` is the age of events."""
        found = self._reads.needs_housekeeping(timeout, kept)
        return self._behind().needs_housekeeping(timeout, kept) if found is None else found

    def database(self, name: str) -> Database:
        """Return the database of that name."""
        return self._reads.database(name.lower()) or self._behind().database(name)

    def databases(self) -> tuple[str, ...]:
        """Names of all databases, sorted."""
        return self._reads.databases() or self._behind().databases()

    def tables(self, database: str) -> tuple[TableName, ...]:
        """Tables and views of a database, sorted."""
        found = self._reads.tables(database.lower())
        return self._behind().tables(database) if found is None else found

    def table(self, name: TableName) -> Table:
        """Return the table or view of that name."""
        return self._reads.table(name.lower()) or self._behind().table(name)

    def statistics(self, name: TableName, values: Sequence[str | None] | None = None) -> Statistics:
        """Tell what is known of a table or partition; of a partitioned table, the sums."""
        found = self._reads.statistics(name.lower()) if values is None else None
        return found or self._behind().statistics(name, values)

    def function_names(self) -> tuple[str, ...]:
        """Return the names of all functions with their databases, sorted."""
        found = self._reads.function_names()
        return self._behind().function_names() if found is None else found

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]:
        """Return the partitions of a table that pass all tests, by name; perhaps some more."""
        found = self._reads.partitions(name.lower(), tests)
        return self._behind().partitions(name, tests) if found is None else found

    def partition_count(self, name: TableName) -> int:
        """Tell how many partitions a table has."""
        found = self._reads.partition_count(name.lower())
        return self._behind().partition_count(name) if found is None else found

    def locks(
        self, database: str | None = None, table: str | None = None, partition: str | None = None
    ) -> tuple[LockRow, ...]:
        """Locks, filtered by equality, in the order of SHOW LOCKS."""
        found = self._reads.locks(database and database.lower(), table and table.lower(), partition)
        return self._behind().locks(database, table, partition) if found is None else found

    def transactions(self) -> tuple[TxnRow, ...]:
        """Open and aborted transactions, by id."""
        found = self._reads.transactions()
        return self._behind().transactions() if found is None else found
