"""How many grouping sets a GROUP BY asks for: each of them reads every row once."""

from __future__ import annotations

from math import prod

from sqlglot import exp

from hivesql.binder.context import Binding
from hivesql.query.dialect import span_of
from hivesql_planner.errors import NotSupported, SemanticError

_MOST_COLUMNS = 64
_MOST_SETS = 2**14
"""Spark makes a copy of its plan's columns for each set before anything can stop it."""


def check_grouping(select: exp.Select, binding: Binding) -> None:
    """Fail where there are more columns or sets than can be grouped by.

    Raises SemanticError 10411, or NotSupported where Hive would go on for days.
    """
    group = select.args.get("group")
    if not isinstance(group, exp.Group):
        return
    plain = [one for one in group.expressions if not isinstance(one, _SETS)]
    # GROUP BY cube(a, b) has them among its columns, GROUP BY a, b WITH CUBE behind them.
    parts = [one for one in group.expressions if isinstance(one, _SETS)]
    behind = [
        one for key in ("cube", "rollup", "grouping_sets") for one in group.args.get(key) or ()
    ]
    if not parts and not behind:
        return
    columns = {one.sql() for part in parts for one in part.find_all(exp.Column)}
    count = len(plain) + len(columns)
    if count > _MOST_COLUMNS:
        error = SemanticError(
            f"Grouping sets size cannot be greater than 64: there are {count} columns", code=10411
        )
        binding.fail(error, *span_of(group))
    sets = prod(_sets(one, len(plain)) for one in (*parts, *behind))
    if sets > _MOST_SETS:
        binding.fail(NotSupported(f"GROUP BY with {sets:,} grouping sets (at most {_MOST_SETS:,}): "
                                  "name those that are wanted with GROUPING SETS"),
                     *span_of(group))  # fmt: skip


_SETS = (exp.Cube, exp.Rollup, exp.GroupingSets)


def _sets(node: exp.Expr, columns_before: int) -> int:
    """How many sets one of them stands for; without columns of its own it is about those before."""
    width = len(node.expressions) or columns_before
    if isinstance(node, exp.Cube):
        return 1 << width
    if isinstance(node, exp.Rollup):
        return width + 1
    inner = (_sets(one, 0) if isinstance(one, _SETS) else 1 for one in node.expressions)
    return max(1, sum(inner))
