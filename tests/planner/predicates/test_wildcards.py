"""Patterns with wildcards."""

from __future__ import annotations

import pytest

from hivesql_planner.predicates.wildcards import ANY, ONE, compile_wildcards, literal

CASES = (
    ("", "", True),
    (ANY, "a\nb", True),
    (ONE, "ab", False),
    (f"a{ANY}b{ONE}", "a-b-bc", True),
    (f"{ANY}a{ANY}a{ANY}", "xax", False),
    (literal("a*[b]?.^"), "a*[b]?.^", True),
    (literal("a*"), "ab", False),
    ("[a-c]x", "bx", True),
    ("[!a-c]x", "bx", False),
    (f"{ANY}a" * 40 + f"{ANY}b", "a" * 10_000, False),
)


@pytest.mark.parametrize(("pattern", "text", "fits"), CASES)
def test_a_pattern_and_a_text(pattern: str, text: str, fits: bool) -> None:
    assert (compile_wildcards(pattern).match(text) is not None) is fits


def test_case_counts_unless_it_is_ignored() -> None:
    assert compile_wildcards(f"A{ANY}B{ANY}", ignores_case=True).match("axbx")
    assert not compile_wildcards(f"A{ANY}").match("ax")
