"""What a WHERE tells before anything is read: which partitions hold wanted rows.

Only simple predicates over one table's columns are understood. A partition goes only when no row
of it can satisfy the predicate; what is not understood keeps everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice, product
from typing import Literal as Choice
from typing import NamedTuple

from sqlglot import exp

from hivesql_planner.model.partition_values import normal_value
from hivesql_planner.model.table import DEFAULT_PARTITION, Table, default_value
from hivesql_planner.predicates.partitions import (
    DATE_LENGTH,
    KINDS,
    MOST_DIGITS,
    MOST_VALUES,
    OPERATORS,
    Kind,
    PartitionTest,
)

Outcomes = frozenset[bool | None]
_ANY: Outcomes = frozenset({True, False, None})
_UNKNOWN: Outcomes = frozenset({None})
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
DATE_TEXT = re.compile(r"\d{4}-\d{2}-\d{2}")
INTEGERS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
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
# What is nested deeper is not looked into.
_MOST_NESTED = 50


class _Side(NamedTuple):
    """One side of a comparison: how it is compared, and as what."""

    manner: Choice["decimal", "float", "text", "padded", "date", "boolean", "timestamp"]
    value: Decimal | tuple[bool, float] | str


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: its kind and its text."""

    kind: Choice["number", "string", "date", "boolean", "null"]
    text: str


@dataclass(frozen=True, slots=True)
class Compare:
    """``column operator constant``."""

    column: str
    operator: str
    value: Constant


@dataclass(frozen=True, slots=True)
class OneOf:
    """``column IN (constant, …)``."""

    column: str
    values: tuple[Constant, ...]
    _sides: dict[str, frozenset[_Side | None]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def sides(self, base: str) -> frozenset[_Side | None]:
        """Tell what a column of such a type is compared with; None where that is not certain."""
        if base not in self._sides:
            given = (one for one in self.values if one.kind != "null")
            self._sides[base] = frozenset(_side(one, base) for one in given)
        return self._sides[base]

    @property
    def has_null(self) -> bool:
        """Tell whether NULL is among the constants."""
        return any(one.kind == "null" for one in self.values)


@dataclass(frozen=True, slots=True)
class IsNull:
    """``column IS NULL``."""

    column: str


@dataclass(frozen=True, slots=True)
class And:
    """All of at least one."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of at least one."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    inner: Predicate


@dataclass(frozen=True, slots=True)
class Other:
    """Anything that is not understood."""


Predicate = Compare | OneOf | IsNull | And | Or | Not | Other
ColumnOf = Callable[[exp.Column], str | None]


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """Return the parts of an AND."""
    return operands(condition, exp.And)


def operands(node: exp.Expr, kind: type[exp.Connector]) -> Iterator[exp.Expr]:
    """Yield the operands of a row of ANDs, or of ORs, from left to right."""
    left = [node]
    while left:
        one = left.pop().unnest()
        if isinstance(one, kind):
            left += [one.expression, one.this]
        else:
            yield one


def simplify(node: exp.Expr, column_of: ColumnOf, *, depth: int = 0) -> Predicate:
    """Make an expression a predicate; ``column_of`` names the columns of the table in question."""
    if depth > _MOST_NESTED:
        return Other()
    node = node.unnest()
    for kind, whole in ((exp.And, And), (exp.Or, Or)):
        if isinstance(node, kind):
            each = operands(node, kind)
            parts = tuple(simplify(one, column_of, depth=depth + 1) for one in each)
            return (_one_column(parts) if kind is exp.Or else None) or whole(parts)
    if isinstance(node, exp.Not):
        return Not(simplify(node.this, column_of, depth=depth + 1))
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        column = _column(node.this, column_of)
        return IsNull(column) if column else Other()
    if isinstance(node, exp.In):
        return _in(node, column_of)
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        column = _column(node.this, column_of)
        low, high = _constant(node.args["low"]), _constant(node.args["high"])
        if column and low and high:
            return And((Compare(column, ">=", low), Compare(column, "<=", high)))
        return Other()
    return _comparison(node, column_of)


def _one_column(parts: Sequence[Predicate]) -> OneOf | None:
    """``c = 1 OR c = 2 OR c IN (3, 4)`` as one list; None for any other row of ORs."""
    values: list[Constant] = []
    columns: set[str] = set()
    for part in parts:
        if isinstance(part, Compare) and part.operator == "=":
            values.append(part.value)
        elif isinstance(part, OneOf):
            values += part.values
        else:
            return None
        columns.add(part.column)
    return OneOf(columns.pop(), tuple(values)) if len(columns) == 1 else None


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
    known = tuple(value for value in values if value is not None)
    return OneOf(column, known) if len(known) == len(values) else Other()


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
        is_date = to.is_type("date") and DATE_TEXT.fullmatch(text)
        return Constant("date", text) if is_date else None
    bits = next((n for name, n in INTEGERS.items() if to.is_type(name)), 0)
    fits = text.isdigit() and int(text) < 2 ** (bits - 1) if bits else False
    return Constant("number", text) if fits else None


def keeps(predicate: Predicate, values: Mapping[str, str | None], types: Mapping[str, str]) -> bool:
    """Tell whether some row of a partition may satisfy the predicate.

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
        case OneOf(column=column) if column in values:
            return _one_of(values[column], predicate, types[column])
        case IsNull(column=column) if column in values:
            return frozenset({values[column] is None})
        case Not(inner=inner):
            found = _outcomes(inner, values, types)
            return frozenset(None if one is None else not one for one in found)
        case And(parts=parts) | Or(parts=parts):
            # What decides an AND is FALSE, what decides an OR is TRUE.
            decisive = isinstance(predicate, Or)
            together: Outcomes = frozenset({not decisive})
            for part in parts:
                pairs = product(together, _outcomes(part, values, types))
                together = frozenset(_both(one, other, decisive=decisive) for one, other in pairs)
                if together == {decisive}:
                    break
            return together
    return _ANY


def _one_of(value: str | None, one_of: OneOf, type_: str) -> Outcomes:
    if value is None:
        return _UNKNOWN
    base = type_.partition("(")[0]
    sides, own = one_of.sides(base), {}
    for manner in {side.manner for side in sides if side is not None}:
        own[manner] = _own_side(value, manner)
    if any(side is not None and side in sides for side in own.values()):
        return frozenset({True})
    otherwise = _UNKNOWN if one_of.has_null else frozenset({False})
    certain = None not in sides and None not in own.values()
    return otherwise if certain else otherwise | {True, None}


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
    other = _side(constant, type_.partition("(")[0])
    own = _own_side(value, other.manner) if other is not None else None
    if own is None or other is None:
        return _ANY
    left, right = own.value, other.value
    sign = (left > right) - (left < right)  # type: ignore[operator]
    return frozenset({_holds(predicate.operator, sign)})


def _holds(operator: str, sign: int) -> bool:
    signs = {"=": (0,), "<=>": (0,), "<>": (-1, 1), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0),
             ">": (1,), ">=": (0, 1)}  # fmt: skip
    return sign in signs[operator]


def _side(constant: Constant, base: str) -> _Side | None:
    """Give a constant as Hive compares it with columns of a type; None if that is not certain."""
    text = constant.text
    if base in INTEGERS or base == "decimal":
        is_number = constant.kind in ("number", "string") and _NUMBER.fullmatch(text)
        return _Side("decimal", Decimal(text)) if is_number else None
    if base in ("string", "varchar", "char", "double") and constant.kind == "number":
        return _float_side(text)
    if base in ("string", "varchar") and constant.kind == "string":
        return _Side("text", text)
    if base == "char" and constant.kind == "string":
        return _Side("padded", text.rstrip(" "))
    if base == "date" and constant.kind in ("date", "string"):
        return _Side("date", text) if DATE_TEXT.fullmatch(text) else None
    if (base, constant.kind) in (("boolean", "boolean"), ("timestamp", "string")):
        return _normal_side(text, base)
    return None


def _normal_side(text: str, base: str) -> _Side | None:
    found = normal_value(text, base)
    return _Side("boolean" if base == "boolean" else "timestamp", found) if found else None


def _float_side(text: str) -> _Side | None:
    if text == "NaN":
        # Greater than all others, and equal to itself.
        return _Side("float", (True, 0.0))
    is_number = _NUMBER.fullmatch(text) or text in ("Infinity", "-Infinity")
    return _Side("float", (False, float(text))) if is_number else None


def _own_side(value: str, manner: str) -> _Side | None:
    """Return a partition's value compared in this manner."""
    match manner:
        case "decimal":
            return _Side("decimal", Decimal(value)) if _NUMBER.fullmatch(value) else None
        case "float":
            return _float_side(value)
        case "date":
            return _Side("date", value) if DATE_TEXT.fullmatch(value) else None
        case "padded":
            return _Side("padded", value.rstrip(" "))
        case "boolean" | "timestamp":
            return _normal_side(value, manner)
    return _Side("text", value)


def partition_tests(table: Table, predicates: Iterable[Predicate]) -> tuple[PartitionTest, ...]:
    """Conditions that every partition with a wanted row satisfies, as many as databases take."""
    found = (test for one in predicates for test in _tests(table, one))
    return tuple(islice(found, MOST_VALUES))


def _tests(table: Table, predicate: Predicate) -> Iterator[PartitionTest]:
    match predicate:
        case And(parts=parts):
            for part in parts:
                yield from _tests(table, part)
        case Compare(column=column, operator=operator, value=value):
            yield from _comparisons(table, column, operator, [value])
        case OneOf(column=column, values=values):
            yield from _comparisons(table, column, "=", values)


def _comparisons(
    table: Table, column: str, operator: str, values: Sequence[Constant]
) -> Iterator[PartitionTest]:
    if column not in table.partition_names:
        return
    position = table.partition_names.index(column)
    type_ = table.partition_columns[position].type
    kind = KINDS.get(type_.partition("(")[0])
    if default_value(type_) not in (None, DEFAULT_PARTITION):
        # The catalog does not know that the default partition's name is cut to the column's size.
        return
    known = next((one for one in OPERATORS if one == operator), None)
    if kind is None or known is None or not all(_is(one, kind) for one in values):
        return
    texts = tuple(one.text for one in values)
    if len(texts) <= MOST_VALUES:
        yield PartitionTest(position=position, operator=known, values=texts, kind=kind)
        return
    order = int if kind == "integer" else str
    low, high = min(texts, key=order), max(texts, key=order)
    yield PartitionTest(position=position, operator=">=", values=(low,), kind=kind)
    yield PartitionTest(position=position, operator="<=", values=(high,), kind=kind)


def _is(value: Constant, kind: Kind) -> bool:
    if kind == "integer":
        digits = value.text.removeprefix("-")
        return value.kind == "number" and digits.isdecimal() and len(digits) <= MOST_DIGITS
    if kind == "date":
        return value.kind in ("date", "string") and len(value.text) == DATE_LENGTH
    return value.kind == "string"
