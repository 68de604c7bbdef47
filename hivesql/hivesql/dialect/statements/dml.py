"""UPDATE, DELETE and MERGE."""

from __future__ import annotations

from collections.abc import Callable

from hivesql.dialect.hive_grammar import check_tokens
from hivesql.dialect.nodes.commands import Body
from hivesql.dialect.nodes.dml import DeleteBody, MergeBody, UpdateBody, WhenBody
from hivesql.dialect.slices import Slice
from hivesql.dialect.statements.query import parse_insert, parse_query
from hivesql.dialect.structure import read_expression, read_query
from hivesql.dialect.tokens import Cursor, Kind, Name


def parse_update(cursor: Cursor) -> UpdateBody:
    """UPDATE t SET c = e, … [WHERE e]; Hive knows no alias here."""
    cursor.expect("update")
    table = cursor.table()
    cursor.expect("set")
    assignments = _assignments(cursor, frozenset({table.name.text}), "where")
    where = _where(cursor)
    cursor.end()
    return UpdateBody(table, assignments, where)


def parse_delete(cursor: Cursor) -> DeleteBody:
    """DELETE FROM t [WHERE e]; Hive knows no alias here."""
    cursor.expect("delete", "from")
    table = cursor.table()
    where = _where(cursor)
    cursor.end()
    return DeleteBody(table, where)


def _where(cursor: Cursor) -> Slice | None:
    if not cursor.take("where"):
        return None
    condition = _expression(cursor)
    for clause in ("order", "limit", "returning"):
        if cursor.at(clause):
            cursor.fail("expected the end of the statement")
    return condition


def _expression(cursor: Cursor, *stops: str) -> Slice:
    """Take an expression that ends before a word, at a comma or bracket, or at the end."""
    start = cursor.peek().start
    end = cursor.find(",", *stops)
    return read_expression(cursor.text, cursor.tokens, (start, max(start, end)))


def _assignments(
    cursor: Cursor, qualifiers: frozenset[str], *stops: str
) -> tuple[tuple[Name, Slice], ...]:
    found: list[tuple[Name, Slice]] = []
    while True:
        column = cursor.name("a column name")
        if column.text in qualifiers and cursor.take("."):
            column = cursor.name("a column name")
        cursor.expect("=")
        found.append((column, _expression(cursor, *stops)))
        if not cursor.take(","):
            return tuple(found)


def parse_merge(cursor: Cursor) -> MergeBody:
    """MERGE INTO t [AS a] USING s ON e WHEN …."""
    cursor.expect("merge", "into")
    table = cursor.table()
    alias = _alias(cursor)
    cursor.expect("using")
    start = cursor.peek().start
    source_table = None
    if cursor.at("("):
        cursor.skip_group()
        source_alias = _alias(cursor)
        if source_alias is None:
            cursor.fail("expected an alias for the source of MERGE")
        if cursor.at("("):
            cursor.names()
    else:
        source_table = cursor.table(of_spark=True)
        source_alias = _alias(cursor) or source_table.name
    span = (start, cursor.tokens[cursor.position - 1].end)
    source = read_query(cursor.text, cursor.tokens, (span,), "SELECT * FROM ")
    cursor.expect("on")
    on = _expression(cursor, "when")
    qualifiers = frozenset({(alias or table.name).text})
    clauses = []
    while cursor.at("when"):
        clauses.append(_when(cursor, qualifiers))
    cursor.end()
    if not clauses:
        cursor.fail("MERGE needs at least one WHEN clause")
    if any(clause.kind == "insert" for clause in clauses[:-1]):
        cursor.fail("WHEN NOT MATCHED must be the last clause, and there is only one")
    return MergeBody(table, alias, source, source_alias, source_table, on, tuple(clauses))


def _alias(cursor: Cursor) -> Name | None:
    if cursor.take("as"):
        return cursor.name("an alias")
    return cursor.name() if cursor.peek().is_name else None


def _when(cursor: Cursor, qualifiers: frozenset[str]) -> WhenBody:
    start = cursor.expect("when").start
    matched = not cursor.take("not")
    cursor.expect("matched")
    if cursor.at("by"):
        cursor.refuse("MERGE … WHEN NOT MATCHED BY SOURCE or TARGET")
    condition = _expression(cursor, "then") if cursor.take("and") else None
    cursor.expect("then")
    if not matched:
        return _not_matched(cursor, start, condition)
    if cursor.take("delete"):
        return WhenBody("delete", start, condition, end=cursor.last_end)
    if not cursor.at("update"):
        cursor.fail("expected UPDATE or DELETE after WHEN MATCHED")
    cursor.expect("update", "set")
    if cursor.at("*"):
        cursor.refuse("MERGE … UPDATE SET *")
    assigned = _assignments(cursor, qualifiers, "when")
    return WhenBody("update", start, condition, assigned, end=cursor.last_end)


def _not_matched(cursor: Cursor, start: int, condition: Slice | None) -> WhenBody:
    if not cursor.at("insert"):
        cursor.fail("expected INSERT after WHEN NOT MATCHED")
    cursor.expect("insert")
    if cursor.at("*"):
        cursor.refuse("MERGE … INSERT *")
    columns = cursor.names() if cursor.at("(") else None
    cursor.expect("values", "(")
    values = [_expression(cursor)]
    while cursor.take(","):
        values.append(_expression(cursor))
    cursor.expect(")")
    if cursor.peek().kind is Kind.SYMBOL and cursor.at(","):
        cursor.fail("MERGE inserts one row for each source row")
    return WhenBody(
        "insert", start, condition, columns=columns, values=tuple(values), end=cursor.last_end
    )


def parse_rows(cursor: Cursor) -> Body:
    """Return a query, or an INSERT that begins with FROM or WITH."""
    check_tokens(cursor.text, cursor.tokens)
    return parse_insert(cursor) if _inserts(cursor) else parse_query(cursor)


def _inserts(cursor: Cursor) -> bool:
    """Tell whether FROM or WITH leads to INSERT."""
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
