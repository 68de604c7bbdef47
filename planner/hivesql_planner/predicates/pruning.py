"""Which partitions hold wanted rows, told by a predicate before anything is read.

A partition goes only when no row of it can satisfy the predicate; what is not understood keeps
everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Literal, NamedTuple

from hivesql_planner.model import hive_type
from hivesql_planner.model.hive_type import BITS, BOOLEAN, TEXTS, TIMESTAMP, HiveType
from hivesql_planner.model.partition_values import normal_value
from hivesql_planner.model.table import DEFAULT_PARTITION, Table, default_value
from hivesql_planner.predicates.constants import NUMBER, day
from hivesql_planner.predicates.partitions import (
    DATE_LENGTH,
    KINDS,
    MOST_DIGITS,
    MOST_VALUES,
    OPERATORS,
    Kind,
    PartitionTest,
)
from hivesql_planner.predicates.predicate import (
    AllOf,
    Compare,
    IsNull,
    Leaf,
    OneOf,
    Predicate,
    Value,
    leaves_of,
)
from hivesql_planner.predicates.three_values import ANY, UNKNOWN, Outcomes, outcomes

_SIGNS = {"=": (0,), "<=>": (0,), "<>": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}
_Values = Mapping[str, str | None]


class _Side(NamedTuple):
    """One side of a comparison: how it is compared, and as what."""

    manner: Literal["decimal", "float", "text", "padded", "date", "boolean", "timestamp"]
    value: Decimal | tuple[bool, float] | str


class PartitionPruner:
    """Tells of partitions, one by one, what a predicate can be of their rows.

    ``types`` are those of the partition columns; all other columns may hold anything. A
    partition's values are given by column, as texts.
    """

    def __init__(self, predicate: Predicate, types: Mapping[str, HiveType]) -> None:
        self._predicate = predicate
        self._tests: dict[int, Callable[[str | None], Outcomes]] = {}
        for leaf in leaves_of(predicate):
            if isinstance(leaf, Compare | OneOf | IsNull) and leaf.column in types:
                self._tests[id(leaf)] = _test(leaf, types[leaf.column])

    def may_hold(self, values: _Values) -> bool:
        """Tell whether some row of a partition may satisfy the predicate."""
        return True in self._outcomes(values)

    def is_certain(self, values: _Values) -> bool:
        """Tell whether every row of a partition satisfies the predicate."""
        return self._outcomes(values) == {True}

    def _outcomes(self, values: _Values) -> Outcomes:
        def of_leaf(leaf: Leaf) -> Outcomes:
            test = self._tests.get(id(leaf))
            return ANY if test is None else test(values[leaf.column])

        return outcomes(self._predicate, of_leaf)


def _test(leaf: Compare | OneOf | IsNull, type_: HiveType) -> Callable[[str | None], Outcomes]:
    match leaf:
        case Compare(operator="<=>", value=None) | IsNull():
            return lambda value: _nullness(value, type_)
        case Compare():
            return _comparison(leaf, type_.kind)
        case OneOf():
            return _membership(leaf, type_.kind)


def _nullness(value: str | None, type_: HiveType) -> Outcomes:
    """Tell whether queries read NULL: also of a text that is no value of the column's type."""
    if value is None:
        return frozenset({True})
    normal = normal_value(value, type_)
    is_value = normal is not None
    if normal is not None and type_.kind in BITS:
        # A constant loses its higher bits, what is read does not.
        digits = value[1:] if value[:1] in ("+", "-") else value
        is_value = digits.isdecimal() and int(value) == int(normal)
    return frozenset({False} if is_value else {False, True})


def _comparison(compare: Compare, base: hive_type.Kind) -> Callable[[str | None], Outcomes]:
    side = _side(compare.value, base)
    of_null = UNKNOWN
    if compare.operator == "<=>":
        # What is no value of the column's type is NULL too, as a day that is none.
        of_null = frozenset({False} if side is not None else {False, True})
    signs = _SIGNS[compare.operator]

    def test(value: str | None) -> Outcomes:
        if value is None:
            return of_null
        if compare.value is None:
            return UNKNOWN
        own = _own_side(value, side.manner) if side is not None else None
        if own is None or side is None:
            return ANY
        own_value, right = own.value, side.value
        sign = (own_value > right) - (own_value < right)  # type: ignore[operator]
        return frozenset({sign in signs})

    return test


def _membership(one_of: OneOf, base: hive_type.Kind) -> Callable[[str | None], Outcomes]:
    # IN compares texts beside times as texts.
    uncertain = base is hive_type.Kind.TIMESTAMP
    sides = frozenset(None if uncertain else _side(constant, base) for constant in one_of.values)
    manners = {side.manner for side in sides if side is not None}
    otherwise: Outcomes = UNKNOWN if one_of.has_null else frozenset({False})

    def test(value: str | None) -> Outcomes:
        if value is None:
            return UNKNOWN
        own = [_own_side(value, manner) for manner in manners]
        if any(side is not None and side in sides for side in own):
            return frozenset({True})
        certain = None not in sides and None not in own
        return otherwise if certain else otherwise | {True, None}

    return test


def _side(value: Value, base: hive_type.Kind) -> _Side | None:
    """Give a constant as Hive compares it with columns of a type; None if that is not certain."""
    is_exact = base in BITS or base is hive_type.Kind.DECIMAL
    match value:
        case bool():
            is_boolean = base is hive_type.Kind.BOOLEAN
            return _normal_side(str(value).lower(), "boolean") if is_boolean else None
        case int() | Decimal() if is_exact:
            return _Side("decimal", Decimal(value))
        case int() | Decimal() | float():
            is_number = is_exact or base in TEXTS or base is hive_type.Kind.DOUBLE
            return _float_side(_text_of_number(value)) if is_number else None
        case str() if is_exact:
            # Texts and numbers meet as DOUBLE.
            return _float_side(value)
        case str() if base in (hive_type.Kind.STRING, hive_type.Kind.VARCHAR):
            return _Side("text", value)
        case str() if base is hive_type.Kind.CHAR:
            return _Side("padded", value.rstrip(" "))
        case str() if base is hive_type.Kind.TIMESTAMP:
            return _normal_side(value, "timestamp")
        case datetime():
            return None
        case date() | str() if base is hive_type.Kind.DATE:
            text = str(value)
            return _Side("date", text) if day(text) else None
    return None


def _text_of_number(value: int | float | Decimal) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(value)


def _normal_side(text: str, manner: Literal["boolean", "timestamp"]) -> _Side | None:
    value = normal_value(text, BOOLEAN if manner == "boolean" else TIMESTAMP)
    return _Side(manner, value) if value else None


def _float_side(text: str) -> _Side | None:
    if text == "NaN":
        # Greater than all others, and equal to itself.
        return _Side("float", (True, 0.0))
    is_number = NUMBER.fullmatch(text) or text in ("Infinity", "-Infinity")
    return _Side("float", (False, float(text))) if is_number else None


def _own_side(value: str, manner: str) -> _Side | None:
    """Return a partition's value compared in this manner."""
    match manner:
        case "decimal":
            return _Side("decimal", Decimal(value)) if NUMBER.fullmatch(value) else None
        case "float":
            return _float_side(value)
        case "date":
            return _Side("date", value) if day(value) else None
        case "padded":
            return _Side("padded", value.rstrip(" "))
        case "boolean" | "timestamp":
            return _normal_side(value, manner)
    return _Side("text", value)


def partition_tests(table: Table, predicates: Iterable[Predicate]) -> tuple[PartitionTest, ...]:
    """Conditions that every partition with a wanted row satisfies, as many as databases take."""
    tests = (test for predicate in predicates for test in _tests(table, predicate))
    return tuple(islice(tests, MOST_VALUES))


def _tests(table: Table, predicate: Predicate) -> Iterator[PartitionTest]:
    match predicate:
        case AllOf(parts=parts):
            for part in parts:
                yield from _tests(table, part)
        case Compare(column=column, operator=operator, value=value):
            yield from _comparisons(table, column, operator, [value])
        case OneOf(column=column, values=values, has_null=False):
            yield from _comparisons(table, column, "=", values)


def _comparisons(
    table: Table, column: str, operator: str, values: Sequence[Value]
) -> Iterator[PartitionTest]:
    if column not in table.partition_names:
        return
    position = table.partition_names.index(column)
    type_ = table.partition_columns[position].type
    kind = KINDS.get(type_.kind)
    if default_value(type_) not in (None, DEFAULT_PARTITION):
        # The catalog does not know that the default partition's name is cut to the column's size.
        return
    comparison = next((candidate for candidate in OPERATORS if candidate == operator), None)
    if kind is None or comparison is None or not all(_is(constant, kind) for constant in values):
        return
    texts = tuple(str(constant) for constant in values)
    if len(texts) <= MOST_VALUES:
        yield PartitionTest(position=position, operator=comparison, values=texts, kind=kind)
        return
    order: Any = int if kind == "integer" else str
    low, high = min(texts, key=order), max(texts, key=order)
    yield PartitionTest(position=position, operator=">=", values=(low,), kind=kind)
    yield PartitionTest(position=position, operator="<=", values=(high,), kind=kind)


def _is(value: Value, kind: Kind) -> bool:
    if kind == "integer":
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return is_whole and len(str(value).removeprefix("-")) <= MOST_DIGITS
    if kind == "date":
        if isinstance(value, str):
            return len(value) == DATE_LENGTH
        return isinstance(value, date) and not isinstance(value, datetime)
    return isinstance(value, str)
