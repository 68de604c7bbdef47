"""Predicates over Arrow columns, in the logic of three values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from hivesql_planner.model.constraints import violation
from hivesql_planner.model.hive_type import Kind
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
    Remainder,
    UnlessFalse,
)

_COMPARISONS: dict[str, Callable[[pa.Array, pa.Scalar], pa.Array]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def evaluate(predicate: Predicate, columns: Mapping[str, pa.Array]) -> pa.Array:
    """Give true, false or NULL for each row."""
    match predicate:
        case Compare():
            return _compare(predicate, columns[predicate.column])
        case OneOf():
            return _one_of(predicate, columns[predicate.column])
        case Remainder():
            return _of_remainder(predicate, columns[predicate.column])
        case IsNull(column=name):
            return pc.is_null(columns[name])
        case IsTrue(column=name):
            return columns[name]
        case Not(part=part):
            return pc.invert(evaluate(part, columns))
        case UnlessFalse(part=part):
            return pc.fill_null(evaluate(part, columns), True)
        case AllOf(parts=parts):
            return reduce(pc.and_kleene, [evaluate(part, columns) for part in parts])
        case AnyOf(parts=parts):
            return reduce(pc.or_kleene, [evaluate(part, columns) for part in parts])


def _compare(comparison: Compare, column: pa.Array) -> pa.Array:
    if comparison.value is None:
        return pa.nulls(len(column), pa.bool_())
    if pa.types.is_integer(column.type):
        column = column.cast(pa.int64())
    return _COMPARISONS[comparison.operator](column, pa.scalar(comparison.value, column.type))


def _of_remainder(test: Remainder, column: pa.Array) -> pa.Array:
    column = column.cast(pa.int64())
    # Arrow divides towards zero, as Spark does.
    multiple = pc.multiply(pc.divide(column, test.divisor), test.divisor)
    return _COMPARISONS[test.operator](pc.subtract(column, multiple), pa.scalar(test.value))


def _one_of(one_of: OneOf, column: pa.Array) -> pa.Array:
    if pa.types.is_integer(column.type):
        column = column.cast(pa.int64())
    is_member = pc.is_in(column, value_set=pa.array(one_of.values, column.type))
    unknown = pc.is_null(column)
    if one_of.has_null:
        unknown = pc.or_(unknown, pc.invert(is_member))
    return pc.if_else(unknown, pa.scalar(None, pa.bool_()), is_member)


def enforce_check(check: Predicate | None, row: pa.StructArray, table: Table) -> None:
    """Raise ConstraintViolation unless every row of the table's columns satisfies the check."""
    if check is None or not len(row):
        return
    # CHAR compares without the blanks that pad it.
    columns = {
        column.name: pc.utf8_rtrim(row.field(i), " ")
        if column.type.kind is Kind.CHAR
        else row.field(i)
        for i, column in enumerate(table.columns)
    }
    holds = pc.fill_null(evaluate(check, columns), False)
    if not pc.all(holds).as_py():
        raise violation()
