"""True, false and unknown: what a predicate may be where not everything is known of its columns."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final

from hivesql_planner.predicates.predicate import (
    AllOf,
    AnyOf,
    Leaf,
    Not,
    Other,
    Predicate,
    UnlessFalse,
)

Outcomes = frozenset[bool | None]
ANY: Final[Outcomes] = frozenset((True, False, None))
UNKNOWN: Final[Outcomes] = frozenset((None,))


def outcomes(predicate: Predicate, of_leaf: Callable[[Leaf], Outcomes]) -> Outcomes:
    """Give everything that a predicate may be, from what the tests of single columns may be."""
    match predicate:
        case Not(part=part):
            return opposite(outcomes(part, of_leaf))
        case UnlessFalse(part=part):
            return frozenset(outcome is not False for outcome in outcomes(part, of_leaf))
        case AllOf(parts=parts) | AnyOf(parts=parts):
            # What decides an AND is FALSE, what decides an OR is TRUE.
            decisive = isinstance(predicate, AnyOf)
            together: Outcomes = frozenset((not decisive,))
            for part in parts:
                pairs = product(together, outcomes(part, of_leaf))
                together = frozenset(
                    _both(outcome, other, decisive=decisive) for outcome, other in pairs
                )
                if together == {decisive}:
                    break
            return together
        case Other():
            return ANY
    return of_leaf(predicate)


def opposite(of: Outcomes) -> Outcomes:
    """Give what NOT makes of each."""
    return frozenset(None if outcome is None else not outcome for outcome in of)


def _both(outcome: bool | None, other: bool | None, *, decisive: bool) -> bool | None:
    if decisive in (outcome, other):
        return decisive
    return None if None in (outcome, other) else not decisive
