"""What an INSERT of a UNION ALL writes one after the other."""

from __future__ import annotations

import pytest
from sqlglot import exp

from hivesql.binder.insert import union_branches
from hivesql.binding import Binding
from hivesql.dialect.nodes.parts import slice_of
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.settings.settings import Settings
from memory_catalog import warehouse


@pytest.mark.parametrize(
    ("query", "branches"),
    [
        ("SELECT a FROM t UNION ALL SELECT f(2)", 2),
        ("SELECT a FROM t UNION ALL SELECT f(2) UNION ALL SELECT 3", 3),
        ("SELECT a FROM t UNION SELECT f(2)", 0),
        ("SELECT a FROM t UNION ALL SELECT f(2) UNION SELECT 3", 0),
        ("SELECT a FROM t UNION ALL SELECT f(2) LIMIT 1", 0),
        ("SELECT 1", 0),
        # As in real Hive, constants are written together.
        ("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT NULL", 0),
        ("SELECT 1 UNION ALL SELECT 2L UNION ALL SELECT a FROM t UNION ALL SELECT -3", 2),
        ("SELECT 1 UNION ALL SELECT a FROM t UNION ALL SELECT DATE '2020-01-01'", 2),
        ("SELECT * FROM (SELECT 1 UNION ALL SELECT 2) q", 0),
    ],
)
def test_branches_of_a_top_level_union_all(query: str, branches: int) -> None:
    text = StatementText(f"INSERT INTO t {query}")
    insert = parse(text).body
    assert isinstance(insert, exp.Insert)
    binding = Binding(warehouse(), "default", Settings(), text)
    assert len(union_branches(slice_of(insert.expression), binding)) == branches
