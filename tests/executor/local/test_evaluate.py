"""Predicates over Arrow columns."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hivesql_executor.local.evaluate import evaluate
from hivesql_planner.predicates.predicate import AnyOf, Compare, Not, OneOf, Predicate

_INTEGERS = st.none() | st.integers(-3, 3)
_TEXTS = st.none() | st.sampled_from(["", "a", "b", "ab"])


@given(
    st.tuples(st.just(pa.int32()), st.lists(_INTEGERS), st.lists(_INTEGERS, min_size=1))
    | st.tuples(st.just(pa.string()), st.lists(_TEXTS), st.lists(_TEXTS, min_size=1)),
    st.booleans(),
)
def test_a_list_is_equality_with_any_of_its_values(
    case: tuple[pa.DataType, list[object], list[object]], is_denied: bool
) -> None:
    kind, column, values = case
    known = tuple(sorted({one for one in values if one is not None}))
    listed: Predicate = OneOf("a", known, has_null=None in values)
    either: Predicate = AnyOf(tuple(Compare("a", "=", one) for one in values))
    columns = {"a": pa.array(column, kind)}
    if is_denied:
        listed, either = Not(listed), Not(either)
    assert evaluate(listed, columns).equals(evaluate(either, columns))
