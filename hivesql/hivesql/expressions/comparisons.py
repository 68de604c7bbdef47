"""Comparisons that Spark takes otherwise: long rows of them as the lists that they mean, and maps.

``c = 1 OR c = 2 …`` becomes an IN list, ``c <> 1 AND c <> 2 …`` NOT IN. Of maps, and of what holds
maps, Spark compares nothing; Hive tells whether they are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hivesql.dialect.value_types import Type, is_integer
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import STRING, HiveType, Kind, quote_name

_LONG = 100
"""So many comparisons are left as they are: plans are easier to read."""
_LISTS: dict[type[exp.Expr], tuple[type[exp.Expr], str]] = {
    exp.Or: (exp.EQ, "IN"),
    exp.And: (exp.NEQ, "NOT IN"),
}
_NAMES: dict[type[exp.Expr], str] = {
    exp.EQ: "EQUAL", exp.NEQ: "NOT EQUAL", exp.NullSafeEQ: "EQUAL_NS", exp.NullSafeNEQ: "EQUAL_NS",
    exp.LT: "LESS THAN", exp.LTE: "EQUAL OR LESS THAN", exp.GT: "GREATER THAN",
    exp.GTE: "EQUAL OR GREATER THAN", exp.Between: "EQUAL OR GREATER THAN",
}  # fmt: skip
_UNORDERED = {Kind.ARRAY: "LIST", Kind.STRUCT: "STRUCT", Kind.MAP: "MAP", Kind.UNION: "UNION"}
_ORDERING = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_AROUND_ROWS = (exp.Select, exp.Alias, exp.Anonymous, exp.Dot, exp.Paren, exp.Group, exp.EQ,
                exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.LT, exp.LTE, exp.GT,
                exp.GTE)  # fmt: skip


def list_of_equals(
    node: exp.Expr, text_of: Callable[[exp.Expr], str], type_of: Callable[[exp.Expr], Type]
) -> tuple[str, exp.Expr] | None:
    """Return what a row of comparisons is in Spark's words, with ``@0`` for the column, and that.

    Spark makes a set of a list, and takes a step of its analysis for each operator. None for a
    short row, one of several columns, or one whose column and values are not compared as they are.
    """
    if type(node) not in _LISTS or type(node) is type(node.parent):
        return None
    compared, word = _LISTS[type(node)]
    first: exp.Expr | None = None
    values = []
    pending: list[exp.Expr] = [node]
    while pending:
        part = pending.pop().unnest()
        if type(part) is type(node):
            pending += (part.args["expression"], part.args["this"])
            continue
        value = part.args.get("expression")
        if type(part) is not compared or not isinstance(part.this, exp.Column):
            return None
        first = first or part.this
        if not isinstance(value, exp.Literal) or text_of(part.this) != text_of(first):
            return None
        if not _is_plain(value, type_of(first)):
            return None
        values.append(text_of(value))
    if first is None or len(values) < _LONG:
        return None
    return f"@0 {word} ({', '.join(values)})", first


def _is_plain(value: exp.Literal, kind: Type) -> bool:
    """Tell whether a column of that type is compared with the value without a conversion."""
    if value.is_string:
        return kind == STRING and "@" not in value.name
    return is_integer(kind) and value.name.isdigit()


def hold_maps(kinds: Sequence[Type]) -> bool:
    """Tell whether one of the types is a map's or has one inside."""
    return any(kind is not None and kind.holds(Kind.MAP) for kind in kinds)


def check_compared(node: exp.Expr, kinds: Sequence[Type]) -> None:
    """Refuse unions, to order what has parts, and maps of other types (SemanticError 10014)."""
    name = _NAMES.get(type(node), "EQUAL")
    refused = _UNORDERED if isinstance(node, _ORDERING) else {Kind.UNION: "UNION"}
    for kind in kinds:
        if kind is not None and (parts := refused.get(kind.kind)) is not None:
            raise SemanticError(f"{name} does not support {parts} types", code=10014)
    known = [kind for kind in kinds if kind is not None and kind.kind is not Kind.VOID]
    has_maps = hold_maps(known)
    for other in known[1:]:
        first = known[0]
        if other != first if has_maps else _category(other) != _category(first):
            raise SemanticError(
                f"Type mismatch in {name}({first},{other}). CAST the one to the other's type",
                code=10014,
            )


def _category(kind: HiveType) -> Kind | None:
    """Tell what a type is of those that have parts; None of any other."""
    return kind.kind if kind.is_nested else None


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
                entry = f"named_struct('key', {inner}.key, 'value', {deeper})"
                entries = f"transform({entries}, {inner} -> {entry})"
            return f"sort_array({entries})"
        case Kind.ARRAY:
            deeper = without_maps(kind.children[0], inner, depth + 1)
            return f"transform({value}, {inner} -> {deeper})"
        case _:
            fields = (
                f"'col{i}', {without_maps(child, f'{value}.{quote_name(name)}', depth + 1)}"
                for i, (name, child) in enumerate(kind.fields)
            )
            return f"if({value} IS NULL, NULL, named_struct({', '.join(fields)}))"


def with_maps(kind: HiveType, value: str, depth: int = 0) -> str:
    """Write a value again of which ``without_maps`` has made one without maps."""
    if not kind.holds(Kind.MAP):
        return value
    inner = f"`_inner{depth}`"
    match kind.kind:
        case Kind.MAP:
            if kind.children[1].holds(Kind.MAP):
                deeper = with_maps(kind.children[1], f"{inner}.value", depth + 1)
                value = f"transform({value}, {inner} -> struct({inner}.key, {deeper}))"
            return f"map_from_entries({value})"
        case Kind.ARRAY:
            deeper = with_maps(kind.children[0], inner, depth + 1)
            return f"transform({value}, {inner} -> {deeper})"
        case _:
            fields = (
                f"'{name}', {with_maps(child, f'{value}.`col{i}`', depth + 1)}"
                for i, (name, child) in enumerate(kind.fields)
            )
            return f"if({value} IS NULL, NULL, named_struct({', '.join(fields)}))"


def nulls_last(kind: HiveType, value: str, depth: int = 0) -> str:
    """Write an array or a struct so that a NULL inside is larger than all values."""
    if kind.kind is Kind.ARRAY:
        inner = f"`_inner{depth}`"
        deeper = nulls_last(kind.children[0], inner, depth + 1)
        return f"transform({value}, {inner} -> struct({inner} IS NULL, {deeper}))"
    if kind.kind is not Kind.STRUCT:
        return value
    fields = []
    for name, child in kind.fields:
        field = f"({value}).{quote_name(name)}"
        fields += [f"{field} IS NULL", nulls_last(child, field, depth + 1)]
    return f"if({value} IS NULL, NULL, struct({', '.join(fields)}))"


def is_row(node: exp.Expr) -> bool:
    """Tell whether values in brackets are themselves a value: a struct, as ``struct(a, b)``."""
    above = node.parent
    parts = (above.this, above.expression) if isinstance(above, exp.Binary) else ()
    around = isinstance(node, exp.Tuple) and isinstance(above, _AROUND_ROWS)
    return around and not any(isinstance(part, (exp.Subquery, exp.Any, exp.All)) for part in parts)
