"""SHOW, DESCRIBE, SET, USE, EXPLAIN and ABORT, from text to bound statements."""

from __future__ import annotations

from typing import Literal

from hivesql.front.binding import Binding
from hivesql.front.cursor import Cursor
from hivesql_planner.errors import NotSupported
from hivesql_planner.statements import (
    AbortTransactions,
    Describe,
    SetSetting,
    Show,
    Statement,
    UseDatabase,
)
from hivesql_planner.table import Table, partition_name


def bind_show(cursor: Cursor, binding: Binding) -> Show:  # noqa: C901 - one flat list
    """SHOW …."""
    cursor.expect("SHOW")
    if cursor.take("DATABASES") or cursor.take("SCHEMAS"):
        return _ended(cursor, Show(kind="databases", pattern=_pattern(cursor)))
    if cursor.take("TABLES"):
        return _in(cursor, binding, "tables")
    if cursor.take("VIEWS"):
        return _in(cursor, binding, "views")
    if cursor.take("COLUMNS"):
        return _columns(cursor, binding)
    if cursor.take("PARTITIONS"):
        table = binding.read_table(cursor)
        return _ended(cursor, Show(kind="partitions", table=table,
                                   partition=_partition(cursor, binding, table)))  # fmt: skip
    if cursor.take("TBLPROPERTIES"):
        table, key = binding.read_table(cursor), None
        if cursor.take("("):
            key = cursor.string()
            cursor.expect(")")
        return _ended(cursor, Show(kind="tblproperties", table=table, key=key))
    if cursor.take("CREATE", "TABLE"):
        return _ended(cursor, Show(kind="create table", table=binding.read_table(cursor)))
    if cursor.take("LOCKS"):
        return _locks(cursor, binding)
    if cursor.take("TRANSACTIONS"):
        return _ended(cursor, Show(kind="transactions"))
    if cursor.take("COMPACTIONS"):
        if not cursor.ended:
            raise NotSupported("SHOW COMPACTIONS with a filter")
        return Show(kind="compactions")
    if cursor.take("CONF"):
        return _ended(cursor, Show(kind="conf", key=cursor.string("a setting's name")))
    word = cursor.peek()
    if word is None or not word.upper:
        cursor.refuse("expected what to show")
    raise NotSupported(f"SHOW {word.upper}")


def _in(cursor: Cursor, binding: Binding, kind: Literal["tables", "views"]) -> Show:
    database = _in_database(cursor) or binding.database
    binding.catalog.database(database)
    return _ended(cursor, Show(kind=kind, database=database, pattern=_pattern(cursor)))


def _ended(cursor: Cursor, show: Show) -> Show:
    cursor.end()
    return show


def _in_database(cursor: Cursor) -> str | None:
    if cursor.take("IN") or cursor.take("FROM"):
        return cursor.name("a database name")
    return None


def _pattern(cursor: Cursor) -> str | None:
    token = cursor.peek()
    if cursor.take("LIKE") or (token is not None and token.kind == "string"):
        return cursor.string("a pattern")
    return None


def _columns(cursor: Cursor, binding: Binding) -> Show:
    if not cursor.take("IN"):
        cursor.expect("FROM")
    table = binding.read_table(cursor)
    return _ended(cursor, Show(kind="columns", table=table, pattern=_pattern(cursor)))


def _partition(cursor: Cursor, binding: Binding, table: Table) -> str | None:
    if not cursor.take("PARTITION"):
        return None
    spec = binding.read_partition(cursor, table)
    return partition_name(tuple(spec), tuple(spec.values()))


def _locks(cursor: Cursor, binding: Binding) -> Show:
    if cursor.take("DATABASE") or cursor.take("SCHEMA"):
        name = cursor.name("a database name")
        binding.catalog.database(name)
        return _ended(cursor, Show(kind="locks", database=name))
    if cursor.ended or cursor.sees("EXTENDED"):
        extended = cursor.take("EXTENDED")
        return _ended(cursor, Show(kind="locks", extended=extended))
    table = binding.read_table(cursor)
    partition = _partition(cursor, binding, table)
    extended = cursor.take("EXTENDED")
    return _ended(cursor, Show(kind="locks", table=table, partition=partition, extended=extended))


def bind_describe(cursor: Cursor, binding: Binding) -> Describe:
    """DESCRIBE [EXTENDED|FORMATTED] t, DESCRIBE DATABASE d."""
    if not cursor.take("DESC"):
        cursor.expect("DESCRIBE")
    if cursor.take("DATABASE") or cursor.take("SCHEMA"):
        extended = cursor.take("EXTENDED")
        name = cursor.name("a database name")
        cursor.end()
        return Describe(database=name, style="extended" if extended else "")
    if cursor.sees("FUNCTION"):
        raise NotSupported("DESCRIBE FUNCTION")
    style: Literal["", "extended", "formatted"] = ""
    if cursor.take("EXTENDED"):
        style = "extended"
    elif cursor.take("FORMATTED"):
        style = "formatted"
    table = binding.read_table(cursor)
    if not cursor.ended:
        raise NotSupported("DESCRIBE of a column or partition")
    return Describe(table=table, style=style)


def bind_set(cursor: Cursor, binding: Binding) -> Statement:
    """SET k=v, SET k, SET, RESET [k]: the value is everything after the first '='."""
    text = cursor.text.strip()
    if cursor.take("RESET"):
        key = cursor.rest().strip() or None
        return SetSetting(key=key, reset=True)
    cursor.expect("SET")
    body = text[3:].strip()
    if body in ("", "-v"):
        return SetSetting(all=True)
    key, equals, value = body.partition("=")
    if not key.strip():
        cursor.refuse("expected a setting's name")
    if not equals:
        if len(key.split()) > 1:
            cursor.refuse("expected '='")
        return SetSetting(key=key.strip())
    return SetSetting(key=key.strip(), value=value.strip())


def bind_use(cursor: Cursor, binding: Binding) -> UseDatabase:
    """USE d."""
    cursor.expect("USE")
    name = cursor.name("a database name")
    cursor.end()
    return UseDatabase(name=name)


def bind_abort(cursor: Cursor, binding: Binding) -> AbortTransactions:
    """ABORT TRANSACTIONS id …."""
    cursor.expect("ABORT")
    if cursor.sees("COMPACTIONS"):
        raise NotSupported("ABORT COMPACTIONS")
    cursor.expect("TRANSACTIONS")
    ids = [cursor.number("a transaction id")]
    while not cursor.ended:
        ids.append(cursor.number("a transaction id"))
    return AbortTransactions(txn_ids=tuple(ids))
