"""How a MERGE of few rows goes without a join of Spark's."""

from __future__ import annotations

from dataclasses import dataclass, field

from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.predicates.predicate import (
    Computed,
    Constant,
    OldValue,
    Predicate,
    SmallSelect,
    Value,
)
from hivesql_planner.relations import Query


@dataclass(frozen=True, slots=True)
class Item:
    """What is wanted of each row of the source: Spark SQL over it, and the type it is stored as.

    ``column`` is the source's where it is made of no more than one, ``is_converted`` where that is
    not taken as it is. ``is_partition``: the text of a partition's value is wanted.
    ``is_unknown``: Spark shall tell whether it is of that type, as whole numbers of any length are.
    """

    sql: str
    type: HiveType
    column: str | None = None
    is_converted: bool = False
    is_partition: bool = False
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class FromSource:
    """A value that the source gives: the number of its item."""

    item: int


NewValue = OldValue | Constant | Computed | FromSource


@dataclass(frozen=True, slots=True)
class Conditions:
    """The parts of an AND: conditions over the target, and items of the source that are true."""

    of_target: Predicate | None = None
    items: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallBranch:
    """A WHEN clause: which rows it takes, what becomes of them, and by which of the writes.

    ``is_new``: it takes rows of the source that match none. ``unless`` must be false beside
    ``conditions``. ``values`` are those of the new row, None for a delete; ``partition`` are the
    texts of its partition's values, or their items.
    """

    is_new: bool
    conditions: Conditions
    unless: Conditions | None = None
    values: tuple[NewValue, ...] | None = None
    partition: tuple[str | FromSource, ...] = ()
    writes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallMerge:
    """A MERGE by the values of its source's rows; so is a change of rows that a subquery gives.

    ``keys`` are columns of the target and the items that they equal; ``on`` is what else ON says.
    ``rows`` are the items of rows that stand in the statement, ``select`` gives them of a small
    table; without both Spark computes the items.
    """

    keys: tuple[tuple[str, int], ...]
    on: Conditions
    branches: tuple[SmallBranch, ...]
    items: tuple[Item, ...]
    rows: tuple[tuple[Value, ...], ...] | None = field(default=None, repr=False)
    select: SmallSelect | None = None
    source: Query = field(repr=False)
    """The source, whose columns are the items where ``select`` gives them."""
    by_any: bool
    """Whether any of several rows of the source may change a row of the target."""
    check: Predicate | None = None
    most_bytes: int
    most_rows: int
    """Of the source."""
    most_matching_bytes: int
    """Where more bytes may hold rows that match, Spark is the better tool."""
