"""A plan under one transaction, on one page.

What carries out rows needs Spark, whose modules take a second to import: they are imported when a
plan of their kind runs, so that statements which only ask the metastore answer at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeGuard

from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.command import run_command
from hivesql_executor.statements.context import Consume, Work
from hivesql_executor.transactions.bound_tables import check_tables
from hivesql_executor.transactions.object_locks import holding_objects
from hivesql_executor.transactions.transaction import (
    OpenTransaction,
    Transaction,
    continuing,
    transaction,
)
from hivesql_executor.translate_errors import as_user_errors
from hivesql_planner.definitions.steps import Definition
from hivesql_planner.errors import DataError, ExecutionError, HiveSqlError
from hivesql_planner.plan import Body, Change, Command, Insert, Plan, Select


def run(
    plan: Plan,
    runtime: Runtime,
    *,
    consume: Consume | None = None,
    inside: OpenTransaction | None = None,
    around: Callable[[Callable[[], Outcome]], Outcome] = lambda body: body(),
) -> Outcome:
    """Carry out a plan and commit it, or raise and leave nothing visible.

    ``consume`` gets the rows of a SELECT while its snapshot is held; without it they are
    collected. StaleSnapshot means that the statement should be planned again (its transaction is
    aborted). What needs the plan's locks is called by ``around``. A plan ``inside`` an open
    transaction goes on with its statement ids, and is committed with it.
    """
    if inside is not None:
        plan = continuing(plan, inside)
    with as_user_errors(), holding_objects(plan, runtime):
        if plan.bound and not plan.opens_txn:
            # Of external tables nobody takes locks, which is where others are checked.
            check_tables(plan, runtime.metastore)
        if not plan.opens_txn and _needs_no_snapshot(plan.body):
            return _run_definition_or_command(plan.body, None, runtime)
        with transaction(plan, runtime, inside) as txn, _listing_anew_after_errors():
            work = Work(plan, txn, runtime, consume)
            if isinstance(plan.body, Select):
                return around(lambda: _run_body(work))
            with runtime.metastore.changing_for(txn.id):
                return around(lambda: _run_body(work))


@contextmanager
def _listing_anew_after_errors() -> Iterator[None]:
    """Let who mends files by hand, after an error, be seen by the next statement."""
    try:
        yield
    except Exception as error:
        # Conflicts, timeouts and the like, which are kinds of their own, say nothing about files.
        if not isinstance(error, HiveSqlError) or type(error) in (DataError, ExecutionError):
            # Imported late: most statements neither fail nor list anything.
            from hivesql_executor.snapshot.known_listings import forget_listings

            forget_listings()
        raise


def _needs_no_snapshot(body: Body) -> TypeGuard[Definition | Command]:
    """Tell whether no query is run, which has a snapshot even where no table is read."""
    if isinstance(body, Command):
        return getattr(body.statement, "query", None) is None
    return isinstance(body, Definition)


def _run_definition_or_command(
    body: Definition | Command, txn: Transaction | None, runtime: Runtime
) -> Outcome:
    if isinstance(body, Command):
        return run_command(body.statement, txn, runtime)
    from hivesql_executor.statements.definitions import run_definition

    return run_definition(body, txn, runtime)


def _run_body(work: Work) -> Outcome:
    match work.plan.body:
        case Definition() | Command() as body:
            return _run_definition_or_command(body, work.txn, work.runtime)
        case Select() as select:
            from hivesql_executor.statements.select import run_select

            return run_select(select, work)
        case Insert() as insert:
            from hivesql_executor.statements.insert import run_insert

            return run_insert(insert, work)
        case Change() as change:
            from hivesql_executor.statements.change import run_change

            return run_change(change, work)
