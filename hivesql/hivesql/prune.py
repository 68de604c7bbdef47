"""What a WHERE tells before anything is read: which partitions, and what ORC may skip.

Only simple predicates over one table's columns are understood. A partition goes only when no row
of it can satisfy the predicate; what is not understood keeps everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Literal as OneOf

from sqlglot import exp

from hivesql_planner.partition_values import normal_value

Outcomes = frozenset[bool | None]
_ANY: Outcomes = frozenset({True, False, None})
_UNKNOWN: Outcomes = frozenset({None})
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_INTEGERS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# Before this day ORC files count days in the Julian calendar.
_FIRST_GREGORIAN = "1582-10-15"


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: its kind and its text."""

    kind: OneOf["number", "string", "date", "boolean", "null"]
    text: str


@dataclass(frozen=True, slots=True)
class Compare:
    """``column operator constant``."""

    column: str
    operator: str
    value: Constant


@dataclass(frozen=True, slots=True)
class IsNull:
    """``column IS NULL``."""

    column: str


@dataclass(frozen=True, slots=True)
class And:
    """Both."""

    left: Predicate
    right: Predicate


@dataclass(frozen=True, slots=True)
class Or:
    """Either."""

    left: Predicate
    right: Predicate


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    inner: Predicate


@dataclass(frozen=True, slots=True)
class Other:
    """Anything that is not understood."""


Predicate = Compare | IsNull | And | Or | Not | Other
ColumnOf = Callable[[exp.Column], str | None]


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of an AND."""
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        yield from conjuncts(condition.this)
        yield from conjuncts(condition.expression)
    else:
        yield condition


def simplify(node: exp.Expr, column_of: ColumnOf) -> Predicate:
    """An expression as a predicate; ``column_of`` names the columns of the table in question."""
    node = node.unnest()
    if isinstance(node, exp.And):
        return And(simplify(node.this, column_of), simplify(node.expression, column_of))
    if isinstance(node, exp.Or):
        return Or(simplify(node.this, column_of), simplify(node.expression, column_of))
    if isinstance(node, exp.Not):
        return Not(simplify(node.this, column_of))
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        column = _column(node.this, column_of)
        return IsNull(column) if column else Other()
    if isinstance(node, exp.In):
        return _in(node, column_of)
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        column = _column(node.this, column_of)
        low, high = _constant(node.args["low"]), _constant(node.args["high"])
        if column and low and high:
            return And(Compare(column, ">=", low), Compare(column, "<=", high))
        return Other()
    return _comparison(node, column_of)


def _comparison(node: exp.Expr, column_of: ColumnOf) -> Predicate:
    operator = _OPERATORS.get(type(node))
    if operator is None or not isinstance(node, exp.Binary):
        return Other()
    for side, other, sign in (
        (node.left, node.right, operator),
        (node.right, node.left, _MIRRORED.get(operator, operator)),
    ):
        column, value = _column(side, column_of), _constant(other)
        if column and value:
            return Compare(column, sign, value)
    return Other()


def _in(node: exp.In, column_of: ColumnOf) -> Predicate:
    column = _column(node.this, column_of)
    values = [_constant(item) for item in node.expressions]
    if column is None or not values or node.args.get("query"):
        return Other()
    found: Predicate | None = None
    for value in values:
        if value is None:
            return Other()
        equal = Compare(column, "=", value)
        found = equal if found is None else Or(found, equal)
    return found or Other()


def _column(node: exp.Expr, column_of: ColumnOf) -> str | None:
    node = node.unnest()
    return column_of(node) if isinstance(node, exp.Column) else None


def _constant(node: exp.Expr) -> Constant | None:
    node = node.unnest()
    if isinstance(node, exp.Null):
        return Constant("null", "")
    if isinstance(node, exp.Boolean):
        return Constant("boolean", "true" if node.this else "false")
    if isinstance(node, exp.Neg):
        inner = _constant(node.this)
        if inner is None or inner.kind != "number":
            return None
        return Constant("number", str(-Decimal(inner.text)))
    if isinstance(node, exp.Literal):
        return _literal(node)
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal):
        return _typed(node.this, node.to)
    return None


def _literal(node: exp.Literal) -> Constant | None:
    text = str(node.this)
    if not node.is_string:
        return Constant("number", text) if _NUMBER.fullmatch(text) else None
    # Escapes are left to Spark: a string that is longer as written is not understood.
    written = node.meta["end"] + 1 - node.meta["start"]
    is_plain = written == len(text) + 2 and text.isprintable() and "\\" not in text
    return Constant("string", text) if is_plain else None


def _typed(literal: exp.Literal, to: exp.DataType) -> Constant | None:
    """``DATE '2024-01-01'`` and ``10L``."""
    text = str(literal.this)
    if literal.is_string:
        is_date = to.is_type("date") and _DATE.fullmatch(text)
        return Constant("date", text) if is_date else None
    bits = next((n for name, n in _INTEGERS.items() if to.is_type(name)), 0)
    fits = text.isdigit() and int(text) < 2 ** (bits - 1) if bits else False
    return Constant("number", text) if fits else None


def keeps(predicate: Predicate, values: Mapping[str, str | None], types: Mapping[str, str]) -> bool:
    """Whether some row of a partition may satisfy the predicate.

    ``values`` are the partition's, by column, as text; columns that are not in it may hold
    anything.
    """
    return True in _outcomes(predicate, values, types)


def _outcomes(
    predicate: Predicate, values: Mapping[str, str | None], types: Mapping[str, str]
) -> Outcomes:
    match predicate:
        case Compare(column=column) if column in values:
            return _compare(values[column], predicate, types[column])
        case IsNull(column=column) if column in values:
            return frozenset({values[column] is None})
        case Not(inner=inner):
            found = _outcomes(inner, values, types)
            return frozenset(None if one is None else not one for one in found)
        case And(left=left, right=right) | Or(left=left, right=right):
            pairs = product(_outcomes(left, values, types), _outcomes(right, values, types))
            # What decides an AND is FALSE, what decides an OR is TRUE.
            decisive = isinstance(predicate, Or)
            return frozenset(_both(one, other, decisive=decisive) for one, other in pairs)
    return _ANY


def _both(one: bool | None, other: bool | None, *, decisive: bool) -> bool | None:
    if decisive in (one, other):
        return decisive
    return None if None in (one, other) else not decisive


def _compare(value: str | None, predicate: Compare, type_: str) -> Outcomes:
    constant = predicate.value
    if predicate.operator == "<=>" and (value is None or constant.kind == "null"):
        return frozenset({value is None and constant.kind == "null"})
    if value is None or constant.kind == "null":
        return _UNKNOWN
    pair = _comparable(value, constant, type_)
    if pair is None:
        return _ANY
    left, right = pair
    sign = (left > right) - (left < right)  # type: ignore[operator]
    return frozenset({_holds(predicate.operator, sign)})


def _holds(operator: str, sign: int) -> bool:
    signs = {"=": (0,), "<=>": (0,), "<>": (-1, 1), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0),
             ">": (1,), ">=": (0, 1)}  # fmt: skip
    return sign in signs[operator]


def _comparable(
    value: str, constant: Constant, type_: str
) -> tuple[Decimal, Decimal] | tuple[float, float] | tuple[str, str] | None:
    """Both sides as what Hive compares, or None when that is not certain."""
    base, kind, text = type_.partition("(")[0], constant.kind, constant.text
    is_text = base in ("string", "varchar", "char")
    if base in _INTEGERS or base == "decimal":
        if kind in ("number", "string") and _NUMBER.fullmatch(text) and _NUMBER.fullmatch(value):
            return Decimal(value), Decimal(text)
    elif kind == "number" and (is_text or base == "double"):
        if _NUMBER.fullmatch(value):
            return float(value), float(text)
    elif is_text and kind == "string":
        return (value, text) if base != "char" else (value.rstrip(" "), text.rstrip(" "))
    elif base == "date" and kind in ("date", "string"):
        if _DATE.fullmatch(value) and _DATE.fullmatch(text):
            return value, text
    elif (base, kind) in (("boolean", "boolean"), ("timestamp", "string")):
        left, right = normal_value(value, base), normal_value(text, base)
        if left is not None and right is not None:
            return left, right
    return None


def pushed_down(predicate: Predicate, types: Mapping[str, str]) -> str | None:
    """Spark SQL over data columns that every wanted row satisfies; None when there is none.

    ``types`` are the Hive types of the data columns. Parts of an AND that have no such form are
    left out.
    """
    match predicate:
        case And(left=left, right=right):
            parts = [part for one in (left, right) if (part := pushed_down(one, types))]
            return " AND ".join(parts) if parts else None
        case Or(left=left, right=right):
            either = [pushed_down(one, types) for one in (left, right)]
            return f"({either[0]} OR {either[1]})" if all(either) else None
        case IsNull(column=column) if column in types:
            return f"`{column}` IS NULL"
        case Not(inner=IsNull(column=column)) if column in types:
            return f"`{column}` IS NOT NULL"
        case Compare(column=column, operator=operator, value=value) if column in types:
            text = _spark_literal(value, types[column])
            return f"`{column}` {operator} {text}" if text and operator != "<=>" else None
    return None


def _spark_literal(value: Constant, type_: str) -> str | None:
    base = type_.partition("(")[0]
    if value.kind == "number" and (base in _INTEGERS or base in ("decimal", "float", "double")):
        return value.text
    if value.kind == "string" and base in ("string", "varchar"):
        return "'" + value.text.replace("'", "\\'") + "'"
    if value.kind in ("date", "string") and base == "date":
        certain = _DATE.fullmatch(value.text) and value.text >= _FIRST_GREGORIAN
        return f"DATE '{value.text}'" if certain else None
    if value.kind == "boolean" and base == "boolean":
        return value.text
    return None
