"""Locks of DummyTxnManager: shared and exclusive ones on a hierarchy of objects.

Source: the table of operations in Hive's Locking design. A partition's parents (leading partition
columns, table, database) are locked shared with it. Dynamic partitions lock the known prefix,
shared, as Hive does (HIVE-3509) where the design says exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hivesql_planner.locks.lock import ObjectLock
from hivesql_planner.model.table import Partition, Table, TableName, partition_name
from hivesql_planner.older_python import assert_never
from hivesql_planner.relations import Query
from hivesql_planner.statements.alter import ChangeFormat, ChangeSerde
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
    InsertTarget,
    MergeRows,
    SelectRows,
    SessionFiles,
    Statement,
    TruncateTable,
    UpdateRows,
    WriteDirectory,
)
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
from hivesql_planner.statements.functions import DropStoredFunction, StoreFunction

Path = tuple[str, ...]


def object_locks(statement: Statement) -> tuple[ObjectLock, ...]:
    """Tell what a statement locks, parents included, in the order in which it is acquired.

    That order is the same for everybody (by name), so that no two statements wait for each other.
    Of two locks on one object the exclusive one stays.
    """
    modes: dict[Path, bool] = {}
    for path, exclusive in _wanted(statement):
        for length in range(1, len(path)):
            modes.setdefault(path[:length], False)
        modes[path] = modes.get(path, False) or exclusive
    return tuple(ObjectLock(path=path, exclusive=modes[path]) for path in sorted(modes))


def blocks(requested: ObjectLock, acquired: ObjectLock) -> bool:
    """Tell whether two locks on one object cannot be held together."""
    return requested.name == acquired.name and (requested.exclusive or acquired.exclusive)


def _wanted(statement: Statement) -> Iterator[tuple[Path, bool]]:  # noqa: C901 - one flat list
    if isinstance(statement, WITHOUT_LOCKS):
        return
    match statement:
        case SelectRows(query=query) | WriteDirectory(query=query):
            yield from _reads(query)
        case InsertRows(targets=targets):
            for target in targets:
                yield _written(target)
                yield from _reads(target.query)
        case CreateTable(table=table, rows=rows):
            if rows is None:
                yield (table.name.database,), False
            else:
                yield _path(table.name), True
                yield from _reads(rows)
        case CreateView(table=view):
            yield (view.name.database,), False
        case DropTable(name=name, kind=kind):
            if kind != "VIEW":
                yield _path(name), True
        case DropDatabase(name=name):
            yield (name,), True
        case StoreFunction(function=function):
            yield (function.database,), False
        case DropStoredFunction(database=database):
            yield (database,), False
        case TruncateTable(table=table, partitions=partitions):
            yield from _each(table, partitions or (), exclusive=True)
        case (
            # They need DbTxnManager, and have been refused.
            UpdateRows()
            | DeleteRows()
            | MergeRows()
            # Nobody else can use what is not there yet, or what the session alone has.
            | CreateDatabase()
            | SessionFiles()
            | FileSystemShell()
        ):
            return
        case _:
            yield from _altered(statement)


def _altered(statement: DdlStatement) -> Iterator[tuple[Path, bool]]:  # noqa: C901 - one flat list
    match statement:
        case AlterView(view=view, reads=reads):
            yield _path(view.name), True
            yield from ((_path(table.name), False) for table in reads if not table.is_view)
        case AlterTable(table=table, change=change):
            yield _path(table.name), not isinstance(change, ChangeSerde | ChangeFormat)
        case AlterPartitions(table=table, change=change, partitions=partitions):
            exclusive = not isinstance(change, ChangeSerde | ChangeFormat)
            yield from _each(table, partitions, exclusive=exclusive)
        case RenameTable(table=table):
            yield _path(table.name), True
        case (
            AddPartitions(table=table, partitions=partitions)
            | DropPartitions(table=table, partitions=partitions)
        ):
            yield from _each(table, partitions, exclusive=True)
        case (
            RenamePartition(table=table, partition=partition)
            | MovePartition(table=table, partition=partition)
        ):
            yield _path(table.name, _names(table, partition)), True
        case ExchangePartitions(table=table, source=source, partitions=partitions):
            yield from _each(table, partitions, exclusive=True)
            yield from _each(source, partitions, exclusive=True)
        case LoadData(table=table, values=values):
            names = () if values is None else _spec(table.partition_names, values)
            yield _path(table.name, names), True
        case ExportTable(table=table, partitions=partitions):
            yield from _each(table, partitions, exclusive=False)
        case ImportTable(table=table):
            yield _path(table.name), True
        case RepairTable(table=table):
            yield _path(table.name), True
        case Touch(table=table, partition=touched):
            if touched is None:
                yield _path(table.name), False
            else:
                yield _path(table.name, _names(table, touched)), True
        case Analyze(table=table, partitions=partitions):
            yield from _each(table, partitions, exclusive=False)
        case TellStatistics(table=table):
            yield _path(table.name), False
        case AlterDatabase():
            return
        case _:
            assert_never(statement)


def _reads(query: Query) -> Iterator[tuple[Path, bool]]:
    for source in query.sources:
        table = source.scan.table
        if not (table.is_view or table.is_frame):
            yield from _each(table, source.scan.partitions, exclusive=False)


def _written(target: InsertTarget) -> tuple[Path, bool]:
    table = target.table
    static_keys = [key for key in table.partition_names if key in target.static_partition]
    names = _spec(static_keys, [target.static_partition[key] for key in static_keys])
    return _path(table.name, names), not target.dynamic_partition


def _each(
    table: Table, partitions: Iterable[Partition], *, exclusive: bool
) -> Iterator[tuple[Path, bool]]:
    """Yield the partitions, or the table where there are none."""
    some = False
    for partition in partitions:
        some = True
        yield _path(table.name, _names(table, partition)), exclusive
    if not some:
        yield _path(table.name), exclusive


def _path(name: TableName, partition: Iterable[str] = ()) -> Path:
    return (name.database, name.name, *partition)


def _names(table: Table, partition: Partition) -> Path:
    return _spec(table.partition_names, partition.values)


def _spec(keys: Iterable[str], values: Iterable[str | None]) -> Path:
    name = partition_name(tuple(keys), tuple(values))
    return tuple(name.split("/")) if name else ()
