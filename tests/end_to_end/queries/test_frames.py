"""DataFrames in and out: append, merge, and results as Arrow, pandas and Spark."""

from __future__ import annotations

import datetime
import itertools
import uuid
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pytest

import hivesql
from end_to_end.answers import rows
from hivesql_executor.spark.lines import collect_arrow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def test_append_by_name_from_every_kind_of_frame(
    session: hivesql.Session, spark: SparkSession
) -> None:
    session.sql(
        "CREATE TABLE t (id INT, name STRING DEFAULT 'nobody', at TIMESTAMP, d DECIMAL(6,2)) "
        f"PARTITIONED BY (day STRING) {ACID}"
    )
    at = datetime.datetime(2024, 2, 29, 23, 59, 1, 500000)
    arrow = pa.table({
        "Day": pa.array(["a", "b"]).dictionary_encode(), "id": [1, 2], "at": [at, None],
        "d": [Decimal("1.25"), None],
    })  # fmt: skip
    assert session.append("t", arrow).affected == 2
    pandas = pd.DataFrame({"id": [3], "name": ["x"], "day": ["a"], "at": [pd.Timestamp(at)]})
    assert session.append("default.t", pandas).affected == 1
    frame = spark.createDataFrame([(4, "y")], "ID INT, name STRING")
    assert session.append("`t`", frame, partition={"day": "c"}).affected == 1
    assert rows(session, "SELECT id, name, at, d, day FROM t") == [
        (1, "nobody", at, Decimal("1.25"), "a"), (2, "nobody", None, None, "b"),
        (3, "x", at, None, "a"), (4, "y", None, None, "c"),
    ]  # fmt: skip
    session.append("t", arrow.slice(0, 1), overwrite=True)
    assert rows(session, "SELECT id, day FROM t") == [(1, "a"), (2, "b"), (4, "c")]
    session.append("t", pa.table({"id": [9]}), overwrite=True, partition={"Day": "b"})
    assert rows(session, "SELECT id, day, name FROM t") == [
        (1, "a", "nobody"), (4, "c", "y"), (9, "b", "nobody"),
    ]  # fmt: skip
    for wrong, code in ({"id": [1]}, 10044), ({"id": [1], "day": ["a"], "z": [1]}, 10004):
        with pytest.raises(hivesql.SemanticError) as raised:
            session.append("t", pa.table(wrong), overwrite=True)
        assert raised.value.code == code
    with pytest.raises(hivesql.SemanticError, match="no partition column hour"):
        session.append("t", pandas, partition={"hour": 1})
    # The frame's own names are of no catalog, and the session sees no more of it.
    assert [row[1] for row in session.sql("SHOW LOCKS").rows] == []
    assert session.sql("SHOW DATABASES").rows == [("default",)]
    assert spark.sql("SHOW VIEWS IN global_temp").collect() == []


def test_append_goes_the_way_of_insert(session: hivesql.Session, spark: SparkSession) -> None:
    session.sql(f"CREATE TABLE t (id INT NOT NULL ENABLE, v STRING CHECK (v <> 'bad')) {ACID}")
    session.sql(
        f"CREATE TABLE b (id INT, v STRING) CLUSTERED BY (id) INTO 3 BUCKETS {ACID};"
        "CREATE TABLE plain (id INT, v STRING) STORED AS ORC"
    )
    wrong = {
        # name: (table, frame, error, code, text)
        "a NULL": ("t", pa.table({"id": [None], "v": ["x"]}),
                   hivesql.ConstraintViolation, None, "constraint"),
        "a bad value": ("t", pa.table({"id": [1], "v": ["bad"]}),
                        hivesql.ConstraintViolation, None, "constraint"),
        "an unknown column": ("t", pa.table({"id": [1], "w": ["x"]}),
                              hivesql.SemanticError, 10004, "'w'"),
        "an unknown table": ("nope", pa.table({"id": [1]}), hivesql.NoSuchObject, 10001, "nope"),
        "one name twice": ("t", pa.table([[1], [2]], names=["id", "ID"]),
                           hivesql.SemanticError, 10036, "id"),
        "mixed types": ("t", pd.DataFrame({"id": [1, "x"]}), hivesql.SemanticError, None, "mixed"),
        "a list": ("t", [(1, "x")], hivesql.NotSupported, None, "builtins.list"),
    }  # fmt: skip
    for what, (table, frame, kind, code, text) in wrong.items():
        with pytest.raises(kind, match=text) as raised:
            session.append(table, frame)
        assert raised.value.code == code, what
    assert rows(session, "SELECT * FROM t") == []
    wide = spark.range(500).selectExpr("CAST(id AS INT) id", "CAST(id AS STRING) v")
    for table in ("b", "plain"):
        assert session.append(table, wide).affected == 500
        assert rows(session, f"SELECT count(*), sum(id) FROM {table}") == [(500, 124750)]
    assert session.check("b") == ()
    session.sql("START TRANSACTION")
    session.append("b", wide)
    assert rows(session, "SELECT count(*) FROM b") == [(1000,)]
    session.sql("ROLLBACK")
    assert rows(session, "SELECT count(*) FROM b") == [(500,)]


def test_merge(session: hivesql.Session, spark: SparkSession) -> None:
    session.sql(
        f"CREATE TABLE t (id INT, v STRING, n INT) PARTITIONED BY (k INT) {ACID};"
        "INSERT INTO t VALUES (1, 'a', 0, 1), (2, 'b', 0, 1), (3, 'c', 0, 2)"
    )
    changes = pd.DataFrame({
        "id": [1, 2, 4, 5], "v": ["A", "B", "D", "E"], "op": ["u", "d", "u", "d"],
        "k": [1, 1, 3, 3],
    })  # fmt: skip
    done = session.merge(
        "t", changes, ["id"], delete="source.op = 'd'", insert_if="source.op <> 'd'"
    )
    assert done.affected == 3
    assert rows(session, "SELECT * FROM t") == [
        (1, "A", 0, 1), (3, "c", 0, 2), (4, "D", None, 3),
    ]  # fmt: skip
    counted = spark.createDataFrame([(3, 7), (9, 9)], "id INT, more INT")
    session.merge(
        "t", counted, "target.id = source.id AND target.k > 1",
        update={"n": "target.n + source.more"}, update_if="target.v = 'c'", insert=False,
    )  # fmt: skip
    assert rows(session, "SELECT id, n FROM t WHERE k = 2") == [(3, 7)]
    session.merge("t", counted, ["id"], update=False, insert={"id": "source.id", "k": "0"})
    assert rows(session, "SELECT id, n, k FROM t WHERE id = 9") == [(9, None, 0)]
    twice = pa.table({"id": [1, 1], "v": ["x", "y"]})
    with pytest.raises(hivesql.CardinalityViolation):
        session.merge("t", twice, ["id"])
    with pytest.raises(hivesql.SemanticError, match="no column to update"):
        session.merge("t", pa.table({"id": [1]}), ["id"])
    with pytest.raises(hivesql.SemanticError, match="on="):
        session.merge("t", twice, [])
    with pytest.raises(hivesql.SemanticError, match="nope"):
        session.merge("t", twice, "target.nope = source.id")


def test_results(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql(
        f"CREATE TABLE t (id INT, v STRING) {ACID}; INSERT INTO t VALUES (1, 'a'), (2, 'b')"
    )
    query = (
        "SELECT id, TIMESTAMP '2024-01-02 03:04:05' AS at, array(id) AS l, "
        "named_struct('x', v) AS s, map(v, id) AS m, CAST(id AS DECIMAL(5,1)) AS d FROM t"
    )
    arrow = session.sql(f"{query} ORDER BY id").to_arrow()
    assert arrow.schema.field("at").type == pa.timestamp("us")
    assert arrow.schema.field("d").type == pa.decimal128(5, 1)
    assert arrow.to_pylist()[0] == {
        "id": 1, "at": datetime.datetime(2024, 1, 2, 3, 4, 5), "l": [1], "s": {"x": "a"},
        "m": [("a", 1)], "d": Decimal("1.0"),
    }  # fmt: skip
    empty = session.sql(f"{query} WHERE id > 9").to_arrow()
    assert (empty.num_rows, empty.schema) == (0, arrow.schema)
    assert list(session.sql("SELECT id FROM t ORDER BY id").to_pandas()["id"]) == [1, 2]
    assert session.sql("SHOW TABLES").to_arrow().to_pylist() == [{"tab_name": "t"}]
    direct = session.sql("SELECT id FROM t", consume=collect_arrow)
    assert direct.to_arrow() is direct.value
    kept = session.frame("SELECT id FROM t")
    session.sql("DELETE FROM t WHERE id = 1; ALTER TABLE t COMPACT 'major'; DROP TABLE t")
    assert sorted(kept.collect()) == [(1,), (2,)]


def test_temporary_views_of_the_users_spark(
    session: hivesql.Session, spark: SparkSession, tmp_path: Path
) -> None:
    session.sql(
        f"CREATE TABLE t (id INT, name STRING) {ACID}; INSERT INTO t VALUES (1, 'a'), (2, 'b');"
        "CREATE DATABASE other"
    )
    at = datetime.datetime(2024, 2, 29, 23, 59, 1, 500000)
    spark.createDataFrame([(2, "x", at), (3, "y", None)], "ID INT, name STRING, at TIMESTAMP_NTZ")\
        .createOrReplaceTempView("New_Rows")  # fmt: skip
    spark.createDataFrame([(9,)], "id INT").createOrReplaceTempView("t")
    try:
        reads = {
            "SELECT id, at FROM new_rows n": [(2, at), (3, None)],
            "SELECT t.id, n.name FROM t JOIN `New_rows` n ON t.id = n.id": [(2, "x")],
            "WITH new_rows AS (SELECT 1 AS id) SELECT id FROM new_rows": [(1,)],
            "SELECT id FROM t WHERE id IN (SELECT id FROM new_rows)": [(2,)],
            # What Hive's catalog has is what a name means.
            "SELECT id FROM t": [(1,), (2,)],
        }
        assert {sql: rows(session, sql) for sql in reads} == reads
        session.sql("USE other")
        assert rows(session, "SELECT id FROM new_rows") == [(2,), (3,)]
        session.sql("USE default")

        session.sql("CREATE TABLE made STORED AS ORC AS SELECT * FROM new_rows")
        session.sql("INSERT INTO made SELECT id + 10, name, at FROM new_rows WHERE at IS NULL")
        assert rows(session, "SELECT id, name, at FROM made") == [
            (2, "x", at), (3, "y", None), (13, "y", None),
        ]  # fmt: skip
        session.sql(
            "MERGE INTO t USING new_rows n ON t.id = n.id WHEN MATCHED THEN UPDATE SET name = "
            "n.name WHEN NOT MATCHED THEN INSERT VALUES (n.id, n.name)"
        )
        session.sql("UPDATE t SET name = 'z' WHERE id IN (SELECT max(id) FROM new_rows)")
        assert rows(session, "SELECT * FROM t") == [(1, "a"), (2, "x"), (3, "z")]
        session.sql("FROM new_rows INSERT INTO t SELECT id, name WHERE id = 3 "
                    "INSERT INTO made SELECT 0, name, at WHERE id = 2")  # fmt: skip
        assert len(rows(session, "SELECT * FROM t")) == 4
        session.sql("DELETE FROM t WHERE EXISTS (SELECT 1 FROM new_rows n WHERE n.id = t.id)")
        assert rows(session, "SELECT * FROM t") == [(1, "a")]
        session.sql("START TRANSACTION; INSERT INTO t SELECT id, name FROM new_rows; COMMIT")
        assert len(rows(session, "SELECT * FROM t")) == 3
        there = f"INSERT OVERWRITE LOCAL DIRECTORY '{tmp_path}/out' SELECT id FROM new_rows"
        session.sql(there)
        assert "".join(sorted(p.read_text() for p in (tmp_path / "out").iterdir()
                              if not p.name.startswith("."))) == "2\n3\n"  # fmt: skip

        told = {
            "EXPLAIN SELECT * FROM new_rows": "temporary view new_rows, which Spark reads outside",
            "EXPLAIN EXTENDED SELECT * FROM new_rows": "new_rows temporary view of Spark",
            "EXPLAIN FORMATTED SELECT * FROM new_rows": '"sparkView":"new_rows"',
        }
        for sql, text in told.items():
            answer = session.sql(sql).rows
            assert text in "\n".join(line for (line,) in answer), answer
        locked = session.sql("EXPLAIN LOCKS SELECT * FROM t, new_rows").rows
        assert "new_rows" not in str(locked)

        only_read = ("INSERT INTO new_rows SELECT 1, 'a', NULL", "UPDATE new_rows SET id = 1",
                     "DELETE FROM new_rows", "TRUNCATE TABLE new_rows", "DESCRIBE new_rows",
                     "ALTER TABLE new_rows ADD COLUMNS (x INT)", "ANALYZE TABLE new_rows COMPUTE "
                     "STATISTICS", "MERGE INTO new_rows USING t ON t.id = new_rows.id WHEN MATCHED "
                     "THEN DELETE", "LOAD DATA INPATH '/x' INTO TABLE new_rows",
                     "SHOW CREATE TABLE new_rows")  # fmt: skip
        for sql in only_read:
            with pytest.raises(hivesql.NoSuchObject, match="temporary view of Spark") as raised:
                session.sql(sql)
            assert (raised.value.code, raised.value.line) == (10001, 1)
        with pytest.raises(hivesql.SemanticError, match="references temporary view of Spark"):
            session.sql("CREATE VIEW v AS SELECT * FROM new_rows")
        with pytest.raises(hivesql.NoSuchObject, match=r"not found: default\.new_rows"):
            session.sql("SELECT * FROM default.new_rows")
        # Frames that a session gave may be named, too.
        session.frame("SELECT id FROM made WHERE id = 13").createOrReplaceTempView("from_here")
        assert rows(session, "SELECT id FROM from_here") == [(13,)]
        shared = spark.sql("SHOW VIEWS IN global_temp").collect()
        assert {one.namespace for one in shared} == {""}
    finally:
        for name in ("new_rows", "t"):
            spark.catalog.dropTempView(name)
    with pytest.raises(hivesql.NoSuchObject):
        session.sql("SELECT * FROM new_rows")


def test_tables_of_other_catalogs_of_spark(session: hivesql.Session, spark: SparkSession) -> None:
    session.sql(f"CREATE TABLE t (id INT, name STRING) {ACID}; INSERT INTO t VALUES (1, 'a')")
    keys = {
        "": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        ".url": f"jdbc:derby:memory:{uuid.uuid4().hex};create=true",
        ".driver": "org.apache.derby.jdbc.EmbeddedDriver",
    }
    with pytest.raises(hivesql.NotSupported, match=r"spark\.sql\.catalog\.away is not set"):
        session.sql("SELECT * FROM away.app.news")
    owner = spark.newSession()
    owner.conf.set("spark.sql.storeAssignmentPolicy", "ANSI")
    for one, (key, value) in itertools.product((owner, spark), keys.items()):
        one.conf.set(f"spark.sql.catalog.away{key}", value)
    try:
        owner.sql("CREATE NAMESPACE away.`Shop`")
        owner.sql("CREATE TABLE away.`Shop`.news (ID INT, name STRING)")
        owner.sql("INSERT INTO away.`Shop`.news VALUES (1, 'x'), (2, 'y')")
        assert rows(session, "SELECT n.id, t.name FROM away.Shop.news n JOIN t ON t.id = n.id") == [
            (1, "a")
        ]
        assert rows(session, "SELECT max(news.name) FROM away.`Shop`.news") == [("y",)]
        told = session.sql("EXPLAIN SELECT * FROM away.Shop.news").rows
        assert "table away.Shop.news, which Spark reads outside of all locks" in str(told)
        session.sql(
            "MERGE INTO t USING away.Shop.news s ON s.id = t.id WHEN MATCHED THEN UPDATE SET "
            "name = s.name WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name)"
        )
        session.sql("INSERT INTO t SELECT id + 10, name FROM away.Shop.news")
        found = [(1, "x"), (2, "y"), (11, "x"), (12, "y")]
        assert rows(session, "SELECT * FROM t") == found
        with pytest.raises(hivesql.NoSuchObject, match=r"away\.Shop\.none, by Spark") as raised:
            session.sql("SELECT * FROM\n away.Shop.none")
        assert (raised.value.code, raised.value.line, raised.value.column) == (10001, 2, 2)
        for refused in ("CREATE VIEW v AS SELECT * FROM away.Shop.news",
                        "DELETE FROM away.Shop.news", "INSERT INTO away.Shop.news VALUES (1, 'a')",
                        "SELECT * FROM away.Shop.news FOR SYSTEM_VERSION AS OF 1"):  # fmt: skip
            with pytest.raises((hivesql.SemanticError, hivesql.NotSupported)):
                session.sql(refused)
        assert len(rows(session, "SELECT * FROM away.Shop.news")) == 2
    finally:
        for key in keys:
            spark.conf.unset(f"spark.sql.catalog.away{key}")
