"""What a session tells of a table's files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from hivesql_executor.checks.finding import Finding
    from hivesql_executor.checks.inspect import Inspection
    from hivesql_executor.runtime import Runtime


class TableCalls(ABC):
    """The calls about one table that are no statements."""

    database: str
    runtime: Runtime

    def inspect(self, table: str) -> Inspection:
        """What lies in a table's directories and what a reader takes of it; starts no Spark."""
        from hivesql_executor.checks.inspect import inspect_table

        return inspect_table(self._table_name(table), self.runtime)

    def check(self, table: str) -> tuple[Finding, ...]:
        """Everything that is wrong with a transactional table's files; () when nothing is."""
        from hivesql_executor.checks.check import check_table

        return check_table(self._table_name(table), self.runtime)

    @abstractmethod
    def _check_open(self) -> None:
        """SessionClosed once the session was closed."""

    def _table_name(self, text: str) -> TableName:
        self._check_open()
        database, _, name = text.replace("`", "").lower().rpartition(".")
        return TableName(database or self.database, name)
