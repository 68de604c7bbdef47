"""What may come next at the cursor: tables, columns of the aliases in scope, settings, words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from hivesql.hints.keywords import FUNCTIONS, KEYWORDS
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.settings.settings import KEYS

Kind = Literal["keyword", "function", "table", "view", "column", "database", "alias", "setting"]

# Comments and texts say nothing about names; the last ones may still be open.
_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:\\.|[^'\\])*'?|\"(?:\\.|[^\"\\])*\"?"
    r"|(?P<name>`[^`]*`?|[A-Za-z_]\w*)|(?P<mark>[^\s\w])|\w+",
    re.DOTALL,
)
_WORD = re.compile(r"[\w`.:]*\Z")
_SETTING = re.compile(r"\s*(?:re)?set\s+(?:-v\s+)?(?:hiveconf:)?([\w.]*)\Z", re.IGNORECASE)
_VALUE = re.compile(r"\s*set\s+(?:hiveconf:)?([\w.]+)\s*=\s*([\w.]*)\Z", re.IGNORECASE)
_LISTS = re.compile(
    r"\s*show\s+(?:tables|views|materialized\s+views)\s+(?:in|from)\s", re.IGNORECASE
)
_BEFORE_TABLE = frozenset(
    {"FROM", "JOIN", "INTO", "UPDATE", "TABLE", "USING", "DESCRIBE", "DESC", "FORMATTED",
     "EXTENDED", "PARTITIONS", "TBLPROPERTIES", "VIEW", "COLUMNS"}
)  # fmt: skip
_ONLY_TABLE = frozenset({"FROM", "JOIN", "UPDATE", "USING"})
_BEFORE_DATABASE = frozenset({"USE", "DATABASE", "SCHEMA"})
_NO_ALIAS = frozenset(KEYWORDS)
_MOST_TABLES = 2_000
"""More would make the next key wait."""


class Names(Protocol):
    """The part of a metastore that completion looks at."""

    def databases(self) -> tuple[str, ...]: ...
    def some_tables(self, database: str, most: int) -> tuple[TableName, ...]: ...
    def table(self, name: TableName) -> Table: ...


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A word to put where the unfinished word of ``length`` characters stands."""

    text: str
    kind: Kind
    length: int
    about: str = ""


def suggest(text: str, cursor: int, names: Names, *, database: str) -> Iterator[Suggestion]:
    """Yield what may stand at ``cursor`` (an offset into ``text``), best first."""
    start = text.rfind(";", 0, cursor) + 1
    end = text.find(";", cursor)
    after, before = text[cursor : None if end < 0 else end], text[start:cursor]
    settings = _of_settings(before)
    if settings is not None:
        yield from settings
        return
    word_before = _WORD.search(before)
    word = word_before[0] if word_before else ""
    tokens = _tokens(before[: len(before) - len(word)])
    if tokens is None:
        return
    qualifier, dot, prefix = word.rpartition(".")
    # What is being typed is no alias yet.
    scope = _scope([*tokens, *(_tokens(f"?{after}") or [])], database)
    if dot:
        yield from _qualified(qualifier.replace("`", ""), prefix, scope, names)
        return
    last = next((token.upper() for token in reversed(tokens) if token != ","), "")
    if _LISTS.match(before):
        last = "DATABASE"
    for suggestion in _unqualified(last, scope, names, database, started=bool(tokens)):
        if suggestion.text.lower().startswith(prefix.strip("`").lower()):
            text = suggestion.text
            if suggestion.kind == "keyword" and prefix and prefix[0].islower():
                text = text.lower()
            yield Suggestion(text, suggestion.kind, len(prefix), suggestion.about)


def _of_settings(before: str) -> Iterator[Suggestion] | None:
    """Return names behind SET and RESET, or values behind a name; None for another statement."""
    if match := _VALUE.match(before):
        return _values(match[1], match[2])
    match = _SETTING.match(before)
    if match is None:
        return None
    prefix = match[1].lower()
    return (
        Suggestion(key, "setting", len(prefix), KEYS[key].meaning)
        for key in sorted(KEYS)
        if key.startswith(prefix)
    )


def _values(key: str, prefix: str) -> Iterator[Suggestion]:
    """Yield what a setting may be: a flag is true or false, of another its default is known."""
    setting = KEYS.get(key)
    if setting is None:
        return
    for text in ("true", "false") if setting.kind == "bool" else (setting.default,):
        if text and text.startswith(prefix.lower()):
            about = "the default" if text == setting.default else ""
            yield Suggestion(text, "setting", len(prefix), about)


def _tokens(text: str) -> list[str] | None:
    """Names and marks; None when the text ends inside a quoted text or a comment."""
    tokens, end = [], 0
    for match in _TOKEN.finditer(text):
        token, end = match[0], match.end()
        if match["name"] or match["mark"]:
            tokens.append(token)
        is_open = end == len(text) and (
            token.startswith("--")
            or (token.startswith("/*") and not token.endswith("*/"))
            or (token[0] in "'\"" and (len(token) == 1 or token[-1] != token[0]))
        )
        if is_open:
            return None
    return tokens


def _scope(tokens: list[str], database: str) -> dict[str, TableName]:
    """Tables of the statement by alias and by name."""
    scope: dict[str, TableName] = {}
    expects, i = False, 0
    while i < len(tokens):
        token = tokens[i]
        if token.upper() in ("FROM", "JOIN", "INTO", "UPDATE", "USING", "TABLE"):
            expects = True
        elif expects and token == ",":
            pass
        elif expects and _is_name(token):
            name, i = _table_at(tokens, i, database)
            alias, i = _alias_at(tokens, i)
            scope[alias or name.name] = name
            expects = tokens[i : i + 1] == [","]
            continue
        else:
            expects = False
        i += 1
    return scope


def _is_name(token: str) -> bool:
    return token[0] == "`" or (token[0].isalpha() and token.upper() not in _NO_ALIAS)


def _table_at(tokens: list[str], i: int, database: str) -> tuple[TableName, int]:
    name = tokens[i].strip("`").lower()
    if tokens[i + 1 : i + 2] == ["."] and i + 2 < len(tokens):
        return TableName(name, tokens[i + 2].strip("`").lower()), i + 3
    return TableName(database, name), i + 1


def _alias_at(tokens: list[str], i: int) -> tuple[str | None, int]:
    if i < len(tokens) and tokens[i].upper() == "AS":
        i += 1
    if i < len(tokens) and _is_name(tokens[i]):
        return tokens[i].strip("`").lower(), i + 1
    return None, i


def _qualified(
    qualifier: str, prefix: str, scope: Mapping[str, TableName], names: Names
) -> Iterator[Suggestion]:
    """After ``x.``: columns of an alias or a table, or tables of a database."""
    table = scope.get(qualifier.lower())
    if table is None and "." in qualifier:
        table = TableName(*qualifier.lower().split(".", 1))
    prefix = prefix.strip("`").lower()
    columns = list(_columns(table, names)) if table else []
    for suggestion in columns or _tables(qualifier.lower(), names):
        if suggestion.text.startswith(prefix):
            yield Suggestion(suggestion.text, suggestion.kind, len(prefix), suggestion.about)


def _unqualified(
    last: str, scope: Mapping[str, TableName], names: Names, database: str, *, started: bool
) -> Iterator[Suggestion]:
    if last in _BEFORE_DATABASE:
        yield from (Suggestion(name, "database", 0) for name in names.databases())
        return
    if last in _BEFORE_TABLE:
        yield from _tables(database, names)
        yield from (Suggestion(name, "database", 0) for name in names.databases())
        if last in _ONLY_TABLE:
            return
    elif started:
        for alias, name in scope.items():
            yield from _columns(name, names)
            yield Suggestion(alias, "alias", 0, str(name))
    yield from (Suggestion(word, "keyword", 0) for word in KEYWORDS)
    if started and last not in _BEFORE_TABLE:
        yield from (Suggestion(name, "function", 0) for name in FUNCTIONS)


def _tables(database: str, names: Names) -> Iterator[Suggestion]:
    try:
        for name in names.some_tables(database, _MOST_TABLES):
            yield Suggestion(name.name, "table", 0, database)
    except HiveSqlError:
        return


def _columns(name: TableName, names: Names) -> Iterator[Suggestion]:
    try:
        table = names.table(name)
    except HiveSqlError:
        return
    for column in table.all_columns:
        yield Suggestion(column.name, "column", 0, str(column.type))
    if table.is_full_acid:
        yield Suggestion("row__id", "column", 0, "struct<writeid:bigint,bucketid:int,rowid:bigint>")
