"""Which partitions a catalog may leave out when it lists those of a table."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from hivesql_planner.table import DEFAULT_PARTITION, Table

Kind = Literal["text", "integer", "date"]
Operator = Literal["=", "<", "<=", ">", ">="]
OPERATORS: Final[tuple[Operator, ...]] = ("=", "<", "<=", ">", ">=")
COMPARE: Final[Mapping[Operator, Callable[[Any, Any], Any]]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
KINDS: Final[Mapping[str, Kind]] = {
    "tinyint": "integer", "smallint": "integer", "int": "integer", "bigint": "integer",
    "string": "text", "varchar": "text", "date": "date",
}  # fmt: skip
"""How partition columns are compared, by the names of their types; others are not."""
MOST_DIGITS: Final = 18
"""Longer texts than this are compared by nobody as numbers."""
DATE_LENGTH: Final = 10


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
    """Whether a partition with this value may be wanted; by code points, as databases decide."""
    text = value or DEFAULT_PARTITION
    compare = COMPARE[test.operator]
    if test.kind == "integer":
        if not (len(text) <= MOST_DIGITS and text.isascii() and text.isdigit()):
            return True
        return any(compare(int(text), int(one)) for one in test.values)
    if test.kind == "date" and len(text) != DATE_LENGTH:
        return True
    return any(compare(text, one) for one in test.values)


def equal_to(table: Table, wanted: Mapping[str, str | None]) -> tuple[PartitionTest, ...]:
    """Tests that every partition with these values by column passes."""
    found = []
    for position, column in enumerate(table.partition_columns):
        value, kind = wanted.get(column.name), KINDS.get(column.type.partition("(")[0])
        if value is not None and kind is not None and _is(value, kind):
            test = PartitionTest(position=position, operator="=", values=(value,), kind=kind)
            found.append(test)
    return tuple(found)


def _is(value: str, kind: Kind) -> bool:
    if kind == "integer":
        digits = value.removeprefix("-")
        return digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS
    return kind == "text" or len(value) == DATE_LENGTH
