"""Statements with very many rows."""

from __future__ import annotations

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.plain_rows import plain_tail
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.plan import Insert
from hivesql_planner.planning import plan
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import InsertRows
from memory_catalog import warehouse


def query(sql: str) -> str:
    made = bind(parse(StatementText(sql)), warehouse())
    assert isinstance(made, InsertRows)
    return made.targets[0].query.sql


ROWS = [
    "(1, 'a', 1.5), (2, 'b', 2.5), (-3, NULL, +0.25)",
    "(1, 'a', 1.50), (2, 'b', 2.00), (3, '1.00', 007.10)\n,\n(4,'',0.0)",
    "(1, 'it\\'s; (2', 1), (2, \"a\\\\\", 2), (3, 'x\n-- y', 3)  ",
    "(TRUE, DATE '2020-01-01', null),(false,timestamp'2020-01-01 00:00:00', NULL)",
    "(1, 'a', 99999999999999999999), (2, 'b', 1)",
    "(1, 'a', 1L), (2, 'b', 2BD), (3, 'c', 1e3), (4, 'd', 1.0D)",
    "(1, 'a' 'b', 1), (2, 'it''s', 2)",
    "(1, 'a', DEFAULT), (2, 'b', 1)",
    "(1, 'a', 1), (2, 'b', DEFAULT)",
    "(1, upper('a'), 1 + 1), (2, 'b', 2)",
]


@pytest.mark.parametrize("rows", ROWS)
def test_rows_that_are_not_parsed_are_sent_as_those_that_are(rows: str) -> None:
    parsed = rows.replace("),", "),/**/", 1)
    for head in ("INSERT INTO t VALUES", "INSERT INTO t (amount, name, id) VALUES "):
        assert query(head + parsed).replace("/**/", "") == query(head + rows)


@pytest.mark.parametrize(
    ("values", "tail"),
    [
        ("(1), (2), (3)", ", (2), (3)"),
        ("(1), (2); ", None),
        ("(1)", None),
        ("(1), (2, 3)", None),
        ("(1), (x)", None),
        ("(1), (2) x", None),
        ("(1), (.5)", None),
        ("(1), (2.)", None),
        ("('a'), ('b' 'c')", None),
        ("('a'), ('b", None),
        ("(1), (nulls)", None),
    ],
)
def test_what_is_a_list_of_constants(values: str, tail: str | None) -> None:
    found = plain_tail(values, 0)
    assert (found and values[slice(*found)]) == tail


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ("(1, 'a', 1), (2, 'b')", (1, 15)),
        ("(1, 'a', 1),\n(2, nosuch, 2)", (2, 5)),
        ("(1, 'a', 1), (2, 'b', 2", None),
        ("(1, 'a'), (2, 'b')", (1, 15)),
    ],
)
def test_errors_among_many_rows(rows: str, place: tuple[int, int] | None) -> None:
    with pytest.raises(HiveSqlError) as caught:
        query(f"INSERT INTO t VALUES {rows}")
    assert place is None or (caught.value.line, caught.value.column) == place


@pytest.mark.slow
def test_a_hundred_thousand_rows_of_values() -> None:
    values = ", ".join(f"({i}, 'name {i}', {i}.50)" for i in range(100_000))
    made = plan(bind(parse(StatementText(f"INSERT INTO t VALUES {values}")), warehouse()),
                Settings())  # fmt: skip
    assert isinstance(made.body, Insert)
    (branch,) = made.body.branches
    assert branch.query.sql.count("'name ") == 100_000
    assert branch.query.sql.endswith("(99999, 'name 99999', 99999.5)")
