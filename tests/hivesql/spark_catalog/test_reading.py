"""Plain Spark reads our tables: their rows, one snapshot and Hive's locks for each query."""

from __future__ import annotations

import threading
import time
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, PySparkException

import hivesql
from hivesql_executor.spark.lines import collect_rows
from waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

pytestmark = pytest.mark.spark


def rows(spark: SparkSession, sql: str) -> list[Row]:
    return collect_rows(spark.sql(sql))


def test_a_table_has_its_rows_and_spark_s_types(
    plain: SparkSession, session: hivesql.Session
) -> None:
    frame = plain.table("acid.default.t").orderBy("id")
    assert frame.dtypes == [
        ("id", "int"), ("n", "string"), ("d", "decimal(10,2)"), ("at", "timestamp_ntz"),
        ("c", "string"), ("s", "struct<a:int,at:timestamp_ntz>"), ("p", "int"),
    ]  # fmt: skip
    first, second = frame.collect()
    assert tuple(first[:5]) == (1, "a", Decimal("1.50"), datetime(2020, 1, 1, 1), "x  ")
    assert (first.s.at, first.p) == (datetime(2020, 1, 1, 2), 1)
    assert (second.id, second.s) == (2, None)


def test_partitions_of_timestamps_have_no_zone(
    plain: SparkSession, session: hivesql.Session
) -> None:
    session.sql(
        "CREATE TRANSACTIONAL TABLE u (a INT) PARTITIONED BY (q TIMESTAMP) STORED AS ORC;"
        "INSERT INTO u PARTITION (q) SELECT 1, TIMESTAMP '2020-03-08 02:30:00'"
    )
    assert [row.q for row in plain.table("acid.default.u").collect()] == [
        datetime(2020, 3, 8, 2, 30)
    ]


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("p = 2", [2]),
        ("id IN (1, 7) AND d > 1", [1]),
        ("c = 'x'", []),
        ("rtrim(c) = 'x' OR n = 'b'", [1, 2]),
        ("n >= 'b' AND id <=> 2", [2]),
        ("at < TIMESTAMP_NTZ '2020-01-01 01:00:01'", [1]),
        ("s.a = 1 OR n LIKE '%b'", [1, 2]),
        ("id NOT IN (2)", [1]),
        ("n IN (SELECT n FROM acid.default.t WHERE p = 1)", [1]),
    ],
)
def test_a_condition_chooses_the_rows_that_spark_means(
    plain: SparkSession, session: hivesql.Session, condition: str, ids: list[int]
) -> None:
    found = rows(plain, f"SELECT id FROM acid.default.t WHERE {condition} ORDER BY id")
    assert [row.id for row in found] == ids


def test_partitions_and_columns_that_nobody_wants_are_not_read(
    plain: SparkSession, session: hivesql.Session, tmp_path: Path
) -> None:
    for file in (tmp_path / "warehouse" / "t" / "p=2").rglob("bucket_*"):
        file.write_bytes(b"no longer ORC")
    assert [row.n for row in rows(plain, "SELECT n FROM acid.default.t WHERE p < 2")] == ["a"]
    with pytest.raises(PySparkException):
        rows(plain, "SELECT n FROM acid.default.t")


def test_our_tables_are_joined_with_what_spark_has(
    plain: SparkSession, session: hivesql.Session
) -> None:
    plain.createDataFrame([(1, "one"), (2, "two")], "k int, word string").createTempView("words")
    found = rows(
        plain,
        "SELECT word, count(*) OVER () AS of FROM words JOIN acid.default.t ON id = k ORDER BY 1",
    )
    plain.catalog.dropTempView("words")
    assert [tuple(row) for row in found] == [("one", 2), ("two", 2)]
    assert rows(plain, "SELECT count(*) AS n FROM acid.default.t")[0].n == 2


def test_earlier_states_are_read_by_version_and_by_time(
    plain: SparkSession, session: hivesql.Session
) -> None:
    found = rows(plain, "SELECT id FROM acid.default.t VERSION AS OF 3 ORDER BY id")
    assert [row.id for row in found] == [1, 2, 3]
    now = rows(plain, "SELECT id FROM acid.default.t TIMESTAMP AS OF current_timestamp()")
    assert len(now) == 2
    with pytest.raises(PySparkException, match="is the number of a write"):
        rows(plain, "SELECT id FROM acid.default.t VERSION AS OF 'last'")


def test_what_there_is_can_be_listed(plain: SparkSession, session: hivesql.Session) -> None:
    session.sql("CREATE DATABASE other; CREATE VIEW v AS SELECT id FROM t")
    assert [row.namespace for row in rows(plain, "SHOW NAMESPACES IN acid")] == ["default", "other"]
    tables = rows(plain, "SHOW TABLES IN acid.default")
    assert sorted(row.tableName for row in tables) == ["t", "v"]
    assert sorted(row.id for row in rows(plain, "SELECT * FROM acid.default.v")) == [1, 2]
    with pytest.raises(AnalysisException, match="nothing_here"):
        plain.table("acid.default.nothing_here")
    with pytest.raises(AnalysisException, match="nowhere"):
        rows(plain, "SHOW TABLES IN acid.nowhere")


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("CREATE TABLE acid.default.x (a INT)", "CREATE TABLE"),
        ("CREATE TABLE acid.default.x AS SELECT 1 AS a", "CREATE TABLE"),
        ("DROP TABLE acid.default.t", "DROP TABLE"),
        ("ALTER TABLE acid.default.t ADD COLUMN z INT", "ALTER TABLE"),
        ("ALTER TABLE acid.default.t RENAME TO acid.default.u", "ALTER TABLE … RENAME"),
        ("CREATE DATABASE acid.other", "CREATE DATABASE"),
        ("DROP DATABASE acid.default", "DROP DATABASE"),
    ],
)
def test_definitions_are_refused_by_name(
    plain: SparkSession, session: hivesql.Session, statement: str, named: str
) -> None:
    with pytest.raises(PySparkException, match=f"not supported: {named} in the catalog acid"):
        plain.sql(statement)


def test_a_query_holds_locks_and_one_snapshot_until_it_ends(
    plain: SparkSession, session: hivesql.Session, tmp_path: Path
) -> None:
    go_on, begun = tmp_path / "go-on", str(tmp_path / "begun")

    def wait(number: int) -> int:
        Path(begun).touch()
        while not go_on.exists():
            time.sleep(0.05)
        return number

    plain.udf.register("wait", wait, "int")
    frame = plain.sql("SELECT wait(a.id) FROM acid.default.t a JOIN acid.default.t b ON a.n = b.n")
    query = threading.Thread(target=frame.collect)
    query.start()
    try:
        wait_until(lambda: Path(begun).exists())
        held = [row for row in session.sql("SHOW LOCKS").rows if "SHARED_READ" in row]
        assert len({row[5] for row in held}) == 1
        opened = [row for row in session.sql("SHOW TRANSACTIONS").rows if row[1] == "OPEN"]
        assert len(opened) == 1
        session.set("hive.lock.numretries", "1")
        session.set("hive.lock.sleep.between.retries", "1s")
        with pytest.raises(hivesql.LockTimeout):
            session.sql("DROP TABLE t")
    finally:
        go_on.touch()
        query.join()
    wait_until(lambda: not [row for row in session.sql("SHOW LOCKS").rows if "t" in row])
    session.sql("DROP TABLE t")


def test_frames_show_what_was_committed_when_they_run(
    plain: SparkSession, session: hivesql.Session
) -> None:
    frame = plain.table("acid.default.t")
    assert frame.count() == 2
    session.sql("DELETE FROM t WHERE id = 1")
    assert frame.count() == 1
    assert [row.id for row in frame.toLocalIterator()] == [2]
    assert frame.rdd.count() == 1
    assert session.sql("SHOW LOCKS").rows == []


def test_a_catalog_ends_with_its_session(plain: SparkSession, session: hivesql.Session) -> None:
    session.close()
    with pytest.raises(PySparkException, match="the session is closed"):
        plain.table("acid.default.t")


def test_a_name_of_another_catalog_is_refused(
    plain: SparkSession, session: hivesql.Session
) -> None:
    plain.conf.set("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    with pytest.raises(hivesql.SemanticError, match="lake is another catalog"):
        hivesql.register_catalog(plain, "lake", metastore=session_url(session))
    with pytest.raises(hivesql.SemanticError, match="a catalog's name is a word"):
        hivesql.register_catalog(plain, "la.ke")


def session_url(session: hivesql.Session) -> str:
    place = session.sql("DESCRIBE DATABASE default").rows[0][2]
    return f"sqlite:///{Path(place.removeprefix('file:')).parent}/metastore.db"
