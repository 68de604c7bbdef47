"""Queries that say that they give no rows: LIMIT 0, by which tools ask for columns alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from hivesql.dialect.slices import Slice
from hivesql.dialect.structure import RANGE
from hivesql.dialect.value_types import Type
from hivesql.python_sqlglot import exp
from hivesql.query.meaning.constants import constant_of
from hivesql.query.outputs import wants_no_rows
from hivesql.query.scope import Outputs
from hivesql_planner.model.hive_type import BINARY, BOOLEAN, HiveType

_ARGUMENTS = frozenset(
    {"expressions", "from_", "where", "limit", "with_", "joins", "order", "group", "having",
     "distinct"}
)  # fmt: skip
"""What the SELECT may have: no programs, and nothing that gives several columns."""
_OPERATORS = (
    exp.Add, exp.And, exp.Between, exp.Boolean, exp.Case, exp.Cast, exp.CurrentDate,
    exp.CurrentTimestamp, exp.Div, exp.EQ, exp.GT, exp.GTE, exp.In, exp.Is, exp.Like, exp.Literal,
    exp.LT, exp.LTE, exp.Mod, exp.Mul, exp.NEQ, exp.Neg, exp.Not, exp.Null, exp.NullSafeEQ, exp.Or,
    exp.Paren, exp.Sub, exp.Window,
)  # fmt: skip
_COMPARISONS = (
    exp.Between, exp.EQ, exp.GT, exp.GTE, exp.In, exp.LT, exp.LTE, exp.NEQ, exp.NullSafeEQ,
)  # fmt: skip
_FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(
        ("avg", "max", "min", "sum", "abs", "day", "hour", "length", "lower", "minute", "month",
         "second", "to_date", "upper", "year"), (1, 1)
    ),
    **dict.fromkeys(("date_add", "date_sub", "datediff", "nvl", "date_format"), (2, 2)),
    **dict.fromkeys(("rank", "dense_rank", "row_number"), (0, 0)),
    "coalesce": (1, 99), "concat": (1, 99), "count": (1, 1), "substr": (2, 3),
    "substring": (2, 3),
}  # fmt: skip
"""How many arguments the functions take whose calls are wholly checked before Spark sees them."""


class Known(NamedTuple):
    """What was found out of a query: its columns, and the types of its expressions by their ids."""

    columns: Outputs
    types: Mapping[int, Type]


def gives_no_rows(part: Slice, sql: str, known: Known) -> bool:
    """Tell whether a query gives no rows, and Spark neither tells more of it nor refuses it.

    That is one of plain values and of operators and functions that are checked by then.
    """
    select, columns = part.tree, known.columns
    if not isinstance(select, exp.Select) or not columns:
        return False
    if not {key for key, value in select.args.items() if value} <= _ARGUMENTS:
        return False
    if not (wants_no_rows(select) or _never_holds(select, sql)):
        return False
    if any(column.type is None for column in columns):
        return False
    names = {column.name for column in columns}
    return all(_is_known(node, known.types, names) for node in select.walk())


def _never_holds(select: exp.Select, sql: str) -> bool:
    """Tell whether WHERE is false, or ``1 = 0``, for each row that is shown as it is."""
    where = select.args.get("where")
    items = [item.unalias().unnest() for item in select.expressions]
    if where is None or not all(isinstance(item, (exp.Column, exp.Star)) for item in items):
        return False
    node = where.this.unnest()
    if isinstance(node, exp.EQ):
        left, right = (constant_of(side, sql) for side in (node.left, node.right))
        are_whole = left and right and type(left.value) is type(right.value) is int
        return bool(are_whole and left != right)
    return isinstance(node, exp.Boolean) and not node.this


def _is_known(node: exp.Expr, types: Mapping[int, Type], names: Collection[str]) -> bool:
    """Tell whether nothing of a node, but for what is inside, is Spark's to find out."""
    match node:
        case exp.Where() | exp.Having():
            return types.get(id(node.this)) == BOOLEAN
        case exp.Join(args={"on": exp.Expr() as condition}):
            return types.get(id(condition)) == BOOLEAN
        case exp.Group() | exp.Ordered() | exp.WindowSpec():
            return not any(type_.is_nested for type_ in _operand_types(node, types))
        case exp.Select() if node.args.get("distinct"):
            return not any(type_.is_nested for type_ in _operand_types(node, types))
        case exp.Lateral() | exp.Unnest() | exp.TableSample() | exp.Hint():
            return False
        case exp.Literal() if RANGE not in node.meta:
            return True  # The digits of 1L, whose suffix has the type.
        case exp.If() if isinstance(node.parent, exp.Case):
            return True  # One of its pairs.
        case exp.Column() if not node.is_star:
            is_sorted = isinstance(node.parent, exp.Ordered) and len(node.parts) == 1
            return id(node) in types or (is_sorted and node.name.lower() in names)
        case exp.Condition() if not isinstance(node, (exp.Column, exp.Star, exp.Tuple)):
            return types.get(id(node)) is not None and _is_checked(node, types)
    return True


def _is_checked(node: exp.Expr, types: Mapping[int, Type]) -> bool:
    """Tell whether it was checked what an operator or a function is given: no nested values."""
    if isinstance(node, exp.Anonymous):
        least, most = _FUNCTIONS.get(str(node.this).lower(), (1, 0))
        if not least <= len(node.expressions) <= most:
            return False
    elif not isinstance(node, _OPERATORS) or node.args.get("spec"):
        return False
    operands = set(_operand_types(node, types))
    if isinstance(node, _COMPARISONS) and len(operands) > 1 and operands & {BOOLEAN, BINARY}:
        return False
    return not any(type_.is_nested for type_ in operands)


def _operand_types(node: exp.Expr, types: Mapping[int, Type]) -> Iterator[HiveType]:
    for child in node.iter_expressions():
        operands = child.iter_expressions() if isinstance(child, (exp.If, exp.Tuple)) else (child,)
        yield from (type_ for of in operands if (type_ := types.get(id(of))) is not None)
