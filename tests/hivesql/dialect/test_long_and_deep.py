"""Long lists, long rows of operators, deep brackets: read whole, and no faster growing work."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import cycle
from typing import Any

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.dialect.tokens import MOST_NESTED
from hivesql.script import StatementText
from hivesql_planner.planning import plan
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import Explain, SelectRows, Statement
from memory_catalog import warehouse

# More than Python's calls may be nested. What takes ten times the work for ten times the length
# takes as much as it may where it is longer; a list of keys is tried at its full length.
OVER, KEYS = 1_010, 100_000


def row(word: str, part: Callable[[int], str]) -> Callable[[int], str]:
    """Conditions of n operands."""
    return lambda n: f" {word} ".join(map(part, range(n)))


LONG_CONDITIONS: dict[str, Callable[[int], str]] = {
    "IN": lambda n: f"id IN ({', '.join(map(str, range(n)))})",
    "IN of texts": lambda n: "name IN (" + ", ".join(f"'x{i}'" for i in range(n)) + ")",
    "NOT IN": lambda n: f"id NOT IN ({', '.join(map(str, range(n)))})",
    "OR": row("OR", lambda i: f"id = {i}"),
    "OR of two columns": row("OR", lambda i: f"id = {i} AND name = 'x{i}'"),
    "AND": row("AND", lambda i: f"id <> {i}"),
    "+": lambda n: "id = " + row("+", str)(n),
    "-": lambda n: "id = " + row("-", str)(n),
    "||": lambda n: "name = " + row("||", lambda i: f"'{i}'")(n),
    "=": row("=", lambda i: "(id = 1)"),
    "CASE WHEN": lambda n: (
        "id = CASE " + " ".join(f"WHEN id = {i} THEN {i + 1}" for i in range(n)) + " END"
    ),
    "CASE id WHEN": lambda n: (
        "id = CASE id " + " ".join(f"WHEN {i} THEN {i + 1}" for i in range(n)) + " END"
    ),
    "arguments": lambda n: f"id = coalesce({', '.join(map(str, range(n)))})",
}
DEEP_CONDITIONS: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "(" * n + "id = 1" + ")" * n,
    "calls": lambda n: "id = " + "abs(" * n + "id" + ")" * n,
    "calls of two": lambda n: "name = " + "concat(" * n + "name" + ", 'a')" * n,
    "casts": lambda n: "name = " + "cast(" * n + "name" + " AS STRING)" * n,
    "CASE": lambda n: "id = " + "CASE WHEN id = 1 THEN 1 ELSE " * n + "2" + " END" * n,
    "NOT": lambda n: "NOT " * n + "id = 1",
    "minus": lambda n: "id = " + "- " * n + "1",
    "AND and OR": lambda n: "(id = 1 OR (name = 'a' AND " * (n // 2) + "id = 2" + "))" * (n // 2),
}
STATEMENTS: dict[str, str] = {
    "SELECT": "SELECT id FROM t WHERE {}",
    "select item": "SELECT {} AS c FROM t",
    "HAVING": "SELECT max(id) AS id, max(name) AS name FROM t HAVING {}",
    "INSERT": "INSERT INTO t SELECT id, name, amount FROM t WHERE {}",
    "UPDATE": "UPDATE t SET name = 'x' WHERE {}",
    "SET": "UPDATE t SET name = cast({} AS STRING)",
    "DELETE": "DELETE FROM t WHERE {}",
    "MERGE": "MERGE INTO t USING s AS z ON t.id = z.op WHEN MATCHED AND ({}) THEN DELETE",
    "CREATE VIEW": "CREATE VIEW w AS SELECT id FROM t WHERE {}",
    "CREATE TABLE AS": "CREATE TABLE w AS SELECT id FROM t WHERE {}",
    "EXPLAIN": "EXPLAIN SELECT id FROM t WHERE {}",
}


def bound(sql: str) -> Statement:
    statement = bind(parse(StatementText(sql)), warehouse())
    if not isinstance(statement, Explain):
        plan(statement, Settings())
    return statement


def texts_of(value: Any) -> Iterator[str]:
    """Every text in a bound statement: what Spark is sent, or the metastore keeps."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from texts_of(part)
    elif isinstance(value, Mapping):
        yield from texts_of(list(value.values()))
    elif is_dataclass(value):
        yield from texts_of([getattr(value, one.name) for one in fields(value)])


def holds(statement: Statement, text: str) -> bool:
    """Whether the text has come through as it was written."""
    return any(text in one for one in texts_of(statement))


def in_statement(statement: str, condition: str) -> tuple[str, str]:
    """A statement with the condition, and the condition as it says it."""
    if statement == "MERGE":
        condition = re.sub(r"\b(id|name)\b", r"t.\1", condition)
    return STATEMENTS[statement].format(condition), condition


@pytest.mark.parametrize(
    ("statement", "construct"), list(zip(cycle(STATEMENTS), LONG_CONDITIONS, strict=False))
)
def test_long_conditions_are_read_in_every_statement(statement: str, construct: str) -> None:
    sql, condition = in_statement(statement, LONG_CONDITIONS[construct](OVER))
    listed = ", ".join(map(str, range(OVER)))
    meant = {"OR": f"id IN ({listed})", "AND": f"id NOT IN ({listed})"}
    assert holds(bound(sql), meant.get(construct, condition))


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        (row("OR", lambda i: f"t.id = {i}")(100), "t.id IN (0, 1, "),
        (row("OR", lambda i: f"(name = '{i}')")(100), "name IN ('0', '1', "),
        (f"name > 'a' AND NOT ({row('OR', lambda i: f'id = {i}')(100)})", "NOT (id IN (0, 1, "),
        (row("AND", lambda i: f"(id <> {i})")(100), "id NOT IN (0, 1, "),
        (row("OR", lambda i: f"id = {i}")(99), None),
        (row("OR", lambda i: f"id = {i}")(100) + " OR amount = 1", None),
        (row("OR", lambda i: f"id = {i}")(100) + " OR id = amount", None),
        (row("OR", lambda i: f"id = {i}.5")(100), None),
        (row("OR", lambda i: f"id = '{i}'")(100), None),
        (row("OR", lambda i: f"name = {i}")(100), None),
        (row("OR", lambda i: f"amount = {i}")(100), None),
        (row("OR", lambda i: f"id <> {i}")(100), None),
        (row("AND", lambda i: f"id = {i}")(100), None),
    ],
)
def test_a_row_of_comparisons_with_literals_is_a_list(condition: str, meant: str | None) -> None:
    statement = bound(f"SELECT id FROM t WHERE {condition}")
    assert isinstance(statement, SelectRows)
    if meant is None:
        assert " IN (" not in statement.query.sql
    else:
        assert meant in statement.query.sql


def test_a_list_may_be_as_long_as_this() -> None:
    condition = LONG_CONDITIONS["IN of texts"](KEYS)
    assert holds(bound(f"DELETE FROM t WHERE {condition}"), condition)


@pytest.mark.parametrize(
    ("statement", "construct"), list(zip(STATEMENTS, cycle(DEEP_CONDITIONS), strict=False))
)
def test_deep_conditions_are_read_in_every_statement(statement: str, construct: str) -> None:
    # Some statements have brackets of their own around.
    sql, condition = in_statement(statement, DEEP_CONDITIONS[construct](MOST_NESTED - 2))
    assert holds(bound(sql), condition)


LONG_STATEMENTS: dict[str, Callable[[int], str]] = {
    "UNION ALL": row("UNION ALL", lambda i: f"SELECT {i} AS id"),
    "UNION ALL of tables": row("UNION ALL", lambda i: f"SELECT id FROM t WHERE id = {i}"),
    "INSERT of UNION ALL": lambda n: (
        "INSERT INTO t " + row("UNION ALL", lambda i: f"SELECT {i} AS a, 'x' AS b, 1.5 AS c")(n)
    ),
    "rows": lambda n: (
        "INSERT INTO t VALUES " + ", ".join(f"({i}, 'x{i}', {i % 7}.5)" for i in range(n))
    ),
    "rows of calls": lambda n: (
        "INSERT INTO t VALUES " + ", ".join(f"({i}, concat('x', {i}), 1.5)" for i in range(n))
    ),
    "select items": lambda n: (
        "SELECT " + ", ".join(f"id + {i} AS c{i}" for i in range(n)) + " FROM t"
    ),
    "columns": lambda n: "CREATE TABLE w (" + ", ".join(f"c{i} INT" for i in range(n)) + ")",
    "CTEs": lambda n: (
        "WITH " + ", ".join(f"c{i} AS (SELECT {i} AS a)" for i in range(n)) + " SELECT a FROM c7"
    ),
    "GROUP BY": lambda n: (
        "SELECT max(id) AS m FROM t GROUP BY " + ", ".join(f"id + {i}" for i in range(n))
    ),
    "ORDER BY": lambda n: "SELECT id FROM t ORDER BY " + ", ".join(f"id + {i}" for i in range(n)),
    "joins": lambda n: (
        "SELECT count(*) FROM t a0 "
        + " ".join(f"LEFT JOIN s a{i} ON a{i - 1}.id = a{i}.id" for i in range(1, n))
        + " WHERE "
        + row("AND", lambda i: f"a{i}.id <> {i}")(n)
    ),
    "joins by USING": lambda n: (
        "SELECT count(*) FROM t " + " ".join(f"JOIN s s{i} USING (id)" for i in range(n))
    ),
    "partitions": lambda n: (
        "ALTER TABLE p ADD " + " ".join(f"PARTITION (ds='x', hr={i})" for i in range(n))
    ),
    "DROP PARTITION": lambda n: (
        "ALTER TABLE p DROP IF EXISTS " + ", ".join(f"PARTITION (hr={i})" for i in range(n))
    ),
    "SHOW PARTITIONS": lambda n: "SHOW PARTITIONS p WHERE " + row("AND", lambda i: f"hr <> {i}")(n),
}


@pytest.mark.parametrize("statement", LONG_STATEMENTS)
def test_long_statements_are_read(statement: str) -> None:
    bound(LONG_STATEMENTS[statement](OVER))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM (" * 500 + "SELECT id FROM t" + ") x" * 500,
        "SELECT id FROM t WHERE " + "id IN (SELECT id FROM s WHERE " * 500 + "id = 1" + ")" * 500,
        "SELECT id FROM t WHERE " + "EXISTS (SELECT 1 FROM s WHERE " * 500 + "id = 1" + ")" * 500,
        "(" * 500 + "SELECT id FROM t" + ")" * 500,
        "SELECT id FROM t UNION ALL (" * 500 + "SELECT id FROM t" + ")" * 500,
        "SELECT t.id FROM " + "(" * 100 + "t"
        + "".join(f" JOIN s s{i} ON t.id = s{i}.id)" for i in range(100)),
        "SELECT cast(null AS " + "array<" * 40 + "int" + ">" * 40 + ") AS a",
        "CREATE TABLE w (a " + "array<" * 40 + "int" + ">" * 40 + ")",
    ],
)  # fmt: skip
def test_deep_queries_are_read(sql: str) -> None:
    bound(sql)


def calls_made(sql: str) -> int:
    """How many functions of Python were called to read a statement."""
    count = 0

    def took(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(took)
    try:
        bound(sql)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("construct", [*LONG_CONDITIONS, *LONG_STATEMENTS])
def test_what_is_ten_times_as_long_takes_ten_times_the_work(construct: str) -> None:
    def sql(n: int) -> str:
        if construct in LONG_STATEMENTS:
            return LONG_STATEMENTS[construct](n)
        return f"SELECT id FROM t WHERE {LONG_CONDITIONS[construct](n)}"

    bound(sql(20))
    assert calls_made(sql(300)) < 12 * calls_made(sql(30))
