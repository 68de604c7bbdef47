"""Queries, and the statements that change rows."""

from __future__ import annotations

from collections.abc import Callable

from hivesql.parser.dml import parse_delete, parse_merge, parse_update
from hivesql.parser.query import parse_insert, parse_query
from hivesql.parser.tokens import Cursor, Kind
from hivesql.query.hive_grammar import check_tokens
from hivesql.syntax.commands import Body


def parse_rows(cursor: Cursor) -> Body:
    """A query, or an INSERT that begins with FROM or WITH."""
    check_tokens(cursor.text, cursor.tokens)
    return parse_insert(cursor) if _inserts(cursor) else parse_query(cursor)


def _inserts(cursor: Cursor) -> bool:
    """Whether FROM or WITH leads to INSERT."""
    if cursor.peek().value not in ("from", "with"):
        return False
    start = cursor.position
    cursor.find("insert", "update", "delete", "merge", "select", "map", "reduce")
    if cursor.at_end and cursor.tokens[start].is_("from"):
        cursor.fail("expected SELECT or INSERT")
    cursor.position = start
    cursor.find("insert", "update", "delete", "merge")
    found, cursor.position = cursor.peek(), start
    if found.value in ("update", "delete", "merge") and found.kind is Kind.WORD:
        cursor.fail(f"WITH cannot go before {found.text.upper()}", found)
    return found.is_("insert")


STATEMENTS: dict[str, Callable[[Cursor], Body]] = {
    "insert": parse_insert,
    "update": parse_update,
    "delete": parse_delete,
    "merge": parse_merge,
}
