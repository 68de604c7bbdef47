"""Queries that ask for no more than constants, and columns or totals of one table's rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import NamedTuple

from hivesql.binding import Binding
from hivesql.expressions.calls import CONSTANTS
from hivesql.python_sqlglot import exp
from hivesql.query.meaning.constants import constant_of
from hivesql.query.meaning.learning import column_meant
from hivesql.query.ordering import nulls_first
from hivesql.query.scope import Meaning, Output, Relation
from hivesql_planner.predicates.predicate import (
    ALWAYS,
    Constant,
    Look,
    Predicate,
    Shown,
    Sorting,
    Total,
)
from hivesql_planner.settings.session_zone import fixed_zone

_FUNCTIONS = ("count", "min", "max", "sum")
_TIMES = {"current_date", "current_timestamp"}
_KEYWORDS: dict[type[exp.Expr], str] = {
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.CurrentUser: "current_user",
}
"""Functions that are called without brackets too."""
_CLAUSES = {"expressions", "from_", "where", "order", "limit"}


class _Unknown(Exception):
    """The query asks for more."""


class Looked(NamedTuple):
    """What is known of a query: its table, what its names and stars mean, its condition.

    Without a table, a relation of None, there is one row of no columns.
    """

    relation: Relation | None
    meanings: Mapping[int, Meaning]
    stars: Mapping[int, tuple[Output, ...]]
    where: Predicate
    binding: Binding

    def column_of(self, node: exp.Column) -> str | None:
        """Name the table's column that is meant; None for all else."""
        if self.relation is None:
            return None
        return column_meant(node, self.meanings, self.relation)


def look_of(select: exp.Expr, looked: Looked) -> Look | None:
    """Return what a query asks of its table; None where that takes more than looking."""
    if not isinstance(select, exp.Select) or not _is_plain(select):
        return None
    # All of a statement's times are the same.
    now = datetime.now(timezone.utc)
    try:
        items = tuple(entry for item in select.expressions for entry in _items(item, looked, now))
        # An empty table has one row of totals.
        is_empty = _never_holds(select, looked) and not any(isinstance(i, Total) for i in items)
        return Look(
            items=items,
            where=ALWAYS if is_empty else looked.where,
            order=tuple(_orders(select, looked)),
            limit=0 if is_empty else _limit(select),
        )
    except _Unknown:
        return None


def _is_plain(select: exp.Select) -> bool:
    if not {key for key, value in select.args.items() if value} <= _CLAUSES:
        return False
    from_ = select.args.get("from_")
    if from_ is None:
        return True
    table = from_.this
    inside = {key for key, value in table.args.items() if value}
    return isinstance(table, exp.Table) and inside <= {"this", "db", "alias", "version", "when"}


def _never_holds(select: exp.Select, looked: Looked) -> bool:
    """Tell whether the condition is false or ``1 = 0``, by which tools ask for columns alone."""
    where = select.args.get("where")
    node = where.this.unnest() if where is not None else None
    if isinstance(node, exp.EQ):
        sql = looked.binding.text.text
        left, right = constant_of(node.left, sql), constant_of(node.right, sql)
        are_whole = left and right and type(left.value) is type(right.value) is int
        return bool(are_whole and left != right)
    return isinstance(node, exp.Boolean) and not node.this


def _items(item: exp.Expr, looked: Looked, now: datetime) -> Iterator[Shown | Constant | Total]:
    node = item.unalias()
    if item.is_star:
        yield from (Shown(column.name) for column in looked.stars[id(item)])
    elif (name := _function(node)) is not None and not node.expressions:
        yield _answer(name, looked.binding, now)
    elif isinstance(node, exp.Anonymous):
        yield _total(node, looked)
    elif isinstance(node.unnest(), exp.Column):
        yield Shown(_column(node, looked))
    elif (constant := constant_of(node, looked.binding.text.text)) is not None:
        yield constant
    else:
        raise _Unknown


def _function(node: exp.Expr) -> str | None:
    """Return the name of the function that is called, in lower case; None for all else."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    return None if node.this else _KEYWORDS.get(type(node))


def _answer(function: str, binding: Binding, now: datetime) -> Constant:
    """Return what a function without arguments tells of the session, the time or the version."""
    if binding.function(function):
        raise _Unknown
    if function in _TIMES:
        time = now.astimezone(fixed_zone(binding.settings)).replace(tzinfo=None)
        return Constant(time.date() if function == "current_date" else time)
    text = CONSTANTS.get(function) or binding.session_value(function)
    # Only a server knows who has logged in: elsewhere it is NULL.
    if text is None and function != "logged_in_user":
        raise _Unknown
    return Constant(text)


def _total(call: exp.Anonymous, looked: Looked) -> Total:
    name = str(call.this).lower()
    if name not in _FUNCTIONS or looked.binding.function(name) or len(call.expressions) != 1:
        raise _Unknown
    (argument,) = call.expressions
    if isinstance(argument, exp.Star):
        if name != "count":
            raise _Unknown
        return Total("count", None)
    return Total(name, _column(argument, looked))


def _column(node: exp.Expr, looked: Looked) -> str:
    node = node.unnest()
    column = looked.column_of(node) if isinstance(node, exp.Column) else None
    if column is None:
        raise _Unknown
    return column


def _orders(select: exp.Select, looked: Looked) -> Iterator[Sorting]:
    order = select.args.get("order")
    for item in order.expressions if order is not None else ():
        column = _ordered(item.this, select, looked)
        descending = bool(item.args.get("desc"))
        yield Sorting(column, descending, nulls_first(item, looked.binding))


def _ordered(node: exp.Expr, select: exp.Select, looked: Looked) -> str:
    """Take a name for that of a result's column first, and then for one of the table's."""
    if not isinstance(node, exp.Column):
        raise _Unknown
    if len(node.parts) == 1:
        name = node.name.lower()
        aliased = [item for item in select.expressions if isinstance(item, exp.Alias)]
        columns = [item for item in select.expressions if isinstance(item, exp.Column)]
        named = {_column(alias.this, looked) for alias in aliased if alias.alias.lower() == name}
        named = named or {
            _column(column, looked) for column in columns if column.name.lower() == name
        }
        if len(named) > 1:
            raise _Unknown
        if named:
            return named.pop()
    return _column(node, looked)


def _limit(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    if limit is None:
        return None
    number = limit.expression if isinstance(limit, exp.Limit) else None
    if not isinstance(number, exp.Literal) or number.is_string or limit.args.get("offset"):
        raise _Unknown
    if not number.name.isdigit():
        raise _Unknown
    return int(number.name)
