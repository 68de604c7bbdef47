"""What a statement was bound to, and must find again once it has its locks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hivesql_planner.model.table import Partition, Table
from hivesql_planner.statements import ddl
from hivesql_planner.statements.bound import Statement, TruncateTable
from hivesql_planner.statements.export import ExportTable, ImportTable


@dataclass(frozen=True, slots=True)
class BoundTable:
    """A table whose files a statement changes, with the partitions that it was bound to."""

    table: Table
    partitions: Mapping[ddl.Values, Partition | None] = field(default_factory=dict, hash=False)
    """By their values; None where there was none."""


def bound_tables(  # noqa: C901 - one flat list
    statement: Statement,
) -> Iterator[BoundTable]:
    """List what a statement that changes definitions, or files as a whole, was bound to."""
    match statement:
        case ddl.LoadData(table=table, values=values, partition=partition):
            yield BoundTable(table, {} if values is None else {values: partition})
        case ExportTable(table=table, partitions=partitions):
            yield BoundTable(table, {partition.values: partition for partition in partitions})
        case ImportTable(table=table, is_new=False, partitions=partitions, known=known):
            there = {partition.values: partition for partition in known}
            named = {partition.values: there.get(partition.values) for partition in partitions}
            yield BoundTable(table, named)
        case ddl.RenamePartition(table=table, partition=partition, values=values):
            yield BoundTable(table, {values: None, partition.values: partition})
        case ddl.MovePartition(table=table, partition=partition):
            yield BoundTable(table, {partition.values: partition})
        case ddl.ExchangePartitions(table=table, source=source, partitions=partitions):
            yield BoundTable(source, {partition.values: partition for partition in partitions})
            yield BoundTable(table, {partition.values: None for partition in partitions})
        case ddl.TellStatistics(table=table, partitions=measured) if measured is not None:
            yield BoundTable(table, {partition.values: partition for partition in measured})
        case (
            ddl.DropPartitions(table=table, partitions=partitions)
            | ddl.AlterPartitions(table=table, partitions=partitions)
        ):
            yield BoundTable(table, {partition.values: partition for partition in partitions})
        case TruncateTable(table=table, partitions=named):
            yield BoundTable(table, {partition.values: partition for partition in named or ()})
        case ddl.AddPartitions(table=table, if_not_exists=True) as added:
            existing = {partition.values: partition for partition in added.known}
            expected = {
                partition.values: existing.get(partition.values) for partition in added.partitions
            }
            yield BoundTable(table, expected)
        case ddl.AddPartitions(table=table) | ddl.RepairTable(table=table):
            yield BoundTable(table)
