"""The planner: a bound statement becomes a plan; nothing is touched."""

from __future__ import annotations

from hivesql_planner.plan import Command, Plan
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import (
    WITHOUT_LOCKS,
    CompactTable,
    Statement,
)
from hivesql_planner.statements.unions import check_written


def plan(statement: Statement, settings: Settings | None = None) -> Plan:
    """Decide everything the statement will do: locks, scans, writes and their statement ids."""
    settings = settings or Settings()
    if isinstance(statement, CompactTable):
        check_written(statement.table.columns)
    if isinstance(statement, WITHOUT_LOCKS):
        return Plan(body=Command(statement=statement), opens_txn=False)
    # Imported late: what only asks the metastore needs neither locks nor rewrites.
    from hivesql_planner.transactional_plans import plan_with_locks

    return plan_with_locks(statement, settings)
