"""What somebody who made a typing mistake may have meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from hivesql import HiveSqlError, ParseError, Session
from hivesql.hints.keywords import KEYWORDS

_NO_TABLE, _NO_DATABASE = 10001, 10072
_WORD = re.compile(r"[\w`.]+")


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the word that looks most like it, if any does."""
    names = {name.lower(): name for name in candidates}
    matches = get_close_matches(word.lower(), names, n=1, cutoff=0.7)
    return names[matches[0]] if matches and matches[0] != word.lower() else None


def hint(error: HiveSqlError, text: str, session: Session) -> str | None:
    """Return a better word for the one at the error's place in ``text``."""
    word = _word_at(text, error.line, error.column)
    if word is None:
        return None
    if isinstance(error, ParseError):
        return nearest(word, KEYWORDS)
    store = session.runtime.metastore
    database, dot, name = word.replace("`", "").lower().rpartition(".")
    try:
        if error.code == _NO_DATABASE:
            return nearest(database or name, store.databases())
        if error.code == _NO_TABLE:
            tables = (table.name for table in store.tables(database or session.database))
            suggestion = nearest(name, tables)
            return f"{database}{dot}{suggestion}" if suggestion else None
    except HiveSqlError:
        return None
    return None


def _word_at(text: str, line: int | None, column: int | None) -> str | None:
    lines = text.splitlines()
    if line is None or not 0 < line <= len(lines):
        return None
    match = _WORD.match(lines[line - 1], (column or 1) - 1)
    return match[0] if match else None
