"""What tables, partitions and scans are locked with, under one set of settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from hivesql_planner.locks.lock import Lock, LockType, Operation, name_of, on_table
from hivesql_planner.locks.rules import SW, XW, S, X
from hivesql_planner.model.table import Partition, Table, TableName, partition_name
from hivesql_planner.relations import Query, Scan
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import (
    DropDatabase,
    InsertTarget,
    MergeRows,
)


def units_of(scan: Scan) -> list[str | None]:
    """List the partitions that are read, or None for the whole table."""
    return [name_of(scan.table, partition) for partition in scan.partitions] or [None]


class TableLocks:
    """The locks that statements take on tables, under one set of settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.exclusive_write = settings.flag("hive.txn.xlock.write")
        self.lockless_reads = settings.flag("hive.acid.lockless.reads.enabled")

    def reads(self, query: Query) -> Iterator[Lock]:
        yield from self.scans(source.scan for source in query.sources)

    def scans(self, scans: Iterable[Scan]) -> Iterator[Lock]:
        """Yield those of reads; of a table itself where a query reads too many partitions of it."""
        units = [(scan.table, units_of(scan)) for scan in scans if self.reads_lock(scan.table)]
        of_query: dict[TableName, set[str | None]] = {}
        for table, names in units:
            of_query.setdefault(table.name, set()).update(names)
        limit = self.settings.integer("hive.locks.max.partitions")
        for table, names in units:
            for name in [None] if 0 < limit <= len(of_query[table.name]) else names:
                yield on_table(table, S, name, Operation.SELECT)

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
            yield from (on_table(table, kind, unit) for unit in units)

    def definition(self, table: Table, kind: LockType) -> Iterator[Lock]:
        """Yield those of a change of the table itself, whose definition Hive reads as well."""
        yield from self.ddl(table, kind)
        yield from self.whole((table,))

    def whole(self, tables: Iterable[Table]) -> Iterator[Lock]:
        """Yield those of who reads definitions, or all that there is."""
        for table in tables:
            if self.reads_lock(table):
                yield on_table(table, S, None, Operation.SELECT)

    def exclusive(self, table: Table) -> LockType:
        """Tell what keeps everybody out; readers that take no locks need not wait for it either."""
        return XW if table.is_transactional and self.lockless_reads else X

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
            yield on_table(table, kind, unit, Operation.NO_TXN, dynamic=dynamic)
        elif target.overwrite:
            exclusive = self.exclusive_write and self.settings.flag("hive.txn.xlock.iow")
            kind = self.exclusive(table) if exclusive else XW
            yield on_table(table, kind, unit, Operation.UPDATE, dynamic=dynamic)
        else:
            yield replace(self.inserting(table), partition=unit, dynamic_partition=dynamic)

    def change(self, scan: Scan, operation: Operation, *, inserts: bool) -> Iterator[Lock]:
        kind = XW if self.exclusive_write else SW
        partitioned = bool(scan.table.partition_columns)
        names = units_of(scan)
        for name in names:
            yield on_table(scan.table, kind, name, operation, dynamic=partitioned)
        if inserts:
            yield self.inserting(scan.table)
        if partitioned and scan.partitions and self.reads_lock(scan.table):
            # As many as they are: Hive heeds hive.locks.max.partitions in queries alone.
            for name in names:
                yield on_table(scan.table, S, name, Operation.SELECT)

    def inserting(self, table: Table) -> Lock:
        kind = S if self.exclusive_write and not self.lockless_reads else SW
        dynamic = bool(table.partition_columns)
        return on_table(table, kind, None, Operation.INSERT, dynamic=dynamic)

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
        if not self.settings.flag("hive.txn.xlock.ctas"):
            return
        if table.is_transactional:
            yield on_table(table, XW, None, Operation.INSERT)
        else:
            yield on_table(table, X)

    def drop_database(self, drop: DropDatabase) -> Iterator[Lock]:
        """Readers without locks keep softly dropped tables: only the others are locked for them."""
        managed = [table for table in drop.tables if self.lockable(table)]
        if not self.lockless_reads or all(table.is_dropped_softly for table in managed):
            kind = XW if self.lockless_reads else X
            yield Lock(kind, drop.name, operation=Operation.NO_TXN)
            yield Lock(S, drop.name, operation=Operation.SELECT)
            return
        yield Lock(S, drop.name, operation=Operation.NO_TXN)
        for table in managed:
            yield on_table(table, XW if table.is_dropped_softly else X)

    def truncate(self, table: Table, partitions: tuple[Partition, ...] | None) -> Iterator[Lock]:
        if not self.lockable(table):
            return
        usebase = table.is_transactional and self.settings.flag("hive.acid.truncate.usebase")
        kind = XW if usebase else self.exclusive(table)
        units: list[str | None] = [name_of(table, p) for p in partitions or ()]
        for unit in units or [None]:
            operation = Operation.UPDATE if table.is_transactional else Operation.NO_TXN
            yield on_table(table, kind, unit, operation)
