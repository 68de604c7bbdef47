"""Plans of the statements that take locks or run under a transaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from hivesql_planner.acid.row_id import MAX_BUCKET
from hivesql_planner.definitions.steps import Definition
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.locks.lock import Lock, Operation
from hivesql_planner.locks.requested import locks_of, locks_on_names
from hivesql_planner.locks.rules import merge
from hivesql_planner.model.partition_values import default_partition
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.multi_statement import writes_of
from hivesql_planner.plan import Body, Change, Command, Insert, Plan, Select, Target, WriteKind
from hivesql_planner.relations import Query, Scan
from hivesql_planner.rewrite.change import (
    change_targets,
    rewrite_delete,
    rewrite_merge,
    rewrite_update,
)
from hivesql_planner.rewrite.insert import insert_targets, rewrite_create_as, rewrite_insert
from hivesql_planner.settings.settings import Settings
from hivesql_planner.settings.transaction_keys import DB_TXN_MANAGER, DUMMY_TXN_MANAGER
from hivesql_planner.statements.bound import (
    WITHOUT_LOCKS,
    CreateTable,
    DeleteRows,
    InsertRows,
    MergeRows,
    SelectRows,
    Statement,
    TruncateTable,
    UpdateRows,
    WriteDirectory,
)
from hivesql_planner.statements.export import ExportTable, ImportTable
from hivesql_planner.statements.unions import refuse_written_unions

if TYPE_CHECKING:
    from hivesql_planner.definitions.bound_tables import BoundTable


def plan_with_locks(statement: Statement, settings: Settings) -> Plan:
    """Return the plan of a statement: locks, scans, writes and their statement ids."""
    refuse_written_unions(statement)
    body = _body(statement, settings)
    for write in writes_of(body):
        if write.kind is not WriteKind.DELETE_DELTA:
            require_bucket_numbers(write.table)
    if isinstance(body, (Insert, Change, Select)):
        from hivesql_planner.local.decide import with_small_ways

        body = with_small_ways(body, settings)
    targets = _targets(statement, body)
    if settings.text("hive.txn.manager") == DUMMY_TXN_MANAGER:
        return _without_transactions(statement, body, targets, settings)
    locks = merge(choose_locks(statement, settings))
    if targets and not settings.flag("hive.support.concurrency"):
        raise SemanticError(
            "a transactional table cannot be written without locks: "
            "set hive.support.concurrency=true",
            code=10264,
        )
    reads = _reads(body)
    # Whose heartbeats stop has died, and what it did to files can be undone.
    writes_files = isinstance(body, Insert) or isinstance(statement, _WRITE_FILES)
    return Plan(
        body=body,
        locks=locks,
        targets=targets,
        reads=reads,
        opens_txn=bool(targets or reads or locks or writes_files),
        read_only=isinstance(body, Select) and settings.flag("hive.txn.readonly.enabled"),
        zero_wait_reads=not (
            settings.flag("hive.txn.xlock.iow") and settings.flag("hive.txn.xlock.write")
        ),
        exclusive_create=isinstance(body, Insert)
        and body.create is not None
        and settings.flag("hive.txn.xlock.ctas"),
        bound=_bound(statement, body),
        operation=_operation(statement) if targets else "",
    )


_WRITE_FILES = (WriteDirectory, ExportTable, ImportTable)
_OPERATIONS = {
    "UpdateRows": "UPDATE", "DeleteRows": "DELETE", "TruncateTable": "TRUNCATE",
    "LoadData": "LOAD", "ImportTable": "IMPORT", "CreateTable": "CREATE TABLE AS SELECT",
}  # fmt: skip


def _operation(statement: Statement) -> str:
    """Return what the history of a table calls a statement that writes to it."""
    match statement:
        case InsertRows(targets=targets):
            (first, *_) = targets
            if first.rebuilds or first.concatenates:
                return "REBUILD" if first.rebuilds else "CONCATENATE"
            if first.restores is not None:
                return "RESTORE"
            return "INSERT OVERWRITE" if any(into.overwrite for into in targets) else "INSERT"
        case MergeRows(operation=operation):
            return operation
    name = type(statement).__name__
    return _OPERATIONS.get(name, name)


def _bound(statement: Statement, body: Body) -> tuple[BoundTable, ...]:
    if not isinstance(body, Definition | Command):
        return ()
    from hivesql_planner.definitions.bound_tables import bound_tables

    return tuple(bound_tables(statement))


def _without_transactions(
    statement: Statement, body: Body, targets: tuple[Target, ...], settings: Settings
) -> Plan:
    """Return a plan under DummyTxnManager: no ACID tables, and locks on objects."""
    if isinstance(body, Change):
        raise SemanticError(
            "UPDATE, DELETE and MERGE need a transaction manager that supports them: "
            f"set hive.txn.manager={DB_TXN_MANAGER}",
            code=10294,
        )
    acid = (*_reads(body), *(target.table for target in targets))
    if acid:
        raise SemanticError(
            f"the transactional table {acid[0]} cannot be used under DummyTxnManager: "
            f"set hive.txn.manager={DB_TXN_MANAGER}",
            code=10265,
        )
    from hivesql_planner.locks.object_locks import object_locks

    locked = object_locks(statement) if _takes_locks(body, settings) else ()
    return Plan(body=body, object_locks=locked, opens_txn=False)


def _takes_locks(body: Body, settings: Settings) -> bool:
    only_jobs = settings.flag("hive.lock.mapred.only.operation")
    return settings.flag("hive.support.concurrency") and not (
        only_jobs and isinstance(body, Definition | Command)
    )


def choose_locks(statement: Statement, settings: Settings) -> tuple[Lock, ...]:
    """List what is asked for, before requests for one object are merged (EXPLAIN LOCKS)."""
    if isinstance(statement, WITHOUT_LOCKS) or not _takes_locks(
        _body(statement, settings), settings
    ):
        return ()
    named = locks_on_names(settings.text("hive.query.exclusive.lock"))
    return (*locks_of(statement, settings), *named)


def require_bucket_numbers(table: Table) -> None:
    """NotSupported where row ids cannot tell the buckets of a table: theirs has twelve bits."""
    if table.is_full_acid and table.is_bucketed and table.bucket_count > MAX_BUCKET + 1:
        raise NotSupported(
            f"writing to {table.name}, which has {table.bucket_count} buckets: the rows of a "
            f"transactional table know their bucket by a number up to {MAX_BUCKET}"
        )


def _body(statement: Statement, settings: Settings) -> Body:
    match statement:
        case SelectRows(query=query):
            return Select(query=query)
        case InsertRows():
            return rewrite_insert(statement)
        case UpdateRows():
            return replace(rewrite_update(statement), default_partition=default_partition(settings))
        case DeleteRows():
            return rewrite_delete(statement)
        case MergeRows():
            merged = rewrite_merge(statement, settings)
            return replace(merged, default_partition=default_partition(settings))
        case CreateTable(rows=rows) if rows is not None:
            return rewrite_create_as(statement, rows)
        case _:
            from hivesql_planner.definitions.plan_definition import plan_definition

            return plan_definition(statement) or Command(statement=statement)


def _targets(statement: Statement, body: Body) -> tuple[Target, ...]:
    match statement, body:
        case InsertRows(), _:
            return insert_targets(statement)
        case _, Change():
            return change_targets(body)
        case CreateTable(table=table), Insert() if table.is_transactional:
            return (Target(table=table.name, operation=Operation.INSERT),)
        case TruncateTable(table=table), _ if table.is_transactional:
            return (Target(table=table.name, operation=Operation.UPDATE),)
        case _, Command():
            return _load_targets(statement)
        case _:
            return ()


def _load_targets(statement: Statement) -> tuple[Target, ...]:
    from hivesql_planner.statements.ddl import LoadData

    if not isinstance(statement, LoadData | ImportTable) or not statement.table.is_transactional:
        return ()
    overwrites = isinstance(statement, LoadData) and statement.overwrite
    operation = Operation.UPDATE if overwrites else Operation.INSERT
    return (Target(table=statement.table.name, operation=operation),)


def _reads(body: Body) -> tuple[TableName, ...]:
    """Return the transactional tables that are read, each once, in order of appearance."""
    names = (scan.table.name for scan in scans(body) if scan.table.is_transactional)
    return tuple(dict.fromkeys(names))


def scans(body: Body) -> Iterable[Scan]:
    """Every scan of a plan."""
    match body:
        case Select(query=query):
            yield from _query_scans(query)
        case Insert(branches=branches):
            for branch in branches:
                yield from _query_scans(branch.query)
        case Change(target=target, source=source, queries=queries):
            yield target
            if source:
                yield from _query_scans(source)
            for other in queries:
                yield other.scan
        case Command(statement=WriteDirectory(query=query) | ExportTable(query=query)):
            yield from _query_scans(query)
        case Command(statement=statement):
            from hivesql_planner.statements.ddl import Analyze

            if isinstance(statement, Analyze) and statement.query:
                yield from _query_scans(statement.query)


def _query_scans(query: Query) -> Iterable[Scan]:
    for source in query.sources:
        yield source.scan
