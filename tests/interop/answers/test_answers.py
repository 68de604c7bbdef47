"""Hive still answers what is kept under ``tests/hive_results``: a part of it, another each time.

Its release is fixed, and ``interop/record.py`` writes down all that it is asked, so what is kept
can only be wrong where somebody has changed the files by hand.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hive_results import answers, blocks, expressions, statements
from interop import hive
from interop.record import ask_expressions, ask_queries

pytestmark = [pytest.mark.hive, pytest.mark.slow, pytest.mark.timeout(1800)]

PART = 8
"""One in so many is asked again."""


def test_each_statement_has_an_answer() -> None:
    assert [one.expression for one in answers()] == expressions()
    asked = [*statements("tables.sql"), *statements("queries.sql")]
    # Statements are on one line where Hive has printed them.
    assert [one.statement for one in blocks()] == [" ".join(text.split()) for text in asked]


def test_expressions(tmp_path: Path) -> None:
    first = random.randrange(PART)
    kept = answers()[first::PART]
    assert ask_expressions(tmp_path, [one.expression for one in kept]) == kept


def test_queries(tmp_path: Path) -> None:
    first = random.randrange(PART)
    tables = len(statements("tables.sql"))
    kept = [*blocks()[:tables], *blocks()[tables + first :: PART]]
    asked = statements("queries.sql")[first::PART]
    again = hive.parse_output(ask_queries(tmp_path, asked))
    assert [(one.statement, one.columns, one.lines) for one in again] == [
        (one.statement, one.columns, one.lines) for one in kept
    ]
