"""Operators that bind closer, or otherwise, in Hive than in Spark: brackets say what is meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hivesql.dialect.edits import Edit, filled
from hivesql.dialect.structure import RANGE, place_of
from hivesql.expressions.calls import unknown_if_any_null
from hivesql.python_sqlglot import exp

_COMPARISONS = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)
_PREDICATES = (exp.In, exp.Between, exp.Like, exp.Escape, exp.RegexpLike, exp.Exists)
_ORDERS = (exp.LT, exp.LTE, exp.GT, exp.GTE)


def precedence_edits(node: exp.Expr) -> Iterator[Edit]:
    """Yield what Spark must see otherwise of an operator whose operands are done."""
    if isinstance(node, _COMPARISONS):
        # a = b IN (c) compares a with what IN says.
        yield from _enclosed([node.this, node.expression], (*_PREDICATES, *_ORDERS))
    elif isinstance(node, exp.DPipe):
        yield from _enclosed([node.this, node.expression], (exp.Add, exp.Sub))
    elif isinstance(node, (exp.BitwiseAnd, exp.BitwiseOr)):
        yield from _enclosed([node.this, node.expression], (exp.BitwiseXor,))
    elif isinstance(node, exp.Is):
        yield from _enclosed([node.this], _PREDICATES)
    elif isinstance(node, exp.Like) and isinstance(node.expression, (exp.All, exp.Any)):
        yield from _of_several_patterns(node)


def _of_several_patterns(node: exp.Like) -> Iterator[Edit]:
    # The opposite of LIKE ANY, where Spark looks for any that is not like.
    test = "NOT @0 LIKE @1" if node.args.get("negate") else "@0 LIKE @1"
    patterns = [
        pattern
        for pattern in node.expression.this.iter_expressions()
        if not is_text_literal(pattern)
    ]
    template = unknown_if_any_null(test, [f"@{i}" for i in range(2, 2 + len(patterns))])
    if template != "@0 LIKE @1":
        parts = [node.this, node.expression, *patterns]
        yield Edit(*place_of(node), "", tuple(filled(f"({template})", list(map(place_of, parts)))))


def is_text_literal(node: exp.Expr) -> bool:
    """Tell whether it is a text that is no NULL, whatever the row."""
    return isinstance(node, exp.Literal) and node.is_string


def _enclosed(parts: Sequence[exp.Expr], kinds: tuple[type[exp.Expr], ...]) -> Iterator[Edit]:
    for part in parts:
        # sqlglot puts IS DISTINCT FROM in brackets that nobody has written.
        unwritten = isinstance(part, exp.Paren) and RANGE not in part.meta
        if unwritten or isinstance(part.this if isinstance(part, exp.Not) else part, kinds):
            yield Edit(*place_of(part), "", ("(", place_of(part), ")"))
