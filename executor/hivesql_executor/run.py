"""A plan under one transaction, on one page.

What carries out rows needs Spark, whose modules take a second to import: they are imported when a
plan of their kind runs, so that statements which only ask the metastore answer at once.
"""

from __future__ import annotations

from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.command import run_command
from hivesql_executor.statements.context import Consume, Work
from hivesql_executor.transactions.object_locks import holding_objects
from hivesql_executor.transactions.transaction import OpenTransaction, continuing, transaction
from hivesql_executor.translate_errors import as_user_errors
from hivesql_planner.plan import Change, Command, Insert, Plan, Select


def run(
    plan: Plan,
    runtime: Runtime,
    *,
    consume: Consume | None = None,
    inside: OpenTransaction | None = None,
) -> Outcome:
    """Carry out a plan and commit it, or raise and leave nothing visible.

    ``consume`` gets the rows of a SELECT while its snapshot is held; without it they are
    collected. StaleSnapshot means that the statement should be planned again (its transaction is
    aborted). A plan ``inside`` an open transaction goes on with its statement ids, and is
    committed with it.
    """
    if inside is not None:
        plan = continuing(plan, inside)
    with as_user_errors(), holding_objects(plan, runtime):
        if isinstance(plan.body, Command) and not (plan.opens_txn or _reads(plan.body)):
            return run_command(plan.body.statement, None, runtime)
        with transaction(plan, runtime, inside) as txn:
            work = Work(plan, txn, runtime, consume)
            if isinstance(plan.body, Select):
                return _run_body(work)
            with runtime.metastore.changing_for(txn.id):
                return _run_body(work)


def _reads(command: Command) -> bool:
    """Tell whether it runs a query, which has a snapshot even where no table is read."""
    return getattr(command.statement, "query", None) is not None


def _run_body(work: Work) -> Outcome:
    match work.plan.body:
        case Command(statement=statement):
            return run_command(statement, work.txn, work.runtime)
        case Select() as select:
            from hivesql_executor.statements.select import run_select

            return run_select(select, work)
        case Insert() as insert:
            from hivesql_executor.statements.insert import run_insert

            return run_insert(insert, work)
        case Change() as change:
            from hivesql_executor.statements.change import run_change

            return run_change(change, work)
