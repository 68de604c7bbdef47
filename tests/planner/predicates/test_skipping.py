"""Which rows statistics rule out."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivesql_planner.predicates.predicate import (
    AllOf,
    AnyOf,
    Compare,
    IsNull,
    IsTrue,
    Not,
    OneOf,
    Predicate,
    UnlessFalse,
    Value,
)
from hivesql_planner.predicates.ranges import Extent, any_of_ids, may_hold

DAY = datetime.date(2020, 1, 2)
EXTENTS = {
    "a": Extent(10, 3, 7, has_null=False),
    "one": Extent(10, 5, 5, has_null=False),
    "low": Extent(10, 3, None),
    "high": Extent(10, None, "m"),
    "null": Extent(0),
    "full": Extent(10, has_null=False),
    "n": Extent(10, Decimal("1.5"), Decimal("2.50")),
    "d": Extent(10, DAY, DAY, has_null=False),
}
# Column, operator, value, and whether a row may fit; and may fit the opposite.
COMPARED: tuple[tuple[str, str, Value, bool, bool], ...] = (
    ("a", "=", 3, True, True),
    ("a", "=", 2, False, True),
    ("a", "=", 8, False, True),
    ("a", "<>", 2, True, False),
    ("a", "<", 3, False, True),
    ("a", "<", 4, True, True),
    ("a", "<", 8, True, False),
    ("a", "<=", 2, False, True),
    ("a", "<=", 3, True, True),
    ("a", "<=", 7, True, False),
    ("a", ">", 7, False, True),
    ("a", ">", 2, True, False),
    ("a", ">=", 8, False, True),
    ("a", ">=", 7, True, True),
    ("a", ">=", 3, True, False),
    ("a", "=", None, False, False),
    ("one", "=", 5, True, False),
    ("one", "<>", 5, False, True),
    ("low", "=", 2, False, True),
    ("low", "=", 100, True, True),
    ("low", "<", 3, False, True),
    ("high", ">", "m", False, True),
    ("high", "=", "mm", False, True),
    ("high", "=", "", True, True),
    ("null", "=", 1, False, False),
    ("null", "<>", 1, False, False),
    ("unknown", "=", 1, True, True),
    ("n", "=", Decimal("2.5"), True, True),
    ("n", ">", Decimal("2.5"), False, True),
    ("d", "=", DAY, True, False),
    ("d", "<", DAY, False, True),
)


@pytest.mark.parametrize(("column", "sign", "value", "fits", "opposite"), COMPARED)
def test_ends_rule_out(column: str, sign: str, value: Value, fits: bool, opposite: bool) -> None:
    comparison = Compare(column, sign, value)
    assert may_hold(comparison, EXTENTS) is fits
    assert may_hold(Not(comparison), EXTENTS) is opposite


IN, OUT = Compare("a", "=", 4), Compare("a", "=", 1)
PREDICATES: dict[str, tuple[Predicate | None, bool]] = {
    "nothing": (None, True),
    "and": (AllOf((IN, OUT)), False),
    "or": (AnyOf((OUT, IN)), True),
    "neither": (AnyOf((OUT, OUT)), False),
    "not and": (Not(AllOf((IN, OUT))), True),
    "not or": (Not(AnyOf((Compare("a", ">=", 3), OUT))), False),
    "null": (IsNull("a"), False),
    "not null": (Not(IsNull("null")), False),
    "null somewhere": (IsNull("low"), True),
    "nulls alone": (IsNull("null"), True),
    "not null somewhere": (Not(IsNull("low")), True),
    "null of unknown": (IsNull("unknown"), True),
    "flag": (IsTrue("full"), True),
    "not flag": (Not(IsTrue("full")), True),
    "check of unknown": (UnlessFalse(Compare("null", "=", 1)), True),
    "check of false": (UnlessFalse(OUT), False),
    "unknown and": (AllOf((Compare("null", "=", 1), IN)), False),
    "unknown or": (AnyOf((Compare("null", "=", 1), OUT)), False),
}


@pytest.mark.parametrize("name", PREDICATES)
def test_predicates_are_ruled_out_by_their_parts(name: str) -> None:
    predicate, fits = PREDICATES[name]
    assert may_hold(predicate, EXTENTS) is fits


def test_deletes_are_looked_for_row_by_row_or_between_ends() -> None:
    def of(count: int) -> Predicate:
        return any_of_ids({"w": [1] * count, "r": [n * 100 for n in range(count)]})

    def near(row: int) -> dict[str, Extent]:
        return {"w": Extent(9, 1, 1, has_null=False), "r": Extent(9, row, row + 8, has_null=False)}

    assert [may_hold(of(30), near(row)) for row in (100, 110, 2900, 3000)] == [
        True, False, True, False,
    ]  # fmt: skip
    assert [may_hold(of(40), near(row)) for row in (100, 110, 2900, 4000)] == [
        True, True, True, False,
    ]  # fmt: skip


_VALUES = st.lists(st.none() | st.integers(0, 6), min_size=1, max_size=4)
_EXTENTS = st.none() | st.builds(
    Extent,
    st.integers(0, 2),
    st.none() | st.integers(0, 3),
    st.none() | st.integers(3, 6),
    st.booleans(),
)


@given(_VALUES, _EXTENTS, st.booleans())
def test_a_list_rules_out_what_equality_with_its_values_does(
    values: list[int | None], extent: Extent | None, is_denied: bool
) -> None:
    known = tuple(sorted({one for one in values if one is not None}))
    listed: Predicate = OneOf("a", known, has_null=None in values)
    either: Predicate = AnyOf(tuple(Compare("a", "=", one) for one in values))
    if is_denied:
        listed, either = Not(listed), Not(either)
    extents = {} if extent is None else {"a": extent}
    assert may_hold(listed, extents) == may_hold(either, extents)
