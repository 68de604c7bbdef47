"""ALTER TABLE … ADD and DROP PARTITION."""

from __future__ import annotations

from dataclasses import replace

from hivesql_executor.removal import removing
from hivesql_executor.runtime import Runtime
from hivesql_planner.ddl import AddPartitions, DropPartitions
from hivesql_planner.errors import NotSupported
from hivesql_planner.table import Partition, Table


def add_partitions(statement: AddPartitions, runtime: Runtime) -> None:
    """Add partitions to the catalog and make their directories."""
    table = statement.table
    files = runtime.files(table.location)
    placed = []
    for partition in statement.partitions:
        if partition.location and table.is_transactional and files.list(partition.location):
            raise NotSupported("ADD PARTITION … LOCATION with data on a transactional table")
        placed.append(_placed(table, partition))
    runtime.metastore.add_partitions(table.name, placed, if_not_exists=statement.if_not_exists)
    for partition in placed:
        files.make_directories(partition.location)


def _placed(table: Table, partition: Partition) -> Partition:
    if partition.location:
        return partition
    return replace(partition, location=table.home_of(partition.values))


def drop_partitions(statement: DropPartitions, runtime: Runtime) -> None:
    """Drop partitions from the catalog; the files go with them where they are the table's own."""
    table = statement.table
    doomed: list[str] = []
    if table.owns_files:
        doomed = [partition.location for partition in statement.partitions]
    with removing(runtime.files(table.location), doomed):
        values = [partition.values for partition in statement.partitions]
        runtime.metastore.drop_partitions(table.name, values)
