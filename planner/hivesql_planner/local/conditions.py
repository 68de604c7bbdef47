"""Conditions over columns, as far as they mean here what they mean in Spark."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from hivesql_planner.local.spark_sql_reader import Literal, Name, Node, Operation, Unclear
from hivesql_planner.local.values import WHOLE, base_type, compared, same_kind
from hivesql_planner.model.table import Table
from hivesql_planner.predicates.predicate import (
    AllOf,
    AnyOf,
    Compare,
    IsNull,
    IsTrue,
    Not,
    OneOf,
    Predicate,
    Stored,
    UnlessFalse,
    columns_of,
)

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_PARTITIONED = (*WHOLE, "string", "date")
"""Types of partition columns whose texts are read here."""


def literals(row: Sequence[Node]) -> tuple[Literal, ...]:
    """Return the same nodes; Unclear unless all of them are literals."""
    found = tuple(one for one in row if isinstance(one, Literal))
    if len(found) != len(row):
        raise Unclear
    return found


def check_partitions(names: Collection[str], table: Table) -> None:
    """Unclear where one of the columns is a partition column whose texts only Spark reads."""
    partitioned = {column.name: base_type(column.type)[0] for column in table.partition_columns}
    if any(partitioned.get(name, "string") not in _PARTITIONED for name in names):
        raise Unclear


def table_condition(node: Node, aliases: set[tuple[str, ...]], table: Table) -> Predicate | None:
    """Give a condition over all columns of a table; None where it always holds, as ``1 = 1``."""
    rest = _rest(node)
    if rest is None:
        return None
    found = condition(rest, aliases, {column.name: column.type for column in table.all_columns})
    check_partitions(set(columns_of(found)), table)
    return found


def _rest(node: Node) -> Node | None:
    """Return a condition without its parts that always hold."""
    match node:
        case Operation(kind="and", operands=parts):
            rest = tuple(one for part in parts if (one := _rest(part)) is not None)
            return Operation("and", rest) if rest else None
        case Literal(kind="boolean", text="true"):
            return None
        case Operation(kind="=", operands=(Literal("int", one), Literal("int", other))):
            return None if int(one) == int(other) else node
    return node


def named_column(node: Node, aliases: set[tuple[str, ...]], types: dict[str, str]) -> str:
    """Return the column that a name speaks of; Unclear for all else."""
    if not isinstance(node, Name) or node.parts[:-1] not in aliases or node.parts[-1] not in types:
        raise Unclear
    return node.parts[-1]


def condition(node: Node, aliases: set[tuple[str, ...]], types: dict[str, str]) -> Predicate:
    """Return a condition over columns of these types, called by one of the aliases or by none."""

    def inner(part: Node) -> Predicate:
        return condition(part, aliases, types)

    if not isinstance(node, Operation):
        return IsTrue(_boolean_column(node, aliases, types))
    first, *rest = node.operands
    match node.kind:
        case "and":
            return AllOf(tuple(map(inner, node.operands)))
        case "or":
            return AnyOf(tuple(map(inner, node.operands)))
        case "not":
            return Not(inner(first))
        case "unless false":
            return UnlessFalse(inner(first))
        case "is null":
            return IsNull(named_column(first, aliases, types))
        case "in":
            return _one_of(named_column(first, aliases, types), rest, types)
        case sign:
            return _comparison(sign, (first, *rest), aliases, types)


def _boolean_column(node: Node, aliases: set[tuple[str, ...]], types: dict[str, str]) -> str:
    name = named_column(node, aliases, types)
    if base_type(types[name])[0] != "boolean":
        raise Unclear
    return name


def _comparison(
    sign: str, sides: tuple[Node, ...], aliases: set[tuple[str, ...]], types: dict[str, str]
) -> Compare:
    left, right = sides
    if isinstance(left, Literal):
        left, right, sign = right, left, _MIRRORED[sign]
    name = named_column(left, aliases, types)
    return Compare(name, sign, _other_side(right, types[name]))


def _one_of(name: str, items: Sequence[Node], types: dict[str, str]) -> Predicate:
    found = literals(items)
    if not same_kind(found, types[name]):
        raise Unclear
    values = {compared(one, types[name]) for one in found}
    known: set[Any] = values - {None}
    return OneOf(name, tuple(sorted(known)), has_null=None in values)


def _other_side(node: Node, hive_type: str) -> Stored:
    if not isinstance(node, Literal):
        raise Unclear
    return compared(node, hive_type)
