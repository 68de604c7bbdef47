"""Queries without Spark answer what Spark answers: columns, types, values, order, Arrow's types."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hivesql
from hivesql_executor.statements.context import OrRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE kinds (i int, l bigint, s smallint, y tinyint, b boolean, f float, d double,
    n decimal(10,2), w decimal(38,10), t string, c char(4), v varchar(3), day date, ts timestamp,
    raw binary, many array<int>, named struct<x:int,y:string>, pairs map<string,int>,
    deep array<struct<a:decimal(5,1),b:map<int,array<double>>>>)
    STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE parts (a int, b string) PARTITIONED BY (k int, l string, m date)
    STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE EXTERNAL TABLE plain (i int, v varchar(3), s struct<a:int,b:array<string>>)
    PARTITIONED BY (p string) STORED AS TEXTFILE;
CREATE TABLE maps (m map<string,int>) STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE odd (a int, p double) PARTITIONED BY (q decimal(4,1))
    STORED AS ORC TBLPROPERTIES ('transactional'='true');
"""
ROWS = r"""
INSERT INTO kinds SELECT 1, 2, 3S, 4Y, true, cast(1.5 as float), 2.5D, 3.45, 1.5, 'a\'\\\n"b', 'ab', 'abc',
    date '2020-02-29', timestamp '2020-02-29 23:59:59.123456', cast('raw' as binary), array(1, null, 3),
    named_struct('x', 1, 'y', 'é'), map('k', 1),
    array(named_struct('a', cast(1.5 as decimal(5,1)), 'b', map(1, array(1.0D))), null);
INSERT INTO kinds SELECT -1, -2, -3S, -4Y, false, cast('NaN' as float), cast('-Infinity' as double), -3.4, -99, 'é€𝄞', 'é€𝄞x',
    '𝄞𝄞𝄞', date '1969-12-31', timestamp '1969-12-31 23:59:58', cast('' as binary), array(), null, map(), null;
INSERT INTO kinds (i) VALUES (null), (7), (8);
INSERT INTO kinds VALUES (2147483647, -9223372036854775808, -32768, 127, null, 1e10, 1.7976931348623157e308, 99999999.99, 1234567890123456789012345678, '', '', '', date '2100-12-31', timestamp '1900-01-01 00:00:00', 'x', null, null, null, null);
DELETE FROM kinds WHERE i = 8;
UPDATE kinds SET t = 'seven' WHERE i = 7;
INSERT INTO parts VALUES (1, 'a', 1, 'x', '2020-01-01'), (2, 'b', 1, 'y', '2020-01-02'), (3, null, 2, 'é/=x y', '2020-01-01'), (4, 'd', null, null, null), (5, 'e', -5, '1', '1999-12-31');
DELETE FROM parts WHERE a = 2;
INSERT INTO odd VALUES (1, 1.5, 2.5);
INSERT INTO maps SELECT map('k', 1, 'l', null);
"""  # noqa: E501
SMALL = (
    "SELECT * FROM kinds",
    "SELECT k.* FROM default.kinds k WHERE k.i = 1",
    "SELECT I, kinds.L AS Big, `t`, c, 'its', 3, true, i AS i2 FROM kinds ORDER BY i",
    "SELECT i, t FROM kinds ORDER BY t DESC, i LIMIT 3",
    "SELECT i FROM kinds ORDER BY i ASC NULLS FIRST LIMIT 2",
    "SELECT i FROM kinds ORDER BY i DESC NULLS LAST",
    "SELECT t AS i FROM kinds ORDER BY i, kinds.l",
    "SELECT i AS x FROM kinds ORDER BY x, n, day, ts, v, c LIMIT 0",
    "SELECT ALL i FROM kinds LIMIT 100 -- at most",
    "SELECT i FROM kinds WHERE i = 77",
    "SELECT i FROM kinds WHERE 1 = 1 AND i > 1 ORDER BY i",
    "SELECT count(*) FROM kinds WHERE true",
    "SELECT c, v FROM kinds WHERE c = 'ab' OR v <> 'abc' ORDER BY c, v",
    "SELECT i FROM kinds WHERE b AND NOT i < 0 OR day IS NULL AND i BETWEEN 7 AND 9 ORDER BY i",
    "SELECT named, many, pairs, deep FROM kinds WHERE i IN (1, -1) ORDER BY i",
    "SELECT count(*), count(t), COUNT(i), min(i), max(l), sum(i), sum(y), sum(s) FROM kinds",
    "SELECT min(t), max(t), min(n), max(w), min(day), max(ts) FROM kinds WHERE i IS NOT NULL",
    "SELECT count(*) AS c, sum(i) AS s, max(t) FROM kinds WHERE i = 77",
    "SELECT count(*) FROM kinds LIMIT 1",
    "SELECT * FROM parts ORDER BY a",
    "SELECT a, l, m FROM parts WHERE l = 'x' OR m > date '2020-01-01' OR k IS NULL ORDER BY a",
    "SELECT max(k), min(l), count(m) FROM parts",
    "SELECT l FROM parts ORDER BY l DESC, k",
    "SELECT * FROM parts WHERE k = 1 AND l = 'y'",
    "SELECT a, p FROM odd",
    "SELECT i, 1.50, 3000000000, NULL, current_database(), date '2020-02-29' FROM kinds ORDER BY i",
    # What tools ask for before anything else: one row without a table, or columns without rows.
    "SELECT 1",
    "SELECT 1 AS a, 'x' b, 1 a",
    "SELECT (NULL), ((1)), NULL n, true, FALSE, '', 'é', 'tab\\t\\'', \"q\"",
    "SELECT 1.50, 0.0, 007.50, 1., 10L, 5Y, 6S, 1.5D, 1e3, 10BD, 2147483648, 9223372036854775807",
    "SELECT -1, - 1.50, -127Y, -1e-3, -32767S, 12345678901234567890, -2147483648",
    "SELECT date '2020-01-31', cast('2020-02-03' AS date), cast(1 AS bigint), cast(5 AS smallint)",
    "SELECT timestamp '2020-01-31 10:20:30.123456', timestamp '1960-01-01 00:00:00'",
    "SELECT current_database(), current_schema() s, current_catalog(), version(), buildversion()",
    "SELECT current_date, current_date() AS today, logged_in_user()",
    "SELECT 1 WHERE true LIMIT 5",
    "SELECT 1, NULL, 1.5, current_timestamp, current_timestamp() LIMIT 0",
    "SELECT 'x' WHERE 1 = 0",
    "SELECT * FROM kinds WHERE false",
    "SELECT * FROM plain WHERE (1=0) ORDER BY i",
    "SELECT p.*, 1 FROM plain p LIMIT 0",
    "SELECT count(*) FROM plain LIMIT 0",
)  # fmt: skip
# What is more than a look into one table, or means more in Spark than here.
FOR_SPARK = (
    "SELECT * FROM odd",
    "SELECT DISTINCT b FROM kinds",
    "SELECT i + 1 FROM kinds ORDER BY i + 1",
    "SELECT sum(l), avg(i), sum(n), max(f) FROM kinds",
    "SELECT count(DISTINCT i) FROM kinds",
    "SELECT b, count(*) FROM kinds GROUP BY b ORDER BY b",
    "SELECT i FROM kinds WHERE t LIKE 's%'",
    "SELECT named.x FROM kinds ORDER BY named.x",
    "SELECT i FROM kinds ORDER BY d, i",
    "SELECT x.i FROM kinds x JOIN kinds y ON x.i = y.i ORDER BY x.i",
    "SELECT i FROM (SELECT * FROM kinds) q ORDER BY i",
    "SELECT row__id, i FROM kinds ORDER BY i",
    "SELECT i, 1.5 + 1 FROM kinds ORDER BY i",
    "SELECT -9223372036854775808",
    "SELECT 1 + 1",
    "SELECT cast('2020-02-30' AS date), cast(200 AS tinyint), date '1500-01-01'",
    "SELECT timestamp '2020-01-31 10:20:30.123456789'",
    "SELECT count(*)",
    "SELECT count(*) FROM plain WHERE 1 = 0",
    "SELECT i FROM plain WHERE 1 = 1",
    "SELECT 1 UNION ALL SELECT 2",
    "SELECT explode(array(1, 2))",
    "SELECT count(*) FROM odd WHERE q = 2.5",
    "SELECT t, 'it''s' FROM kinds ORDER BY t",
)


def statements(text: str) -> list[str]:
    return [one.strip() for one in text.split(";\n") if one.strip()]


@pytest.fixture
def sessions(spark: SparkSession, tmp_path: Path) -> Iterator[dict[str, hivesql.Session]]:
    """One warehouse, looked at with Spark and without."""
    found = {
        name: hivesql.connect(
            f"sqlite:///{tmp_path}/m.db",
            str(tmp_path / "warehouse"),
            spark=spark,
            settings={"hivesql.local.max.bytes": most},
        )
        for name, most in (("spark", "0"), ("local", "16777216"))
    }
    for statement in (TABLES, *statements(ROWS)):
        found["spark"].sql(statement)
    yield found
    for session in found.values():
        session.close()


def told(result: hivesql.Result, *, ordered: bool) -> dict[str, Any]:
    rows = [tuple(map(repr, row)) for row in result.rows]
    return {
        "columns": result.columns,
        "types": result.types,
        "rows": rows if ordered else sorted(rows),
        "arrow": [field.remove_metadata().type for field in result.to_arrow().schema],
        "named": [row.asDict(recursive=True).keys() for row in result.rows[:1]],
    }


@pytest.mark.spark
def test_both_ways_answer_the_same(sessions: dict[str, hivesql.Session]) -> None:
    local, by_spark = sessions["local"], sessions["spark"]
    for query in SMALL:
        ordered = "ORDER BY" in query
        ours, theirs = (told(one.sql(query), ordered=ordered) for one in (local, by_spark))
        assert ours == theirs, query
        assert not local._spark.started, query
    (row,) = local.sql("SELECT i, t, named FROM kinds WHERE i = 1").rows
    (twin,) = by_spark.sql("SELECT i, t, named FROM kinds WHERE i = 1").rows
    assert row == twin
    assert (row.i, row["t"], row[2].y, "i" in row, repr(row)) == (
        twin.i, twin["t"], twin[2].y, "i" in twin, repr(twin),
    )  # fmt: skip
    assert row.asDict(recursive=True) == twin.asDict(recursive=True)
    assert pickle.loads(pickle.dumps(row)) == twin
    assert local.sql("SELECT * FROM kinds WHERE i = 1").to_pandas().equals(
        by_spark.sql("SELECT * FROM kinds WHERE i = 1").to_pandas()
    )  # fmt: skip
    local.sql("START TRANSACTION")
    local.sql("INSERT INTO parts VALUES (9, 'mine', 9, 'z', '2020-01-01')")
    assert local.sql("SELECT a FROM parts WHERE b = 'mine'").rows == [(9,)]
    assert by_spark.sql("SELECT a FROM parts WHERE b = 'mine'").rows == []
    local.sql("ROLLBACK")
    assert local.sql("SELECT sum(l) FROM kinds WHERE l = 2").rows == [(2,)]
    consumed = local.sql("SELECT i FROM kinds WHERE i = 1", consume=OrRows(lambda frame: 5))
    assert (consumed.value, not local._spark.started) == ([(1,)], True)
    assert local.sql("SELECT i FROM kinds", consume=lambda frame: frame.count()).value == 5
    assert local._spark.started
    ours, theirs = (told(one.sql("SELECT m FROM maps"), ordered=True) for one in (local, by_spark))
    assert ours == theirs
    for query in FOR_SPARK:
        ordered = "ORDER BY" in query
        ours, theirs = (told(one.sql(query), ordered=ordered) for one in (local, by_spark))
        assert ours == theirs, query
        assert "without Spark" not in str(local.sql(f"EXPLAIN {query}").rows), query


def test_the_time_is_that_of_the_sessions_zone(alone: hivesql.Session) -> None:
    alone.sql("SET hive.local.time.zone=+14:00")
    query = "SELECT current_timestamp, current_timestamp() AS again, current_date"
    before = datetime.now(timezone(timedelta(hours=14))).replace(tzinfo=None)
    ((time, again, day),) = alone.sql(query).rows
    after = datetime.now(timezone(timedelta(hours=14))).replace(tzinfo=None)
    assert before <= time <= after
    assert (again, day) == (time, time.date())
    assert not alone._spark.started


@pytest.mark.spark
@pytest.mark.parametrize("codec", ["LZ4", "ZSTD"])
def test_times_under_codecs_that_only_spark_knows(
    sessions: dict[str, hivesql.Session], codec: str
) -> None:
    local, table = sessions["local"], f"packed_{codec}"
    local.sql(
        f"CREATE TABLE {table} (i int, ts timestamp, d date) STORED AS ORC "
        f"TBLPROPERTIES ('transactional'='true', 'orc.compress'='{codec}')"
    )
    local.sql(
        f"INSERT INTO {table} VALUES (1, '2020-02-29 01:02:03.5', '2020-02-29'), (2, null, null)"
    )
    local.sql(f"UPDATE {table} SET d = '1999-12-31' WHERE i = 2")
    told = "SELECT i, cast(ts AS string), cast(d AS string) FROM {} ORDER BY i"
    assert local.sql(told.format(table)).rows == [
        (1, "2020-02-29 01:02:03.5", "2020-02-29"), (2, None, "1999-12-31"),
    ]  # fmt: skip
    assert [row[0] for row in local.sql(f"SELECT i, ts FROM {table} WHERE i = 1").rows] == [1]
