"""Conditions of a statement, and the values that it gives to columns, as values of the planner.

Only what speaks of one table's columns and of constants is understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

from hivesql.dialect.nodes.constants import Members
from hivesql.python_sqlglot import exp
from hivesql.query.meaning.constants import constant_of
from hivesql_planner.predicates.predicate import (
    ALWAYS,
    AllOf,
    AnyOf,
    Compare,
    Computed,
    Constant,
    IsNull,
    IsTrue,
    Not,
    OldValue,
    OneOf,
    Other,
    Predicate,
    Remainder,
    Value,
)

ColumnOf = Callable[[exp.Column], str | None]
"""Names the columns of the table in question."""
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
}
_SIGNS_OF_REMAINDERS = set(_OPERATORS.values()) - {"<=>"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
# What is nested deeper is not looked into.
_MOST_NESTED = 50


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """Return the parts of an AND."""
    return operands(condition, exp.And)


def operands(node: exp.Expr, kind: type[exp.Connector]) -> Iterator[exp.Expr]:
    """Yield the operands of a row of ANDs, or of ORs, from left to right."""
    pending = [node]
    while pending:
        operand = pending.pop().unnest()
        if isinstance(operand, kind):
            pending += [operand.expression, operand.this]
        else:
            yield operand


def predicate_of(node: exp.Expr, column_of: ColumnOf, sql: str, *, depth: int = 0) -> Predicate:
    """Return what a condition means; ``sql`` is the statement's text."""
    if depth > _MOST_NESTED:
        return Other()

    def inner(part: exp.Expr) -> Predicate:
        return predicate_of(part, column_of, sql, depth=depth + 1)

    node = node.unnest()
    match node:
        case exp.And():
            return all_of(inner(operand) for operand in operands(node, exp.And))
        case exp.Or():
            parts = tuple(inner(operand) for operand in operands(node, exp.Or))
            return _one_column(parts) or AnyOf(parts)
        case exp.Not():
            return Not(inner(node.this))
        case exp.Boolean() if node.this:
            return ALWAYS
    return _test(node, column_of, sql)


def _test(node: exp.Expr, column_of: ColumnOf, sql: str) -> Predicate:
    """Return the test of one column."""
    match node:
        case exp.Column():
            column = column_of(node)
            return IsTrue(column) if column else Other()
        case exp.Is() if isinstance(node.expression, exp.Null):
            column = _column(node.this, column_of)
            return IsNull(column) if column else Other()
        case exp.In():
            return _in(node, column_of, sql)
        case exp.Between():
            return _between(node, column_of, sql)
    return _comparison(node, column_of, sql)


def all_of(parts: Iterator[Predicate] | Sequence[Predicate]) -> Predicate:
    """Return what all parts make together, without those that always hold."""
    rest = tuple(part for part in parts if part != ALWAYS)
    return rest[0] if len(rest) == 1 else AllOf(rest)


def value_of(
    node: exp.Expr, column_of: ColumnOf, sql: str
) -> OldValue | Constant | Computed | None:
    """Return a new value: a constant, a column, or a column and a number; None for all else."""
    node = node.unnest()
    if (constant := constant_of(node, sql)) is not None:
        return constant
    if column := _column(node, column_of):
        return OldValue(column)
    sign = _ARITHMETIC.get(type(node))
    if sign is None or not isinstance(node, exp.Binary):
        return None
    sides = [(node.left, node.right)] if sign == "-" else [
        (node.left, node.right), (node.right, node.left)
    ]  # fmt: skip
    for side, other in sides:
        column, number = _column(side, column_of), constant_of(other, sql)
        if column and number and isinstance(number.value, (int, float, Decimal)):
            return None if isinstance(number.value, bool) else Computed(column, sign, number.value)
    return None


def _one_column(parts: Sequence[Predicate]) -> OneOf | None:
    """``c = 1 OR c = 2 OR c IN (3, 4)`` as one list; None for any other row of ORs."""
    values: list[Value] = []
    columns: set[str] = set()
    has_null = False
    for part in parts:
        match part:
            case Compare(operator="=", value=value):
                has_null = has_null or value is None
                values += [] if value is None else [value]
            case OneOf():
                has_null = has_null or part.has_null
                values += part.values
            case _:
                return None
        columns.add(part.column)
    return OneOf(columns.pop(), tuple(values), has_null) if len(columns) == 1 else None


def _comparison(node: exp.Expr, column_of: ColumnOf, sql: str) -> Predicate:
    operator = _OPERATORS.get(type(node))
    if operator is None or not isinstance(node, exp.Binary):
        return Other()
    left, right = constant_of(node.left, sql), constant_of(node.right, sql)
    if operator == "<=>" and any(side and _has_last_blank(side.value) for side in (left, right)):
        return Other()
    if operator in _SIGNS_OF_REMAINDERS and (remainder := _remainder(node, column_of, sql)):
        return remainder
    if right is not None and (column := _column(node.left, column_of)):
        return Compare(column, operator, right.value)
    if left is not None and (column := _column(node.right, column_of)):
        return Compare(column, _MIRRORED.get(operator, operator), left.value)
    return ALWAYS if operator == "=" and _same_numbers(left, right) else Other()


def _remainder(node: exp.Binary, column_of: ColumnOf, sql: str) -> Remainder | None:
    """Return ``column % number`` compared with a number, on whichever side; None for all else."""
    operator = _OPERATORS[type(node)]
    for side, other, sign in (
        (node.left, node.right, operator),
        (node.right, node.left, _MIRRORED.get(operator, operator)),
    ):
        divided = side.unnest()
        if not isinstance(divided, exp.Mod):
            continue
        column = _column(divided.this, column_of)
        divisor, value = constant_of(divided.expression, sql), constant_of(other, sql)
        if column is None or divisor is None or value is None:
            return None
        if type(divisor.value) is not int or type(value.value) is not int or divisor.value <= 0:
            return None
        return Remainder(column, divisor.value, sign, value.value)
    return None


def _same_numbers(left: Constant | None, right: Constant | None) -> bool:
    """Tell whether it is ``1 = 1``, by which conditions are put together."""
    are_whole = left and right and type(left.value) is type(right.value) is int
    return bool(are_whole and left == right)


def _in(node: exp.In, column_of: ColumnOf, sql: str) -> Predicate:
    column = _column(node.this, column_of)
    if column is None or not node.expressions or node.args.get("query"):
        return Other()
    values_and_nulls: list[Value] = []
    for item in node.expressions:
        if isinstance(item, Members):
            values_and_nulls += item.values
        elif (constant := constant_of(item, sql)) is not None:
            values_and_nulls.append(constant.value)
        else:
            return Other()
    values = tuple(value for value in values_and_nulls if value is not None)
    if _are_texts_and_numbers(values):
        return Other()
    return OneOf(column, values, len(values) < len(values_and_nulls))


def _are_texts_and_numbers(values: Sequence[Value]) -> bool:
    """Tell whether IN and BETWEEN would compare texts as numbers, which is left to Spark."""
    return any(isinstance(value, str) for value in values) and any(
        isinstance(value, (int, float, Decimal)) for value in values
    )


def _between(node: exp.Between, column_of: ColumnOf, sql: str) -> Predicate:
    column = _column(node.this, column_of)
    low, high = constant_of(node.args["low"], sql), constant_of(node.args["high"], sql)
    if column is None or low is None or high is None or node.args.get("symmetric"):
        return Other()
    bounds = (low.value, high.value)
    if _are_texts_and_numbers(bounds) or any(map(_has_last_blank, bounds)):
        return Other()
    return AllOf((Compare(column, ">=", low.value), Compare(column, "<=", high.value)))


def _has_last_blank(value: Value | None) -> bool:
    """Tell whether BETWEEN and <=> would see a blank that other comparisons with CHAR do not."""
    return isinstance(value, str) and value.endswith(" ")


def _column(node: exp.Expr, column_of: ColumnOf) -> str | None:
    node = node.unnest()
    return column_of(node) if isinstance(node, exp.Column) else None
