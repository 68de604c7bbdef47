"""DROP of databases, tables and views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivesql.dialect.nodes.ddl import DropDatabaseBody, DropTableBody
from hivesql.dialect.nodes.functions import DropFunctionBody, DropStoredFunctionBody
from hivesql.dialect.statements.clauses import refuse_object, refuse_replication
from hivesql.dialect.tokens import Cursor, Kind
from hivesql_planner.statements.bound import DropKind

if TYPE_CHECKING:
    from hivesql_planner.statements.authorization import CreateRole

_DROP_REFUSED = ("temporary", "index", "macro")


_FUNCTIONS = (("function",), ("temporary", "function"), ("temporary", "macro"))


def parse_drop(
    cursor: Cursor,
) -> DropDatabaseBody | DropTableBody | DropFunctionBody | DropStoredFunctionBody | CreateRole:
    """DROP DATABASE, TABLE, VIEW, MATERIALIZED VIEW, FUNCTION, MACRO or ROLE."""
    cursor.expect("drop")
    if any(cursor.at(*words) for words in _FUNCTIONS):
        from hivesql.dialect.statements.functions import parse_drop_function

        return parse_drop_function(cursor)
    if cursor.at("role"):
        from hivesql.dialect.statements.authorization import parse_role

        return parse_role(cursor, drops=True)
    refuse_object(cursor, "DROP")
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
    refuse_replication(cursor, f"DROP {kind}")
    cursor.end()
    return DropTableBody(table, if_exists, purge, kind)
