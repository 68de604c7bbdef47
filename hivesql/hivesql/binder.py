"""Trees to bound statements: every name looked up, every check made that needs no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hivesql.bind_change import bind_delete, bind_merge, bind_update
from hivesql.bind_command import (
    bind_abort,
    bind_create_database,
    bind_describe,
    bind_drop_database,
    bind_set,
    bind_show,
    bind_use,
)
from hivesql.bind_create import bind_create_table, bind_create_view
from hivesql.bind_insert import bind_insert
from hivesql.bind_table import (
    bind_add_columns,
    bind_add_partitions,
    bind_compact,
    bind_drop_partitions,
    bind_drop_table,
    bind_properties,
    bind_rename,
    bind_truncate,
)
from hivesql.bind_transaction import bind_end, bind_lock, bind_start
from hivesql.binding import Binding, Catalog
from hivesql.query import bind_query
from hivesql.trees import (
    AbortBody,
    AddColumnsBody,
    AddPartitionsBody,
    Body,
    CompactBody,
    CreateDatabaseBody,
    CreateTableBody,
    CreateViewBody,
    DeleteBody,
    DescribeBody,
    DropDatabaseBody,
    DropPartitionsBody,
    DropTableBody,
    EndBody,
    ExplainBody,
    InsertBody,
    LockBody,
    MergeBody,
    PropertiesBody,
    QueryBody,
    RenameBody,
    SetBody,
    ShowBody,
    StartBody,
    Tree,
    TruncateBody,
    UpdateBody,
    UseBody,
)
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.settings import Settings
from hivesql_planner.statements import Explain, SelectRows, Statement

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
    return _BINDERS[type(body)](body, binding)


def _bind_select(body: QueryBody, binding: Binding) -> SelectRows:
    return SelectRows(query=bind_query(body.query, binding).query(binding))


_BINDERS: dict[type, Callable[[Any, Binding], Statement]] = {
    QueryBody: _bind_select,
    InsertBody: bind_insert,
    UpdateBody: bind_update,
    DeleteBody: bind_delete,
    MergeBody: bind_merge,
    CreateDatabaseBody: bind_create_database,
    DropDatabaseBody: bind_drop_database,
    UseBody: bind_use,
    CreateTableBody: bind_create_table,
    CreateViewBody: bind_create_view,
    DropTableBody: bind_drop_table,
    TruncateBody: bind_truncate,
    PropertiesBody: bind_properties,
    RenameBody: bind_rename,
    AddColumnsBody: bind_add_columns,
    AddPartitionsBody: bind_add_partitions,
    DropPartitionsBody: bind_drop_partitions,
    CompactBody: bind_compact,
    AbortBody: bind_abort,
    StartBody: bind_start,
    EndBody: bind_end,
    LockBody: bind_lock,
    ShowBody: bind_show,
    DescribeBody: bind_describe,
    SetBody: bind_set,
}
