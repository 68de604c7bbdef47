"""Tables and partitions that a statement names; Hive's errors when they are something else."""

from __future__ import annotations

from hivesql.binding import Binding
from hivesql.slices import PartitionItems
from hivesql.tokens import TableRef
from hivesql_planner.ddl import Values
from hivesql_planner.errors import SemanticError
from hivesql_planner.table import Partition, Table


def base_table(ref: TableRef, binding: Binding) -> Table:
    """A table that is no view."""
    table = binding.table(ref)
    if table.is_view:
        error = SemanticError("To alter a view you need to use the ALTER VIEW command.", code=10131)
        binding.fail(error, ref.start)
    return table


def partitioned_table(ref: TableRef, binding: Binding) -> Table:
    """A table with partition columns."""
    table = base_table(ref, binding)
    if not table.partition_columns:
        error = SemanticError(f"Table is not a partitioned table: {table.name}", code=10241)
        binding.fail(error, ref.start)
    return table


def full_values(table: Table, items: PartitionItems, binding: Binding) -> Values:
    """A value for every partition column."""
    values = binding.partition_values(table, items)
    names = table.partition_names
    if any(name not in values for name in names):
        given = ", ".join(f"{key}={value}" for key, value in values.items())
        error = SemanticError(
            f"{table.name}: partition spec {{{given}}} doesn't contain all ({len(names)}) "
            "partition columns",
            code=10006,
        )
        binding.fail(error, items[0].key.start)
    return tuple(values[name] for name in names)


def existing(table: Table, items: PartitionItems, binding: Binding) -> Partition:
    """The one partition that a full specification names."""
    values = full_values(table, items, binding)
    return next(one for one in binding.matching(table, items) if one.values == values)
