"""DROP of databases, tables and views."""

from __future__ import annotations

from hivesql.dialect.nodes.ddl import DropDatabaseBody, DropTableBody
from hivesql.dialect.nodes.functions import DropFunctionBody, DropStoredFunctionBody
from hivesql.dialect.tokens import Cursor, Kind
from hivesql_planner.statements.bound import DropKind

_DROP_REFUSED = ("temporary", "role", "index", "macro", "scheduled",
                 "resource", "dataconnector")  # fmt: skip


_FUNCTIONS = (("function",), ("temporary", "function"), ("temporary", "macro"))


def parse_drop(
    cursor: Cursor,
) -> DropDatabaseBody | DropTableBody | DropFunctionBody | DropStoredFunctionBody:
    """DROP DATABASE, TABLE, VIEW, MATERIALIZED VIEW, FUNCTION or MACRO."""
    cursor.expect("drop")
    if any(cursor.at(*words) for words in _FUNCTIONS):
        from hivesql.dialect.statements.functions import parse_drop_function

        return parse_drop_function(cursor)
    token = cursor.next()
    if token.kind is Kind.WORD and token.value in _DROP_REFUSED:
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
