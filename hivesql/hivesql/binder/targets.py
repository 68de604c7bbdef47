"""Tables and partitions that a statement names; Hive's errors when they are something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hivesql.binding import Binding
from hivesql.dialect.slices import PartitionItems
from hivesql.dialect.tokens import TableRef
from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.partition_values import default_partition, normal_value
from hivesql_planner.model.table import (
    DEFAULT_PARTITION,
    Column,
    FileFormat,
    Partition,
    Table,
    check_partition_name,
    partition_name,
)

if TYPE_CHECKING:
    from hivesql_planner.statements.alter import ChangeFormat
    from hivesql_planner.statements.ddl import Values


def base_table(ref: TableRef, binding: Binding, *, materialized: bool = False) -> Table:
    """Return a table that is no view, and a ``materialized`` one only where that can be."""
    table = binding.table(ref)
    if table.is_materialized_view and not materialized:
        feature = "ALTER TABLE of a materialized view, but for its properties, owner and name"
        binding.fail(NotSupported(feature), ref.start)
    if table.is_view:
        error = SemanticError("To alter a view you need to use the ALTER VIEW command.", code=10131)
        binding.fail(error, ref.start)
    return table


def check_managed(table: Table, binding: Binding) -> None:
    """Refuse a managed table that is not transactional, where the site wants none."""
    keys = ("hive.strict.managed.tables", "metastore.strict.managed.tables")
    strict = any(binding.settings.flag(key) for key in keys)
    if strict and table.type == "MANAGED_TABLE" and not table.is_transactional:
        raise SemanticError(
            f"Table {table.name} failed strict managed table checks due to the following reason: "
            "Table is marked as a managed table but is not transactional.",
            code=40000,
        )


def takes_any_type(binding: Binding) -> bool:
    """Tell whether columns may get types that their values do not convert to."""
    keys = (
        "hive.metastore.disallow.incompatible.col.type.changes",
        "metastore.disallow.incompatible.col.type.changes",
    )
    return not all(binding.settings.flag(key) for key in keys)


def view_named(ref: TableRef, binding: Binding) -> Table:
    """Return a view."""
    table = binding.table(ref)
    if not table.is_view:
        error = SemanticError(
            "To alter a base table you need to use the ALTER TABLE command.", code=10132
        )
        binding.fail(error, ref.start)
    return table


def materialized_view(ref: TableRef, binding: Binding) -> Table:
    """Return a materialized view whose text and tables are known."""
    table = binding.table(ref)
    if not table.is_materialized_view:
        binding.fail(SemanticError(f"{table.name} is no materialized view"), ref.start)
    if table.materialized is None:
        feature = "changing materialized views of a Hive Metastore"
        binding.fail(NotSupported(feature), ref.start)
    return table


def partitioned_table(ref: TableRef, binding: Binding, *, view: bool = False) -> Table:
    """Return a table with partition columns, or a view with them."""
    table = (view_named if view else base_table)(ref, binding)
    if not table.partition_columns:
        error = SemanticError(f"Table is not a partitioned table: {table.name}", code=10241)
        binding.fail(error, ref.start)
    return table


def full_values(table: Table, items: PartitionItems, binding: Binding) -> Values:
    """Return a value for every partition column."""
    values = binding.partition_values(table, items)
    names = table.partition_names
    if any(name not in values for name in names):
        spec = ", ".join(f"{key}={value}" for key, value in values.items())
        error = SemanticError(
            f"{table.name}: partition spec {{{spec}}} doesn't contain all ({len(names)}) "
            "partition columns",
            code=10006,
        )
        binding.fail(error, items[0].key.start)
    return tuple(values[name] for name in names)


def new_values(table: Table, items: PartitionItems, binding: Binding) -> Values:
    """``full_values`` of a partition that may be made, as Hive writes them."""
    values = full_values(table, items, binding)
    written = tuple(
        written_value(column, value, items, binding)
        for column, value in zip(table.partition_columns, values, strict=True)
    )
    check_lengths(table.partition_names, written, items, binding)
    return written


def check_lengths(
    names: Sequence[str], values: Values, items: PartitionItems, binding: Binding
) -> None:
    """Refuse a partition whose directory, or name in the catalog, would be too long."""
    try:
        check_partition_name(partition_name(names, values))
    except SemanticError as error:
        binding.fail(error, items[0].key.start, items[-1].end)


def written_value(
    column: Column, value: str | None, items: PartitionItems, binding: Binding
) -> str | None:
    """Return the text of a partition value that is to be written: ``01`` of an INT is ``1``."""
    if value is None:
        return value
    item = next(candidate for candidate in items if candidate.key.text == column.name)
    written = normal_value(value, column.type)
    if written is None and value == default_partition(binding.settings):
        return value
    if written is None:
        error = SemanticError(
            f"Cannot add partition column {column.name} of type string as it cannot be converted "
            f"to type {column.type}",
            code=10248,
        )
        binding.fail(error, item.key.start, item.end)
    if not written:
        error = SemanticError(
            f"Partition not found '': value for key {column.name} is null or empty. The partition "
            f"of rows without a value is '{DEFAULT_PARTITION}'",
            code=10006,
        )
        binding.fail(error, item.key.start, item.end)
    return written


def existing(table: Table, items: PartitionItems, binding: Binding) -> Partition:
    """Return the one partition that a full specification names."""
    matching = binding.matching(table, items)
    values = full_values(table, items, binding)
    return next((partition for partition in matching if partition.values == values), matching[0])


def named_format(format_: FileFormat, binding: Binding, start: int) -> FileFormat:
    """Return what a format's name stands for: hive.default.rcfile.serde says what RCFile holds."""
    if format_ != "rcfile":
        return format_
    key = "hive.default.rcfile.serde"
    serde = binding.settings.text(key).strip()
    kinds: tuple[FileFormat, ...] = ("rcfile", "rctext")
    for kind in kinds:
        if STORAGE[kind].serde == serde:
            return kind
    return binding.fail(SemanticError(f"{key}={serde} is no SerDe of RCFile"), start)


def with_named_format(change: ChangeFormat, binding: Binding, start: int) -> ChangeFormat:
    """Return SET FILEFORMAT with what the format's name stands for."""
    if not change.is_named:
        return change
    return replace(change, format=named_format(change.format, binding, start))


def require_emptied(table: Table, start: int, binding: Binding) -> None:
    """Refuse to empty what does not own its files."""
    if table.is_materialized_view or not table.owns_files:
        error = SemanticError(f"Cannot truncate non-managed table {table.name}.", code=10146)
        binding.fail(error, start)
