"""Nodes of queries and of statements that change rows, where sqlglot has none of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hivesql.dialect.nodes.own import Own
from hivesql.python_sqlglot import exp

if TYPE_CHECKING:
    from hivesql.dialect.slices import Slice
    from hivesql_planner.model.table import FileFormat


class MultiInsert(Own):
    """FROM … INSERT … INSERT …: the queries of its INSERTs share WITH and FROM, and lack them."""

    arg_types: ClassVar[dict[str, bool]] = {"with_": False, "from_": True, "expressions": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryBody:
    """INSERT OVERWRITE [LOCAL] DIRECTORY."""

    path: str
    path_start: int
    local: bool
    format: FileFormat
    serde_properties: Mapping[str, str]
    query: Slice


def inserts_of(node: exp.Expr) -> list[exp.Expr]:
    """List the INSERTs of a statement."""
    return node.expressions if isinstance(node, MultiInsert) else [node]


def query_of(insert: exp.Expr) -> exp.Expr:
    """Return the query of an INSERT, with what the statement has before it."""
    statement = insert.parent if isinstance(insert.parent, MultiInsert) else insert
    with_, from_ = statement.args.get("with_"), statement.args.get("from_")
    query: exp.Expr = insert.expression
    if with_ is None and from_ is None:
        return query
    query = query.copy()
    if with_ is not None:
        _unwrapped(query).set("with_", with_.copy())
    if from_ is not None:
        _first_select(query).set("from_", from_.copy())
    return query


def take_apart(query: exp.Expr, *, with_: bool, from_: bool) -> dict[str, exp.Expr]:
    """Take WITH and FROM, which stand before INSERT, out of its query."""
    clauses = {}
    if with_:
        clauses["with_"] = _unwrapped(query).args["with_"].pop()
    if from_:
        clauses["from_"] = _first_select(query).args["from_"].pop()
    return clauses


def _unwrapped(query: exp.Expr) -> exp.Expr:
    while isinstance(query, exp.Subquery) and query.is_wrapper:
        query = query.this
    return query


def _first_select(query: exp.Expr) -> exp.Expr:
    while not isinstance(query, exp.Select):
        query = query.this
    return query
