"""Plain Spark writes our tables: INSERT and frames, as statements of ours with Hive's meaning."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as f

import hivesql
from hivesql_executor.jvm import spark_line
from plain_spark import rows_of_both

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_inserted_rows_mean_what_hive_s_would(plain: SparkSession, empty: hivesql.Session) -> None:
    empty.sql(
        "CREATE TRANSACTIONAL TABLE t (id INT, c CHAR(3), v VARCHAR(2), at TIMESTAMP, "
        "w STRING, d DECIMAL(5,2)) PARTITIONED BY (p INT, q STRING) STORED AS ORC"
    )
    plain.sql(
        "INSERT INTO acid.default.t VALUES "
        "(1, 'wxyz', 'abc', TIMESTAMP_NTZ '2020-03-08 02:30:00', 'x', 1.5, 1, 'a b'), "
        "(2, 'w', 'a', NULL, NULL, NULL, NULL, 'c')"
    )
    at = datetime(2020, 3, 8, 2, 30)
    assert rows_of_both(plain, empty, "SELECT * FROM {} ORDER BY id", "t") == [
        (1, "wxy", "ab", at, "x", Decimal("1.50"), 1, "a b"),
        (2, "w  ", "a", None, None, None, None, "c"),
    ]
    ids = empty.sql("SELECT id, ROW__ID.writeid FROM t ORDER BY id").rows
    assert [tuple(row) for row in ids] == [(1, 1), (2, 1)]
    assert empty.check("t") == ()


@pytest.mark.skipif(spark_line() < (4, 1), reason="Spark itself refuses to leave out columns")
def test_columns_that_are_left_out_have_hive_s_defaults(
    plain: SparkSession, empty: hivesql.Session
) -> None:
    empty.sql(
        "CREATE TRANSACTIONAL TABLE t (id INT, v STRING, w STRING DEFAULT 'none') PARTITIONED BY "
        "(p INT) STORED AS ORC"
    )
    plain.sql("INSERT INTO acid.default.t (p, id) VALUES (2, 3)")
    plain.sql("SELECT 2 AS p, 4 AS id").writeTo("acid.default.t").append()
    assert rows_of_both(plain, empty, "SELECT * FROM {} ORDER BY id", "t") == [
        (3, None, "none", 2),
        (4, None, "none", 2),
    ]


def test_overwrites_replace_what_spark_means(plain: SparkSession, empty: hivesql.Session) -> None:
    empty.sql(
        "CREATE TRANSACTIONAL TABLE t (a INT) PARTITIONED BY (p INT) STORED AS ORC;"
        "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"
    )

    def rows() -> list[tuple[int, int]]:
        return rows_of_both(plain, empty, "SELECT a, p FROM {} ORDER BY a", "t")

    plain.sql("INSERT OVERWRITE acid.default.t PARTITION (p = 1) SELECT a + 10 FROM acid.default.t")
    assert rows() == [(2, 2), (3, 3), (11, 1), (12, 1), (13, 1)]
    frame = plain.table("acid.default.t")
    frame.where("a > 12").writeTo("acid.default.t").overwritePartitions()
    assert rows() == [(2, 2), (3, 3), (13, 1)]
    frame.where("a = 3").selectExpr("a * 10 AS a", "4 AS p").writeTo("acid.default.t").overwrite(
        f.col("a") < 13
    )
    assert rows() == [(13, 1), (30, 4)]
    # Spark's own meaning, whatever the rows: the whole table.
    plain.sql("INSERT OVERWRITE acid.default.t SELECT a + 1, p FROM acid.default.t WHERE p = 4")
    assert rows() == [(31, 4)]
    plain.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    plain.sql("INSERT OVERWRITE acid.default.t VALUES (5, 5)")
    assert rows() == [(5, 5), (31, 4)]
    plain.sql("TRUNCATE TABLE acid.default.t")
    assert rows() == []
    assert empty.check("t") == ()


def test_tables_of_all_kinds_are_written(plain: SparkSession, empty: hivesql.Session) -> None:
    empty.sql(
        "CREATE TRANSACTIONAL TABLE b (k INT, v STRING) CLUSTERED BY (k) INTO 3 BUCKETS STORED AS "
        "ORC; CREATE TABLE i (k INT, v STRING) STORED AS PARQUET TBLPROPERTIES "
        "('transactional'='true', 'transactional_properties'='insert_only');"
        "CREATE TABLE plain (k INT, v STRING) STORED AS TEXTFILE"
    )
    rows = [(number, f"v{number}") for number in range(6)]
    frame = plain.createDataFrame(rows, "k INT, v STRING")
    for table in ("b", "i", "plain"):
        name = f"acid.default.{table}"
        frame.write.insertInto(name)
        frame.select("v", "k").write.mode("append").saveAsTable(name)
        assert rows_of_both(plain, empty, "SELECT * FROM {} ORDER BY k, v", table) == sorted(
            rows * 2
        )
        frame.where("k < 2").write.mode("overwrite").insertInto(name)
        assert rows_of_both(plain, empty, "SELECT * FROM {} ORDER BY k", table) == rows[:2]
    assert empty.check("b") == ()
    assert empty.check("i") == ()


def test_instants_are_the_same_in_any_zone(plain: SparkSession, empty: hivesql.Session) -> None:
    empty.sql(
        "SET hive.local.time.zone=Asia/Tokyo;"
        "CREATE TABLE i (w TIMESTAMP WITH LOCAL TIME ZONE) STORED AS PARQUET"
    )
    plain.sql("INSERT INTO acid.default.i VALUES (TIMESTAMP '2020-01-01 00:00:00 UTC')")
    assert plain.sql("SELECT unix_timestamp(w) FROM acid.default.i").first() == (1577836800,)
    rows = empty.sql("SELECT CAST(w AS STRING) FROM i").rows
    assert [tuple(row) for row in rows] == [("2020-01-01 09:00:00.0 Asia/Tokyo",)]


def test_a_write_and_its_reads_are_one_transaction(
    plain: SparkSession, empty: hivesql.Session
) -> None:
    empty.sql("CREATE TRANSACTIONAL TABLE t (a INT) STORED AS ORC; INSERT INTO t VALUES (1)")
    before = transactions(empty)
    plain.sql("INSERT INTO acid.default.t SELECT x.a + y.a FROM acid.default.t x, acid.default.t y")
    # One for the INSERT, and one that the second call opens itself.
    assert transactions(empty) == before + 2
    assert empty.sql("SHOW LOCKS").rows == []
    assert rows_of_both(plain, empty, "SELECT a FROM {} ORDER BY a", "t") == [(1,), (2,)]


def transactions(session: hivesql.Session) -> int:
    """The number of the transaction that is opened to ask for it."""
    session.sql("START TRANSACTION")
    number = session.open_transaction
    session.sql("ROLLBACK")
    assert number is not None
    return number
