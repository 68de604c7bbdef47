"""EXPLAIN drawn."""

from __future__ import annotations

import io

from hivesql_repl.output.plan_tree import draw_plan, is_plan

LINES = ["TRANSACTION", "  lock a", "  lock b", "CHANGE d.p", "  when matched", "    delta", "  x"]


def test_indents_are_branches() -> None:
    out = io.StringIO()
    draw_plan(LINES, out, color=False)
    assert [line.rstrip() for line in out.getvalue().splitlines()] == [
        "TRANSACTION", "├── lock a", "└── lock b", "CHANGE d.p", "├── when matched",
        "│   └── delta", "└── x",
    ]  # fmt: skip


def test_what_is_a_plan() -> None:
    assert is_plan(("Explain",), LINES)
    assert not is_plan(("Explain",), ['{"transaction":true}'])
    assert not is_plan(("a",), LINES)
