"""DataFrames in and out: append, merge, and results as Arrow, pandas and Spark."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pytest

import hivesql
from end_to_end.answers import rows

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
    assert [row[1] for row in session.sql("SHOW LOCKS").rows][1:] == []
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
    direct = session.sql("SELECT id FROM t", consume=lambda frame: frame.toArrow())
    assert direct.to_arrow() is direct.value
    kept = session.frame("SELECT id FROM t")
    session.sql("DELETE FROM t WHERE id = 1; ALTER TABLE t COMPACT 'major'; DROP TABLE t")
    assert sorted(kept.collect()) == [(1,), (2,)]
