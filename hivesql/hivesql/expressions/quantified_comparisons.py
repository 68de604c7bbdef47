"""Comparison with ALL, ANY and SOME of a subquery, which Spark lacks, and IN as a value."""

from __future__ import annotations

from collections.abc import Callable

from hivesql.dialect.edits import Edit, filled
from hivesql.dialect.structure import RANGE, place_of
from hivesql.dialect.value_types import Type
from hivesql.expressions.comparisons import without_maps
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import Kind

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.NullSafeEQ: "<=>", exp.NullSafeNEQ: "IS DISTINCT FROM",
}  # fmt: skip
_QUANTIFIERS = ("all", "any", "some")
_LOGIC = (exp.And, exp.Or, exp.Not, exp.Paren)
_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.Join, exp.If)
_CHANCE = (exp.Rand, exp.Randn, exp.Uuid, exp.TableSample)
_CHANCE_CALLS = ("rand", "randn", "uuid", "reflect", "java_method")


def subquery_edit(node: exp.Expr, text: str, type_of: Callable[[exp.Expr], Type]) -> Edit | None:
    """Tell what to write instead of a comparison with a subquery; None where Spark has the same."""
    return _quantified_edit(node, text) or _membership_edit(node, text, type_of)


def _quantified_edit(node: exp.Expr, text: str) -> Edit | None:
    """Tell what to write instead of such a comparison; None for any other expression."""
    operator = _OPERATORS.get(type(node))
    right = node.args.get("expression")
    if operator is None or right is None:
        return None
    called = isinstance(right, exp.Anonymous) and str(right.this).lower() in _QUANTIFIERS
    if not called and not isinstance(right, (exp.All, exp.Any)):
        return None
    if called or not isinstance(right.this, exp.Query):
        raise NotSupported("comparison with ALL, ANY or SOME of anything but a subquery")
    word = type(right).__name__.lower()
    if (operator, word) not in (("=", "any"), ("<>", "all")) and _is_by_chance(right.this):
        # What is written instead names the subquery more than once.
        raise NotSupported(f"{operator} {word.upper()} of a subquery that is not deterministic")
    start, end = place_of(node)
    query = text.rindex("(", start, place_of(right.this)[0] + 1), end
    template = _template(operator, word)
    return Edit(start, end, "", tuple(filled(template, [place_of(node.this), query])))


def _membership_edit(node: exp.Expr, text: str, type_of: Callable[[exp.Expr], Type]) -> Edit | None:
    """Tell what to write instead of IN with a subquery; None where Spark decides as Hive.

    As a condition it does, but for maps, which it does not compare. As a value it knows no NULL: it
    says FALSE where the value, or a row of the subquery, is NULL and none is equal.
    """
    query = node.args.get("query") if isinstance(node, exp.In) else None
    if query is None:
        return None
    kind = type_of(node.this)
    is_of_maps = kind is not None and kind.holds(Kind.MAP)
    is_value = not (_is_condition(node) or _is_by_chance(query))
    if not (is_of_maps or is_value):
        return None
    # NOT IN is written as one: only the whole has a place.
    is_whole = RANGE in node.meta
    start, end = place_of(node if is_whole or node.parent is None else node.parent)
    before = place_of(node.this)
    rows = text.index("(", before[1], end), end
    negation = "" if is_whole else "NOT "
    test = "@0 IN @1"
    if kind is not None and is_of_maps:
        rows_text = f"SELECT {without_maps(kind, '`v`')} FROM @1 AS `q`(`v`)"
        test = f"{without_maps(kind, '@0')} IN ({rows_text})"
    template = (
        f"({negation}CASE WHEN {test} THEN true WHEN NOT EXISTS @1 THEN false "
        "WHEN @0 IS NULL OR EXISTS (SELECT 1 FROM @1 AS `q`(`v`) WHERE `v` IS NULL) "
        "THEN CAST(NULL AS BOOLEAN) ELSE false END)"
        if is_value
        else f"({negation}{test})"
    )
    return Edit(start, end, "", tuple(filled(template, [before, rows])))


def _is_condition(node: exp.Expr) -> bool:
    """Tell whether NULL and FALSE are the same where the truth of a predicate goes."""
    above = node.parent
    while isinstance(above, _LOGIC):
        node, above = above, above.parent
    if above is None:
        return True
    return isinstance(above, _CONDITIONS) and node is not above.args.get("true")


def _is_by_chance(query: exp.Expr) -> bool:
    """Tell whether reading the query twice may give other rows."""
    for node in query.walk():
        called = isinstance(node, exp.Anonymous) and str(node.this).lower() in _CHANCE_CALLS
        unordered = isinstance(node, exp.Limit) and not (
            node.parent is not None and node.parent.args.get("order")
        )
        if called or unordered or isinstance(node, _CHANCE):
            return True
    return False


def _template(operator: str, word: str) -> str:
    """``@0 <operator> ALL|ANY @1`` with the three truths of SQL.

    ``= ALL`` and ``<> ANY`` are errors, as in Hive.
    """
    if (operator, word) == ("=", "any"):
        return "(@0 IN @1)"
    if (operator, word) == ("<>", "all"):
        return "(@0 NOT IN @1)"
    if operator not in ("<", "<=", ">", ">="):
        raise SemanticError(
            f"Invalid SubQuery expression: Invalid operator: {operator} {word.upper()}", code=10250
        )
    largest = operator.startswith(">") == (word == "all")
    extreme = "max" if largest else "min"
    decided, otherwise = ("false", "true") if word == "all" else ("true", "false")
    test = f"@0 {operator} (SELECT {extreme}(`v`) FROM @1 AS `q`(`v`))"
    test = f"NOT ({test})" if word == "all" else test
    rows = "FROM @1 AS `q`(`v`)"
    # Spark, which merges scalar subqueries over the same rows, reads it once nonetheless.
    return (
        f"(CASE WHEN (SELECT count(1) {rows}) = 0 THEN {otherwise} "
        f"WHEN {test} THEN {decided} "
        f"WHEN @0 IS NULL OR (SELECT count(1) - count(`v`) {rows}) > 0 "
        f"THEN CAST(NULL AS BOOLEAN) ELSE {otherwise} END)"
    )
