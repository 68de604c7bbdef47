"""Which locks a statement wants, as Hive 4's DbTxnManager does."""

from __future__ import annotations

from collections.abc import Iterator

from hivesql_planner.locks.lock import Lock, Operation
from hivesql_planner.locks.rules import S, X
from hivesql_planner.locks.table_locks import TableLocks
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import (
    WITHOUT_LOCKS,
    CreateDatabase,
    CreateTable,
    CreateView,
    DeleteRows,
    DropDatabase,
    DropTable,
    FileSystemShell,
    InsertRows,
    MergeRows,
    SelectRows,
    SessionFiles,
    Statement,
    TruncateTable,
    UpdateRows,
    WriteDirectory,
)
from hivesql_planner.statements.functions import DropStoredFunction, StoreFunction

# The database that Hive pretends the locks of hive.query.exclusive.lock belong to.
GLOBAL_LOCKS = "__global_locks"


def locks_of(statement: Statement, settings: Settings) -> tuple[Lock, ...]:
    """Return the components a statement requests, before merging: each of them once, as in Hive."""
    return tuple(dict.fromkeys(_locks(statement, TableLocks(settings))))


def locks_on_names(names: str) -> Iterator[Lock]:
    """Exclusive locks on names of no table, separated by commas (hive.query.exclusive.lock)."""
    for name in filter(None, (part.strip().lower() for part in names.split(","))):
        yield Lock(X, GLOBAL_LOCKS, name, operation=Operation.NO_TXN)


def _locks(statement: Statement, rules: TableLocks) -> Iterator[Lock]:  # noqa: C901 - one flat list
    if isinstance(statement, WITHOUT_LOCKS):
        return
    match statement:
        case SelectRows(query=query) | WriteDirectory(query=query):
            yield from rules.reads(query)
        case InsertRows(targets=targets):
            for target in targets:
                yield from rules.insert(target)
                yield from rules.reads(target.query)
        case UpdateRows(target=scan, subqueries=subqueries):
            yield from rules.change(scan, Operation.UPDATE, inserts=True)
            yield from rules.scans(source.scan for source in subqueries)
        case DeleteRows(target=scan, subqueries=subqueries):
            yield from rules.change(scan, Operation.DELETE, inserts=False)
            yield from rules.scans(source.scan for source in subqueries)
        case MergeRows():
            yield from rules.merge_rows(statement)
        case CreateTable(table=table, rows=rows):
            yield Lock(S, table.name.database, operation=Operation.NO_TXN)
            if rows is not None:
                yield from rules.create_as(table)
                yield from rules.reads(rows)
        case CreateView(table=view, reads=reads):
            yield Lock(S, view.name.database, operation=Operation.NO_TXN)
            yield from rules.whole(reads)
        case DropTable(name=name, kind=kind, table=dropped):
            if kind == "VIEW":
                return
            yield Lock(S, name.database, operation=Operation.NO_TXN)
            if dropped is not None:
                yield from rules.definition(dropped, X)
        case DropDatabase():
            yield from rules.drop_database(statement)
        case StoreFunction(function=function):
            yield Lock(S, function.database, operation=Operation.NO_TXN)
        case DropStoredFunction(database=database):
            yield Lock(S, database, operation=Operation.NO_TXN)
        case TruncateTable(table=table, partitions=partitions):
            yield from rules.truncate(table, partitions)
        case CreateDatabase() | SessionFiles() | FileSystemShell():
            return
        case _:
            # Imported late: changes of definitions have many classes.
            from hivesql_planner.locks.alterations import locks_of_alteration

            yield from locks_of_alteration(statement, rules)
