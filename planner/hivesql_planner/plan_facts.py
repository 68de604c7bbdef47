"""Idempotency keys: which plans are recorded under one, and which cannot be."""

from __future__ import annotations

from hivesql_planner.errors import NotSupported
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Command, Insert, Plan, Select, WriteKind
from hivesql_planner.statements.ddl import LoadData


def is_recorded(plan: Plan) -> bool:
    """Whether the plan's commit is recorded: queries and settings run every time.

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
                one.table for one in writes if one.kind is WriteKind.FILES and not one.overwrite
            ]
        case Command(statement=LoadData(table=table, overwrite=False)):
            return [table]
    return []
