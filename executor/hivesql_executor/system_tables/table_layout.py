"""``sys.hivesql_table_layout``: what lies in the directories of every table and partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hivesql_executor.checks.inspect import RootFacts, inspect_table
from hivesql_executor.runtime import Runtime
from hivesql_planner.acid.layout import DirectoryKind
from hivesql_planner.errors import DataError, NoSuchObject
from hivesql_planner.model.hive_type import STRING
from hivesql_planner.model.table import TEMPORARY, Table, TableName
from hivesql_planner.predicates.predicate import Predicate
from hivesql_planner.predicates.pruning import PartitionPruner
from hivesql_planner.system_tables.definitions import LAYOUT

_TYPES = {"database_name": STRING, "table_name": STRING}


def layout_rows(hints: Sequence[Predicate | None], runtime: Runtime) -> list[Sequence[Any]]:
    """Return one row of each partition; tables that no scan's predicate can want are not listed."""
    pruners = [PartitionPruner(hint, _TYPES) for hint in hints if hint is not None]
    every = len(pruners) < len(hints)
    rows: list[Sequence[Any]] = []
    for name in _names(runtime):
        runtime.check_cancelled()
        values = {"database_name": name.database, "table_name": name.name}
        if every or any(pruner.may_hold(values) for pruner in pruners):
            rows += _rows_of(name, runtime)
    return rows


def _names(runtime: Runtime) -> Iterator[TableName]:
    store = runtime.metastore
    for database in store.databases():
        if not database.startswith(TEMPORARY):
            yield from store.tables(database)


def _rows_of(name: TableName, runtime: Runtime) -> Iterator[Sequence[Any]]:
    try:
        table = _readable(name, runtime)
        if table is None or table.is_view:
            return
        inspection = inspect_table(name, runtime)
    except NoSuchObject:
        # Somebody has dropped it meanwhile.
        return
    for root in inspection.roots:
        read = [directory for directory in root.directories if directory.verdict.is_read]
        yield (
            name.database,
            name.name,
            root.name,
            sum(len(directory.files) for directory in root.directories),
            sum(directory.bytes for directory in root.directories),
            sum(directory.verdict.kind == DirectoryKind.DELTA.value for directory in read),
            sum(directory.deletes for directory in read),
            _share(root),
        )


def _readable(name: TableName, runtime: Runtime) -> Table | None:
    """Return a table; None, which the user is told, where it has a format that is not known."""
    try:
        return runtime.metastore.table(name)
    except DataError as error:
        runtime.notify(f"left out of {LAYOUT}: {error.message}")
        return None


def _share(root: RootFacts) -> float:
    return round(root.delete_share, 6)
