"""Long rows of ``c = 1 OR c = 2 …`` and ``c <> 1 AND c <> 2 …`` as the lists that they mean."""

from __future__ import annotations

from collections.abc import Callable

from hivesql.dialect.value_types import Type, is_integer
from hivesql.python_sqlglot import exp
from hivesql_planner.model.hive_type import STRING

_LONG = 100
"""So many comparisons are left as they are: plans are easier to read."""
_LISTS: dict[type[exp.Expr], tuple[type[exp.Expr], str]] = {
    exp.Or: (exp.EQ, "IN"),
    exp.And: (exp.NEQ, "NOT IN"),
}


def list_of_equals(
    node: exp.Expr, text_of: Callable[[exp.Expr], str], type_of: Callable[[exp.Expr], Type]
) -> tuple[str, exp.Expr] | None:
    """Return what a row of comparisons is in Spark's words, with ``@0`` for the column, and that.

    Spark makes a set of a list, and takes a step of its analysis for each operator. None for a
    short row, one of several columns, or one whose column and values are not compared as they are.
    """
    if type(node) not in _LISTS or type(node) is type(node.parent):
        return None
    compared, word = _LISTS[type(node)]
    first: exp.Expr | None = None
    values = []
    pending: list[exp.Expr] = [node]
    while pending:
        part = pending.pop().unnest()
        if type(part) is type(node):
            pending += (part.args["expression"], part.args["this"])
            continue
        value = part.args.get("expression")
        if type(part) is not compared or not isinstance(part.this, exp.Column):
            return None
        first = first or part.this
        if not isinstance(value, exp.Literal) or text_of(part.this) != text_of(first):
            return None
        if not _is_plain(value, type_of(first)):
            return None
        values.append(text_of(value))
    if first is None or len(values) < _LONG:
        return None
    return f"@0 {word} ({', '.join(values)})", first


def _is_plain(value: exp.Literal, kind: Type) -> bool:
    """Tell whether a column of that type is compared with the value without a conversion."""
    if value.is_string:
        return kind == STRING and "@" not in value.name
    return is_integer(kind) and value.name.isdigit()
