"""Our scanner's tokens, handed to sqlglot's parser, are those that sqlglot's scanner would give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlglot.dialects.hive import Hive
from sqlglot.tokenizer_core import Token, TokenType

from hivesql.dialect.edits import Edit
from hivesql.dialect.sqlglot_tokens import NAMES_IN_HIVE, NOTHING_IN_HIVE, sqlglot_tokens
from hivesql.dialect.tokens import Kind, tokenize
from hivesql.script import StatementText
from hivesql_planner.errors import ParseError

TEXT = (Path(__file__).parent / "corpus.sql").read_text(encoding="utf-8")
CORPUS = re.split(r"^--@ .*\n", TEXT, flags=re.MULTILINE)[1:]
PIECES = [
    "SELECT 1, 1L, 2s, 3Y, 1.5, .5, 1., 1e5, 1.5E-3, 2.5bd, 2.5BD, 1.5f, 1D, .5d",
    "SELECT t.2b, 5x, 1e5x FROM 2b.`3c`",
    r"SELECT 'it''s', 'it\'s', "
    r'"a\tb\\", '
    r"'\u00e9\101\0\%\_\q', '\uD83D\uDE00\uD83Dx'",
    "SELECT n'x', N\"y\", n 'x', n",
    "SELECT `a b`, `a``b`, `A`",
    "SELECT a<=>b, a<>b, a!=b, a==b, a||b, a&&b, a->b, a=>b, a~b, a^b, a|b, a::b, a ~~ b",
    "SELECT /*+ MAPJOIN(b), STREAMTABLE(a) */ x /* y */ FROM a -- z\n GROUP\tBY x ORDER  BY y",
    "SELECT a GROUP /* apart */ BY b CLUSTER BY c DISTRIBUTE\nBY d SORT BY e GROUPING SETS (f)",
    "SELECT user-defined, double precision, cast(a AS character varying(3)), group1 by2",
    "SELECT x[0].y, (1), -1, +1, !a, a%b, a/b FROM é WHERE ß = 1",
]


class _OfSqlglot(Hive):
    class Tokenizer(Hive.Tokenizer):
        COMMANDS = frozenset()
        KEYWORDS = {  # noqa: RUF012 - as sqlglot declares it
            key: kind
            for key, kind in Hive.Tokenizer.KEYWORDS.items()
            if key.lower() not in NAMES_IN_HIVE and key not in NOTHING_IN_HIVE
        }


def test_the_tokens_are_those_of_sqlglot() -> None:
    compared = 0
    for sql in [*PIECES, *CORPUS]:
        try:
            tokens = tokenize(StatementText(sql))
        except ParseError:
            continue
        if any(
            token.kind in (Kind.ROWS, Kind.MEMBERS) for token in tokens
        ):  # no parser looks into them
            continue
        ours, theirs = sqlglot_tokens(sql, tokens), _OfSqlglot().tokenize(sql)
        assert [parts(one) for one in ours] == [parts(one) for one in theirs]
        compared += 1
    assert compared > 300


def parts(token: Token) -> tuple[TokenType, str, int, int]:
    text = token.text.strip() if token.token_type is TokenType.HINT else token.text
    return token.token_type, text, token.start, token.end


def test_an_edit_is_read_in_place_of_what_it_covers() -> None:
    sql = "SELECT default, 1 DAY, `b`"
    edits = (Edit(7, 14, "NULL"), Edit(16, 21, "i(  )"))
    read = sqlglot_tokens(sql, tokenize(StatementText(sql)), edits)
    assert [(one.text, one.start) for one in read] == [
        ("SELECT", 0), ("NULL", 7), (",", 14), ("i", 16), ("(", 17), (")", 20), (",", 21),
        ("b", 23),
    ]  # fmt: skip


def test_a_comment_that_is_never_closed_is_an_error_where_it_begins() -> None:
    with pytest.raises(ParseError, match=r"the comment /\* is never closed") as error:
        tokenize(StatementText("SELECT 1\n  /* x"))
    assert (error.value.line, error.value.column) == (2, 3)
