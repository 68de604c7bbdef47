"""The rows of ``sys`` and ``information_schema`` for one statement, if it reads any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hivesql_executor.runtime import Runtime
    from hivesql_executor.system_tables.read import SystemReader
    from hivesql_planner.model.table import Table
    from hivesql_planner.plan import Plan


@dataclass(slots=True)
class SystemRows:
    """A reader of the metastore that is made when it is first needed: hardly any statement does."""

    plan: Plan
    runtime: Runtime
    _reader: SystemReader | None = None

    def __call__(self, table: Table) -> Sequence[Sequence[Any]]:
        """Return the rows of a table as the statement's other scans see them."""
        if self._reader is None:
            from hivesql_executor.system_tables.read import SystemReader
            from hivesql_planner.transactional_plans import scans

            self._reader = SystemReader(tuple(scans(self.plan.body)), self.runtime)
        return self._reader.rows(table)
