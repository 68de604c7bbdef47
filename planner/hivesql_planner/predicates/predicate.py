"""Conditions as values, made once from a statement's tree, and what else small statements say.

A constant is what the statement says until ``planner/local`` makes it one of a column's type.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

Value = None | bool | int | float | Decimal | str | bytes | datetime.date | datetime.datetime
"""A constant, by its type in Python; a float is a DOUBLE, a datetime is wall clock."""


@dataclass(frozen=True, slots=True)
class Compare:
    """``column operator value``: one of = <> < <= > >= <=>.

    A value of None makes it unknown, but for <=>.
    """

    column: str
    operator: str
    value: Value


@dataclass(frozen=True, slots=True)
class OneOf:
    """``column IN (value, …)``: the values but for NULL, and whether NULL is one.

    Those of a column's own type are in their order, each once.
    """

    column: str
    values: tuple[Value, ...]
    has_null: bool = False


@dataclass(frozen=True, slots=True)
class Remainder:
    """``column % divisor operator value`` of whole numbers: one of = <> < <= > >=.

    The divisor is more than 0; the remainder has the sign of the column's value.
    """

    column: str
    divisor: int
    operator: str
    value: int


@dataclass(frozen=True, slots=True)
class IsNull:
    """The column is NULL."""

    column: str


@dataclass(frozen=True, slots=True)
class IsTrue:
    """A boolean column by itself: true, false or unknown."""

    column: str


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite; unknown stays unknown."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class AllOf:
    """AND; what has no part always holds."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """OR over at least one part."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class UnlessFalse:
    """True where the part is true or unknown: a CHECK constraint."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class Other:
    """Anything that is not understood: true, false or unknown."""


Leaf = Compare | OneOf | Remainder | IsNull | IsTrue
Predicate = Leaf | Not | AllOf | AnyOf | UnlessFalse | Other
ALWAYS = AllOf(())


def leaves_of(predicate: Predicate) -> Iterator[Leaf]:
    """Yield the tests of single columns that a predicate is made of."""
    match predicate:
        case Not(part=part) | UnlessFalse(part=part):
            yield from leaves_of(part)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            for operand in parts:
                yield from leaves_of(operand)
        case Compare() | OneOf() | Remainder() | IsNull() | IsTrue():
            yield predicate


def columns_of(predicate: Predicate) -> Iterator[str]:
    """Yield the columns that a predicate speaks of, as often as it does."""
    return (leaf.column for leaf in leaves_of(predicate))


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallInsert:
    """Rows that stand in the statement.

    ``rows`` are the table's data columns, ``partitions`` the texts of the dynamic partition
    columns, row by row.
    """

    rows: tuple[tuple[Value, ...], ...] = field(repr=False)
    partitions: tuple[tuple[str, ...], ...] = field(repr=False)
    check: Predicate | None = None


@dataclass(frozen=True, slots=True)
class OldValue:
    """The value that the old row has in this column."""

    column: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that the statement says."""

    value: Value


@dataclass(frozen=True, slots=True)
class Computed:
    """A number of the old row, plus (+), minus (-) or times (*) another one.

    What comes out is exact, but for DOUBLE, and then cast to the column's type.
    """

    column: str
    operator: str
    number: int | float | Decimal


Meaning = Predicate | OldValue | Constant | Computed
"""What an expression means, where it is as simple as that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallChange:
    """UPDATE or DELETE; ``values`` are those of the new row by data column, None deletes."""

    where: Predicate | None
    values: tuple[OldValue | Constant | Computed, ...] | None
    check: Predicate | None = None
    most_bytes: int
    """Where more bytes than this may hold fitting rows, Spark is the better tool."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of the table as a result's column."""

    column: str


@dataclass(frozen=True, slots=True)
class Total:
    """count, min, max or sum of a column; None counts rows."""

    function: str
    column: str | None


@dataclass(frozen=True, slots=True)
class Sorting:
    """By which column of the table rows are sorted, and where NULL goes."""

    column: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A query over one table or none, as the statement says it: items, rows, order and limit."""

    items: tuple[Shown | Constant | Total, ...]
    where: Predicate = ALWAYS
    order: tuple[Sorting, ...] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallSelect:
    """A query over one table: its columns, or totals alone, of the rows that fit."""

    items: tuple[Shown | Constant | Total, ...]
    where: Predicate | None
    order: tuple[Sorting, ...] = ()
    limit: int | None = None
    most_bytes: int
    """Where more bytes than this may hold fitting rows, Spark is the better tool."""
