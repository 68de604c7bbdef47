"""Statements that only the metastore and the file system carry out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivesql_executor.outcome import Outcome
from hivesql_executor.statements.show.show import describe, show
from hivesql_planner.statements.bound import Describe, Show, UseDatabase

if TYPE_CHECKING:
    from hivesql_executor.runtime import Runtime
    from hivesql_executor.transactions.transaction import Transaction
    from hivesql_planner.statements.bound import Statement


def run_command(statement: Statement, txn: Transaction | None, runtime: Runtime) -> Outcome:
    """Carry out one command; ``txn`` is its transaction when its plan opened one."""
    match statement:
        case Show():
            return show(statement, runtime)
        case Describe():
            return describe(statement, runtime)
        case UseDatabase(name=name):
            runtime.metastore.database(name)
            return Outcome()
    # Imported late: what only asks need not wait for what changes.
    from hivesql_executor.statements.definitions import run_definition

    return run_definition(statement, txn, runtime)
