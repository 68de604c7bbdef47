"""Which tables a plan reads and which it writes."""

from __future__ import annotations

from collections.abc import Iterable

from hivesql_planner.deciding import scans
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Change, Command, Insert, Plan
from hivesql_planner.statements.bound import TruncateTable
from hivesql_planner.statements.ddl import LoadData


def tables_read(plan: Plan) -> tuple[Table, ...]:
    """Tables whose rows the plan reads, each once; not the target of an UPDATE or DELETE."""
    own = plan.body.target.table.name if isinstance(plan.body, Change) else None
    found = (scan.table for scan in scans(plan.body))
    return _once(one for one in found if not one.is_frame and one.name != own)


def tables_written(plan: Plan) -> tuple[Table, ...]:
    """Tables whose rows the plan adds, changes or removes, each once."""
    match plan.body:
        case Insert(branches=branches, create=create):
            return (create,) if create else _once(branch.write.table for branch in branches)
        case Change(target=target):
            return (target.table,)
        case Command(statement=LoadData(table=table) | TruncateTable(table=table)):
            return (table,)
    return ()


def _once(tables: Iterable[Table]) -> tuple[Table, ...]:
    return tuple({table.name: table for table in tables}.values())
