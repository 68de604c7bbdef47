"""How many arguments functions that need a window take, and which of them are constants."""

from __future__ import annotations

from hivesql.binding import Binding
from hivesql.dialect.structure import place_of
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import SemanticError

_SHIFTS = ("lag", "lead")
_COUNTS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("cume_dist", "dense_rank", "percent_rank", "rank", "row_number"), (0, 0)),
    **dict.fromkeys(("first_value", "last_value"), (1, 2)),
    **dict.fromkeys(_SHIFTS, (1, 3)),
    "ntile": (1, 1),
}
"""Function: the fewest and the most arguments."""


def check_window_call(name: str, call: exp.Anonymous, binding: Binding) -> None:
    """Refuse a call that Hive finds no evaluator for: Spark leaves out some of its arguments."""
    least, most = _COUNTS[name]
    count = len(call.expressions)
    if not least <= count <= most:
        takes = f"{least}" if least == most else f"{least} to {most}"
        _fail(f"{name} takes {takes} argument(s), got {count}", call, binding)
    if name == "ntile" and _is_other_literal(call.expressions[0]):
        _fail("ntile takes a whole number", call.expressions[0], binding)
    if count < 2:
        return
    second = call.expressions[1]
    if name not in _SHIFTS:
        if not isinstance(second, exp.Boolean):
            _fail(f"{name} takes TRUE or FALSE as argument 2", second, binding)
    elif _is_no_distance(second):
        _fail(f"{name} takes a whole number, which is a constant, as argument 2", second, binding)


def _is_no_distance(node: exp.Expr) -> bool:
    if isinstance(node, (exp.Neg, exp.Null)) or _is_other_literal(node):
        return True
    return node.find(exp.Column) is not None


def _is_other_literal(node: exp.Expr) -> bool:
    """Tell whether it is a constant in the text other than a whole number."""
    return isinstance(node, exp.Literal) and (node.is_string or not node.name.isdigit())


def _fail(why: str, node: exp.Expr, binding: Binding) -> None:
    message = f"Failed to breakup Windowing invocations into Groups: {why}"
    binding.fail(SemanticError(message), *place_of(node))
