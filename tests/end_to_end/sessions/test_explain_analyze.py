"""EXPLAIN ANALYZE: what statements read, skip and take, and that they leave nothing."""

from __future__ import annotations

import re

import pytest

import hivesql
from hivesql_planner.errors import HiveSqlError, NotSupported

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def tables(session: hivesql.Session) -> hivesql.Session:
    """One file of six row groups with deletes, one of a row far away, and a small table."""
    session.sql(f"""
        CREATE TABLE t (k INT, v STRING) {ACID};
        INSERT INTO t SELECT k, 'a'
          FROM (SELECT posexplode(split(space(59999), ' ')) AS (k, x)) q;
        DELETE FROM t WHERE k < 100;
        INSERT INTO t VALUES (1000000, 'z');
        CREATE TABLE u (k INT, p STRING) {ACID};
        INSERT INTO u SELECT k, 'x' FROM t WHERE k BETWEEN 50 AND 149;
        CREATE TABLE w (k INT) PARTITIONED BY (p STRING) {ACID};
        ALTER TABLE w ADD PARTITION (p = 'x');
        CREATE TABLE plain (k INT)
    """)
    return session


def analyzed(session: hivesql.Session, sql: str) -> list[str]:
    """What stands behind the plan, without times and bytes, which are others each time."""
    lines = [str(row[0]) for row in session.sql(f"EXPLAIN ANALYZE {sql}").rows]
    plan = [str(row[0]) for row in session.sql(f"EXPLAIN {sql}").rows]
    assert lines[: len(plan)] == plan
    assert lines[len(plan)] == "ANALYZE"
    return [re.sub(r"\d+ (?=ms|bytes)", "", line) for line in lines[len(plan) + 1 :]]


def state(session: hivesql.Session) -> tuple[object, ...]:
    """Rows, partitions, and what the history tells."""
    counts = [session.sql(f"SELECT count(*), sum(k) FROM {name}").rows for name in ("t", "w")]
    asked = [session.sql(sql).rows for sql in ("SHOW PARTITIONS w", "SHOW HISTORY")]
    return counts, asked


def test_scans_tell_what_they_read_and_skip(tables: hivesql.Session) -> None:
    first, *others = analyzed(tables, "SELECT * FROM t JOIN u ON t.k = u.k AND t.k < 2000")
    assert first == "  50 rows; locks and snapshot ms, run ms"
    assert (
        "  scan of default.t: 1 files read, 1 skipped; 1 row groups read, 6 skipped; "
        "10000 rows decoded, 100 of them deleted or not visible"
    ) in others
    assert (
        "  scan of default.u: 1 files read, 0 skipped; 1 row groups read, 0 skipped; "
        "50 rows decoded, 0 of them deleted or not visible"
    ) in others
    assert others[2].startswith("  job 1: ms, 1 tasks, ms of CPU; ")
    # The thread of the statement counts nothing from then on.
    assert tables.sql("SELECT count(*) FROM t JOIN u ON t.k = u.k").rows[0][0] == 50
    first = "  1 rows; locks and snapshot ms, run ms"
    for sql, read in {
        "SELECT * FROM u WHERE k = 120": "1 files read, 0 skipped; 50 rows decoded, 0 skipped",
        "SELECT * FROM t WHERE k = 1500": (
            "1 files read, 1 skipped; 10000 rows decoded, 50001 skipped"
        ),
        "SELECT count(*) FROM u": "0 files read, 1 skipped; 0 rows decoded, 50 skipped",
    }.items():
        assert analyzed(tables, sql) == [first, f"  without Spark: {read}"], sql
    assert analyzed(tables, "INSERT INTO t VALUES (1, 'b')")[1:] == ["  without Spark"]


def test_what_is_written_is_taken_back(tables: hivesql.Session) -> None:
    before = state(tables)
    for sql, rows in (
        ("INSERT INTO w PARTITION (p) SELECT k, p FROM u", 50),
        ("INSERT OVERWRITE TABLE t SELECT k, p FROM u", 50),
        ("INSERT INTO t VALUES (1, 'b'), (2, 'c')", 2),
        ("UPDATE t SET v = 'k' WHERE k % 1000 = 500", 60),
        ("DELETE FROM t WHERE k > 500", 59500),
        ("MERGE INTO t USING u ON t.k = u.k WHEN MATCHED THEN DELETE "
         "WHEN NOT MATCHED THEN INSERT VALUES (u.k, 'new')", 50),
    ):  # fmt: skip
        first = analyzed(tables, sql)[0]
        assert first == f"  {rows} rows; locks and snapshot ms, run and undo ms", sql
    assert state(tables) == before
    assert tables.sql("SHOW LOCKS").rows == []
    assert {row[1] for row in tables.sql("SHOW TRANSACTIONS").rows} <= {"ABORTED"}


def test_what_cannot_be_taken_back_is_refused(tables: hivesql.Session) -> None:
    for sql in (
        "INSERT INTO plain VALUES (1)",
        "CREATE TABLE x AS SELECT * FROM u",
        "DROP TABLE u",
        "ALTER TABLE t COMPACT 'major'",
        "INSERT OVERWRITE LOCAL DIRECTORY '/tmp/x' SELECT * FROM u",
    ):
        with pytest.raises(NotSupported, match="EXPLAIN ANALYZE of what no transaction"):
            tables.sql(f"EXPLAIN ANALYZE {sql}")
    assert len(tables.sql("SHOW TABLES").rows) == 4
    tables.sql("START TRANSACTION")
    assert analyzed(tables, "SELECT * FROM u WHERE k = 120")[0].startswith("  1 rows")
    with pytest.raises(NotSupported):
        tables.sql("EXPLAIN ANALYZE DELETE FROM u")


def test_errors_are_those_of_the_statement(tables: hivesql.Session) -> None:
    with pytest.raises(HiveSqlError, match="Cardinality"):
        tables.sql(
            "EXPLAIN ANALYZE MERGE INTO t USING (SELECT * FROM u UNION ALL SELECT * FROM u) u "
            "ON t.k = u.k WHEN MATCHED THEN DELETE"
        )
    assert tables.sql("SELECT count(*) FROM t").rows[0][0] == 59901
