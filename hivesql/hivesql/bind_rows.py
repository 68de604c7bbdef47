"""The statements whose binding looks into queries, expressions or columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hivesql.alter_trees import (
    AddPartitionsBody,
    AlterBody,
    AlterDatabaseBody,
    AlterPartitionsBody,
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
from hivesql.bind_create import bind_create_table
from hivesql.bind_insert import bind_insert
from hivesql.bind_partitions import (
    bind_add_partitions,
    bind_alter_partitions,
    bind_drop_partitions,
    bind_exchange,
    bind_move_partition,
    bind_rename_partition,
    bind_touch,
)
from hivesql.bind_view import bind_create_view
from hivesql.binding import Binding
from hivesql.query import bind_query
from hivesql.trees import (
    CreateTableBody,
    CreateViewBody,
    DeleteBody,
    DirectoryBody,
    InsertBody,
    MergeBody,
    QueryBody,
    UpdateBody,
)
from hivesql.type_rules import YEAR_MONTH
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.statements import SelectRows, Statement, WriteDirectory


def _bind_directory(body: DirectoryBody, binding: Binding) -> WriteDirectory:
    if not body.path:
        binding.fail(SemanticError("Can not create a Path from an empty string"), body.path_start)
    if body.format in ("sequencefile", "rcfile"):
        binding.fail(NotSupported(f"STORED AS {body.format.upper()}"), body.path_start)
    return WriteDirectory(
        path=body.path,
        local=body.local,
        format=body.format,
        serde_properties=body.serde_properties,
        query=bind_query(body.query, binding).query(binding),
    )


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


BINDERS: dict[type, Callable[[Any, Binding], Statement]] = {
    QueryBody: _bind_select,
    InsertBody: bind_insert,
    DirectoryBody: _bind_directory,
    UpdateBody: bind_update,
    DeleteBody: bind_delete,
    MergeBody: bind_merge,
    CreateTableBody: bind_create_table,
    CreateViewBody: bind_create_view,
    AlterBody: bind_alter,
    AlterViewBody: bind_alter_view,
    AlterDatabaseBody: bind_alter_database,
    RenameBody: bind_rename,
    RenamePartitionBody: bind_rename_partition,
    MovePartitionBody: bind_move_partition,
    AlterPartitionsBody: bind_alter_partitions,
    ExchangeBody: bind_exchange,
    TouchBody: bind_touch,
    AddPartitionsBody: bind_add_partitions,
    DropPartitionsBody: bind_drop_partitions,
}
