"""Comparison of maps, and of what holds maps: Spark has none, Hive tells whether they are equal."""

from __future__ import annotations

from collections.abc import Sequence

from hivesql.dialect.value_types import Type
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import HiveType, Kind, quote_name

_NAMES: dict[type[exp.Expr], str] = {
    exp.EQ: "EQUAL", exp.NEQ: "NOT EQUAL", exp.NullSafeEQ: "EQUAL_NS", exp.NullSafeNEQ: "EQUAL_NS",
    exp.LT: "LESS THAN", exp.LTE: "EQUAL OR LESS THAN", exp.GT: "GREATER THAN",
    exp.GTE: "EQUAL OR GREATER THAN", exp.Between: "EQUAL OR GREATER THAN",
}  # fmt: skip
_ORDERING = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


def hold_maps(kinds: Sequence[Type]) -> bool:
    """Tell whether one of the types is a map's or has one inside."""
    return any(kind is not None and kind.holds(Kind.MAP) for kind in kinds)


def check_maps(node: exp.Expr, kinds: Sequence[Type]) -> None:
    """Refuse to order maps, and to compare those whose types differ (SemanticError 10014)."""
    if not hold_maps(kinds):
        return
    name = _NAMES.get(type(node), "EQUAL")
    if isinstance(node, _ORDERING):
        raise SemanticError(f"{name} does not support MAP types", code=10014)
    first, *others = (kind for kind in kinds if kind is not None and kind.kind is not Kind.VOID)
    for other in others:
        if other != first:
            raise SemanticError(
                f"Type mismatch in {name}({first},{other}). CAST the one to the other's type",
                code=10014,
            )


def without_maps(kind: HiveType, value: str, depth: int = 0) -> str:
    """Write a value so that Spark compares it: a map is an array of its entries, sorted by key."""
    if not kind.holds(Kind.MAP):
        return value
    inner = f"`_inner{depth}`"
    match kind.kind:
        case Kind.MAP:
            entries = f"map_entries({value})"
            if kind.children[1].holds(Kind.MAP):
                deeper = without_maps(kind.children[1], f"{inner}.value", depth + 1)
                entries = f"transform({entries}, {inner} -> struct({inner}.key, {deeper}))"
            return f"sort_array({entries})"
        case Kind.ARRAY:
            deeper = without_maps(kind.children[0], inner, depth + 1)
            return f"transform({value}, {inner} -> {deeper})"
        case _:
            fields = (
                without_maps(child, f"{value}.{quote_name(name)}", depth + 1)
                for name, child in zip(kind.names, kind.children, strict=True)
            )
            return f"if({value} IS NULL, NULL, struct({', '.join(fields)}))"
