"""Which locks ALTER, LOAD, ANALYZE and MSCK want, as Hive 4's DbTxnManager does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from hivesql_planner.locks.lock import Lock, LockType, Operation, name_of
from hivesql_planner.locks.rules import XW, S, X
from hivesql_planner.model.table import Table
from hivesql_planner.older_python import assert_never
from hivesql_planner.relations import Query
from hivesql_planner.statements.alter import (
    Change,
    ChangeBucketCount,
    ChangeLocation,
    ChangePartitionColumn,
    ChangeProperties,
    ChangeSerde,
    DropConstraint,
)
from hivesql_planner.statements.bound import InsertTarget
from hivesql_planner.statements.ddl import (
    AddPartitions,
    AlterDatabase,
    AlterPartitions,
    AlterTable,
    AlterView,
    Analyze,
    DdlStatement,
    DropPartitions,
    ExchangePartitions,
    LoadData,
    MovePartition,
    RenamePartition,
    RenameTable,
    RepairTable,
    TellStatistics,
    Touch,
)
from hivesql_planner.statements.export import ExportTable, ImportTable

if TYPE_CHECKING:
    from hivesql_planner.locks.table_locks import TableLocks


def locks_of_alteration(statement: DdlStatement, rules: TableLocks) -> Iterator[Lock]:  # noqa: C901 - one flat list
    """Yield the locks of ALTER and of what else changes definitions or files as a whole."""
    match statement:
        case RenameTable(table=table, to=to):
            yield from rules.definition(table, rules.exclusive(table))
            yield Lock(S, to.database, operation=Operation.NO_TXN)
        case AlterTable(table=table, change=change, altered=altered):
            yield from rules.definition(table, _altering(rules, table, altered, change))
        case AlterView(view=view, reads=reads):
            if not reads:
                return
            yield Lock(S, view.name.database, operation=Operation.NO_TXN)
            yield from rules.whole(reads)
        case AddPartitions(table=table, if_not_exists=if_not_exists):
            careful = if_not_exists and table.is_transactional
            yield from rules.ddl(table, XW if careful else S)
        case DropPartitions(table=table, partitions=partitions):
            names = [name_of(table, partition) for partition in partitions]
            yield from rules.ddl(table, rules.exclusive(table), names)
        case RenamePartition(table=table, partition=partition):
            yield from rules.ddl(table, rules.exclusive(table), [name_of(table, partition)])
        case AlterPartitions(table=table, change=change, partitions=partitions):
            names = [name_of(table, partition) for partition in partitions]
            yield from rules.ddl(table, _altering(rules, table, table, change), names)
        case MovePartition(table=table, partition=partition):
            yield from rules.ddl(table, X, [name_of(table, partition)])
        case ExchangePartitions(table=table, source=source):
            yield from rules.ddl(source, S)
            yield from rules.ddl(table, S)
        case Analyze(query=query) if query is not None:
            yield from rules.reads(query)
        case Analyze(table=table) | Touch(table=table):
            yield from rules.whole((table,))
        case TellStatistics(table=table, partitions=partitions):
            units = [name_of(table, partition) for partition in partitions or ()]
            yield from rules.ddl(table, S, units) if units else rules.definition(table, S)
        case LoadData():
            yield from _of_load(statement, rules)
        case ExportTable(table=table, query=query):
            if table.is_full_acid:
                yield Lock(S, table.name.database, operation=Operation.NO_TXN)
            yield from rules.reads(query)
        case ImportTable(table=table, is_new=True):
            yield Lock(S, table.name.database, operation=Operation.NO_TXN)
        case ImportTable(table=table):
            # Hive takes none, and so may lose the table on the way.
            yield from rules.insert(_filling(table))
        case RepairTable(table=table, add=add, drop=drop):
            changes = table.is_transactional and (add or drop)
            yield from rules.ddl(table, rules.exclusive(table) if changes else S)
        case AlterDatabase():
            return
        case _:
            assert_never(statement)


def _altering(rules: TableLocks, table: Table, altered: Table, change: Change) -> LockType:
    match change:
        case ChangeProperties(unset=()):
            converts = (altered.is_transactional, altered.is_full_acid) != (
                table.is_transactional, table.is_full_acid,
            )  # fmt: skip
            return X if converts else S
        case ChangeSerde(serde=None, unset=()):
            return S
        case DropConstraint():
            return XW
        case ChangeLocation() | ChangeBucketCount() | ChangePartitionColumn():
            return X
    return rules.exclusive(table)


def _of_load(load: LoadData, rules: TableLocks) -> Iterator[Lock]:
    for lock in rules.insert(_loading(load)):
        yield replace(lock, type=XW) if load.if_not_exists else lock


def _loading(load: LoadData) -> InsertTarget:
    """Return the INSERT that locks as LOAD does: a partition that is new locks the table."""
    table = load.table
    exists = load.partition is not None
    return InsertTarget(
        table=table,
        query=Query(sql=""),
        overwrite=load.overwrite,
        static_partition=dict(zip(table.partition_names, load.values or (), strict=False)),
        dynamic_partition=() if exists else table.partition_names,
    )


def _filling(table: Table) -> InsertTarget:
    """Return the INSERT that locks as IMPORT does, whose partitions are all new."""
    return InsertTarget(table=table, query=Query(sql=""), dynamic_partition=table.partition_names)
