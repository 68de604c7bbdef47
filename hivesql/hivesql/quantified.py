"""Comparison with ALL, ANY and SOME of a subquery, which Spark lacks."""

from __future__ import annotations

from sqlglot import exp

from hivesql.dialect import place_of
from hivesql.edits import Edit, filled
from hivesql_planner.errors import NotSupported

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.NullSafeEQ: "<=>", exp.NullSafeNEQ: "IS DISTINCT FROM",
}  # fmt: skip
_WORDS = ("all", "any", "some")


def quantified_edit(node: exp.Expr, text: str) -> Edit | None:
    """What to write instead of such a comparison; None for any other expression."""
    operator = _OPERATORS.get(type(node))
    right = node.args.get("expression")
    if operator is None or right is None:
        return None
    called = isinstance(right, exp.Anonymous) and str(right.this).lower() in _WORDS
    if not called and not isinstance(right, (exp.All, exp.Any)):
        return None
    if called or not isinstance(right.this, exp.Query):
        raise NotSupported("comparison with ALL, ANY or SOME of anything but a subquery")
    start, end = place_of(node)
    query = text.rindex("(", start, place_of(right.this)[0] + 1), end
    template = _template(operator, type(right).__name__.lower())
    return Edit(start, end, "", tuple(filled(template, [place_of(node.this), query])))


def _template(operator: str, word: str) -> str:
    """``@0 <operator> ALL|ANY @1`` with the three truths of SQL.

    NotSupported for ``= ALL`` and ``<> ANY``.
    """
    if (operator, word) == ("=", "any"):
        return "(@0 IN @1)"
    if (operator, word) == ("<>", "all"):
        return "(@0 NOT IN @1)"
    if operator not in ("<", "<=", ">", ">="):
        raise NotSupported(f"{operator} {word.upper()} of a subquery")
    largest = operator.startswith(">") == (word == "all")
    extreme = "max" if largest else "min"
    decided, otherwise = ("false", "true") if word == "all" else ("true", "false")
    test = f"@0 {operator} (SELECT {extreme}(`v`) FROM @1 AS `q`(`v`))"
    test = f"NOT ({test})" if word == "all" else test
    rows = "FROM @1 AS `q`(`v`)"
    # Spark reads the subquery once: it merges scalar subqueries over the same rows.
    return (
        f"(CASE WHEN (SELECT count(1) {rows}) = 0 THEN {otherwise} "
        f"WHEN {test} THEN {decided} "
        f"WHEN @0 IS NULL OR (SELECT count(1) - count(`v`) {rows}) > 0 "
        f"THEN CAST(NULL AS BOOLEAN) ELSE {otherwise} END)"
    )
