"""Long statements do what short ones do, without Spark and through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from hivesql_executor.spark.long_texts import as_long_as_it_is
from hivesql_planner.plan import Change, Insert, Select

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


# What only Spark computes: expressions, and their values for the row of 1.
COMPUTED: dict[str, tuple[str, object]] = {
    "+": (" + ".join(["id"] * 1_500), 1_500),
    "||": (" || ".join(["'a'"] * 1_500), "a" * 1_500),
    "CASE": (
        "CASE " + " ".join(f"WHEN id = {i} THEN {i * 2}" for i in range(1_500)) + " END",
        2,
    ),
    "nested CASE": ("CASE WHEN id <> 1 THEN 7 ELSE " * 490 + "id" + " END" * 490, 1),
    "nested calls": ("abs(" * 490 + "- id" + ")" * 490, 1),
}


# Queries by the branches of their UNION ALL.
CONSTANTS = [
    ["1 AS a, 'x' AS a", "2, 'y'", "-3, NULL"],
    ["1", "2.5", "NULL", "10000000000", "12345678.125"],
    ["1.5D", "1", "2.25", "1L"],
    ["NULL", "true", "false"],
    ["CAST('ab' AS CHAR(3)) AS c, DATE '2020-01-01'", "CAST('x' AS CHAR(3)), NULL"],
    ["CAST('ab' AS CHAR(3))", "CAST('abcd' AS VARCHAR(4))", "'e'"],
    ["id FROM t WHERE id > 18", "1", "2L", "3.5", "4.25", "NULL"],
    ["DATE '2020-01-01' AS d, id FROM t WHERE id = 1", "TIMESTAMP '2020-01-01 00:00:00.5', 2",
     "DATE '2021-01-01', 3L", "NULL, 4"],
    ["(1) -- one", "- 7", "- (2)"],
    ["'it''s; -- no'", "\"or 'so'\"", "'a' 'b'"],
]  # fmt: skip


def check_kinds(session: hivesql.Session) -> None:
    """Columns of VALUES of more than one kind are texts, as in real Hive."""
    session.sql("""
        CREATE TABLE kinds (a STRING, b BOOLEAN, i INT);
        INSERT INTO kinds VALUES (true, 'a', 1), ('a', true, 2);
        INSERT INTO kinds VALUES (1, true, '2'), (1.5, false, 3);
        INSERT INTO kinds VALUES (DATE '2020-01-01', NULL, '4'), ('x', 'no', 5)
    """)
    assert sorted(map(tuple, session.sql("SELECT i, a, b FROM kinds").rows)) == [
        (1, "TRUE", True), (2, "1.0", True), (2, "a", True), (3, "1.5", False),
        (4, "2020-01-01", None), (5, "x", False),
    ]  # fmt: skip


def check_constants(session: hivesql.Session) -> None:
    """Constants below a union are what they are as queries of their own."""
    for branches in CONSTANTS:
        found, apart = (
            session.sql("SELECT " + "\nUNION ALL SELECT ".join(
                one if " FROM " in one else one + end for one in branches))
            for end in ("", "\nWHERE true")
        )  # fmt: skip
        assert (found.columns, found.types) == (apart.columns, apart.types)
        assert sorted(map(repr, found.rows)) == sorted(map(repr, apart.rows))


def check_long_and(session: hivesql.Session) -> None:
    """A row of 600 terms is the AND of their truth values, wherever it stands and what it names."""
    terms = row("AND", lambda i: f"abs(n) <> {(i + 5) ** 2}", 600)
    kept = {id for id, _, n in ROWS if n is not None and id < 5}
    assert of(session, f"SELECT id FROM t WHERE {terms}") == kept
    assert of(session, f"SELECT id FROM t WHERE NOT ({terms})") == set(range(5, 19))
    assert of(session, f"SELECT id FROM t WHERE ({terms}) IS NULL") == {19}
    having = terms.replace("abs(n)", "max(abs(n))")
    assert of(session, f"SELECT id FROM t GROUP BY id HAVING {having}") == kept
    sides = row("AND", lambda i: f"abs({'xy'[i % 2]}.n) <> {(i + 5) ** 2}", 600)
    query = f"SELECT x.id FROM t x, t y WHERE {sides} AND x.id = y.id + 1"
    assert of(session, query) == {1, 2, 3, 4, *range(6, 19, 2)}
    asked = f"{terms} AND n IN (SELECT id FROM t) AND EXISTS (SELECT 1 FROM t WHERE {terms})"
    assert of(session, f"WITH c AS (SELECT * FROM t WHERE {asked}) SELECT id FROM c") == kept
    session.sql(f"UPDATE t SET name = 'kept' WHERE {terms}")
    assert of(session, "SELECT id FROM t WHERE name = 'kept'") == kept


@pytest.mark.spark
def test_through_spark(session: hivesql.Session) -> None:
    fill(session)
    session.sql("SET hivesql.local.max.bytes=0")
    computed = ", ".join(text for text, _ in COMPUTED.values())
    listed = CONDITIONS["IN"][0](5_000)
    (row,) = session.sql(f"SELECT {computed} FROM t WHERE id * id = 1 OR {listed} AND id < 0").rows
    assert list(row) == [value for _, value in COMPUTED.values()]
    check_long_and(session)
    condition, holds = CONDITIONS["AND"]
    gone = {one[0] for one in ROWS if holds(one)}
    assert session.sql(f"DELETE FROM t WHERE {condition(1_010)}").affected == len(gone)
    union = " UNION ALL ".join(f"SELECT {i} AS id, 'x{i}'" for i in range(10_000))
    assert session.sql(f"SELECT sum(id) AS s FROM ({union}) u").rows[0].s == sum(range(10_000))
    check_constants(session)
    check_kinds(session)
    with pytest.raises(hivesql.ExecutionError, match=r"spark\.driver\.extraJavaOptions .*-Xss64m"):
        session.sql("SELECT repeat('ab', 3000000) RLIKE '^(a|b)*$' AS c FROM t")


@pytest.mark.spark
def test_settings_for_long_statements_end_with_them(spark: SparkSession) -> None:
    mine, code = spark.newSession(), "spark.sql.codegen.wholeStage"
    rules = "spark.sql.optimizer.excludedRules"
    mine.conf.set(rules, "a.rule.of.Mine")
    with as_long_as_it_is(mine, "SELECT 1" + " + 1" * 1_000):
        assert mine.conf.get(code) == "false"
        assert str(mine.conf.get(rules)).startswith("a.rule.of.Mine,")
    with as_long_as_it_is(mine, "SELECT id IN (" + "1, " * 1_000 + "1)"):
        assert (mine.conf.get(code), mine.conf.get(rules)) == ("true", "a.rule.of.Mine")


# Numbers that no type holds, wherever one may stand: Python's own are without bounds, but for
# the texts that it reads, and for the calendar, C and databases that it hands them on to.
HUGE = {
    "literal": "SELECT * FROM t WHERE id = {}",
    "negative": "SELECT * FROM t WHERE id > -{}",
    "in a list": "DELETE FROM t WHERE id IN (2, {})",
    "remainder": "DELETE FROM t WHERE id % {} = 7",
    "added": "UPDATE t SET id = id + {} WHERE id = 2",
    "fraction": "SELECT * FROM t WHERE id = 1.{}",
    "exponent": "SELECT * FROM t WHERE id = 1e{}",
    "BIGINT": "SELECT {}L",
    "row": "INSERT INTO t VALUES ({}, 'a', 1)",
    "text of a row": "INSERT INTO t VALUES ('{}', 'a', 1)",
    "year": "INSERT INTO p PARTITION (q=1) VALUES (1, DATE '{}-01-01')",
    "year of a condition": "DELETE FROM p WHERE d < '{}-01-01'",
    "partition": "ALTER TABLE p ADD PARTITION (q={})",
    "text of a partition": "ALTER TABLE p ADD PARTITION (q='{}')",
    "partitions": "ALTER TABLE p DROP PARTITION (q > {})",
    "shown partitions": "SHOW PARTITIONS p WHERE q > {}",
    "LIMIT": "SELECT * FROM t LIMIT {}",
    "OFFSET": "SELECT * FROM t LIMIT 1 OFFSET {}",
    "place of a column": "SELECT id FROM t ORDER BY {}",
    "days ago": "SELECT * FROM t FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP - INTERVAL '{}' DAY",
    "seconds on": "SELECT * FROM t FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP + INTERVAL {} SECONDS",
    "year of a snapshot": "SELECT * FROM t FOR SYSTEM_TIME AS OF '{}-01-01'",
    "version": "SELECT * FROM t FOR SYSTEM_VERSION AS OF {}",
    "changes": "SELECT * FROM table_changes('t', {})",
    "restored version": "RESTORE TABLE t TO VERSION AS OF {}",
    "distinct values": "ALTER TABLE t UPDATE STATISTICS FOR COLUMN id SET ('numDVs'='{}')",
    "rows": "ALTER TABLE t UPDATE STATISTICS SET ('numRows'='{}')",
    "latest time": "ALTER TABLE p UPDATE STATISTICS FOR COLUMN s SET ('highValue'='{}')",
    "default": "CREATE TABLE new (k INT DEFAULT {})",
    "check": "CREATE TABLE new (k INT, CHECK (k < {}) ENABLE NOVALIDATE RELY)",
    "type": "CREATE TABLE new (k DECIMAL({}, 1))",
    "buckets": "CREATE TABLE new (k INT) CLUSTERED BY (k) INTO {} BUCKETS",
    "transaction": "ABORT TRANSACTIONS {}",
    "compaction": "ABORT COMPACTIONS {}",
    "setting": "SET hivesql.local.max.bytes={}",
    "time zone": "SET TIME ZONE '+{}:00'",
}


def outcome(session: hivesql.Session, sql: str) -> str:
    try:
        session.sql(sql)
    except hivesql.HiveSqlError as error:
        return str(error)
    return ""


@pytest.mark.spark
@pytest.mark.parametrize("digits", [30, 5000])
def test_numbers_beyond_all_types(session: hivesql.Session, digits: int) -> None:
    """No statement fails for a reason that nobody knows, and none changes a row."""
    kind = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    session.sql(f"CREATE TABLE p (k INT, d DATE, s TIMESTAMP) PARTITIONED BY (q INT) {kind}")
    session.sql(f"{TABLE}; INSERT INTO t VALUES (1, 'a', 1)")
    outcomes = {name: outcome(session, sql.format("9" * digits)) for name, sql in HUGE.items()}
    assert not {name: text for name, text in outcomes.items() if "does not know" in text}
    session.sql("RESET")
    # A number too large for its column is stored as NULL, as in Hive.
    assert session.sql("SELECT * FROM t WHERE id IS NOT NULL").rows == [(1, "a", 1)]
