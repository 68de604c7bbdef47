"""Which rows need not be read, told by what statistics say about a column in many rows at once.

Statistics only rule out: where they are silent or could be meant otherwise, rows are read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hivesql_planner.predicates.predicate import (
    AllOf,
    AnyOf,
    Compare,
    IsNull,
    Leaf,
    OneOf,
    Predicate,
    Value,
    leaves_of,
)
from hivesql_planner.predicates.three_values import ANY, UNKNOWN, Outcomes, opposite, outcomes

_OPPOSITES = {"<>": "=", ">=": "<", "<=": ">"}
_EACH = 32
"""Above so many rows, deletes are looked for between the first and the last of them."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What is known of a column in some rows: how many are not NULL, and between what they lie.

    An end of None is not known.
    """

    values: int
    low: Value = None
    high: Value = None
    has_null: bool = True


def may_hold(predicate: Predicate | None, extents: Mapping[str, Extent]) -> bool:
    """Tell whether the predicate can be true of a row; without an extent all may be.

    Its constants are of their columns' own types.
    """

    def of_leaf(leaf: Leaf) -> Outcomes:
        extent = extents.get(leaf.column)
        match leaf:
            case Compare():
                return _of_compare(leaf, extent)
            case OneOf():
                return _of_one_of(leaf, extent)
            case IsNull():
                return _of_is_null(extent)
        return ANY

    return predicate is None or True in outcomes(predicate, of_leaf)


def ranged_columns(predicate: Predicate) -> Iterator[str]:
    """Yield the columns by whose statistics rows may be ruled out, as often as they are asked."""
    leaves = leaves_of(predicate)
    return (leaf.column for leaf in leaves if isinstance(leaf, Compare | OneOf | IsNull))


def _of_is_null(extent: Extent | None) -> Outcomes:
    if extent is None:
        return frozenset((True, False))
    return frozenset([True] * extent.has_null + [False] * bool(extent.values))


def _of_compare(comparison: Compare, extent: Extent | None) -> Outcomes:
    if comparison.value is None:
        return UNKNOWN
    if extent is None:
        return ANY
    if not extent.values:
        return UNKNOWN
    of_values = _of_values(comparison.operator, comparison.value, extent.low, extent.high)
    return of_values | {None} if extent.has_null else of_values


def _of_one_of(one_of: OneOf, extent: Extent | None) -> Outcomes:
    """As equality with each of the values would be; only the least one within reach matters."""
    values: Any = one_of.values
    if extent is not None and not extent.values:
        return UNKNOWN
    low, high = (extent.low, extent.high) if extent is not None else (None, None)
    first = bisect_left(values, low) if low is not None else 0
    can = first < len(values) and (high is None or values[first] <= high)
    must = can and low is not None and low == high
    otherwise = None if one_of.has_null else False
    of_values = frozenset([True] * can + [otherwise] * (not must))
    return of_values if extent is not None and not extent.has_null else of_values | {None}


def _of_values(operator: str, value: Any, low: Any, high: Any) -> Outcomes:
    if operator in _OPPOSITES:
        return opposite(_of_values(_OPPOSITES[operator], value, low, high))
    above = low is not None and low > value
    from_there = low is not None and low >= value
    below = high is not None and high < value
    up_to = high is not None and high <= value
    match operator:
        case "=":
            can, must = not (above or below), from_there and up_to
        case "<":
            can, must = not from_there, below
        case _:
            can, must = not up_to, above
    return frozenset([True] * can + [False] * (not must))


def any_of_ids(ids: Mapping[str, list[int]]) -> Predicate:
    """Match delete events of rows with these ids (lists of one length), perhaps of others."""
    names = tuple(ids)
    if len(ids[names[0]]) > _EACH:
        ends = [(name, min(ids[name]), max(ids[name])) for name in names]
        return AllOf(
            tuple(
                Compare(name, sign, end)
                for name, low, high in ends
                for sign, end in ((">=", low), ("<=", high))
            )
        )
    rows = zip(*ids.values(), strict=True)
    return AnyOf(
        tuple(
            AllOf(tuple(Compare(name, "=", id_) for name, id_ in zip(names, row, strict=True)))
            for row in rows
        )
    )
