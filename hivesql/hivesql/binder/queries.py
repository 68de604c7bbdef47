"""Queries as statements: SELECT, and INSERT OVERWRITE DIRECTORY."""

from __future__ import annotations

from dataclasses import replace

from hivesql.binding import Binding
from hivesql.dialect.nodes.dml import DirectoryBody
from hivesql.dialect.nodes.parts import slice_of
from hivesql.dialect.slices import Slice
from hivesql.expressions.intervals import TEXTS
from hivesql.python_sqlglot import exp
from hivesql.query.inline_tables import named_as_values
from hivesql.query.scope import BoundQuery
from hivesql.query.walk import bind_query
from hivesql_planner.model.hive_type import STRING, UNKNOWN, YEAR_MONTH, quote_name
from hivesql_planner.model.table import Column
from hivesql_planner.relations import Query
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


def bind_own_query(part: Slice, binding: Binding) -> BoundQuery:
    """Bind the query that is a statement, or makes a table: its columns are the user's."""
    bound = bind_query(part, binding)
    sql, columns = named_as_values(part.tree, bound.sql, bound.columns)
    return replace(bound, sql=sql, columns=columns)


def bind_select(node: exp.Expr, binding: Binding) -> SelectRows:
    """Bind a query whose rows are the answer."""
    bound = bind_own_query(slice_of(node), binding)
    columns = bound.columns or ()
    labels = tuple(
        Column(f"{column.alias}.{column.name}" if column.alias else column.name,
               column.type or UNKNOWN)
        for column in columns
    )  # fmt: skip
    has_months = any(column.type == YEAR_MONTH for column in columns)
    query = _with_texts_of_months(bound, binding) if has_months else bound.query(binding)
    return SelectRows(query=query, labels=labels)


def _with_texts_of_months(bound: BoundQuery, binding: Binding) -> Query:
    """Let intervals of years and months, which Spark's Python side cannot take, be texts."""
    columns = bound.columns or ()
    items = (
        (TEXTS[YEAR_MONTH] if column.type == YEAR_MONTH else "@0").replace("@0", f"q.c{i}")
        + f" AS {quote_name(column.name)}"
        for i, column in enumerate(columns)
    )
    names = ", ".join(f"c{i}" for i in range(len(columns)))
    sql = f"SELECT {', '.join(items)} FROM ({bound.sql}) AS q({names})"
    texts = tuple(
        column._replace(type=STRING) if column.type == YEAR_MONTH else column for column in columns
    )
    return bound.query(binding, sql, texts)
