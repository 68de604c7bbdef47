"""What tools send to learn of columns: no Spark, where nothing of the query is Spark's to tell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import hivesql
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.plan import Select

pytestmark = pytest.mark.spark

SETUP = """
    CREATE TRANSACTIONAL TABLE t (a INT, s STRING, d DECIMAL(10,2), f FLOAT, b BOOLEAN, n BIGINT,
      day DATE, at TIMESTAMP, c CHAR(3), v VARCHAR(5), list ARRAY<INT>, m MAP<STRING,INT>,
      st STRUCT<x:INT,y:STRING>, bin BINARY) PARTITIONED BY (p STRING) STORED AS ORC;
    CREATE TABLE u (a INT, x STRING, k DECIMAL(5,1)) STORED AS PARQUET;
    CREATE VIEW joined AS SELECT t.a, upper(s) us, d * 2 dd, x FROM t JOIN u ON t.a = u.a
"""
WITHOUT_SPARK = [
    "SELECT * FROM t JOIN u ON t.a = u.a",
    "SELECT t.*, u.x FROM t LEFT JOIN u ON t.a = u.a WHERE t.a > 1 AND s LIKE 'x%'",
    "SELECT * FROM (SELECT a, count(*) n, sum(d) sd, avg(d) ad, max(f) mf FROM t GROUP BY a) q",
    "SELECT q.* FROM (SELECT a + 1 x, d / 3 y, n * 2 z, f + 1 w, -d v, a % 3 FROM t) q",
    "SELECT * FROM joined",
    "WITH q AS (SELECT a, s FROM t) SELECT * FROM q JOIN u ON q.a = u.a",
    "SELECT a, sum(n) OVER (PARTITION BY s ORDER BY a) w, row_number() OVER (ORDER BY a) r FROM t",
    "SELECT CASE WHEN a > 1 THEN s ELSE 'x' END, coalesce(d, 0), CAST(a AS CHAR(2)), "
    "nvl(f, 1.5), date_add(day, 1), year(at), concat(c, v), upper(c), substr(v, 1, 2) FROM t",
    "SELECT * FROM (SELECT a, d FROM t UNION ALL SELECT a, k FROM u) q ORDER BY a",
    "SELECT DISTINCT s FROM t",
    "SELECT a, (SELECT max(x) FROM u) m FROM t",
    "SELECT a FROM t WHERE a IN (SELECT a FROM u)",
    "SELECT d + k, d * k, d / k, d - k, f * d, n + d, t.a / n FROM t CROSS JOIN u",
]
BY_SPARK = [
    # It alone knows the types, or whether the arguments are right.
    "SELECT q.*, unhex(s) FROM (SELECT s FROM t) q",
    "SELECT explode(list) FROM t",
    "SELECT a FROM t LATERAL VIEW explode(list) e AS z",
    "SELECT * FROM t JOIN u USING (a)",
]
REFUSED = [
    "SELECT upper(list) FROM t", "SELECT * FROM (SELECT a = list z FROM t) q",
    "SELECT t.a FROM t JOIN u ON t.list = u.a", "SELECT * FROM (SELECT CAST(list AS INT) FROM t) q",
    "SELECT * FROM (SELECT coalesce() y FROM t) q", "SELECT * FROM (SELECT upper(s, s) FROM t) q",
    "SELECT * FROM (SELECT a FROM t WHERE list) q",
    "SELECT * FROM (SELECT a IN (s, list) FROM t) q",
    "SELECT * FROM (SELECT bin > a FROM t) q", "SELECT * FROM (SELECT b > day FROM t) q",
    "SELECT * FROM (SELECT sum(a) OVER (ORDER BY s RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) "
    "FROM t) q",
    "SELECT * FROM (SELECT max(m) FROM t) q",
    "SELECT * FROM (SELECT sum(a) FROM t WHERE sum(a) > 1) q", "SELECT nosuch(a) FROM joined",
]  # fmt: skip


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[
    hivesql.Session
]:  # fmt: skip
    home = tmp_path_factory.mktemp("no_rows")
    url = f"sqlite:///{home}/metastore.db"
    with hivesql.connect(url, home / "warehouse", spark=spark) as session:
        session.sql(SETUP)
        yield session


def needs_spark(result: hivesql.Result) -> bool:
    assert result.plan is not None
    assert isinstance(result.plan.body, Select)
    return result.plan.body.small is None


@pytest.mark.parametrize("query", WITHOUT_SPARK)
def test_columns_are_those_of_spark(query: str, tables: hivesql.Session) -> None:
    by_limit, rows = tables.sql(f"{query} LIMIT 0"), tables.sql(query)
    assert not needs_spark(by_limit) and needs_spark(rows)
    assert (by_limit.columns, by_limit.types, by_limit.rows) == (
        rows.columns,
        rows.types,
        rows.rows,
    )
    assert by_limit.rows == []


@pytest.mark.parametrize("condition", ["1 = 0", "false", "(0 = 1)"])
def test_a_condition_that_never_holds(condition: str, tables: hivesql.Session) -> None:
    query = "SELECT * FROM (SELECT t.a, x, count(*) n FROM t JOIN u ON t.a = u.a GROUP BY t.a, x) q"
    empty, rows = tables.sql(f"{query} WHERE {condition}"), tables.sql(query)
    assert not needs_spark(empty)
    assert (empty.columns, empty.types, empty.rows) == (rows.columns, rows.types, [])
    # A total has a row all the same.
    assert len(tables.sql(f"SELECT count(*), max(x) FROM joined WHERE {condition}").rows) == 1


@pytest.mark.parametrize("query", BY_SPARK)
def test_what_spark_alone_knows_is_left_to_it(query: str, tables: hivesql.Session) -> None:
    assert needs_spark(tables.sql(f"{query} LIMIT 0"))


@pytest.mark.parametrize("query", REFUSED)
def test_what_is_refused_with_rows_is_refused_without(query: str, tables: hivesql.Session) -> None:
    errors = []
    for limit in ("", " LIMIT 0"):
        with pytest.raises(HiveSqlError) as refused:
            tables.sql(query + limit)
        errors.append((type(refused.value), refused.value.code))
    assert errors[0] == errors[1]
