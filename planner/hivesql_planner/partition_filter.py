"""Which partitions a catalog may leave out when it lists those of a table."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from hivesql_planner.table import DEFAULT_PARTITION

Kind = Literal["text", "integer", "date"]
Operator = Literal["=", "<", "<=", ">", ">="]
OPERATORS: Final[tuple[Operator, ...]] = ("=", "<", "<=", ">", ">=")
COMPARE: Final[Mapping[Operator, Callable[[Any, Any], Any]]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
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
