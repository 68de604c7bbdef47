"""Facts that a plan tells: is its commit recorded under a key, and which tables it reads."""

from __future__ import annotations

from collections.abc import Iterable

from hivesql_planner.definitions.steps import Definition, EmptyTable
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Change, Command, Insert, Plan, Select, WriteKind
from hivesql_planner.statements.ddl import LoadData
from hivesql_planner.statements.export import ImportTable
from hivesql_planner.transactional_plans import scans


def is_recorded(plan: Plan) -> bool:
    """Tell whether the plan's commit is recorded: queries and settings run every time.

    NotSupported for a plan that adds rows which are there before its commit.
    """
    for table in _adds_to(plan):
        if not table.is_transactional:
            raise NotSupported(
                f"an idempotency key for rows added to {table.name}, which is not transactional: "
                "they are there before anything is committed. INSERT OVERWRITE the table, make it "
                "transactional, or give no key"
            )
    return plan.opens_txn and not isinstance(plan.body, Select)


def _adds_to(plan: Plan) -> list[Table]:
    match plan.body:
        case Insert(branches=branches, create=None):
            writes = (branch.write for branch in branches)
            return [
                write.table
                for write in writes
                if write.kind is WriteKind.FILES and not write.overwrite
            ]
        case Command(statement=LoadData(table=table, overwrite=False)):
            return [table]
        case Command(statement=ImportTable(table=table, is_new=False)):
            return [table]
    return []


def tables_read(plan: Plan) -> tuple[Table, ...]:
    """Tables whose rows the plan reads, each once; not the target of an UPDATE or DELETE."""
    own = plan.body.target.table.name if isinstance(plan.body, Change) else None
    tables = (scan.table for scan in scans(plan.body))
    return _once(table for table in tables if not table.is_frame and table.name != own)


def views_read(plan: Plan) -> tuple[Table, ...]:
    """Return the views through which the plan reads tables, each once."""
    return _once(view for scan in scans(plan.body) for view in scan.views)


def tables_written(plan: Plan) -> tuple[Table, ...]:
    """Tables whose rows the plan adds, changes or removes, each once."""
    match plan.body:
        case Insert(branches=branches, create=create):
            return (create.table,) if create else _once(branch.write.table for branch in branches)
        case Change(target=target):
            return (target.table,)
        case Command(statement=LoadData(table=table) | ImportTable(table=table)):
            return (table,)
        case Definition(steps=(EmptyTable(table=table),)):
            return (table,)
    return ()


def _once(tables: Iterable[Table]) -> tuple[Table, ...]:
    return tuple({table.name: table for table in tables}.values())
