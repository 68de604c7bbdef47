"""Statements with very many rows."""

from __future__ import annotations

import pytest

from hivesql.binder import bind
from hivesql.parser import parse
from hivesql.script import StatementText
from hivesql_planner.plan import Insert
from hivesql_planner.planning import plan
from hivesql_planner.settings import Settings
from memory_catalog import warehouse


@pytest.mark.slow
def test_a_hundred_thousand_rows_of_values() -> None:
    values = ", ".join(f"({i}, 'name {i}', {i}.50)" for i in range(100_000))
    made = plan(bind(parse(StatementText(f"INSERT INTO t VALUES {values}")), warehouse()),
                Settings())  # fmt: skip
    assert isinstance(made.body, Insert)
    (branch,) = made.body.branches
    assert branch.query.sql.count("'name ") == 100_000
    assert branch.query.sql.endswith("(99999, 'name 99999', 99999.5)")
