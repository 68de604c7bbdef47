"""Statements that change what the metastore knows, or files without reading their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.alter import complete_database, run_ddl
from hivesql_executor.statements.repair import repair_table
from hivesql_executor.statements.tables import (
    create_database,
    create_table_if_new,
    drop_database,
    drop_table,
    truncate_table,
)
from hivesql_executor.transactions.object_locks import lock_object
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.table import Table
from hivesql_planner.statements.bound import (
    AbortCompactions,
    AbortTransactions,
    CompactTable,
    CreateDatabase,
    CreateTable,
    CreateView,
    DropDatabase,
    DropTable,
    LockObject,
    Statement,
    TruncateTable,
    WriteDirectory,
)
from hivesql_planner.statements.ddl import Analyze, DdlStatement, LoadData, RepairTable
from hivesql_planner.statements.functions import DropStoredFunction, StoreFunction


def run_definition(  # noqa: C901 - one flat list of statements
    statement: Statement, txn: Transaction | None, runtime: Runtime
) -> Outcome:
    """Carry out one command; ``txn`` is its transaction when its plan opened one."""
    txn_id = txn.id if txn else 0
    match statement:
        case CreateDatabase(database=database, if_not_exists=if_not_exists):
            owned = replace(complete_database(database, runtime), owner=runtime.user)
            create_database(owned, txn_id, runtime, if_not_exists=if_not_exists)
        case DropDatabase():
            drop_database(statement, txn_id, runtime)
        case CreateTable():
            create_table_if_new(statement, txn_id, runtime)
        case CreateView(table=view, if_not_exists=if_not_exists, or_replace=or_replace):
            view = replace(view, owner=runtime.user)
            _create_view(view, runtime, if_not_exists=if_not_exists, or_replace=or_replace)
        case DropTable():
            drop_table(statement, txn_id, runtime)
        case StoreFunction(function=function):
            runtime.metastore.create_function(replace(function, owner=runtime.user))
        case DropStoredFunction(database=database, name=name):
            runtime.metastore.drop_function(database, name)
        case TruncateTable():
            truncate_table(statement, txn, runtime)
        case CompactTable():
            from hivesql_executor.compaction.request import request_compaction

            return request_compaction(statement, runtime)
        case AbortCompactions():
            from hivesql_executor.compaction.request import abort_compactions

            return abort_compactions(statement, runtime)
        case AbortTransactions(txn_ids=txn_ids):
            _abort(txn_ids, runtime)
        case LockObject():
            lock_object(statement, runtime)
        case Analyze():
            from hivesql_executor.spark.column_statistics import analyze

            return analyze(statement, txn, runtime)
        case LoadData():
            from hivesql_executor.statements.load import load_data

            return load_data(statement, txn, runtime)
        case WriteDirectory():
            from hivesql_executor.statements.insert_directory import write_directory

            assert txn is not None
            return write_directory(statement, txn, runtime)
        case RepairTable():
            return repair_table(statement, txn, runtime)
        case _ if isinstance(statement, DdlStatement):
            run_ddl(statement, txn_id, runtime)
        case _:
            raise NotSupported(type(statement).__name__)
    return Outcome()


def _abort(txn_ids: Sequence[int], runtime: Runtime) -> None:
    """Abort those that are open, and say how many were not, as Hive does."""
    aborted = runtime.metastore.abort_txns(txn_ids, "abort by query command")
    passed_over = sorted(set(txn_ids) - set(aborted))
    if passed_over:
        runtime.notify(f"not open, so not aborted: {', '.join(map(str, passed_over))}")


def _create_view(view: Table, runtime: Runtime, *, if_not_exists: bool, or_replace: bool) -> None:
    store = runtime.metastore
    if or_replace and view.name in store.tables(view.name.database):
        before = store.table(view.name)
        if not before.is_view:
            raise SemanticError(f"{view.name} is a table, not a view", code=10218)
        changes = before.partition_names != view.partition_names
        if changes and store.partition_count(view.name):
            raise SemanticError(
                f"Cannot replace a view with CREATE VIEW or REPLACE VIEW or ALTER VIEW AS SELECT "
                f"if the view has partitions: {view.name}. Drop them first",
                code=10217,
            )
        store.alter_table(view.name, view)
        return
    store.create_table(view, if_not_exists=if_not_exists)
