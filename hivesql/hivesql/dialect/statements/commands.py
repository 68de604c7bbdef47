"""USE, SHOW, DESCRIBE, ABORT, LOCK, settings, START TRANSACTION and its end."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, cast

from hivesql.dialect.nodes.commands import DescribeBody, LockBody, ShowBody, UseBody
from hivesql.dialect.statements.clauses import parse_chosen, parse_partition, refuse_object
from hivesql.dialect.statements.clauses import parse_properties as parse_properties
from hivesql.dialect.statements.compaction import parse_abort_compactions, parse_show_compactions
from hivesql.dialect.tokens import INSIDE_WORDS, Cursor, Kind, Name, TableRef, at
from hivesql.script import StatementText
from hivesql_planner.errors import NotSupported, ParseError
from hivesql_planner.model.table import OwnerType
from hivesql_planner.settings.file_system_keys import is_secret
from hivesql_planner.statements.bound import (
    AbortCompactions,
    AbortTransactions,
    EndTransaction,
    FileSystemShell,
    KillQueries,
    SessionFiles,
    SetSetting,
    StartTransaction,
)

if TYPE_CHECKING:
    from hivesql.dialect.nodes.authorization import ShowGrantBody
    from hivesql_planner.statements.authorization import ShowRoles

_SHOW_REFUSED = ("resource", "index", "connectors", "dataconnectors", "catalogs")
_SHOW_ROLES = ("current", "roles", "principals", "role")


_OWNERS: dict[str, OwnerType] = {"user": "USER", "role": "ROLE", "group": "GROUP"}


def parse_keys(cursor: Cursor) -> tuple[str, ...]:
    """``('k', …)``, where a value may stand too."""
    cursor.expect("(")
    keys = [_key(cursor)]
    while cursor.take(","):
        keys.append(_key(cursor))
    cursor.expect(")")
    return tuple(keys)


def _key(cursor: Cursor) -> str:
    key = cursor.string("a property key")
    if cursor.take("="):
        cursor.string("a property value")  # Hive takes one, and does not look at it
    return key


def parse_owner(cursor: Cursor) -> tuple[str, OwnerType]:
    """``USER bob``, ``ROLE r`` or ``GROUP g``."""
    kind = parse_owner_type(cursor)
    return cursor.name("an owner").text, kind


def parse_owner_type(cursor: Cursor) -> OwnerType:
    """Take USER, ROLE or GROUP."""
    kind = _OWNERS.get(cursor.peek().value)
    if kind is None or cursor.next().kind is not Kind.WORD:
        cursor.fail("expected USER, ROLE or GROUP")
    return kind


def parse_use(cursor: Cursor) -> UseBody:
    """USE d."""
    cursor.expect("use")
    name = cursor.name("a database name")
    cursor.end()
    return UseBody(name)


def parse_show(cursor: Cursor) -> ShowBody | ShowGrantBody | ShowRoles:
    """SHOW …."""
    cursor.expect("show")
    if cursor.at("grant") or any(map(cursor.at, _SHOW_ROLES)):
        # Imported late: hardly anybody asks for it.
        from hivesql.dialect.statements.authorization import parse_show_grant, parse_show_roles

        return parse_show_grant(cursor) if cursor.at("grant") else parse_show_roles(cursor)
    token = cursor.next()
    word = token.value if token.kind is Kind.WORD else ""
    if word in _SHOW_REFUSED:
        cursor.refuse(f"SHOW {word.upper()}", token)
    read = _SHOW.get(word)
    if read is None:
        cursor.fail("expected what to show", token)
    parts = {"kind": word} | read(cursor)
    cursor.end()
    return ShowBody(**parts)


def _databases(cursor: Cursor) -> dict[str, Any]:
    return {"kind": "databases"} | _functions(cursor)


def _functions(cursor: Cursor) -> dict[str, Any]:
    return _pattern(cursor) if cursor.at("like") or cursor.at("where") else {}


def _tables(cursor: Cursor) -> dict[str, Any]:
    parts = _in_database(cursor)
    if not cursor.take("where"):
        return parts | _pattern(cursor, bare=True)
    start = cursor.peek()
    if cursor.name().text != "table_type" or not cursor.take("="):
        cursor.refuse("SHOW TABLES … WHERE of anything but `table_type` = '…'", start)
    return parts | {"kind": "tables of a type", "key": cursor.string("a table type")}


def _views(cursor: Cursor) -> dict[str, Any]:
    return _in_database(cursor) | _pattern(cursor, bare=True)


def _extended_tables(cursor: Cursor) -> dict[str, Any]:
    cursor.expect("tables")
    return {"kind": "extended tables"} | _views(cursor)


def _materialized_views(cursor: Cursor) -> dict[str, Any]:
    cursor.expect("views")
    return {"kind": "materialized views"} | _views(cursor)


def _table_extended(cursor: Cursor) -> dict[str, Any]:
    cursor.expect("extended")
    parts = {"kind": "table extended"} | _in_database(cursor)
    cursor.expect("like")
    parts["pattern"] = _pattern_text(cursor)
    if cursor.at("partition"):
        parts["partition"] = parse_partition(cursor, dynamic=False)
    return parts


def _sorted_columns(cursor: Cursor) -> dict[str, Any]:
    cursor.expect("columns")
    return {"kind": "columns", "extended": True} | _columns_of(cursor)


def _partitions(cursor: Cursor) -> dict[str, Any]:
    parts: dict[str, Any] = {"table": cursor.table()}
    if cursor.at("partition"):
        parts["partition"] = parse_partition(cursor)
    if any(cursor.at(word) for word in ("where", "order", "limit")):
        parts["chosen"] = parse_chosen(cursor)
    return parts


def _properties_of(cursor: Cursor) -> dict[str, Any]:
    parts: dict[str, Any] = {"table": cursor.table()}
    if cursor.take("("):
        parts["key"] = cursor.string("a property key")
        cursor.expect(")")
    return parts


def _create_of(cursor: Cursor) -> dict[str, Any]:
    if cursor.take("database") or cursor.take("schema"):
        return {"kind": "create database", "database": cursor.name("a database name")}
    cursor.expect("table")
    return {"kind": "create table", "table": cursor.table()}


def _conf(cursor: Cursor) -> dict[str, Any]:
    return {"key": cursor.string("a setting's name")}


def _transactions(cursor: Cursor) -> dict[str, Any]:
    return {}


def _in_database(cursor: Cursor) -> dict[str, Any]:
    if cursor.take("in") or cursor.take("from"):
        return {"database": cursor.name("a database name")}
    return {}


def _pattern(cursor: Cursor, *, bare: bool = False) -> dict[str, Any]:
    """Return a pattern; ``bare`` lets it be a name without LIKE too."""
    if cursor.at("where"):
        cursor.refuse("SHOW … WHERE")
    token = cursor.peek()
    if cursor.take("like") or token.kind is Kind.STRING or (bare and token.is_name):
        return {"pattern": _pattern_text(cursor)}
    return {}


def _pattern_text(cursor: Cursor) -> str:
    """Return a pattern, or a name without quotes."""
    if cursor.peek().kind is Kind.STRING:
        return cursor.string()
    return cursor.name("a pattern").text


def _columns_of(cursor: Cursor) -> dict[str, Any]:
    if not cursor.take("from"):
        cursor.expect("in")
    table = cursor.table()
    parts: dict[str, Any] = {"table": table} | _in_database(cursor) | _pattern(cursor)
    if "database" in parts and table.database:
        cursor.fail("the database is named twice")
    return parts


def _locks(cursor: Cursor) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if cursor.take("database") or cursor.take("schema"):
        parts["database"] = cursor.name("a database name")
    elif not cursor.at_end and not (cursor.at("extended") and cursor.peek(1).kind is Kind.END):
        parts["table"] = cursor.table()
        if cursor.at("partition"):
            parts["partition"] = parse_partition(cursor, dynamic=False)
    parts["extended"] = cursor.take("extended")
    return parts


def _history(cursor: Cursor) -> dict[str, Any]:
    """[t | DATABASE d] [LIMIT n]; without a name the current database's."""
    parts: dict[str, Any] = {}
    if cursor.take("database") or cursor.take("schema"):
        parts["database"] = cursor.name("a database name")
    elif not cursor.at_end and not cursor.at("limit"):
        parts["table"] = cursor.table()
    if cursor.take("limit"):
        parts["limit"] = cursor.integer("how many to show")
    return parts


_SHOW: dict[str, Callable[[Cursor], dict[str, Any]]] = {
    "databases": _databases,
    "schemas": _databases,
    "tables": _tables,
    "views": _views,
    "extended": _extended_tables,
    "materialized": _materialized_views,
    "table": _table_extended,
    "sorted": _sorted_columns,
    "functions": _functions,
    "columns": _columns_of,
    "partitions": _partitions,
    "tblproperties": _properties_of,
    "create": _create_of,
    "conf": _conf,
    "locks": _locks,
    "transactions": _transactions,
    "compactions": parse_show_compactions,
    "history": _history,
}


def _function(cursor: Cursor) -> str:
    token = cursor.peek()
    if token.kind is Kind.STRING:
        return cursor.string()
    if token.kind is Kind.QUOTED and not cursor.peek(1).is_("."):
        return cursor.next().text  # capitals and quotes stay: Hive repeats them
    if cursor.at_end or cursor.at(";") or cursor.peek(1).is_("."):
        called = cursor.name("a function").text
        return f"{called}.{cursor.name('a function').text}" if cursor.take(".") else called
    # Operators too: ``!=``, ``<=>``, ``case``.
    name = [cursor.next().text]
    while cursor.peek().kind is Kind.SYMBOL and not cursor.at_end:
        name.append(cursor.next().text)
    return "".join(name)


def parse_describe(cursor: Cursor) -> DescribeBody | ShowBody:
    """DESCRIBE [EXTENDED|FORMATTED] t [PARTITION (…)], DESCRIBE DATABASE [EXTENDED] d."""
    cursor.next()
    if cursor.at("function") and cursor.peek(1).kind is not Kind.END:
        cursor.next()
        extended = cursor.take("extended")
        body = ShowBody(kind="function", key=_function(cursor), extended=extended)
        cursor.end()
        return body
    if cursor.at("history") and cursor.peek(1).is_name and not cursor.at("history", "partition"):
        return _describe_history(cursor)
    style: Literal["", "extended", "formatted"] = ""
    if (cursor.at("database") or cursor.at("schema")) and cursor.peek(1).kind is not Kind.END:
        cursor.next()
        if cursor.take("extended"):
            style = "extended"
        database = cursor.name("a database name")
        cursor.end()
        return DescribeBody(database=database, style=style)
    if cursor.peek(1).is_name or cursor.peek(1).is_("extended"):
        refuse_object(cursor, "DESCRIBE")
    if cursor.take("extended"):
        style = "extended"
    elif cursor.take("formatted"):
        style = "formatted"
    table = cursor.table()
    partition = parse_partition(cursor, dynamic=False) if cursor.at("partition") else None
    column, written = (None, "") if cursor.at_end else _step(cursor)
    inside: list[str] = []
    while column and cursor.take("."):
        inside.append(_step(cursor)[1])
    cursor.end()
    return DescribeBody(
        table=table, style=style, partition=partition, column=column, column_text=written,
        inside=tuple(inside),
    )  # fmt: skip


def _step(cursor: Cursor) -> tuple[Name, str]:
    """Take a name, or what means all that is inside of an array or map, and how it is written."""
    token = cursor.peek()
    if token.kind is Kind.WORD and token.value in INSIDE_WORDS:
        cursor.next()
        return Name(token.value, token.start), token.value
    return cursor.name("a column name"), token.text.strip("`")


def _describe_history(cursor: Cursor) -> DescribeBody | ShowBody:
    """HISTORY t [LIMIT n]; in Hive HISTORY c is a column of a table with that name."""
    token = cursor.next()
    written = cursor.peek()
    table = cursor.table()
    limit = cursor.integer("how many to show") if cursor.take("limit") else None
    history = ShowBody(kind="history", table=table, limit=limit)
    cursor.end()
    if table.database is not None or limit is not None:
        return history
    return DescribeBody(
        table=TableRef(None, Name("history", token.start), token.start, token.end),
        column=Name(table.name.text, table.start),
        column_text=written.text.strip("`"),
        history=history,
    )


def parse_abort(cursor: Cursor) -> AbortTransactions | AbortCompactions:
    """ABORT TRANSACTIONS id …, ABORT COMPACTIONS id …."""
    cursor.expect("abort")
    if cursor.at("compactions"):
        return parse_abort_compactions(cursor)
    cursor.expect("transactions")
    ids = [cursor.integer("a transaction id")]
    while not cursor.at_end:
        ids.append(cursor.integer("a transaction id"))
    return AbortTransactions(txn_ids=tuple(ids))


def parse_kill(cursor: Cursor) -> KillQueries:
    """KILL QUERY 'id' …."""
    cursor.expect("kill")
    cursor.expect("query")
    ids: list[str] = []
    while not (ids and cursor.at_end):
        if cursor.peek().kind is not Kind.STRING:
            cursor.fail("expected the id of a statement, in quotes")
        # Not one text of several parts, as elsewhere.
        ids.append(cursor.next().value)
    return KillQueries(query_ids=tuple(ids))


_TIME_ZONE = re.compile(r"time\s+zone\s+(local|'[^']*'|\"[^\"]*\"|[\w/+:-]+)", re.IGNORECASE)


def parse_set(text: StatementText) -> SetSetting:
    """SET and RESET, whose values are taken as they are written."""
    words = text.text.split(None, 1)
    rest = _without_comment(words[1]) if len(words) > 1 else ""
    if words[0].lower() == "reset":
        return _reset(text, rest)
    if not rest:
        return SetSetting()
    if rest == "-v":
        return SetSetting(all=True)
    first = rest.split()[0].lower()
    if zone := _TIME_ZONE.fullmatch(rest):
        return SetSetting(key="hive.local.time.zone", value=zone[1].strip("'\""))
    if first in ("autocommit", "time"):
        raise at(NotSupported(f"SET {rest.partition(' ')[0].upper()}"), text, 0)
    key, equals, value = rest.partition("=")
    key = key.strip()
    if not key or any(char.isspace() for char in key):
        if is_secret(first):
            # What follows may be the secret.
            raise ParseError(f"expected SET key=value of {first}")
        offset = text.text.find(rest)
        raise at(ParseError(f"expected SET key=value, found {rest[:40]!r}"), text, offset)
    return SetSetting(key=key, value=value.strip() if equals else None)


def _without_comment(text: str) -> str:
    start = text.find(" --")
    return (text if start < 0 else text[:start]).strip()


def _reset(text: StatementText, rest: str) -> SetSetting:
    words = rest.split()
    to_default = words[:1] == ["-d"]
    if words == ["-d"]:
        raise at(ParseError("RESET -d needs a key"), text, 0)
    return SetSetting(keys=tuple(words[to_default:]), reset=True, to_default=to_default)


KINDS: dict[str, Literal["jar", "file", "archive"]] = {
    "jar": "jar", "jars": "jar", "file": "file", "files": "file",
    "archive": "archive", "archives": "archive",
}  # fmt: skip


def parse_files(text: StatementText) -> SessionFiles:
    """ADD, LIST and DELETE of JARs, files and archives."""
    action, kind, *paths = text.text.split()
    if action.lower() == "add" and not paths:
        raise at(ParseError(f"expected a path after {action.upper()} {kind.upper()}"), text, 0)
    verb = cast(Literal["add", "list", "delete"], action.lower())
    return SessionFiles(action=verb, kind=KINDS[kind.lower()], paths=tuple(paths))


def parse_dfs(text: StatementText) -> FileSystemShell:
    """DFS: quotes hold blanks together, as in a shell."""
    try:
        words = shlex.split(text.text)[1:]
    except ValueError as error:
        raise at(ParseError(f"DFS: {str(error).lower()}"), text, 0, len(text.text)) from error
    if not words:
        raise at(ParseError("expected a command after DFS, such as -ls"), text, 0)
    return FileSystemShell(arguments=tuple(words))


def parse_start(cursor: Cursor) -> StartTransaction:
    """START TRANSACTION [ISOLATION LEVEL SNAPSHOT] [READ ONLY | READ WRITE]."""
    cursor.expect("start", "transaction")
    read_only = False
    while not cursor.at_end:
        if cursor.take("isolation", "level"):
            if not cursor.take("snapshot"):
                cursor.refuse(f"ISOLATION LEVEL {cursor.peek().text.upper()} (only SNAPSHOT)")
        else:
            cursor.expect("read")
            read_only = cursor.take("only")
            if not read_only:
                cursor.expect("write")
        if not cursor.take(","):
            break
    cursor.end()
    return StartTransaction(read_only=read_only)


def parse_begin(cursor: Cursor) -> StartTransaction:
    """BEGIN [TRANSACTION | WORK]."""
    cursor.expect("begin")
    if not cursor.take("transaction"):
        cursor.take("work")
    cursor.end()
    return StartTransaction()


def parse_end(cursor: Cursor) -> EndTransaction:
    """COMMIT [WORK], ROLLBACK [WORK]."""
    commit = cursor.next().is_("commit")
    cursor.take("work")
    if cursor.at("to"):
        cursor.refuse("ROLLBACK TO a savepoint")
    cursor.end()
    return EndTransaction(commit=commit)


def parse_lock(cursor: Cursor) -> LockBody:
    """LOCK TABLE t [PARTITION (…)] mode, LOCK DATABASE d mode; UNLOCK of both."""
    locks = cursor.next().is_("lock")
    table = database = partition = None
    if cursor.take("database") or cursor.take("schema"):
        database = cursor.name("a database name")
    else:
        cursor.expect("table")
        table = cursor.table()
        if cursor.at("partition"):
            partition = parse_partition(cursor, dynamic=False)
    mode = _mode(cursor) if locks else None
    cursor.end()
    return LockBody(table=table, database=database, partition=partition, mode=mode)


def _mode(cursor: Cursor) -> Literal["SHARED", "EXCLUSIVE"]:
    if cursor.take("shared"):
        return "SHARED"
    if not cursor.take("exclusive"):
        cursor.fail("expected SHARED or EXCLUSIVE")
    return "EXCLUSIVE"
