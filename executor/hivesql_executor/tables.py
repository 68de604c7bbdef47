"""Tables and databases come and go: catalog entry and directory together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hivesql_executor.avro_schema import with_file_columns
from hivesql_executor.counting import count
from hivesql_executor.failpoints import FailPoint, reach
from hivesql_executor.outcome import Outcome
from hivesql_executor.removal import hiding, placing
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot import table_roots
from hivesql_executor.transaction import Transaction
from hivesql_planner.acid.layout import METADATA_FILE, base_name
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.plan import Operation
from hivesql_planner.statements import CreateTable, DropDatabase, DropTable, TruncateTable
from hivesql_planner.statistics import StatisticsChange
from hivesql_planner.table import Table, partition_name

# What Hive 4 leaves in the empty base of a truncated table.
_TRUNCATED = b'{"thisFileVersion":"0","dataFormat":"truncated"}'


def create_table_if_new(statement: CreateTable, runtime: Runtime) -> None:
    """CREATE TABLE [IF NOT EXISTS]."""
    names = runtime.metastore.tables(statement.table.name.database)
    if not (statement.if_not_exists and statement.table.name in names):
        create_table(statement.table, runtime)


def create_table(table: Table, runtime: Runtime) -> Table:
    """Add a table to the catalog and make its directory; a relative location is absolute now."""
    store = runtime.metastore
    if table.location and "://" not in table.location:
        table = replace(table, location=str(Path(table.location).absolute()))
    table = with_file_columns(table, runtime)
    created = store.create_table(replace(table, owner=table.owner or runtime.user))
    files = runtime.files(created.location)
    if created.is_transactional and files.list(created.location):
        # Write ids start anew, so files that are there already could pass for committed rows.
        store.drop_table(created.name)
        raise SemanticError(
            f"{created.location} already holds files: a new transactional table needs an empty "
            "directory. Remove the files or give another LOCATION"
        )
    files.make_directories(created.location)
    return created


def drop_table(statement: DropTable, txn_id: int, runtime: Runtime) -> None:
    """Drop a table or view; the files go with it where they are the table's own."""
    store = runtime.metastore
    try:
        table = store.table(statement.name)
    except NoSuchObject:
        if statement.if_exists:
            runtime.notify(f"there is no {statement.name}: nothing was dropped")
            return
        raise
    if table.is_view != statement.view:
        if statement.if_exists:
            # As in Hive: there is no view (or table) of that name, and that is no error.
            return
        what = "a view with DROP TABLE" if table.is_view else "a base table with DROP VIEW"
        raise SemanticError(f"Cannot drop {what}: {statement.name}")
    _drop(table, txn_id, runtime)


def _drop(table: Table, txn_id: int, runtime: Runtime) -> None:
    store = runtime.metastore
    if not table.owns_files:
        store.drop_table(table.name)
        return
    with placing([hiding(table.location, table.id)], runtime, txn_id):
        store.drop_table(table.name)


def drop_database(statement: DropDatabase, txn_id: int, runtime: Runtime) -> Outcome:
    """Drop a database; with CASCADE its tables first."""
    store = runtime.metastore
    try:
        database = store.database(statement.name)
    except NoSuchObject:
        if statement.if_exists:
            return Outcome()
        raise
    if database.name == "default":
        raise SemanticError("Can not drop default database")
    if statement.cascade:
        for name in store.tables(database.name):
            _drop(store.table(name), txn_id, runtime)
    store.drop_database(database.name)
    files = runtime.files(database.location)
    if files.exists(database.location) and not files.list(database.location):
        files.delete(database.location)
    return Outcome()


def truncate_table(statement: TruncateTable, txn: Transaction | None, runtime: Runtime) -> None:
    """Make a table or partitions empty: an empty ``base_W`` where there are write ids."""
    table = statement.table
    files = runtime.files(table.location)
    partitions = statement.partitions
    if partitions is None:
        partitions = runtime.metastore.partitions(table.name) if table.partition_columns else ()
    emptied = []
    for partition, location in table_roots(table, partitions):
        unit = partition_name(table.partition_names, partition.values) if partition else None
        emptied.append(StatisticsChange(table=table.name, partition=unit, replaces=True))
        if not table.is_transactional:
            for status in files.list(location):
                files.delete(f"{location}/{status.path}")
            continue
        assert txn is not None
        write_id = txn.write_ids[table.name]
        base = f"{location}/{base_name(write_id)}"
        files.make_directories(base)
        files.write(f"{base}/{METADATA_FILE}", _TRUNCATED)
        reach(FailPoint.PARTITION_EMPTIED)
    names = [one.partition for one in emptied if one.partition is not None]
    if names and table.is_transactional:
        assert txn is not None
        # After all bases: until then the transaction has written "some partition of the table".
        runtime.metastore.add_dynamic_partitions(
            txn.id, txn.write_ids[table.name], table.name, names, Operation.UPDATE
        )
    count(emptied, txn, runtime)
