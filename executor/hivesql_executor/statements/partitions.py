"""ALTER TABLE … ADD and DROP PARTITION."""

from __future__ import annotations

from dataclasses import replace

from hivesql_executor.bookkeeping.directory_moves import hiding, making, may_delete, placing
from hivesql_executor.bookkeeping.reachable_locations import reachable_location
from hivesql_executor.metastore.api import Move
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.table import Partition, Table, partition_name
from hivesql_planner.statements.ddl import AddPartitions, DropPartitions


def add_partitions(statement: AddPartitions, txn_id: int, runtime: Runtime) -> None:
    """Add partitions to the catalog and make their directories."""
    table = statement.table
    if table.is_view:
        # They are names alone: nothing lies anywhere.
        runtime.metastore.add_partitions(
            table.name, statement.partitions, if_not_exists=statement.if_not_exists, txn_id=txn_id
        )
        return
    files = runtime.files(table.location)
    placed = []
    for partition in statement.partitions:
        complete = _placed(table, partition, runtime)
        if partition.location and table.is_transactional and files.list(complete.location):
            raise NotSupported("ADD PARTITION … LOCATION with data on a transactional table")
        placed.append(complete)
    store = runtime.metastore
    if statement.if_not_exists:
        # Nothing is done for those that are there, as in Hive.
        placed = [one for one in placed if store.partition(table.name, one.values) is None]
    with making([partition.location for partition in placed], runtime, txn_id):
        store.add_partitions(
            table.name, placed, if_not_exists=statement.if_not_exists, txn_id=txn_id
        )


def _placed(table: Table, partition: Partition, runtime: Runtime) -> Partition:
    location = table.home_of(partition.values)
    if partition.location:
        # A relative one is below the table, as in Hive.
        location = reachable_location(partition.location, runtime, table.location)
    return replace(partition, location=location)


def drop_partitions(statement: DropPartitions, txn_id: int, runtime: Runtime) -> None:
    """Drop partitions from the catalog; the files go with them where they are the table's own."""
    table = statement.table
    doomed: list[Move] = []
    if table.owns_files:
        doomed = [
            hiding(one.location, table.id, partition_name(table.partition_names, one.values))
            for one in statement.partitions
            if may_delete(one.location, table.name.database, runtime)
        ]
    with placing(doomed, runtime, txn_id):
        values = [partition.values for partition in statement.partitions]
        runtime.metastore.drop_partitions(table.name, values, txn_id=txn_id)
