"""Comparisons with times below a microsecond, which no value that Spark holds can be equal to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from hivesql.dialect.value_types import Type, is_text
from hivesql.python_sqlglot import exp
from hivesql_planner.model.hive_type import TIMESTAMP, VOID

_BELOW = re.compile(r"\.\d{6}\d{0,2}[1-9]0{0,2}(?!\d)")
_NEVER = "CAST('+290000-01-01 00:00:00' AS TIMESTAMP)"
"""Later than all that Hive holds."""
_NEXT = "(@0 + INTERVAL '0.000001' SECOND)"


def fine_times(
    node: exp.Expr,
    parts: Sequence[exp.Expr],
    kinds: Sequence[Type],
    text_of: Callable[[exp.Expr], str],
) -> Iterator[tuple[exp.Expr, str]]:
    """Yield the constants of a comparison that must be others, and the templates of these.

    Spark cuts a constant to its microsecond: nothing is equal to it, and what is not before it
    begins with the next microsecond.
    """
    if TIMESTAMP not in kinds or not all(_becomes_time(kind) for kind in kinds):
        return
    for i, part in enumerate(parts):
        template = _template(node, i)
        if template is not None and _is_constant(part) and _BELOW.search(text_of(part)):
            yield part, template


def _template(node: exp.Expr, place: int) -> str | None:
    match node:
        case exp.LT() | exp.GTE():
            return _NEXT if place == 1 else None
        case exp.GT() | exp.LTE():
            return _NEXT if place == 0 else None
        case exp.Between():
            return _NEXT if place == 1 else None
    return _NEVER


def _becomes_time(kind: Type) -> bool:
    return kind in (TIMESTAMP, VOID) or is_text(kind)


def _is_constant(node: exp.Expr) -> bool:
    """Tell whether it is a text, TIMESTAMP '…' or the CAST of a text."""
    inside = node.this if isinstance(node, exp.Cast) else node
    return isinstance(inside, exp.Literal) and inside.is_string
