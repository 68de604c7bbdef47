"""What the parts of a statement's tree say: its tables, names, partitions, queries and values."""

from __future__ import annotations

from collections.abc import Iterable

from hivesql.dialect.numbers import number_text
from hivesql.dialect.slices import (
    RANGE,
    SPANS,
    PartitionFilter,
    PartitionItem,
    PartitionItems,
    Slice,
)
from hivesql.dialect.tokens import Name, TableRef
from hivesql.python_sqlglot import exp

OPERATOR = "operator"
"""Metadata key of a comparison: the operator as it is written."""


def name_of(identifier: exp.Expr) -> Name:
    """Return a name, lower case, and its offset."""
    return Name(identifier.name.lower(), identifier.meta["start"])


def names_of(identifiers: Iterable[exp.Expr]) -> tuple[Name, ...]:
    """Return names in their order."""
    return tuple(name_of(identifier) for identifier in identifiers)


def table_of(table: exp.Expr) -> TableRef:
    """Return a table as the statement names it."""
    catalog, database = table.args.get("catalog"), table.args.get("db")
    name = name_of(table.this)
    start = name_of(catalog or database or table.this).start
    return TableRef(
        name_of(database) if database else None, name, start, table.this.meta["end"] + 1,
        name_of(catalog) if catalog else None,
    )  # fmt: skip


def slice_of(node: exp.Expr) -> Slice:
    """Return a query or expression with its places in the statement's text."""
    return Slice(node.meta.get(SPANS) or (node.meta[RANGE],), node)


def partition_of(partition: exp.Expr | None) -> PartitionItems | None:
    """Return what PARTITION (…) says; None where it is not there."""
    return None if partition is None else items_of(partition)


def items_of(partition: exp.Expr) -> PartitionItems:
    """Return what PARTITION (…) says."""
    return tuple(_item(item) for item in partition.expressions)


def _item(item: exp.Expr) -> PartitionItem:
    _, end = item.meta[RANGE]
    if not isinstance(item, exp.EQ):
        return PartitionItem(name_of(item.this), end=end)
    value = constant_text(item.expression)
    return PartitionItem(name_of(item.this.this), value, is_static=True, end=end)


def filters_of(partition: exp.Expr) -> tuple[PartitionFilter, ...]:
    """Return what PARTITION (…) of DROP PARTITION compares."""
    return tuple(
        PartitionFilter(
            name_of(comparison.this.this), comparison.meta[OPERATOR],
            constant_text(comparison.expression), comparison.meta[RANGE][1],
        )
        for comparison in partition.expressions
    )  # fmt: skip


def constant_text(node: exp.Expr) -> str | None:
    """Return a constant's text as it is kept in a column of text; None for NULL."""
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return str(node.this).lower()
    if isinstance(node, exp.Neg):
        return f"-{constant_text(node.this)}"
    text = node.name
    literal = node.this if isinstance(node, exp.Cast) else node
    return text if literal.is_string else number_text(text.rstrip("LSYBDlsybd"))


def properties_of(properties: exp.Expr | None) -> dict[str, str]:
    """Return what ('k'='v', …) says."""
    listed = properties.expressions if properties is not None else []
    return {prop.name: prop.args["value"].name for prop in listed}
