"""Trees to bound statements: every name looked up, every check made that needs no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hivesql.bind_command import (
    bind_abort,
    bind_client,
    bind_create_database,
    bind_describe,
    bind_drop_database,
    bind_set,
    bind_show,
    bind_use,
)
from hivesql.bind_compact import bind_abort_compactions, bind_compact
from hivesql.bind_table import bind_drop_table, bind_truncate
from hivesql.bind_transaction import bind_end, bind_lock, bind_start
from hivesql.binding import Binding, Catalog
from hivesql.trees import (
    AbortBody,
    AbortCompactionsBody,
    AnalyzeBody,
    Body,
    ClientBody,
    CompactBody,
    CreateDatabaseBody,
    DescribeBody,
    DropDatabaseBody,
    DropTableBody,
    EndBody,
    ExplainBody,
    LoadBody,
    LockBody,
    RepairBody,
    SetBody,
    ShowBody,
    StartBody,
    Tree,
    TruncateBody,
    UseBody,
)
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.settings import Settings
from hivesql_planner.statements import Explain, Statement

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


def _bind(body: Body, binding: Binding) -> Statement:
    if isinstance(body, ExplainBody):
        return Explain(statement=_bind(body.body, binding), style=body.style)
    bind_body = _BINDERS.get(type(body))
    if bind_body is None:
        if isinstance(body, (LoadBody, RepairBody, AnalyzeBody)):
            from hivesql.bind_load import BINDERS
        else:
            from hivesql.bind_rows import BINDERS
        bind_body = BINDERS[type(body)]
    return bind_body(body, binding)


_BINDERS: dict[type, Callable[[Any, Binding], Statement]] = {
    CreateDatabaseBody: bind_create_database,
    DropDatabaseBody: bind_drop_database,
    UseBody: bind_use,
    DropTableBody: bind_drop_table,
    TruncateBody: bind_truncate,
    AbortCompactionsBody: bind_abort_compactions,
    CompactBody: bind_compact,
    AbortBody: bind_abort,
    StartBody: bind_start,
    EndBody: bind_end,
    LockBody: bind_lock,
    ShowBody: bind_show,
    DescribeBody: bind_describe,
    SetBody: bind_set,
    ClientBody: bind_client,
}
