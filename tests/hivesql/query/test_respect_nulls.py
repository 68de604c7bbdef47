"""RESPECT and IGNORE NULLS stand where Spark lets them be said."""

from __future__ import annotations

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.statements.bound import SelectRows
from memory_catalog import warehouse


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("first_value(id RESPECT NULLS)", "first_value(id)"),
        ("last_value(id  respect\tnulls )", "last_value(id )"),
        ("first_value(id) RESPECT NULLS", "first_value(id) RESPECT NULLS"),
        ("first_value(id IGNORE NULLS)", "first_value(id) IGNORE NULLS"),
        (
            "last_value(coalesce(id, 1) ignore nulls)",
            "last_value(coalesce(id, 1)) IGNORE NULLS",
        ),
        ("last_value(id) IGNORE NULLS", "last_value(id) IGNORE NULLS"),
        (
            "last_value(IF(id > 1, id, NULL) IGNORE NULLS)",
            "last_value(IF(id > 1, id, NULL)) IGNORE NULLS",
        ),
        (
            "last_value(CASE WHEN id > 1 THEN id END IGNORE NULLS)",
            "last_value(CASE WHEN id > 1 THEN id END) IGNORE NULLS",
        ),
        (
            "first_value(CAST(id AS STRING) IGNORE NULLS)",
            "first_value(CAST(id AS STRING)) IGNORE NULLS",
        ),
        (
            "first_value(id + 1 IGNORE NULLS)",
            "first_value(id + 1) IGNORE NULLS",
        ),
    ],
)
def test_where_it_may_stand(call: str, expected: str) -> None:
    statement = bind(parse(StatementText(f"SELECT {call} OVER (ORDER BY id) FROM t")), warehouse())
    assert isinstance(statement, SelectRows)
    assert f"SELECT {expected} OVER (" in statement.query.sql
