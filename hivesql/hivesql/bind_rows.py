"""Queries, and which function binds a statement that changes rows."""

from __future__ import annotations

from hivesql.binder.context import Binding
from hivesql.expressions.types import YEAR_MONTH
from hivesql.query.walk import bind_query
from hivesql.syntax.dml import (
    DeleteBody,
    DirectoryBody,
    InsertBody,
    MergeBody,
    QueryBody,
    RowBodies,
    UpdateBody,
)
from hivesql_planner.errors import NotSupported
from hivesql_planner.statements.bound import SelectRows, Statement, WriteDirectory


def bind_rows(body: RowBodies, binding: Binding) -> Statement:
    """Bind one of them; a query needs none of what is imported late."""
    match body:
        case QueryBody():
            return _bind_select(body, binding)
        case DirectoryBody():
            return _bind_directory(body, binding)
        case InsertBody():
            from hivesql.binder.insert import bind_insert

            return bind_insert(body, binding)
    from hivesql.binder.change import bind_delete, bind_merge, bind_update

    match body:
        case UpdateBody():
            return bind_update(body, binding)
        case DeleteBody():
            return bind_delete(body, binding)
        case MergeBody():
            return bind_merge(body, binding)


def _bind_directory(body: DirectoryBody, binding: Binding) -> WriteDirectory:
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
