"""What ``*`` stands for, or a regular expression of columns instead of it."""

from __future__ import annotations

import re

from sqlglot import exp

from hivesql.binder.context import Binding
from hivesql.query.dialect import span_of
from hivesql.query.scope import Output, Scope
from hivesql_planner.errors import NoSuchObject, NotSupported, SemanticError
from hivesql_planner.settings.settings import Settings

_PATTERN = "pattern"


def mark_patterns(select: exp.Select, settings: Settings) -> None:
    """Make a ``*`` that knows its pattern of each select item that is a regular expression."""
    if settings.text("hive.support.quoted.identifiers").strip().lower() != "none":
        return
    for item in select.expressions:
        name = item.this if isinstance(item, exp.Column) else None
        # As in Hive, a quoted name of nothing but word characters is a name.
        if isinstance(name, exp.Identifier) and name.quoted and re.search(r"\W", name.name):
            item.meta[_PATTERN] = name.name
            item.set("this", exp.Star())


def columns_of_star(
    item: exp.Expr, scope: Scope, binding: Binding, *, merges: bool
) -> tuple[list[tuple[str, Output]] | None, bool]:
    """The columns with their relations' aliases, and whether they must be written out.

    None when only Spark knows them. ``merges``: some columns are joined by USING. Raises
    NoSuchObject 10009 (no such alias), SemanticError 10002 (a pattern that matches nothing).
    """
    table = item.table.lower() if isinstance(item, exp.Column) else ""
    relations = [one for one in scope.relations if not one.hidden]
    if table:
        relations = [one for one in scope.relations if one.alias == table]
        if not relations:
            error = NoSuchObject(f"Invalid table alias '{table}'", code=10009)
            binding.fail(error, *span_of(item))
    has_row_id = any(one.use is not None and one.use.with_row_id for one in relations)
    pattern = item.meta.get(_PATTERN)
    if (merges and not table) or any(one.columns is None for one in relations):
        if has_row_id or pattern:
            what = "a regular expression of columns" if pattern else "* beside row__id"
            feature = f"{what} where not all columns are known"
            binding.fail(NotSupported(feature), *span_of(item))
        return None, False
    columns = [(one.alias, column) for one in relations for column in one.columns or ()]
    if pattern is None:
        return columns, has_row_id
    try:
        # Python writes possessive quantifiers as Java does.
        matches = re.compile(pattern, re.IGNORECASE).fullmatch
    except re.error as error:
        problem = SemanticError(f"'{pattern}' is no regular expression: {error}")
        binding.fail(problem, *span_of(item))
    columns = [(alias, column) for alias, column in columns if matches(column.name)]
    if not columns:
        problem = SemanticError(f"no column matches '{pattern}'", code=10002)
        binding.fail(problem, *span_of(item))
    return columns, True
