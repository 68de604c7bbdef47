"""Long statements do without Spark what short ones do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql_planner.plan import Change, Insert, Select

TABLE = """CREATE TABLE t (id INT, name STRING, n INT) STORED AS ORC
    TBLPROPERTIES ('transactional'='true')"""
# Rows of 0 to 19; the last one has no number.
ROWS = [(i, f"x{i}", None if i == 19 else i * i) for i in range(20)]
Row = tuple[int, str, int | None]


def row(word: str, part: Callable[[int], str], n: int) -> str:
    return f" {word} ".join(map(part, range(n)))


# Conditions, and which rows they hold for.
CONDITIONS: dict[str, tuple[Callable[[int], str], Callable[[Row], bool]]] = {
    "IN": (
        lambda n: f"id IN ({', '.join(str(3 * i) for i in range(n))})",
        lambda one: one[0] % 3 == 0,
    ),
    "NOT IN with NULL": (
        lambda n: f"id NOT IN (NULL, {', '.join(map(str, range(n)))})",
        lambda one: False,
    ),
    "NOT IN": (
        lambda n: f"n NOT IN ({', '.join(str(i * i) for i in range(2, n))})",
        lambda one: one[2] in (0, 1),
    ),
    "IN of texts": (
        lambda n: "name IN (" + ", ".join(f"'x{5 * i}'" for i in range(n)) + ")",
        lambda one: one[0] % 5 == 0,
    ),
    "OR": (
        lambda n: row("OR", lambda i: f"id = {7 * i}", n),
        lambda one: one[0] % 7 == 0,
    ),
    "OR of two columns": (
        lambda n: row("OR", lambda i: f"(id = {i} AND name = 'x{i + i % 2}')", n),
        lambda one: one[0] % 2 == 0,
    ),
    "AND": (
        lambda n: row("AND", lambda i: f"id <> {i + 4}", n),
        lambda one: one[0] < 4,
    ),
}


def fill(session: hivesql.Session) -> None:
    values = ", ".join(f"({i}, '{name}', {'NULL' if n is None else n})" for i, name, n in ROWS)
    session.sql(f"{TABLE}; INSERT INTO t VALUES {values}")


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[hivesql.Session]:
    """A session that starts no Spark for what these tests do."""
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        fill(session)
        yield session


def is_small(result: hivesql.Result) -> bool:
    assert result.plan is not None
    body = result.plan.body
    if isinstance(body, Insert):
        return all(branch.small is not None for branch in body.branches)
    assert isinstance(body, (Select, Change))
    return body.small is not None


def of(session: hivesql.Session, query: str) -> set[int]:
    return {one[0] for one in session.sql(query).rows}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_without_spark(name: str, alone: hivesql.Session) -> None:
    condition, holds = CONDITIONS[name]
    text = condition(5_000 if "IN" in name else 1_010)
    wanted = {one[0] for one in ROWS if holds(one)}
    found = alone.sql(f"SELECT id FROM t WHERE {text}")
    assert {one[0] for one in found.rows} == wanted
    updated = alone.sql(f"UPDATE t SET n = -1 WHERE {text}")
    assert of(alone, "SELECT id FROM t WHERE n = -1") == wanted
    assert all(map(is_small, (found, updated)))


def test_rows_without_spark(alone: hivesql.Session) -> None:
    rows = [(i, f"n{i}", -i) for i in range(10_000)]
    text = ", ".join(f"({i}, '{name}', {n})" for i, name, n in rows)
    assert is_small(alone.sql(f"INSERT INTO t VALUES {text}"))
    assert alone.sql("SELECT count(*), sum(n), min(name) FROM t WHERE n < 0").rows == [
        (len(rows) - 1, sum(n for _, _, n in rows), "n1")
    ]
