"""DROP of databases, tables and views."""

from __future__ import annotations

from hivesql.dialect.nodes.ddl import DropDatabaseBody, DropTableBody
from hivesql.dialect.nodes.functions import DropFunctionBody
from hivesql.dialect.tokens import Cursor, Kind, Token, at
from hivesql_planner.errors import SemanticError
from hivesql_planner.statements.bound import DropKind

_DROP_REFUSED = ("temporary", "function", "role", "index", "macro", "scheduled",
                 "resource", "dataconnector")  # fmt: skip


def parse_drop(cursor: Cursor) -> DropDatabaseBody | DropTableBody | DropFunctionBody:
    """DROP DATABASE, TABLE, VIEW or MATERIALIZED VIEW."""
    cursor.expect("drop")
    if cursor.at("temporary", "function") or cursor.at("temporary", "macro"):
        from hivesql.dialect.statements.functions import parse_drop_function

        return parse_drop_function(cursor)
    token = cursor.next()
    if token.kind is Kind.WORD and token.value in _DROP_REFUSED:
        _check_function(cursor, token)
        cursor.refuse(f"DROP {token.text.upper()}", token)
    if token.is_("database") or token.is_("schema"):
        if_exists = cursor.take("if", "exists")
        name = cursor.name("a database name")
        cascade = cursor.take("cascade")
        if not cascade:
            cursor.take("restrict")
        cursor.end()
        return DropDatabaseBody(name, if_exists, cascade)
    kind: DropKind = "TABLE" if token.is_("table") else "VIEW"
    if token.is_("materialized"):
        cursor.expect("view")
        kind = "MATERIALIZED VIEW"
    elif not (token.is_("table") or token.is_("view")):
        cursor.fail("expected TABLE, VIEW or DATABASE", token)
    if_exists = cursor.take("if", "exists")
    table = cursor.table()
    purge = token.is_("table") and cursor.take("purge")
    cursor.end()
    return DropTableBody(table, if_exists, purge, kind)


def _check_function(cursor: Cursor, token: Token) -> None:
    """DROP FUNCTION of one of Hive's own is an error before all else."""
    from hivesql.dialect.function_names import is_hive_function

    start = cursor.position
    if token.is_("function"):
        cursor.take("if", "exists")
        name = cursor.name("a function's name")
        if is_hive_function(name.text) and not cursor.at("."):
            error = SemanticError(f"Cannot drop native function {name.text}", code=10301)
            raise at(error, cursor.text, name.start)
    cursor.position = start
