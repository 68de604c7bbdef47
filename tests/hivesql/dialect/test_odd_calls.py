"""Calls of every word that Hive or sqlglot knows: read or refused, never a raw error."""

from __future__ import annotations

from contextlib import suppress

import pytest
import sqlglot

from hivesql.dialect.statements.statement import parse
from hivesql.script import split
from hivesql.server.keywords import KEYWORDS
from hivesql_planner.errors import HiveSqlError

WORDS = sorted(
    {word.lower() for word in KEYWORDS}
    | {name.lower() for name in sqlglot.Parser.FUNCTIONS}
    | {name.lower() for name in sqlglot.Parser.FUNCTION_PARSERS}
)
ARGUMENTS = "", "*", "a, b, c", "DISTINCT a", "a FROM b", "SELECT 1", "INTERVAL 1 DAY"


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_no_call_ends_in_a_raw_error(arguments: str) -> None:
    for word in WORDS:
        for call in (f"{word}({arguments})", f"CAST({word}({arguments}) AS {word})", word):
            with suppress(HiveSqlError):
                for statement in split(f"SELECT {call} FROM t", None, {}):
                    parse(statement)
