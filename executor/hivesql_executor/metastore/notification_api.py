"""The calls with which a copy of the catalog follows a metastore."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.cache.events import LogPage
    from hivesql_planner.model.table import Table, TableName


class NotificationSource(Protocol):
    """Notification log, and the state of tables together with their write ids."""

    @property
    def changes_are_writes(self) -> bool: ...
    def keep_log(self) -> int: ...
    def events_after(self, last: int) -> LogPage: ...
    def writes_of(self, txn_id: int) -> frozenset[tuple[TableName, int]]: ...
    def completed(self, table: Table) -> Table: ...
    def described(self, name: TableName) -> tuple[Table, ValidWriteIdList | None]: ...
    def table_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, tuple[int, ValidWriteIdList]]: ...
    def purge_events(self, seconds: float) -> int: ...
