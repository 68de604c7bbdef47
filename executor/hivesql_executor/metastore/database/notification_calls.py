"""The part of the database metastore that is about notifications."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Connection

from hivesql_executor.metastore.database import notification_log
from hivesql_executor.metastore.database.catalog import tables as catalog
from hivesql_executor.metastore.database.transactions import snapshots

if TYPE_CHECKING:
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.cache.events import LogPage
    from hivesql_planner.model.table import Table, TableName

T = TypeVar("T")


class NotificationCalls(ABC):
    """Calls of NotificationSource; every method is one database transaction."""

    @abstractmethod
    def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    def _write(self, work: Callable[[Connection], T]) -> T: ...

    @property
    def changes_are_writes(self) -> bool:
        """True: a reader's list of write ids tells a table from what it was before any change."""
        return True

    def keep_log(self) -> int:
        """Let every change be logged from now on; the id of the latest event."""
        latest = self._read(notification_log.latest_event)
        return self._write(notification_log.keep_log) if latest is None else latest

    def events_after(self, last: int) -> LogPage:
        """Return the first events after an id, and the latest id."""
        return self._read(lambda db: notification_log.events_after(db, last))

    def writes_of(self, txn_id: int) -> frozenset[tuple[TableName, int]]:
        """All writes of a transaction, as far as they are still known."""
        return self._read(lambda db: notification_log.writes_of(db, txn_id))

    def completed(self, table: Table) -> Table:
        """Return the copy as it is: the log tells all changes."""
        return table

    def described(self, name: TableName) -> tuple[Table, ValidWriteIdList | None]:
        """Give the table, and its write ids of that moment; None if it is not transactional."""

        def work(db: Connection) -> tuple[Table, ValidWriteIdList | None]:
            table = catalog.table(db, name)
            if not table.is_transactional:
                return table, None
            now = snapshots.valid_txns(db, 0)
            return table, snapshots.valid_write_ids(db, now, table.name)

        return self._read(work)

    def table_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, tuple[int, ValidWriteIdList]]:
        """Return the id and the valid write ids of each table."""
        return self._read(
            lambda db: {
                name: (
                    catalog.table_id(db, name),
                    snapshots.valid_write_ids(db, txns, name.lower()),
                )
                for name in tables
            }
        )

    def purge_events(self, seconds: float) -> int:
        """Forget events older than so many seconds; how many. Without a log, nothing is written."""
        if self._read(notification_log.latest_event) is None:
            return 0
        return self._write(lambda db: notification_log.purge_events(db, seconds))
