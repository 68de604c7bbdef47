"""Queries as statements: SELECT, and INSERT OVERWRITE DIRECTORY."""

from __future__ import annotations

from hivesql.binding import Binding
from hivesql.dialect.nodes.dml import DirectoryBody, QueryBody
from hivesql.dialect.value_types import YEAR_MONTH
from hivesql.query.walk import bind_query
from hivesql_planner.errors import NotSupported
from hivesql_planner.statements.bound import SelectRows, WriteDirectory


def bind_directory(body: DirectoryBody, binding: Binding) -> WriteDirectory:
    """Bind INSERT OVERWRITE [LOCAL] DIRECTORY."""
    return WriteDirectory(
        path=body.path,
        local=body.local,
        format=body.format,
        serde_properties=body.serde_properties,
        query=bind_query(body.query, binding).query(binding),
    )


def bind_select(body: QueryBody, binding: Binding) -> SelectRows:
    """Bind a query whose rows are the answer."""
    bound = bind_query(body.query, binding)
    for column in bound.columns or ():
        if column.type == YEAR_MONTH:
            error = NotSupported(
                f"an interval of years and months as a result (column {column.name}); "
                "cast it to STRING"
            )
            binding.fail(error, body.query.start, body.query.end)
    return SelectRows(query=bound.query(binding))
