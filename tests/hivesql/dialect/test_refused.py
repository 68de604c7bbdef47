"""Statements that real Hive 4.1 refuses, and a lenient parser would let through."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError, NotSupported, ParseError
from memory_catalog import warehouse

REFUSED = [
    tuple(line.split("\t", 1))
    for line in (Path(__file__).parent / "refused.txt").read_text(encoding="utf-8").splitlines()
]


def outcome(sql: str) -> str:
    """How it is refused: ``parse``, ``refused`` by name, Hive's code, or ``semantic`` without."""
    try:
        bind(parse(StatementText(sql)), warehouse())
    except ParseError as error:
        assert error.line is not None
        return "parse"
    except NotSupported:
        return "refused"
    except HiveSqlError as error:
        assert error.line is not None
        return str(error.code or "semantic")
    return "let through"


def test_none_is_let_through() -> None:
    """``refused.txt`` has how, then the statement."""
    found = [(outcome(sql), sql) for _, sql in REFUSED]
    assert found == REFUSED


@pytest.mark.parametrize("word", ["FOO", "t u", "1 + 2", "start", "dfs2 -ls", "selct 1"])
def test_bare_words_are_no_statements(word: str) -> None:
    with pytest.raises(ParseError):
        parse(StatementText(word))
