"""Which tables Spark sends to all tasks: it knows how much of each a snapshot reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import hivesql

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = ACID.replace(")", ", 'transactional_properties'='insert_only')")
THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"


def joins(session: hivesql.Session, sql: str) -> tuple[list[str], int]:
    """The joins of the plan before it runs, the last first, and how many rows come out of it.

    Those with deletes and with the lookup of partitions are left out: they are broadcast anyway.
    """

    def look(frame: Any) -> tuple[list[str], int]:
        plan = frame._jdf.queryExecution().executedPlan().toString()
        return re.findall(r"\w+Join", plan)[:1], frame.count()

    value: tuple[list[str], int] = session.sql(sql, consume=look).value
    return value


@pytest.fixture
def star(session: hivesql.Session) -> Iterator[hivesql.Session]:
    """A large table, and small ones of every kind with the same rows; 200,000 bytes are small."""
    session.sql(f"""
        CREATE TABLE fact (k int, v bigint, pad string) {ACID};
        INSERT INTO fact SELECT id % 200, id + 1, sha2(cast(id AS string), 256)
            FROM (SELECT posexplode(split(space(19999), ' ')) AS (id, x)) q;
        CREATE TABLE acid (k int, name string) {ACID};
        INSERT INTO acid SELECT DISTINCT k + 2, 'n' FROM fact;
        INSERT INTO acid VALUES (0, 'a'), (1, 'b');
        DELETE FROM acid WHERE k > 199;
        UPDATE acid SET name = 'x' WHERE k = 7;
        CREATE TABLE parts (k int, name string) PARTITIONED BY (p int) {ACID};
        INSERT INTO parts PARTITION (p) SELECT k, name, k % 20 FROM acid;
        UPDATE parts SET name = 'y' WHERE k = 7;
        CREATE TABLE inserts (k int, name string) {INSERT_ONLY};
        INSERT INTO inserts SELECT k, name FROM acid;
        SET {THRESHOLD}=200000;
    """)
    yield session
    session.sql(f"SET {THRESHOLD}=64m")


@pytest.mark.parametrize("small", ["acid", "parts", "inserts"])
def test_small_tables_are_broadcast(star: hivesql.Session, small: str) -> None:
    inner = f"SELECT f.v, d.name FROM fact f JOIN {small} d ON f.k = d.k"
    assert joins(star, inner) == (["BroadcastHashJoin"], 20000)
    outer = inner.replace(" JOIN", " LEFT JOIN").replace(small, f"(SELECT * FROM {small})")
    assert joins(star, f"{outer} AND d.k <> 3") == (["BroadcastHashJoin"], 20000)


def test_large_tables_are_not(star: hivesql.Session) -> None:
    both = "SELECT a.v, b.pad, a.pad FROM fact a JOIN fact b ON a.v = b.v"
    assert joins(star, both) == (["SortMergeJoin"], 20000)
    # The rows of this one take a few hundred bytes of ORC and half a million of memory.
    star.sql(f"CREATE TABLE same (k int, a bigint, b bigint) {ACID}")
    star.sql("INSERT INTO same SELECT 7, 1, 1 FROM fact")
    assert joins(star, "SELECT * FROM fact f LEFT JOIN same s ON f.v = s.k AND f.v > 7") == (
        ["SortMergeJoin"], 20000,
    )  # fmt: skip
    # What Spark plans with is what the snapshot reads: numbers that somebody has made up, or that
    # were true once, neither change a plan nor an answer.
    star.sql("""
        ALTER TABLE fact UPDATE STATISTICS SET ('numRows'='1', 'rawDataSize'='1');
        ALTER TABLE acid UPDATE STATISTICS SET ('numRows'='100000000', 'rawDataSize'='10000000000');
    """)
    assert joins(star, both) == (["SortMergeJoin"], 20000)
    assert joins(star, "SELECT f.v FROM fact f JOIN acid d ON f.k = d.k") == (
        ["BroadcastHashJoin"], 20000,
    )  # fmt: skip
    assert star.sql("SELECT count(*), min(v) FROM fact").rows == [(20000, 1)]
    assert star.sql("SELECT count(*) FROM acid").rows == [(200,)]


def test_the_cost_based_optimizer_knows_what_analyze_found(star: hivesql.Session) -> None:
    few = "SELECT a.pad, b.pad FROM fact a JOIN fact b ON a.pad = b.pad WHERE a.v BETWEEN 5 AND 10"
    star.sql("SET spark.sql.cbo.enabled=true; DELETE FROM fact WHERE v = 6")
    try:
        assert joins(star, few) == (["SortMergeJoin"], 5)
        star.sql("ANALYZE TABLE fact COMPUTE STATISTICS FOR COLUMNS")
        assert joins(star, few) == (["BroadcastHashJoin"], 5)
        # Not even numbers of long ago change an answer.
        star.sql("UPDATE fact SET v = -v WHERE v > 5")
        late = few.replace("5 AND 10", "-10 AND -5")
        assert joins(star, late)[1] == 4
    finally:
        star.sql("SET spark.sql.cbo.enabled=false")
