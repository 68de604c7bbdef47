"""Trees to bound statements: every name looked up, every check made that needs no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hivesql.alter_trees import (
    AddPartitionsBody,
    AlterBody,
    AlterDatabaseBody,
    AlterViewBody,
    DropPartitionsBody,
    ExchangeBody,
    MovePartitionBody,
    RenameBody,
    RenamePartitionBody,
    TouchBody,
)
from hivesql.bind_alter import bind_alter, bind_alter_database, bind_alter_view, bind_rename
from hivesql.bind_change import bind_delete, bind_merge, bind_update
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
from hivesql.bind_create import bind_create_table
from hivesql.bind_insert import bind_insert
from hivesql.bind_load import bind_analyze, bind_load, bind_repair
from hivesql.bind_partitions import (
    bind_add_partitions,
    bind_drop_partitions,
    bind_exchange,
    bind_move_partition,
    bind_rename_partition,
    bind_touch,
)
from hivesql.bind_table import bind_drop_table, bind_truncate
from hivesql.bind_transaction import bind_end, bind_lock, bind_start
from hivesql.bind_view import bind_create_view
from hivesql.binding import Binding, Catalog
from hivesql.query import bind_query
from hivesql.trees import (
    AbortBody,
    AbortCompactionsBody,
    AnalyzeBody,
    Body,
    ClientBody,
    CompactBody,
    CreateDatabaseBody,
    CreateTableBody,
    CreateViewBody,
    DeleteBody,
    DescribeBody,
    DropDatabaseBody,
    DropTableBody,
    EndBody,
    ExplainBody,
    InsertBody,
    LoadBody,
    LockBody,
    MergeBody,
    QueryBody,
    RepairBody,
    SetBody,
    ShowBody,
    StartBody,
    Tree,
    TruncateBody,
    UpdateBody,
    UseBody,
)
from hivesql.type_rules import YEAR_MONTH
from hivesql_planner.errors import HiveSqlError, NotSupported
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
    bound = bind_query(body.query, binding)
    for column in bound.columns or ():
        if column.type == YEAR_MONTH:
            error = NotSupported(
                f"an interval of years and months as a result (column {column.name}); "
                "cast it to STRING"
            )
            binding.fail(error, body.query.start, body.query.end)
    return SelectRows(query=bound.query(binding))


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
    AlterBody: bind_alter,
    AlterViewBody: bind_alter_view,
    AlterDatabaseBody: bind_alter_database,
    RenameBody: bind_rename,
    RenamePartitionBody: bind_rename_partition,
    MovePartitionBody: bind_move_partition,
    ExchangeBody: bind_exchange,
    TouchBody: bind_touch,
    AddPartitionsBody: bind_add_partitions,
    DropPartitionsBody: bind_drop_partitions,
    AbortCompactionsBody: bind_abort_compactions,
    CompactBody: bind_compact,
    AbortBody: bind_abort,
    LoadBody: bind_load,
    RepairBody: bind_repair,
    AnalyzeBody: bind_analyze,
    StartBody: bind_start,
    EndBody: bind_end,
    LockBody: bind_lock,
    ShowBody: bind_show,
    DescribeBody: bind_describe,
    SetBody: bind_set,
    ClientBody: bind_client,
}
