"""Queries and expressions inside a statement, their errors placed within it."""

from __future__ import annotations

from hivesql.front.binding import Binding
from hivesql.front.cursor import Cursor
from hivesql.front.query import Names, bind_expression, bind_query
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.plan import Expr, Query, Source


def query_at(cursor: Cursor, text: str, offset: int, binding: Binding, names: Names) -> Query:
    """Bind a query that lies at an offset of the statement, errors placed there."""
    try:
        return bind_query(text, binding, names)
    except HiveSqlError as error:
        raise _moved(cursor, error, offset) from error.__cause__


def expression_at(
    cursor: Cursor, text: str, offset: int, binding: Binding, names: Names
) -> tuple[Expr, list[Source]]:
    """Bind an expression that lies at an offset of the statement."""
    try:
        return bind_expression(text, binding, names)
    except HiveSqlError as error:
        raise _moved(cursor, error, offset) from error.__cause__


def _moved(cursor: Cursor, error: HiveSqlError, offset: int) -> HiveSqlError:
    """An error placed within a slice, placed within the statement."""
    before = cursor.text[:offset]
    line, column = error.line or 1, error.column or 1
    error.line = before.count("\n") + line
    error.column = column if line > 1 else offset - (before.rfind("\n") + 1) + column
    return error
