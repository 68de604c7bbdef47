"""Statements with a comma, a bracket or a keyword too few or too many: an error where Hive has one.

Hive's own parser is asked. sqlglot takes more than Hive does: what it passes over is a typing error
that somebody else finds later, or nobody.
"""

from __future__ import annotations

import base64
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText, split
from hivesql_planner.errors import HiveSqlError, ParseError
from interop.hive import PROJECT, build

pytestmark = pytest.mark.hive

TESTS = Path(__file__).parents[2]
SOURCES = ("hivesql/dialect/corpus.sql", "hive_results/queries.sql", "hive_results/expressions.sql")
FIRST_WORDS = ("select", "insert", "update", "delete", "merge", "with", "from")
LONGEST = 700
COUNT = 3_000
SEED = int(os.environ.get("HIVESQL_SYNTAX_SEED", "1"))
_PIECE = re.compile(
    r"\s+|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|\w+|<=>|<>|!=|==|>=|<=|\|\||.", re.DOTALL
)
_CHANGED = frozenset("( ) , then between and by as is over from when not".split())  # noqa: SIM905
# Taken here, not by Hive, on purpose: reserved words as names, and names of columns without AS.
_TAKEN = re.compile(r"truncate\(|\) *t ?\(")


def changed(seed: int) -> list[str]:
    """Return statements of Hive's, each with one piece doubled or left out."""
    chance = random.Random(seed)
    pieces = [
        _PIECE.findall(text.text.strip())
        for source in SOURCES
        for text in split((TESTS / source).read_text("utf-8"), source, {}, reads_files=False)
        if len(text.text) <= LONGEST and text.text.split()[0].lower() in FIRST_WORDS
    ]
    statements = set[str]()
    while len(statements) < COUNT:
        row = list(chance.choice(pieces))
        places = [i for i, piece in enumerate(row) if piece.lower() in _CHANGED]
        if places:
            i = chance.choice(places)
            row[i] = chance.choice(("", f"{row[i]} {row[i]}"))
            statements.add("".join(row).strip())
    return sorted(statements)


def asked_of_hive(statements: list[str]) -> list[str]:
    """Return what Hive's parser says of each."""
    build()
    answers = subprocess.run(
        ["java", "--add-opens=java.base/java.net=ALL-UNNAMED", "-cp", f"{PROJECT}/target/lib/*",
         str(Path(__file__).with_name("HiveParses.java"))],
        input="\n".join(base64.b64encode(sql.encode()).decode() for sql in statements),
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    return [line.removeprefix("> ") for line in answers if line.startswith("> ")]


def outcome(sql: str) -> str:
    """Say whether our parser takes a statement, and whether its syntax is what is wrong."""
    try:
        parse(StatementText(sql))
    except ParseError as error:
        assert error.line is not None, sql
        return "syntax"
    except HiveSqlError:
        return "refused"
    return "taken"


def test_what_hives_parser_refuses_is_a_syntax_error() -> None:
    statements = changed(SEED)
    answers = asked_of_hive(statements)
    assert len(answers) == len(statements)
    ours = [(sql, outcome(sql), answer) for sql, answer in zip(statements, answers, strict=True)]
    passed_over = [row for row in ours if row[1] == "taken" and row[2] != "OK"]
    assert [row for row in passed_over if not _TAKEN.search(row[0])] == []
    # Behind TABLE (VALUES …) Hive takes a bracket too many.
    balanced = [row for row in ours if row[0].count("(") == row[0].count(")")]
    assert [row for row in balanced if row[1] == "syntax" and row[2] == "OK"] == []
    assert len({answer for _, _, answer in ours}) > COUNT / 4
