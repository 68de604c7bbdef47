"""Statements that are carried out as they were bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hivesql_executor.metastore.system_databases import find_database
from hivesql_executor.outcome import Outcome
from hivesql_executor.statements.show.show import describe, show
from hivesql_planner.errors import NotSupported
from hivesql_planner.statements.authorization import (
    CreateRole,
    GrantPrivileges,
    GrantRoles,
    SetRole,
    ShowGrant,
    ShowRoles,
)
from hivesql_planner.statements.bound import (
    AbortCompactions,
    AbortTransactions,
    CompactTable,
    Describe,
    KillQueries,
    LockObject,
    Show,
    UseDatabase,
    WriteDirectory,
)

if TYPE_CHECKING:
    from hivesql_executor.runtime import Runtime
    from hivesql_executor.transactions.transaction import Transaction
    from hivesql_planner.statements.bound import Statement


def run_command(statement: Statement, txn: Transaction | None, runtime: Runtime) -> Outcome:
    """Carry out one command; ``txn`` is its transaction when its plan opened one.

    Imported late: what only asks need not wait for what changes.
    """
    match statement:
        case Show():
            return show(statement, runtime)
        case Describe():
            return describe(statement, runtime)
        case UseDatabase(name=name):
            find_database(name, runtime.metastore)
        case CompactTable():
            from hivesql_executor.compaction.request import request_compaction

            return request_compaction(statement, runtime)
        case AbortCompactions():
            from hivesql_executor.compaction.request import abort_compactions

            return abort_compactions(statement, runtime)
        case AbortTransactions() | KillQueries():
            _stop(statement, runtime)
        case LockObject():
            from hivesql_executor.transactions.object_locks import lock_object

            lock_object(statement, runtime)
        case WriteDirectory():
            from hivesql_executor.statements.insert_directory import write_directory

            assert txn is not None
            return write_directory(statement, txn, runtime)
        case (
            GrantPrivileges() | GrantRoles() | CreateRole() | SetRole() | ShowRoles() | ShowGrant()
        ):
            from hivesql_executor.statements.authorization import run_authorization

            return run_authorization(statement, runtime)
        case _:
            return _run_on_files(statement, txn, runtime)
    return Outcome()


def _run_on_files(statement: Statement, txn: Transaction | None, runtime: Runtime) -> Outcome:
    from hivesql_planner.statements.ddl import Analyze, LoadData
    from hivesql_planner.statements.export import ExportTable, ImportTable

    match statement:
        case Analyze():
            from hivesql_executor.spark.column_statistics import analyze

            return analyze(statement, txn, runtime)
        case LoadData():
            from hivesql_executor.statements.load import load_data

            return load_data(statement, txn, runtime)
        case ExportTable():
            from hivesql_executor.statements.exports.export_table import export_table

            assert txn is not None
            return export_table(statement, txn, runtime)
        case ImportTable():
            from hivesql_executor.statements.exports.import_table import import_table

            return import_table(statement, txn, runtime)
    raise NotSupported(type(statement).__name__)


def _stop(statement: AbortTransactions | KillQueries, runtime: Runtime) -> None:
    """End transactions, or statements, of others."""
    if isinstance(statement, AbortTransactions):
        _abort(statement.txn_ids, runtime)
        return
    for query_id in statement.query_ids:
        runtime.kill_query(query_id)


def _abort(txn_ids: Sequence[int], runtime: Runtime) -> None:
    """Abort those that are open, and say how many were not, as Hive does."""
    # Imported late: most commands abort nobody.
    from hivesql_executor.transactions.reaper import abort

    aborted = abort(txn_ids, "abort by query command", runtime)
    passed_over = sorted(set(txn_ids) - set(aborted))
    if passed_over:
        runtime.notify(f"not open, so not aborted: {', '.join(map(str, passed_over))}")
