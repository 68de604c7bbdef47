"""Decide the steps of statements that change definitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hivesql_planner.acid.write_ids import CONVERTED_NEXT_WRITE_ID
from hivesql_planner.definitions.steps import (
    AddEntry,
    AdoptFiles,
    AlterEntry,
    Definition,
    DropEntry,
    EmptyTable,
    FollowDirectories,
    HandOver,
    MakeDirectory,
    MoveDirectory,
    NewTable,
    Partitions,
    RemoveDirectory,
    RemoveIfEmpty,
    ReserveWriteIds,
    Step,
    StoreStatistics,
)
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.functions import StoredFunction
from hivesql_planner.model.table import partition_name
from hivesql_planner.statements import ddl
from hivesql_planner.statements.alter import ChangeLocation
from hivesql_planner.statements.bound import (
    CreateDatabase,
    CreateTable,
    CreateView,
    DropDatabase,
    DropKind,
    DropTable,
    Statement,
    TruncateTable,
)
from hivesql_planner.statements.export import ExportTable, ImportTable
from hivesql_planner.statements.functions import DropStoredFunction, StoreFunction

_KINDS: dict[str, DropKind] = {
    "VIRTUAL_VIEW": "VIEW", "MATERIALIZED_VIEW": "MATERIALIZED VIEW",
}  # fmt: skip
"""What DROP calls what is no plain table."""


def plan_definition(  # noqa: C901 - one flat list of statements
    statement: Statement,
) -> Definition | None:
    """Return what a statement does to definitions; None for one that changes none."""
    match statement:
        case CreateDatabase():
            return Definition(steps=tuple(_create_database(statement)))
        case DropDatabase():
            return Definition(steps=drop_database(statement))
        case CreateTable(exists=True):
            return Definition()
        case CreateTable():
            new = NewTable(
                table=statement.table, home=statement.home,
                if_not_exists=statement.if_not_exists, like_file=statement.like_file,
            )  # fmt: skip
            return _definition(new)
        case CreateView(table=view, known=None):
            new_view = AddEntry(
                entry=view, if_not_exists=statement.if_not_exists, or_replace=statement.or_replace
            )
            return _definition(new_view)
        case CreateView(table=view, known=existing, or_replace=True) if existing is not None:
            return _definition(AlterEntry(before=existing, after=view))
        case CreateView(table=view, if_not_exists=if_not_exists):
            if if_not_exists:
                return Definition()
            raise SemanticError(f"Table already exists: {view.name}", code=10073)
        case DropTable():
            return _drop_table(statement)
        case StoreFunction(function=function):
            return _definition(AddEntry(entry=function))
        case DropStoredFunction(database=database, name=name):
            return _definition(
                DropEntry(entry=StoredFunction(database=database, name=name, java_class=""))
            )
        case TruncateTable(table=table, partitions=partitions):
            return _definition(EmptyTable(table=table, partitions=partitions))
        case ddl.RepairTable(table=table, add=add, drop=drop, where=where):
            return _definition(FollowDirectories(table=table, add=add, drop=drop, where=where))
        case ddl.LoadData() | ddl.Analyze() | ExportTable() | ImportTable():
            return None
        case _ if isinstance(statement, ddl.DdlStatement):
            return Definition(steps=tuple(_alter(statement)))
    return None


def _definition(step: Step) -> Definition:
    return Definition(steps=(step,))


def _create_database(statement: CreateDatabase) -> Iterator[Step]:
    if statement.exists and statement.if_not_exists:
        return
    database = statement.database
    if statement.home:
        yield MakeDirectory(path=statement.home, base="" if database.location else None)
    if database.managed_location:
        yield MakeDirectory(path=database.managed_location, base="")
    yield AddEntry(entry=database, if_not_exists=statement.if_not_exists)


def drop_database(statement: DropDatabase) -> tuple[Step, ...]:
    """Return the steps of DROP DATABASE; none where there is none."""
    return tuple(_drop_database(statement))


def _drop_database(statement: DropDatabase) -> Iterator[Step]:
    database = statement.database
    if database is None:
        return
    if database.name == "default":
        raise SemanticError("Can not drop default database", code=40000)
    tables = statement.tables if statement.cascade else ()
    for table in tables:
        if table.owns_files:
            yield RemoveDirectory(path=table.location, table=table, with_database=True)
    if database.location:
        yield RemoveIfEmpty(path=database.location)
    # Tables that materialized views were made from cannot go before these.
    for table in sorted(tables, key=lambda candidate: not candidate.is_materialized_view):
        yield DropEntry(entry=table)
    yield DropEntry(entry=database, is_whole=statement.cascade)


def _drop_table(statement: DropTable) -> Definition:
    table = statement.table
    if table is None:
        return Definition(notice=f"there is no {statement.name}: nothing was dropped")
    kind = _KINDS.get(table.type, "TABLE")
    if kind != statement.kind:
        if statement.if_exists:
            # As in Hive: there is no view (or table) of that name, and that is no error.
            return Definition()
        what = "base table" if kind == "TABLE" else kind.lower()
        raise SemanticError(
            f"Cannot drop a {what} with DROP {statement.kind}: {statement.name}", code=40000
        )
    files = (RemoveDirectory(path=table.location, table=table),) if table.owns_files else ()
    return Definition(steps=(*files, DropEntry(entry=table)))


def _alter(statement: ddl.DdlStatement) -> Iterator[Step]:  # noqa: C901 - one flat list
    match statement:
        case ddl.AlterTable(table=table, altered=altered, change=change, cascade=cascade):
            if altered.is_full_acid and not table.is_transactional:
                yield ReserveWriteIds(table=altered, next_write_id=CONVERTED_NEXT_WRITE_ID)
            elif altered.is_insert_only and not table.is_transactional:
                yield AdoptFiles(table=altered)
            place = change.location if isinstance(change, ChangeLocation) else ""
            yield AlterEntry(before=table, after=altered, cascade=cascade, to_location=place)
        case ddl.AlterView(view=view, altered=altered):
            yield AlterEntry(before=view, after=altered)
        case ddl.AlterDatabase(database=database, altered=changed):
            yield AlterEntry(before=database, after=changed)
        case ddl.RenameTable():
            yield from _rename_table(statement)
        case ddl.AddPartitions():
            yield from _add_partitions(statement)
        case ddl.DropPartitions():
            yield from _drop_partitions(statement)
        case ddl.RenamePartition():
            yield from _rename_partition(statement)
        case ddl.MovePartition(table=table, partition=partition, location=location):
            entry = Partitions(table=table, partitions=(partition,))
            yield AlterEntry(before=entry, after=entry, to_location=location)
        case ddl.AlterPartitions(table=table, partitions=partitions, altered=after):
            yield AlterEntry(
                before=Partitions(table=table, partitions=partitions),
                after=Partitions(table=table, partitions=after),
            )
        case ddl.ExchangePartitions():
            yield from _exchange(statement)
        case ddl.TellStatistics(table=table, partitions=described):
            yield StoreStatistics(
                table=table, partitions=described, column=statement.column, basics=statement.basics
            )


def _rename_table(statement: ddl.RenameTable) -> Iterator[Step]:
    """Rename in the catalog; the directory moves only when it has the default name."""
    table, to = statement.table, statement.to
    if to == table.name:
        return
    moves = table.type == "MANAGED_TABLE" and table.location == statement.home
    if moves:
        yield MoveDirectory(source=statement.home, target=statement.to_home, free_for=to)
    location = statement.to_home if moves else table.location
    yield AlterEntry(before=table, after=replace(table, name=to, location=location))


def _add_partitions(statement: ddl.AddPartitions) -> Iterator[Step]:
    """Add partitions; nothing is done for those that are there, as in Hive."""
    table, existing = statement.table, {partition.values for partition in statement.known}
    partitions = tuple(
        partition for partition in statement.partitions if partition.values not in existing
    )
    if not partitions:
        return
    if not table.is_view:
        # The names of a view's partitions are names alone: nothing lies anywhere.
        for partition in partitions:
            if partition.location:
                # A relative one is below the table, as in Hive.
                yield MakeDirectory(
                    path=partition.location,
                    base=table.location,
                    must_be_empty=table.is_transactional,
                )
            else:
                yield MakeDirectory(path=table.home_of(partition.values))
        partitions = tuple(
            partition
            if partition.location
            else replace(partition, location=table.home_of(partition.values))
            for partition in partitions
        )
    yield AddEntry(
        entry=Partitions(table=table, partitions=partitions),
        if_not_exists=statement.if_not_exists,
    )


def _drop_partitions(statement: ddl.DropPartitions) -> Iterator[Step]:
    """Drop partitions from the catalog; the files go with them where they are the table's own."""
    table = statement.table
    for partition in statement.partitions if table.owns_files else ():
        yield RemoveDirectory(path=partition.location, table=table, partition=partition)
    yield DropEntry(entry=Partitions(table=table, partitions=statement.partitions))


def _rename_partition(statement: ddl.RenamePartition) -> Iterator[Step]:
    table, partition = statement.table, statement.partition
    old, new = partition.location, table.home_of(statement.values)
    moves = table.type == "MANAGED_TABLE" and old == table.home_of(partition.values)
    if moves:
        yield MoveDirectory(source=old, target=new)
    renamed = replace(partition, values=statement.values, location=new if moves else old)
    yield AlterEntry(
        before=Partitions(table=table, partitions=(partition,)),
        after=Partitions(table=table, partitions=(renamed,)),
    )


def _exchange(statement: ddl.ExchangePartitions) -> Iterator[Step]:
    table, source = statement.table, statement.source
    placed = []
    for partition in statement.partitions:
        if partition.location != source.home_of(partition.values):
            name = partition_name(source.partition_names, partition.values)
            raise SemanticError(f"{name} of {source.name} does not live under its table")
        home = table.home_of(partition.values)
        yield MoveDirectory(source=partition.location, target=home)
        storage = table.storage_of(source.stored_as(partition))
        placed.append(replace(partition, location=home, storage=storage))
    yield HandOver(
        source=Partitions(table=source, partitions=statement.partitions),
        target=Partitions(table=table, partitions=tuple(placed)),
    )
