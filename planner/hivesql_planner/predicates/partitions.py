"""Which partitions a catalog may leave out when it lists those of a table."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from hivesql_planner.model import hive_type
from hivesql_planner.model.table import DEFAULT_PARTITION, Column, Table

Kind = Literal["text", "integer", "date"]
Operator = Literal["=", "<", "<=", ">", ">="]
OPERATORS: Final[tuple[Operator, ...]] = ("=", "<", "<=", ">", ">=")
COMPARE: Final[Mapping[Operator, Callable[[Any, Any], Any]]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
KINDS: Final[Mapping[hive_type.Kind, Kind]] = {
    **dict.fromkeys(hive_type.INTEGERS, "integer"),
    hive_type.Kind.STRING: "text", hive_type.Kind.VARCHAR: "text", hive_type.Kind.DATE: "date",
}  # fmt: skip
"""How partition columns are compared, by the kinds of their types; others are not."""
MOST_DIGITS: Final = 18
"""Longer texts than this are compared by nobody as numbers."""
DATE_LENGTH: Final = 10
MOST_VALUES: Final = 100
"""So many values of one test, and tests, are left to databases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTest:
    """``column operator value`` (or one of several values) on the partition column at ``position``.

    A value that is not of the kind, as text, passes: whoever asked decides about it. So the
    outcome of a listing may hold more than was wanted, never less.
    """

    position: int
    operator: Operator
    values: tuple[str, ...]
    kind: Kind


def may_pass(value: str | None, test: PartitionTest) -> bool:
    """Tell whether a partition with this value may be wanted; by code points, as in databases."""
    text = value or DEFAULT_PARTITION
    compare = COMPARE[test.operator]
    if test.kind == "integer":
        if not (len(text) <= MOST_DIGITS and text.isascii() and text.isdigit()):
            return True
        return any(compare(int(text), int(constant)) for constant in test.values)
    if test.kind == "date" and len(text) != DATE_LENGTH:
        return True
    return any(compare(text, constant) for constant in test.values)


def equal_to(table: Table, values: Mapping[str, str | None]) -> tuple[PartitionTest, ...]:
    """Give tests that every partition with these values by column passes."""
    return among(table, [tuple(values.get(column.name) for column in table.partition_columns)])


def among(table: Table, lists: Collection[tuple[str | None, ...]]) -> tuple[PartitionTest, ...]:
    """Give tests that every partition with one of these lists of values passes."""
    columns = enumerate(table.partition_columns)
    tests = (_equal(at, column, {values[at] for values in lists}) for at, column in columns)
    return tuple(test for test in tests if test is not None)


def _equal(position: int, column: Column, values: Collection[str | None]) -> PartitionTest | None:
    """Test for one of the values; None where a database cannot tell, or they are too many."""
    kind = KINDS.get(column.type.kind)
    constants = tuple(sorted(value for value in values if value is not None))
    if kind is None or not 0 < len(constants) == len(values) <= MOST_VALUES:
        return None
    if not all(_is(value, kind) for value in constants):
        return None
    return PartitionTest(position=position, operator="=", values=constants, kind=kind)


def _is(value: str, kind: Kind) -> bool:
    if kind == "integer":
        digits = value.removeprefix("-")
        return digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS
    return kind == "text" or len(value) == DATE_LENGTH
