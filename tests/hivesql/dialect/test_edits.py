"""Edits inside of edits."""

from __future__ import annotations

import pytest

from hivesql.dialect.edits import Edit, apply_edits, insert

TEXT = "f(a+b, c) x"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], TEXT),
        ([insert(9, " AS y")], "f(a+b, c) AS y x"),
        ([Edit(2, 3, "AA"), Edit(4, 5, "BB")], "f(AA+BB, c) x"),
        # an argument twice, with its own edit each time
        ([Edit(2, 3, "AA"), Edit(0, 9, "", ("g(", (2, 5), ",", (2, 5), ")"))], "g(AA+b,AA+b) x"),
        # the later edit of the same span is outside
        ([Edit(2, 5, "", ("i(", (2, 5), ")")), Edit(2, 5, "", ("o(", (2, 5), ")"))],
         "f(o(i(a+b)), c) x"),
        # what is inserted at the border of a span inside is not the span's
        ([Edit(7, 8, "", ("i(", (7, 8), ")")), insert(9, "!"), Edit(0, 9, "", ("<", (7, 8), ">"))],
         "<i(c)>! x"),
        # arguments in another order
        ([Edit(2, 5, "", ((4, 5), "-", (2, 3)))], "f(b-a, c) x"),
    ],
)  # fmt: skip
def test_edits(edits: list[Edit], expected: str) -> None:
    assert apply_edits(TEXT, ((0, len(TEXT)),), edits) == expected


def test_spans_are_joined_by_line_ends_with_a_prefix_before_the_last() -> None:
    assert (
        apply_edits(TEXT, ((0, 5), (7, 11)), [Edit(7, 8, "d")], "SELECT ") == "f(a+b\nSELECT d) x"
    )
