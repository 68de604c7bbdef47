"""Where Hive allows subqueries, functions that give rows, and clauses beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from hivesql.binding import Binding
from hivesql.dialect.structure import span_of
from hivesql.expressions.translator import OWN_KIND
from hivesql.python_sqlglot import exp
from hivesql.query.checks.aggregation import fail, names_aggregate
from hivesql.query.outputs import GENERATORS
from hivesql.query.scope import Outputs
from hivesql_planner.model.hive_type import HiveType

_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Exists)
_NO_SUBQUERY = ("group", "order", "sort", "distribute", "cluster")
_CONFLICTS = (
    ("cluster", "distribute", 10046),
    ("order", "distribute", 10047),
    ("cluster", "sort", 10048),
    ("order", "sort", 10049),
)
_NO_GENERATOR = (("group", 10077), ("sort", 10078), ("cluster", 10079), ("distribute", 10080))
_CLAUSES = ("where", "group", "having", "order", "sort", "distribute", "cluster")
_WRONG_GENERATOR = "UDTF's are not supported outside the SELECT clause, nor nested in expressions"

_JOIN_BEHIND_VIEW = (
    "JOIN with a LATERAL VIEW is not supported: write the JOIN before it, or put what comes before "
    "the JOIN into a subquery"
)


def check_placement(select: exp.Select, binding: Binding) -> None:
    """Fail at what Hive does not allow where it stands in a SELECT.

    Raises SemanticError 10046 to 10049 (clauses that exclude each other), 10075 to 10082 (functions
    that give rows), 10085 (JOIN behind LATERAL VIEW), 10249 (subqueries).
    """
    for clause, other, code in _CONFLICTS:
        if select.args.get(clause) and select.args.get(other):
            message = f"Cannot have both {clause.upper()} BY and {other.upper()} BY clauses"
            fail(message, code, select.args[other], binding)
    views = [span_of(view)[0] for view in select.args.get("laterals") or ()]
    for join in select.args.get("joins") or ():
        if views and span_of(join)[0] > min(views):
            fail(_JOIN_BEHIND_VIEW, 10085, join, binding)
    _check_generators(select, binding)
    _check_subqueries(select, binding)


def check_width(query: exp.Expr, columns: Outputs, binding: Binding) -> None:
    """Fail at a subquery that gives several columns where one is wanted."""
    above = query.parent
    if isinstance(above, exp.Exists) or columns is None or len(columns) == 1:
        return
    if isinstance(above, exp.In) and isinstance(above.this.unnest(), exp.Tuple):
        return
    message = "Invalid SubQuery expression SubQuery can contain only 1 item in Select List."
    fail(message, 10250, query, binding)


def check_aliases(
    call: exp.Expr, names: int, types: tuple[HiveType | None, ...], binding: Binding
) -> None:
    """Fail at other names than a function that gives rows has columns, where those are known."""
    if names and types and names != len(types):
        message = (
            "The number of aliases supplied in the AS clause does not match the number of columns "
            f"output by the UDTF expected {len(types)} aliases but got {names}"
        )
        fail(message, 10083, call, binding)


def is_generator(node: exp.Expr) -> bool:
    """Tell whether it is a call of a function that gives rows."""
    if not isinstance(node, exp.Anonymous):
        return False
    return node.meta.get(OWN_KIND) == "rows" or str(node.this).lower() in GENERATORS


def _check_generators(select: exp.Select, binding: Binding) -> None:
    items = select.expressions
    bare = [_without_names(item) for item in items]
    generator = next((item for item in bare if is_generator(item)), None)
    inside = [part for item in bare for part in (item.expressions if item is generator else [item])]
    for key in _CLAUSES:
        value = select.args.get(key)
        inside += [value] if isinstance(value, exp.Expr) else []
    if generator is not None and len(items) > 1:
        other = next(item for item, call in zip(items, bare, strict=True) if call is not generator)
        message = "Only a single expression in the SELECT clause is supported with UDTF's"
        fail(message, 10075, other, binding)
    for part in inside:
        for node in _outside_queries(part):
            if is_generator(node):
                fail(_WRONG_GENERATOR, 10081, node, binding)
    if generator is None:
        return
    for key, code in _NO_GENERATOR:
        if select.args.get(key):
            message = f"{key.upper()} BY is not supported with a UDTF in the SELECT clause"
            fail(message, code, select.args[key], binding)
    if select.args.get("laterals"):
        message = "UDTF's cannot be in a select expression when there is a lateral view"
        fail(message, 10082, generator, binding)


def _check_subqueries(select: exp.Select, binding: Binding) -> None:
    clauses = [select.args.get(key) for key in _NO_SUBQUERY]
    clauses += [join.args.get("on") for join in select.args.get("joins") or ()]
    clauses += [lateral.this for lateral in select.args.get("laterals") or ()]
    for clause in clauses:
        if isinstance(clause, exp.Expr) and clause.find(exp.Select) is not None:
            message = (
                "Currently SubQuery expressions are only allowed as Where and Having Clause "
                "predicates"
            )
            _unsupported(message, clause, binding)
    for item in select.expressions:
        for node in _outside_queries(item):
            if names_aggregate(node) and node.find(exp.Select) is not None:
                _unsupported("Invalid subquery. Subquery in UDAF is not allowed.", node, binding)
        if select.args.get("distinct") and item.find(exp.Select) is not None:
            message = "Invalid subquery. Subquery with DISTINCT clause is not supported!"
            _unsupported(message, item, binding)
    where = select.args.get("where")
    for node in _outside_queries(where) if isinstance(where, exp.Expr) else ():
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            operand = node.this.unnest()
            if isinstance(operand, _QUERIES):
                _unsupported("SubQuery on left hand side is not supported.", operand, binding)


def _without_names(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, (exp.Alias, exp.Aliases)) else item


def _outside_queries(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield a node and what is below it, but not inside queries of its own."""
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        if not isinstance(part, _QUERIES):
            pending += part.iter_expressions(reverse=True)


def _unsupported(message: str, node: exp.Expr, binding: Binding) -> NoReturn:
    fail(f"Unsupported SubQuery Expression {message}", 10249, node, binding)
