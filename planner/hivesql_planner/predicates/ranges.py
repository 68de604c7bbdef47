"""Which rows need not be read, told by what statistics say about a column in many rows at once.

Statistics only rule out: where they are silent or could be meant otherwise, rows are read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

from hivesql_planner.predicates.predicate import (
    AllOf,
    AnyOf,
    Compare,
    IsNull,
    IsTrue,
    Not,
    OneOf,
    Predicate,
    Stored,
    UnlessFalse,
)

Outcomes = frozenset[bool | None]
_ANY: Outcomes = frozenset((True, False, None))
_OPPOSITES = {"<>": "=", ">=": "<", "<=": ">"}
_EACH = 32
"""Above so many rows, deletes are looked for between the first and the last of them."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What is known of a column in some rows: how many are not NULL, and between what they lie.

    An end of None is not known.
    """

    values: int
    low: Stored = None
    high: Stored = None
    has_null: bool = True


def may_hold(predicate: Predicate | None, extents: Mapping[str, Extent]) -> bool:
    """Tell whether the predicate can be true of a row; without an extent all may be."""
    return predicate is None or True in _outcomes(predicate, extents)


def _outcomes(predicate: Predicate, extents: Mapping[str, Extent]) -> Outcomes:
    match predicate:
        case Compare():
            return _of_compare(predicate, extents.get(predicate.column))
        case OneOf():
            return _of_one_of(predicate, extents.get(predicate.column))
        case IsNull(column=name):
            return _of_is_null(extents.get(name))
        case IsTrue():
            return _ANY
        case Not(part=part):
            return frozenset(map(_opposite, _outcomes(part, extents)))
        case UnlessFalse(part=part):
            return frozenset(one is not False for one in _outcomes(part, extents))
        case AllOf(parts=parts):
            return _folded(_both, (_outcomes(part, extents) for part in parts))
        case AnyOf(parts=parts):
            return _folded(_either, (_outcomes(part, extents) for part in parts))


def _folded(
    join: Callable[[bool | None, bool | None], bool | None], parts: Iterable[Outcomes]
) -> Outcomes:
    return reduce(lambda one, other: frozenset(join(a, b) for a, b in product(one, other)), parts)


def _opposite(one: bool | None) -> bool | None:
    return None if one is None else not one


def _both(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _either(one: bool | None, other: bool | None) -> bool | None:
    return _opposite(_both(_opposite(one), _opposite(other)))


def _of_is_null(extent: Extent | None) -> Outcomes:
    if extent is None:
        return frozenset((True, False))
    return frozenset([True] * extent.has_null + [False] * bool(extent.values))


def _of_compare(comparison: Compare, extent: Extent | None) -> Outcomes:
    if comparison.value is None:
        return frozenset((None,))
    if extent is None:
        return _ANY
    if not extent.values:
        return frozenset((None,))
    known = _of_values(comparison.operator, comparison.value, extent.low, extent.high)
    return known | {None} if extent.has_null else known


def _of_one_of(one_of: OneOf, extent: Extent | None) -> Outcomes:
    """As equality with each of the values would be; only the least one within reach matters."""
    values: Any = one_of.values
    if extent is not None and not extent.values:
        return frozenset((None,))
    low, high = (extent.low, extent.high) if extent is not None else (None, None)
    first = bisect_left(values, low) if low is not None else 0
    can = first < len(values) and (high is None or values[first] <= high)
    must = can and low is not None and low == high
    otherwise = None if one_of.has_null else False
    known = frozenset([True] * can + [otherwise] * (not must))
    return known if extent is not None and not extent.has_null else known | {None}


def _of_values(operator: str, value: Any, low: Any, high: Any) -> Outcomes:
    if operator in _OPPOSITES:
        return frozenset(map(_opposite, _of_values(_OPPOSITES[operator], value, low, high)))
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
            AllOf(tuple(Compare(name, "=", one) for name, one in zip(names, row, strict=True)))
            for row in rows
        )
    )
