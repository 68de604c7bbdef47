"""Which function binds a statement that makes, removes or looks after tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hivesql.bind_compact import bind_compact
from hivesql.bind_table import (
    bind_create_database,
    bind_drop_database,
    bind_drop_table,
    bind_truncate,
)
from hivesql.binder.context import Binding
from hivesql.syntax.ddl import (
    CompactBody,
    CreateDatabaseBody,
    CreateTableBody,
    CreateViewBody,
    DefinitionBodies,
    DropDatabaseBody,
    DropTableBody,
    TruncateBody,
)
from hivesql_planner.statements.bound import Statement

_BINDERS: dict[type, Callable[[Any, Binding], Statement]] = {
    CreateDatabaseBody: bind_create_database,
    DropDatabaseBody: bind_drop_database,
    DropTableBody: bind_drop_table,
    TruncateBody: bind_truncate,
    CompactBody: bind_compact,
}


def bind_definition(body: DefinitionBodies, binding: Binding) -> Statement:
    """Bind one of them; imported late is what needs sqlglot."""
    if bind_body := _BINDERS.get(type(body)):
        return bind_body(body, binding)
    if isinstance(body, CreateTableBody):
        from hivesql.binder.create import bind_create_table

        return bind_create_table(body, binding)
    if isinstance(body, CreateViewBody):
        from hivesql.binder.views import bind_create_view

        return bind_create_view(body, binding)
    from hivesql.binder.load import BINDERS

    return BINDERS[type(body)](body, binding)
