"""Statements that only the metastore and the file system carry out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hivesql_executor.compaction.request import request_compaction
from hivesql_executor.outcome import Outcome
from hivesql_executor.partitions import add_partitions, drop_partitions
from hivesql_executor.runtime import Runtime
from hivesql_executor.show import describe, show
from hivesql_executor.tables import create_table_if_new, drop_database, drop_table, truncate_table
from hivesql_executor.transaction import Transaction
from hivesql_planner.acid.layout import parse_original_file
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.statements import (
    AbortTransactions,
    AddColumns,
    AddPartitions,
    AlterProperties,
    CompactTable,
    CreateDatabase,
    CreateTable,
    CreateView,
    Describe,
    DropDatabase,
    DropPartitions,
    DropTable,
    LockObject,
    RenameTable,
    Show,
    Statement,
    TruncateTable,
    UseDatabase,
)
from hivesql_planner.table import Table

# Originals of a converted table own the write ids up to ten million (Hive's seed).
_CONVERTED_NEXT_WRITE_ID = 10_000_001


def run_command(  # noqa: C901 - one flat list of statements
    statement: Statement, txn: Transaction | None, runtime: Runtime
) -> Outcome:
    """Carry out one command; ``txn`` is its transaction when its plan opened one."""
    store = runtime.metastore
    match statement:
        case Show():
            return show(statement, runtime)
        case Describe():
            return describe(statement, runtime)
        case UseDatabase(name=name):
            store.database(name)
        case CreateDatabase(database=database, if_not_exists=if_not_exists):
            store.create_database(database, if_not_exists=if_not_exists)
        case DropDatabase():
            drop_database(statement, runtime)
        case CreateTable():
            create_table_if_new(statement, runtime)
        case CreateView(table=view, if_not_exists=if_not_exists, or_replace=or_replace):
            _create_view(view, runtime, if_not_exists=if_not_exists, or_replace=or_replace)
        case DropTable():
            drop_table(statement, runtime)
        case TruncateTable():
            truncate_table(statement, txn, runtime)
        case AlterProperties(table=table, set=properties, unset=unset):
            _alter_properties(table, properties, unset, runtime)
        case RenameTable():
            _rename(statement, runtime)
        case AddColumns(table=table, columns=columns):
            store.alter_table(table.name, replace(table, columns=table.columns + columns))
        case AddPartitions():
            add_partitions(statement, runtime)
        case DropPartitions():
            drop_partitions(statement, runtime)
        case CompactTable():
            return request_compaction(statement, runtime)
        case AbortTransactions(txn_ids=txn_ids):
            _abort(txn_ids, runtime)
        case LockObject():
            raise SemanticError(
                "LOCK and UNLOCK are not supported by DbTxnManager: every statement takes the "
                "locks that it needs",
                code=10271,
            )
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
        if not store.table(view.name).is_view:
            raise SemanticError(f"{view.name} is a table, not a view", code=10217)
        store.alter_table(view.name, view)
        return
    store.create_table(view, if_not_exists=if_not_exists)


def _alter_properties(
    table: Table, properties: Mapping[str, str], unset: tuple[str, ...], runtime: Runtime
) -> None:
    kept = {key: value for key, value in table.properties.items() if key not in unset}
    altered = replace(table, properties={**kept, **properties})
    if table.is_transactional and not altered.is_transactional:
        raise SemanticError("TBLPROPERTIES with 'transactional'='true' cannot be unset")
    if table.is_full_acid and altered.is_insert_only:
        raise SemanticError(
            "TBLPROPERTIES with 'transactional_properties' cannot be altered after the table "
            "is created"
        )
    if altered.is_transactional and not table.is_transactional:
        _check_convertible(altered, runtime)
        if altered.is_full_acid:
            kind = {"transactional_properties": "default"}
            altered = replace(altered, properties={**altered.properties, **kind})
            runtime.metastore.seed_write_id(table.name, _CONVERTED_NEXT_WRITE_ID)
    runtime.metastore.alter_table(table.name, altered)


def _check_convertible(table: Table, runtime: Runtime) -> None:
    if table.is_insert_only:
        raise NotSupported("ALTER TABLE from plain to insert-only")
    if table.type == "EXTERNAL_TABLE":
        raise SemanticError(
            f"{table.name} cannot be declared transactional because it's an external table"
        )
    if table.format != "orc":
        raise SemanticError(
            f"The table must be stored using an ACID compliant format (such as ORC): {table.name}"
        )
    if table.sort_columns:
        raise SemanticError(f"{table.name} cannot be full ACID since it is sorted")
    locations = [table.location]
    if table.partition_columns:
        locations = [p.location for p in runtime.metastore.partitions(table.name)]
    files = runtime.files(table.location)
    for location in locations:
        for status in files.list(location):
            if parse_original_file(status.path.rpartition("/")[2]) is None:
                raise SemanticError(
                    f"Unexpected data file name format. Cannot convert {table.name} to "
                    f"transactional table. File: {location}/{status.path}"
                )


def _rename(statement: RenameTable, runtime: Runtime) -> None:
    """Rename in the catalog; the directory moves only when it has the default name."""
    table, to, store = statement.table, statement.to, runtime.metastore
    location = table.location
    old_home = f"{store.database(table.name.database).location}/{table.name.name}"
    new_home = f"{store.database(to.database).location}/{to.name}"
    moves = table.type == "MANAGED_TABLE" and location == old_home
    renamed = replace(table, name=to, location=new_home if moves else location)
    if to in store.tables(to.database):
        raise SemanticError(f"Table already exists: {to}", code=10073)
    store.alter_table(table.name, renamed)
    if not moves:
        return
    files = runtime.files(old_home)
    if files.exists(old_home):
        try:
            files.rename(old_home, new_home)
        except BaseException:
            store.alter_table(to, table)
            raise
