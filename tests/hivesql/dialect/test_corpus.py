"""Every statement of the corpus: understood as what, or refused by which name."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.nodes.alter import RefusedBody
from hivesql.dialect.statements.statement import parse
from hivesql.dialect.tokens import tokenize
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError, NotSupported, ParseError
from memory_catalog import warehouse

HERE = Path(__file__).parent
_ENTRY = re.compile(r"^--@ (\S+) [^\n]*\n(.*?)(?=^--@ |\Z)", re.DOTALL | re.MULTILINE)


def statements(file: str) -> list[str]:
    text = (HERE / file).read_text(encoding="utf-8")
    return [sql.rstrip("\n") for _, sql in _ENTRY.findall(text)]


def outcome(sql: str) -> str:
    """The kind of statement, the refused feature, or ``no statement``; always placed."""
    try:
        body = parse(StatementText(sql)).body
        if isinstance(body, RefusedBody):
            raise body.error
        return type(body).__name__
    except NotSupported as error:
        assert error.line is not None
        return f"refused: {error.feature}"
    except ParseError as error:
        assert error.line is not None
        assert error.message
        return "no statement"


EXPECTED = (HERE / "corpus_outcomes.txt").read_text(encoding="utf-8").splitlines()
CORPUS = statements("corpus.sql")


def test_the_corpus_is_whole() -> None:
    assert len(CORPUS) == len(EXPECTED) == 417


@pytest.mark.parametrize(
    ("sql", "expected"), list(zip(CORPUS, EXPECTED, strict=True)), ids=range(len(CORPUS))
)
def test_every_statement_is_understood_or_refused_by_name(sql: str, expected: str) -> None:
    """``corpus_outcomes.txt`` has one line for each statement of the corpus, in its order."""
    assert outcome(sql) == expected


def cuts(sql: str) -> Iterator[str]:
    """Yield the statement up to each of its tokens, as it is and with a field of what is last."""
    try:
        tokens = tokenize(StatementText(sql))
    except ParseError:
        return
    for token in tokens[:-1]:
        yield sql[: token.end]
        yield f"{sql[: token.end]}.x"


def test_what_is_cut_after_any_token_is_understood_or_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Every ninth of them: all take ten seconds."""
    caplog.set_level(logging.ERROR, logger="sqlglot")
    catalog, wrong = warehouse(), []
    every = [cut for sql in CORPUS for cut in cuts(sql)]
    assert len(every) > 10_000
    for sql in every[::9]:
        try:
            bind(parse(StatementText(sql)), catalog)
        except HiveSqlError:
            continue
        except Exception as error:  # noqa: BLE001 - it is what must not come
            wrong.append((sql, repr(error)))
    assert wrong == []
