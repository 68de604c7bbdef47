"""ALTER: the catalog's entry, and the directories that follow it.

Every statement was bound before its locks were granted. What it was bound to is compared with
what is there now, so that nobody's change in between is lost.
"""

from __future__ import annotations

from dataclasses import replace

from hivesql_executor.bookkeeping.directory_moves import placing
from hivesql_executor.bookkeeping.reachable_locations import reachable_location
from hivesql_executor.files.locations import is_absolute
from hivesql_executor.metastore.api import Move
from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.partitions import add_partitions, drop_partitions
from hivesql_planner.acid.layout import parse_original_file
from hivesql_planner.errors import SemanticError, StaleSnapshot
from hivesql_planner.model.statistics import BASICS, Statistics, told_beside
from hivesql_planner.model.table import Database, Partition, Table, partition_name
from hivesql_planner.statements.alter import ChangeLocation
from hivesql_planner.statements.ddl import (
    AddPartitions,
    AlterDatabase,
    AlterPartitions,
    AlterTable,
    AlterView,
    DdlStatement,
    DropPartitions,
    ExchangePartitions,
    MovePartition,
    RenamePartition,
    RenameTable,
    TellStatistics,
    Touch,
)

# Originals of a converted table own the write ids up to ten million (Hive's seed).
_CONVERTED_NEXT_WRITE_ID = 10_000_001


def run_ddl(  # noqa: C901 - one flat list of statements
    statement: DdlStatement, txn_id: int, runtime: Runtime
) -> None:
    """Carry out one ALTER."""
    store = runtime.metastore
    match statement:
        case AlterTable(table=table):
            _check_unchanged(table, runtime)
            _alter_table(statement, txn_id, runtime)
        case AlterView(view=view, altered=altered):
            _check_unchanged(view, runtime)
            store.alter_table(view.name, altered)
        case AlterDatabase(altered=altered):
            store.alter_database(complete_database(altered, runtime))
        case RenameTable(table=table):
            _check_unchanged(table, runtime)
            _rename(statement, txn_id, runtime)
        case AddPartitions():
            add_partitions(statement, txn_id, runtime)
        case DropPartitions():
            drop_partitions(statement, txn_id, runtime)
        case RenamePartition():
            _rename_partition(statement, txn_id, runtime)
        case MovePartition(table=table, partition=partition, location=location):
            moved = replace(partition, location=_new_location(location, runtime))
            store.alter_partition(table.name, partition.values, moved, txn_id=txn_id)
        case AlterPartitions(table=table, altered=altered):
            for one in altered:
                store.alter_partition(table.name, one.values, one, txn_id=txn_id)
        case ExchangePartitions():
            _exchange(statement, txn_id, runtime)
        case TellStatistics(table=table):
            _check_unchanged(table, runtime)
            _tell_statistics(statement, runtime)
        case Touch():
            return


def _tell_statistics(statement: TellStatistics, runtime: Runtime) -> None:
    """Store what a user says of a column, or of partitions."""
    store, name = runtime.metastore, statement.table.name
    owners = (None,) if statement.partitions is None else tuple(
        one.values for one in statement.partitions
    )  # fmt: skip
    rows, files, size = (statement.basics.get(key) for key in BASICS)
    told = []
    for values in owners:
        known = store.statistics(name, values)
        told.append(
            Statistics(
                values=values,
                is_told=True,
                rows=known.rows if rows is None else rows,
                files=known.files if files is None else files,
                bytes=known.bytes if size is None else size,
                columns=()
                if statement.column is None
                else (told_beside(statement.column, known.columns),),
            )
        )
    store.put_statistics(name, told)


def complete_database(database: Database, runtime: Runtime) -> Database:
    """Return the same with locations that no working directory changes; an empty one stays."""
    managed = database.managed_location
    return replace(
        database,
        location=reachable_location(database.location, runtime) if database.location else "",
        managed_location=reachable_location(managed, runtime) if managed else None,
    )


def _new_location(location: str, runtime: Runtime) -> str:
    """Return the place that SET LOCATION names, which Hive wants to be absolute."""
    if not is_absolute(location):
        raise SemanticError(
            f"{location}  is not absolute.  Please specify a complete absolute uri.", code=10244
        )
    return reachable_location(location, runtime)


def _check_unchanged(table: Table, runtime: Runtime) -> None:
    if runtime.metastore.table(table.name) != table:
        raise StaleSnapshot(
            f"{table.name} was altered by somebody else meanwhile. Run the statement again"
        )


def _alter_table(statement: AlterTable, txn_id: int, runtime: Runtime) -> None:
    table, altered = statement.table, statement.altered
    if isinstance(statement.change, ChangeLocation):
        altered = replace(altered, location=_new_location(altered.location, runtime))
    if altered.is_full_acid and not table.is_transactional:
        _check_file_names(altered, runtime)
        runtime.metastore.seed_write_id(table.name, _CONVERTED_NEXT_WRITE_ID)
    runtime.metastore.alter_table(table.name, altered, txn_id=txn_id, cascade=statement.cascade)


def _check_file_names(table: Table, runtime: Runtime) -> None:
    """Only names that Hive takes for original files may lie in a converted table."""
    locations = [table.location]
    if table.partition_columns:
        locations = [one.location for one in runtime.metastore.partitions(table.name)]
    files = runtime.files(table.location)
    for location in locations:
        for status in files.list(location):
            if parse_original_file(status.path.rpartition("/")[2]) is None:
                raise SemanticError(
                    f"Unexpected data file name format. Cannot convert {table.name} to "
                    f"transactional table. File: {location}/{status.path}"
                )


def _rename(statement: RenameTable, txn_id: int, runtime: Runtime) -> None:
    """Rename in the catalog; the directory moves only when it has the default name."""
    table, to, store = statement.table, statement.to, runtime.metastore
    if to == table.name:
        return
    if to in store.tables(to.database):
        raise SemanticError(f"new table {to} already exists", code=40013)
    managed = table.type == "MANAGED_TABLE"
    old_home = store.database(table.name.database).home_of(table.name.name, managed=managed)
    new_home = store.database(to.database).home_of(to.name, managed=managed)
    moves = managed and table.location == old_home
    files = runtime.files(table.location)
    if moves and files.exists(new_home):
        raise SemanticError(
            f"New location for this table {to} already exists: {new_home}. Remove it first"
        )
    renamed = replace(table, name=to, location=new_home if moves else table.location)
    with placing([Move(source=old_home, target=new_home)] if moves else [], runtime, txn_id):
        store.alter_table(table.name, renamed, txn_id=txn_id)


def _default_home(table: Table, partition: Partition) -> str:
    return table.home_of(partition.values)


def _rename_partition(statement: RenamePartition, txn_id: int, runtime: Runtime) -> None:
    table, partition = statement.table, statement.partition
    renamed = replace(partition, values=statement.values)
    old, new = partition.location, _default_home(table, renamed)
    moves = table.type == "MANAGED_TABLE" and old == _default_home(table, partition)
    renamed = replace(renamed, location=new if moves else old)
    with placing([Move(source=old, target=new)] if moves else [], runtime, txn_id):
        runtime.metastore.alter_partition(table.name, partition.values, renamed, txn_id=txn_id)


def _exchange(statement: ExchangePartitions, txn_id: int, runtime: Runtime) -> None:
    table, source = statement.table, statement.source
    moves, placed = [], []
    for partition in statement.partitions:
        if partition.location != _default_home(source, partition):
            name = partition_name(source.partition_names, partition.values)
            raise SemanticError(f"{name} of {source.name} does not live under its table")
        home = _default_home(table, partition)
        moves.append(Move(source=partition.location, target=home))
        kept = table.storage_of(source.stored_as(partition))
        placed.append(replace(partition, location=home, storage=kept))
    with placing(moves, runtime, txn_id):
        runtime.metastore.exchange_partitions(source.name, table.name, placed, txn_id=txn_id)
