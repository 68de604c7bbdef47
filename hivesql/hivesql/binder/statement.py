"""Trees to bound statements: every name looked up, every check made that needs no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hivesql.bind_compact import bind_abort_compactions
from hivesql.bind_transaction import bind_end, bind_lock, bind_start
from hivesql.binder.commands import (
    bind_abort,
    bind_client,
    bind_describe,
    bind_set,
    bind_show,
    bind_use,
)
from hivesql.binder.context import Binding, Catalog
from hivesql.syntax.commands import (
    AbortBody,
    AbortCompactionsBody,
    Body,
    ClientBody,
    DescribeBody,
    EndBody,
    ExplainBody,
    LockBody,
    SetBody,
    ShowBody,
    StartBody,
    Tree,
    UseBody,
)
from hivesql_planner.errors import HiveSqlError, ParseError
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import Explain, Statement

__all__ = ["Catalog", "bind"]


def bind(
    tree: Tree, catalog: Catalog, *, database: str = "default", settings: Settings | None = None
) -> Statement:
    """Look up the names of a statement and check it.

    Raises SemanticError or NoSuchObject with Hive's code at the token that is wrong, or
    NotSupported with the feature's name.
    """
    text = tree.text
    binding = Binding(catalog, database.lower(), settings or Settings(), text)
    try:
        return _bind(tree.body, binding)
    except HiveSqlError as error:
        raise error.at(text.file, text.line, text.column) from error.__cause__
    except RecursionError:
        problem = ParseError("the statement is nested too deeply")
        raise problem.at(text.file, text.line, text.column) from None


def _bind(body: Body, binding: Binding) -> Statement:
    if isinstance(body, ExplainBody):
        return Explain(statement=_bind(body.body, binding), style=body.style)
    bind_body = _BINDERS.get(type(body)) or _binder_of(type(body).__module__)
    return bind_body(body, binding)


def _binder_of(trees: str) -> Callable[[Any, Binding], Statement]:
    """What binds the trees of a module that most sessions do not need."""
    match trees.rpartition(".")[2]:
        case "dml":
            from hivesql.bind_rows import bind_rows

            return bind_rows
        case "ddl":
            from hivesql.bind_definitions import bind_definition

            return bind_definition
    from hivesql.bind_alterations import bind_alteration

    return bind_alteration


_BINDERS: dict[type, Callable[[Any, Binding], Statement]] = {
    UseBody: bind_use,
    AbortCompactionsBody: bind_abort_compactions,
    AbortBody: bind_abort,
    StartBody: bind_start,
    EndBody: bind_end,
    LockBody: bind_lock,
    ShowBody: bind_show,
    DescribeBody: bind_describe,
    SetBody: bind_set,
    ClientBody: bind_client,
}
