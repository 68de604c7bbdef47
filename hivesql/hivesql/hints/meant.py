"""What somebody who made a typing mistake may have meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Protocol

from hivesql.dialect.function_names import listed_functions
from hivesql.dialect.tokens import RESERVED
from hivesql.hints.keywords import CLAUSES, KEYWORDS, OF_OTHERS, TYPES
from hivesql.script import StatementText
from hivesql_executor.metastore.api import Metastore
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import HiveSqlError, ParseError
from hivesql_planner.model.names import halves
from hivesql_planner.older_python import add_note

_NO_TABLE, _NO_DATABASE, _NO_FUNCTION = 10001, 10072, 10011
_WORD = re.compile(r"[\w`.]+|\S+")
_EXPECTED = re.compile(r"expected (?P<what>.+?)(?: \((?P<listed>.+)\))?, found '")
_NAME = re.compile(r"expected an? (?:\w+ )*(?:name|item), found '")
_KEYWORD = re.compile(r"[A-Z_]{2,}")
_MOST = 1_000
"""So many names are looked at: to compare one takes 20 µs."""
_CLOSE = 0.7
_CLOSE_OF_FEW = 0.6


class _Session(Protocol):
    """The part of a session that knows names."""

    runtime: Runtime
    database: str


def add_hint(error: HiveSqlError, statement: StatementText, session: _Session) -> None:
    """Note what may have been meant at the error's place in a statement, if anything comes near."""
    if error.meant is not None or error.text is not None or error.file != statement.file:
        return
    before, word = _words_at(statement, error.line, error.column)
    if word is None:
        return
    if isinstance(error, ParseError) and _NAME.search(error.message) and word.lower() in RESERVED:
        add_note(error, f"{word} is a keyword: as a name it is written `{word}`")
        return
    error.meant = _meant(error, before, word, session)
    if error.meant is not None:
        add_note(error, f"did you mean {error.meant}?")


def add_hint_for_name(error: HiveSqlError, name: str, session: _Session) -> None:
    """Note which table may have been meant by a name that is in no statement."""
    if error.meant is None and error.line is None and error.code in (_NO_TABLE, _NO_DATABASE):
        error.meant = _meant(error, None, name, session)
        if error.meant is not None:
            add_note(error, f"did you mean {error.meant}?")


def nearest(word: str, candidates: Iterable[str], *, cutoff: float = _CLOSE) -> str | None:
    """Return the other word that looks most like it, if any does.

    Of very many words it is one that begins, or ends, as the half of the word does.
    """
    word = word.lower()
    names = {name.lower(): name for name in candidates}
    names.pop(word, None)
    others: Iterable[str] = names
    if len(names) > _MOST:
        begin, end = halves(word)
        others = (name for name in names if name.startswith(begin) or name.endswith(end))
    matches = get_close_matches(word, islice(others, _MOST), n=1, cutoff=cutoff)
    return names[matches[0]] if matches else None


def _meant(error: HiveSqlError, before: str | None, word: str, session: _Session) -> str | None:
    if isinstance(error, ParseError):
        return _keyword(error.message, before, word)
    plain = word.replace("`", "")
    if error.choices:
        return _choice(plain, error.choices)
    if error.code == _NO_FUNCTION:
        return nearest(plain, listed_functions())
    try:
        return _name(error.code, plain.lower(), session)
    except HiveSqlError:
        return None


def _keyword(message: str, before: str | None, word: str) -> str | None:
    """Return the keyword that was meant by this word, or by the one before it."""
    if other := OF_OTHERS.get(word.upper()):
        return other
    if meant := nearest(word, _candidates(message)):
        return meant.upper()
    if before is None or before.upper() in (*KEYWORDS, *TYPES):
        return None
    # What cannot be a clause is taken for a name, and what follows it is where reading ends.
    return OF_OTHERS.get(before.upper()) or nearest(before, CLAUSES)


def _candidates(message: str) -> Iterable[str]:
    """Return the words that a parser's message says it expected."""
    expected = _EXPECTED.match(message)
    if expected is None:
        return ()
    if expected["listed"]:
        return expected["listed"].split(", ")
    what = expected["what"]
    if what == "a type":
        return TYPES
    if keywords := _KEYWORD.findall(what):
        return keywords
    return KEYWORDS if what.startswith(("a statement", "what ")) else ()


def _choice(word: str, choices: Iterable[str]) -> str | None:
    """Return the name of those that there are, with what stands before or behind it."""
    first, dot, last = word.rpartition(".")
    if not dot:
        return nearest(last, choices, cutoff=_CLOSE_OF_FEW)
    if meant := nearest(last, choices, cutoff=_CLOSE_OF_FEW):
        return f"{first}.{meant}"
    meant = nearest(first, choices, cutoff=_CLOSE_OF_FEW)
    return f"{meant}.{last}" if meant else None


def _name(code: int | None, word: str, session: _Session) -> str | None:
    """Return a database or a table of the metastore."""
    store = session.runtime.metastore
    database, dot, name = word.rpartition(".")
    databases = store.databases() if code == _NO_DATABASE or database else ()
    if code == _NO_DATABASE or (code == _NO_TABLE and database and database not in databases):
        return nearest(database or name, databases)
    if code == _NO_TABLE:
        suggestion = nearest(name, _tables(database or session.database, name, store))
        return f"{database}{dot}{suggestion}" if suggestion else None
    return None


def _tables(database: str, name: str, store: Metastore) -> Iterable[str]:
    """Return a database's tables, or some of many."""
    tables = store.some_tables(database, _MOST + 1)
    if len(tables) > _MOST:
        tables = store.some_tables(database, _MOST, name)
    return (table.name for table in tables)


def _words_at(
    statement: StatementText, line: int | None, column: int | None
) -> tuple[str | None, str | None]:
    """Return the word before a place of the script, and the one that begins there."""
    lines = (statement.source or statement.text).splitlines()
    number = (line or 0) - statement.line
    if line is None or not 0 <= number < len(lines):
        return None, None
    start = (column or 1) - 1 - (statement.column - 1 if number == 0 else 0)
    match = _WORD.match(lines[number], max(start, 0))
    earlier = _WORD.findall(" ".join([*lines[:number], lines[number][: max(start, 0)]]))
    return (earlier[-1] if earlier else None), (match[0] if match else None)
