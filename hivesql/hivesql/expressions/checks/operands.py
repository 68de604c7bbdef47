"""What Hive adds to dates, looks for in lists and compares with patterns; Spark converts more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hivesql.dialect.value_types import TIMES, Type, is_decimal, is_text
from hivesql.expressions.calls import Call
from hivesql.expressions.checks.arguments import check_arguments
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import ParseError, SemanticError
from hivesql_planner.model.hive_type import (
    BINARY,
    BOOLEAN,
    DATE,
    INT,
    INTERVALS,
    VOID,
    HiveType,
    Kind,
)

_UNITS = (
    "year", "quarter", "month", "week", "day", "dayofweek", "hour", "minute", "second",
)  # fmt: skip

_CONSTANT = {"add_months": 2, "bround": 1, "format_number": 1, "round": 1, "sha2": 1}
"""Which argument of a function is a constant, counted from 0."""
_ROUNDED = ("bround", "round")


def check_bytes(operator: str, left: Type, right: Type) -> None:
    """Refuse bytes, with which nothing is calculated (SemanticError 10014)."""
    if BINARY in (left, right):
        raise SemanticError(f"No matching method for {operator} with ({left}, {right})", code=10014)


def check_operands(name: str, kinds: Sequence[Type]) -> None:
    """Refuse what an operator that is a function of Hive does not take (SemanticError)."""
    check_arguments(Call(name, tuple(kinds), ()))


def check_days(operator: str, left: Type, right: Type) -> None:
    """Refuse what is added to a DATE, or taken from it, but INT behind it, times and intervals."""
    if DATE not in (left, right) or operator not in "+-":
        return
    if left == DATE and right in (None, INT):
        return
    other = right if left == DATE else left
    if other is None or other.kind in INTERVALS or (operator == "-" and other in TIMES):
        return
    raise SemanticError(f"No matching method for {operator} with ({left}, {right})", code=10014)


def check_members(kinds: Sequence[Type]) -> None:
    """Refuse booleans and bytes in IN beside other values (SemanticError 10014)."""
    first, *others = kinds
    for kind in others:
        pair = {first, kind}
        if len(pair) == 2 and pair & {BOOLEAN, BINARY} and not pair & {None, VOID}:
            raise SemanticError(f"Type mismatch: {{{first} IN ({kind})}}", code=10014)


def check_pattern(node: exp.Expr, type_of: Callable[[exp.Expr], Type]) -> None:
    """Refuse what LIKE, RLIKE, LIKE ANY and LIKE ALL do not compare (SemanticError)."""
    patterns, name = [node.expression], node.key
    if isinstance(node.expression, (exp.Any, exp.All)):
        listed, name = node.expression.this.unnest(), f"like{node.expression.key}"
        patterns = listed.expressions if isinstance(listed, exp.Tuple) else [listed]
    check_arguments(Call(name, (type_of(node.this), *map(type_of, patterns)), ()))


def check_call(call: Call, arguments: Sequence[exp.Expr]) -> None:
    """Refuse what a function of Hive does not take (SemanticError 10014, 10015, 10016)."""
    check_arguments(call)
    place = _CONSTANT.get(call.name, len(arguments))
    if call.name in _ROUNDED and not is_decimal(call.type(0)):
        return
    if call.name == "format_number" and not is_text(call.type(1)):
        return
    if place < len(arguments) and not _is_constant(arguments[place]):
        message = f"{call.name} only takes a constant as argument {place + 1}"
        raise SemanticError(f"Argument type mismatch: {message}", code=10016)


def _is_constant(node: exp.Expr) -> bool:
    """Tell whether Hive sees a constant: of operators and functions it computes none so early."""
    while isinstance(node, (exp.Cast, exp.Neg, exp.Paren)):
        node = node.this
    return isinstance(node, (exp.Boolean, exp.Literal, exp.Null))


def check_nested(node: exp.Cast, source: Type, target: HiveType) -> None:
    """Refuse to make an array, a map or a struct of a constant of another type (SemanticError)."""
    is_other = target.is_nested and source is not None and becomes_nothing(source, target)
    if is_other and node.this.find(exp.Column) is None:
        raise SemanticError(f"Unexpected type: {target}: CAST does not make it of {source}")


def becomes_nothing(source: HiveType, target: HiveType) -> bool:
    """Tell whether Hive's CAST to an array, a map or a struct is NULL: it takes its own type."""
    return source != target and not source.holds(Kind.VOID)


def extracted_unit(unit: str) -> str:
    """Return the unit of EXTRACT in small letters; Spark knows more (ParseError)."""
    if unit.lower().removesuffix("s") not in _UNITS:
        raise ParseError(f"unexpected {unit} in EXTRACT, which knows {', '.join(_UNITS)}")
    return unit.lower()
