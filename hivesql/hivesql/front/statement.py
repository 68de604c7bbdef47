"""One statement's text to one bound statement: its first words decide who reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hivesql.front.alter import bind_alter, bind_truncate
from hivesql.front.binding import Binding, Catalog
from hivesql.front.change import bind_delete, bind_update
from hivesql.front.cursor import Cursor
from hivesql.front.ddl import bind_create, bind_drop
from hivesql.front.insert import bind_insert
from hivesql.front.merge import bind_merge
from hivesql.front.query import Names
from hivesql.front.script import StatementText
from hivesql.front.show import (
    bind_abort,
    bind_describe,
    bind_set,
    bind_show,
    bind_use,
)
from hivesql.front.slices import query_at
from hivesql_planner.errors import HiveSqlError, NotSupported
from hivesql_planner.settings import Settings
from hivesql_planner.statements import Explain, SelectRows, Statement

_READERS: dict[str, Callable[[Cursor, Binding], Statement]] = {
    "ABORT": bind_abort,
    "ALTER": bind_alter,
    "CREATE": bind_create,
    "DELETE": bind_delete,
    "DESC": bind_describe,
    "DESCRIBE": bind_describe,
    "DROP": bind_drop,
    "INSERT": bind_insert,
    "MERGE": bind_merge,
    "RESET": bind_set,
    "SET": bind_set,
    "SHOW": bind_show,
    "TRUNCATE": bind_truncate,
    "UPDATE": bind_update,
    "USE": bind_use,
}
_QUERIES = ("SELECT", "WITH", "VALUES", "FROM", "(", "TABLE", "MAP", "REDUCE")
_REFUSED = {
    "LOAD": "LOAD DATA",
    "START": "START TRANSACTION",
    "BEGIN": "BEGIN",
    "COMMIT": "COMMIT",
    "ROLLBACK": "ROLLBACK",
    "LOCK": "LOCK TABLE",
    "UNLOCK": "UNLOCK TABLE",
    "ANALYZE": "ANALYZE TABLE",
    "MSCK": "MSCK REPAIR TABLE",
    "EXPORT": "EXPORT TABLE",
    "IMPORT": "IMPORT TABLE",
    "GRANT": "GRANT",
    "REVOKE": "REVOKE",
    "RELOAD": "RELOAD FUNCTIONS",
    "REPL": "REPL",
    "KILL": "KILL QUERY",
    "OPTIMIZE": "OPTIMIZE TABLE",
    "CACHE": "CACHE",
    "PREPARE": "PREPARE",
    "EXECUTE": "EXECUTE",
    "DFS": "DFS",
    "ADD": "ADD FILE, ADD JAR",
    "LIST": "LIST FILES",
    "SOURCE": "SOURCE",
}


def bind(
    text: StatementText,
    catalog: Catalog,
    *,
    database: str = "default",
    settings: Settings | None = None,
) -> Statement:
    """Read and look up one statement.

    Anything that is not fully understood is refused: ParseError for what is not Hive's language,
    NotSupported by name for what is. Errors carry the file, line and column of what they mean.
    """
    binding = Binding(catalog, database.lower(), settings or Settings())
    try:
        return _bind(text.text, binding)
    except HiveSqlError as error:
        raise place(error, text) from error.__cause__


def place(error: HiveSqlError, text: StatementText) -> HiveSqlError:
    """Turn an error's place within the statement into one within the script, once."""
    if getattr(error, "placed", False):
        return error
    lines = text.text.splitlines(keepends=True)
    line, column = error.line or 1, error.column or 1
    offset = sum(map(len, lines[: line - 1])) + column - 1
    error.line, error.column = text.place(offset)
    error.file = text.file
    error.placed = True  # type: ignore[attr-defined]
    return error


def _bind(text: str, binding: Binding) -> Statement:
    cursor = Cursor(text)
    first = cursor.peek()
    if first is None:
        cursor.refuse("expected a statement")
    word = first.upper or first.text
    if word == "EXPLAIN":
        return _explain(cursor, text, binding)
    if word in _QUERIES:
        return _query_or_insert(cursor, text, binding)
    if word in _READERS:
        return _READERS[word](cursor, binding)
    if word not in _REFUSED:
        cursor.refuse("no statement begins like this")
    raise NotSupported(_REFUSED[word])


def _query_or_insert(cursor: Cursor, text: str, binding: Binding) -> Statement:
    """WITH and FROM may begin a query or an INSERT."""
    if cursor.sees("MAP") or cursor.sees("REDUCE") or cursor.sees("TABLE"):
        raise NotSupported(f"{cursor.rest().split()[0].upper()} as a statement")
    if (cursor.sees("WITH") or cursor.sees("FROM")) and _has_insert(cursor):
        return bind_insert(cursor, binding)
    return SelectRows(query=query_at(cursor, text, 0, binding, Names()))


def _has_insert(cursor: Cursor) -> bool:
    depth = 0
    for token in cursor.tokens:
        if token.kind == "symbol":
            depth += (token.text in "([{") - (token.text in ")]}")
        elif depth == 0 and token.upper == "INSERT":
            return True
    return False


def _explain(cursor: Cursor, text: str, binding: Binding) -> Explain:
    cursor.expect("EXPLAIN")
    style: Literal["", "extended", "formatted", "locks"] = ""
    if cursor.take("LOCKS"):
        style = "locks"
    elif cursor.take("EXTENDED"):
        style = "extended"
    elif cursor.take("FORMATTED"):
        style = "formatted"
    else:
        for word in ("CBO", "VECTORIZATION", "AUTHORIZATION", "DEPENDENCY", "AST", "ANALYZE",
                     "REOPTIMIZATION", "DDL", "LOGICAL"):  # fmt: skip
            if cursor.sees(word):
                raise NotSupported(f"EXPLAIN {word}")
    # Spaces in place of EXPLAIN keep every place in the statement as it is.
    offset = cursor.offset()
    kept = "".join(char if char == "\n" else " " for char in text[:offset])
    return Explain(statement=_bind(kept + text[offset:], binding), style=style)
