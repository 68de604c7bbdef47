"""Which locks a statement wants, as Hive 4's DbTxnManager does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from hivesql_planner.alter import (
    Change,
    ChangeBucketCount,
    ChangeLocation,
    ChangePartitionColumn,
    ChangeProperties,
    ChangeSerde,
    DropConstraint,
)
from hivesql_planner.ddl import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    AlterView,
    Analyze,
    DropPartitions,
    ExchangePartitions,
    LoadData,
    MovePartition,
    RenamePartition,
    RenameTable,
    RepairTable,
)
from hivesql_planner.locks import SW, XW, S, X
from hivesql_planner.plan import Lock, LockType, Operation, Query, Scan
from hivesql_planner.settings import Settings
from hivesql_planner.statements import (
    CreateTable,
    CreateView,
    DeleteRows,
    DropDatabase,
    DropTable,
    InsertRows,
    InsertTarget,
    MergeRows,
    SelectRows,
    Statement,
    TruncateTable,
    UpdateRows,
    WriteDirectory,
)
from hivesql_planner.table import Partition, Table, partition_name

# The database that Hive pretends the locks of hive.query.exclusive.lock belong to.
GLOBAL_LOCKS = "__global_locks"


def wanted(statement: Statement, settings: Settings) -> tuple[Lock, ...]:
    """The components a statement requests, before merging."""
    return tuple(_Wanted(settings).of(statement))


def named(names: str) -> Iterator[Lock]:
    """Exclusive locks on names of no table, separated by commas (hive.query.exclusive.lock)."""
    for name in filter(None, (part.strip().lower() for part in names.split(","))):
        yield Lock(X, GLOBAL_LOCKS, name, operation=Operation.NO_TXN)


class _Wanted:
    """The rules, under one set of settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.exclusive_write = settings.flag("hive.txn.xlock.write")
        self.lockless_reads = settings.flag("hive.acid.lockless.reads.enabled")

    def of(self, statement: Statement) -> Iterator[Lock]:  # noqa: C901 - one flat list
        match statement:
            case SelectRows(query=query):
                yield from self.reads(query)
            case InsertRows(targets=targets):
                for target in targets:
                    yield from self.insert(target)
                    yield from self.reads(target.query)
            case UpdateRows(target=scan, subqueries=subqueries):
                yield from self.change(scan, Operation.UPDATE, inserts=True)
                yield from self.scans(source.scan for source in subqueries)
            case DeleteRows(target=scan, subqueries=subqueries):
                yield from self.change(scan, Operation.DELETE, inserts=False)
                yield from self.scans(source.scan for source in subqueries)
            case MergeRows():
                yield from self.merge_rows(statement)
            case CreateTable(table=table, rows=rows):
                yield Lock(S, table.name.database, operation=Operation.NO_TXN)
                if rows is not None:
                    yield from self.create_as(table)
                    yield from self.reads(rows)
            case CreateView(table=view):
                yield Lock(S, view.name.database, operation=Operation.NO_TXN)
            case DropTable(name=name, view=False):
                yield Lock(S, name.database, operation=Operation.NO_TXN)
                yield Lock(X, name.database, name.name, operation=Operation.NO_TXN)
            case DropDatabase():
                yield from self.drop_database(statement)
            case TruncateTable(table=table, partitions=partitions):
                yield from self.truncate(table, partitions)
            case _:
                yield from self.altered(statement)

    def altered(self, statement: Statement) -> Iterator[Lock]:  # noqa: C901 - one flat list
        match statement:
            case RenameTable(table=table, to=to):
                yield from self.ddl(table, self.exclusive(table))
                yield Lock(S, to.database, operation=Operation.NO_TXN)
            case AlterTable(table=table, change=change, altered=altered):
                yield from self.ddl(table, self.altering(table, altered, change))
            case AlterView(view=view, reads=reads) if reads:
                yield Lock(S, view.name.database, operation=Operation.NO_TXN)
                for table in reads:
                    if self.reads_lock(table):
                        yield _on(table, S, None, Operation.SELECT)
            case AddPartitions(table=table, if_not_exists=if_not_exists):
                careful = if_not_exists and table.is_transactional
                yield from self.ddl(table, XW if careful else S)
            case DropPartitions(table=table, partitions=partitions):
                names = [_name(table, partition) for partition in partitions]
                yield from self.ddl(table, self.exclusive(table), names)
            case RenamePartition(table=table, partition=partition):
                yield from self.ddl(table, self.exclusive(table), [_name(table, partition)])
            case AlterPartitions(table=table, change=change, partitions=partitions):
                names = [_name(table, partition) for partition in partitions]
                yield from self.ddl(table, self.altering(table, table, change), names)
            case MovePartition(table=table, partition=partition):
                yield from self.ddl(table, X, [_name(table, partition)])
            case ExchangePartitions(table=table, source=source):
                yield from self.ddl(source, S)
                yield from self.ddl(table, S)
            case Analyze(query=query) | WriteDirectory(query=query) if query is not None:
                yield from self.reads(query)
            case LoadData(table=table):
                yield from self.insert(_loading(statement))
            case RepairTable(table=table):
                yield from self.ddl(table, self.exclusive(table) if table.is_transactional else S)

    def reads(self, query: Query) -> Iterator[Lock]:
        yield from self.scans(source.scan for source in query.sources)

    def scans(self, scans: Iterable[Scan]) -> Iterator[Lock]:
        for scan in scans:
            if self.reads_lock(scan.table):
                for name in self.units(scan):
                    yield _on(scan.table, S, name, Operation.SELECT)

    def reads_lock(self, table: Table) -> bool:
        flag = self.settings.flag
        if not flag("hive.txn.read.locks") or not self.lockable(table):
            return False
        if table.is_transactional:
            return not self.lockless_reads
        return flag("hive.txn.nonacid.read.locks")

    def lockable(self, table: Table) -> bool:
        if table.is_view or table.is_frame:
            return False
        external = table.type == "EXTERNAL_TABLE"
        return not external or self.settings.flag("hive.txn.ext.locking.enabled")

    def ddl(
        self, table: Table, kind: LockType, units: Iterable[str | None] = (None,)
    ) -> Iterator[Lock]:
        if self.lockable(table):
            yield from (_on(table, kind, unit) for unit in units)

    def exclusive(self, table: Table) -> LockType:
        """What keeps everybody out; readers that take no locks need not wait for it either."""
        return XW if table.is_transactional and self.lockless_reads else X

    def altering(self, table: Table, altered: Table, change: Change) -> LockType:
        match change:
            case ChangeProperties(unset=()):
                converts = altered.is_transactional and not table.is_transactional
                return X if converts else S
            case ChangeSerde(serde=None, unset=()):
                return S
            case DropConstraint():
                return XW
            case ChangeLocation() | ChangeBucketCount() | ChangePartitionColumn():
                return X
        return self.exclusive(table)

    def units(self, scan: Scan) -> list[str | None]:
        """Partitions read, or None for the whole table."""
        names: list[str | None] = [_name(scan.table, p) for p in scan.partitions]
        limit = self.settings.integer("hive.locks.max.partitions")
        if not names or 0 < limit <= len(names):
            return [None]
        return names

    def insert(self, target: InsertTarget) -> Iterator[Lock]:
        table = target.table
        if not self.lockable(table):
            return
        unit = None
        if table.partition_columns and not target.dynamic_partition:
            values = [target.static_partition.get(key) for key in table.partition_names]
            unit = partition_name(table.partition_names, values)
        dynamic = bool(target.dynamic_partition)
        if not table.is_transactional:
            strict = self.settings.flag("hive.txn.strict.locking.mode")
            kind = X if target.overwrite or strict else S
            yield _on(table, kind, unit, Operation.NO_TXN, dynamic=dynamic)
        elif target.overwrite:
            exclusive = self.exclusive_write and self.settings.flag("hive.txn.xlock.iow")
            kind = self.exclusive(table) if exclusive else XW
            yield _on(table, kind, unit, Operation.UPDATE, dynamic=dynamic)
        else:
            yield replace(self.inserting(table), partition=unit, dynamic_partition=dynamic)

    def change(self, scan: Scan, operation: Operation, *, inserts: bool) -> Iterator[Lock]:
        kind = XW if self.exclusive_write else SW
        partitioned = bool(scan.table.partition_columns)
        for name in self.units(scan):
            yield _on(scan.table, kind, name, operation, dynamic=partitioned)
        if inserts and partitioned and scan.partitions:
            yield self.inserting(scan.table)

    def inserting(self, table: Table) -> Lock:
        kind = S if self.exclusive_write and not self.lockless_reads else SW
        dynamic = bool(table.partition_columns)
        return _on(table, kind, None, Operation.INSERT, dynamic=dynamic)

    def merge_rows(self, merge: MergeRows) -> Iterator[Lock]:
        kinds = {clause.kind for clause in merge.clauses}
        if kinds != {"insert"}:
            operation = Operation.UPDATE if "update" in kinds else Operation.DELETE
            yield from self.change(merge.target, operation, inserts="update" in kinds)
        if "insert" in kinds:
            lock = self.inserting(merge.target.table)
            if self.settings.flag("hive.txn.xlock.mergeinsert"):
                kind = XW if self.exclusive_write else SW
                lock = replace(lock, type=kind, operation=Operation.UPDATE)
            yield lock
        yield from self.reads(merge.source)
        yield from self.scans(source.scan for source in merge.subqueries)

    def create_as(self, table: Table) -> Iterator[Lock]:
        if not self.lockable(table) or not self.settings.flag("hive.txn.xlock.ctas"):
            return
        if table.is_transactional:
            yield _on(table, XW, None, Operation.INSERT)
        else:
            yield _on(table, X)

    def drop_database(self, drop: DropDatabase) -> Iterator[Lock]:
        """Readers without locks keep softly dropped tables: only the others are locked for them."""
        managed = [table for table in drop.tables if self.lockable(table)]
        if not self.lockless_reads or all(table.is_dropped_softly for table in managed):
            kind = XW if self.lockless_reads else X
            yield Lock(kind, drop.name, operation=Operation.NO_TXN)
            return
        yield Lock(S, drop.name, operation=Operation.NO_TXN)
        for table in managed:
            yield _on(table, XW if table.is_dropped_softly else X)

    def truncate(self, table: Table, partitions: tuple[Partition, ...] | None) -> Iterator[Lock]:
        if not self.lockable(table):
            return
        usebase = table.is_transactional and self.settings.flag("hive.acid.truncate.usebase")
        kind = XW if usebase else self.exclusive(table)
        units: list[str | None] = [_name(table, p) for p in partitions or ()]
        for unit in units or [None]:
            operation = Operation.UPDATE if table.is_transactional else Operation.NO_TXN
            yield _on(table, kind, unit, operation)


def _loading(load: LoadData) -> InsertTarget:
    """The INSERT that locks as LOAD does: a partition that is new locks the table."""
    table = load.table
    known = load.partition is not None
    return InsertTarget(
        table=table,
        query=Query(sql=""),
        overwrite=load.overwrite,
        static_partition=dict(zip(table.partition_names, load.values or (), strict=False)),
        dynamic_partition=() if known else table.partition_names,
    )


def _on(
    table: Table,
    kind: LockType,
    partition: str | None = None,
    operation: Operation = Operation.NO_TXN,
    *,
    dynamic: bool = False,
) -> Lock:
    return Lock(kind, table.name.database, table.name.name, partition, operation, dynamic)


def _name(table: Table, partition: Partition) -> str:
    return partition_name(table.partition_names, partition.values)
