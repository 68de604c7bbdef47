"""Writes of plain Spark that fail or are refused leave nothing, and say why."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as f

import hivesql
from waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def tables(empty: hivesql.Session) -> hivesql.Session:
    """A session with tables of all kinds; ``t`` has two rows."""
    empty.sql(
        """
        CREATE TRANSACTIONAL TABLE t (k INT, v STRING NOT NULL ENABLE) PARTITIONED BY (p STRING)
          CLUSTERED BY (k) INTO 2 BUCKETS STORED AS ORC;
        INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y');
        CREATE TABLE i (a INT) PARTITIONED BY (p INT, q INT) STORED AS ORC TBLPROPERTIES
          ('transactional'='true', 'transactional_properties'='insert_only');
        CREATE TABLE plain (a INT) STORED AS ORC;
        CREATE VIEW view AS SELECT * FROM t;
        """
    )
    return empty


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("INSERT INTO acid.default.view VALUES (1, 'a', 'x')", "view cannot be used as target"),
        ("UPDATE acid.default.view SET k = 1", "UPDATE of default.view, which is a view"),
        ("UPDATE acid.default.i SET a = 1", "UPDATE of default.i, which is insert-only"),
        ("DELETE FROM acid.default.plain WHERE a = 1", "DELETE of default.plain, which is not tra"),
        (
            "MERGE INTO acid.default.plain t USING acid.default.t s ON t.a = s.k "
            "WHEN MATCHED THEN DELETE",
            "MERGE of default.plain, which is not transactional",
        ),
        (
            "INSERT OVERWRITE acid.default.i PARTITION (p = 1) SELECT 1, 2",
            "overwriting some partitions of default.i",
        ),
        (
            "INSERT OVERWRITE acid.default.plain SELECT a FROM acid.default.plain",
            "reading default.plain in a query of Spark that writes it",
        ),
        ("CREATE OR REPLACE TABLE acid.default.t (a INT)", "DROP TABLE in the catalog"),
    ],
)
def test_what_cannot_be_written_is_refused_by_name(
    plain: SparkSession, tables: hivesql.Session, statement: str, why: str
) -> None:
    with pytest.raises(PySparkException, match=why):
        plain.sql(statement)


def test_frames_that_cannot_be_written_are_refused(
    plain: SparkSession, tables: hivesql.Session, tmp_path: Path
) -> None:
    frame = plain.sql("SELECT 1 AS k, 'a' AS v, 'z' AS p")
    writer = frame.writeTo("acid.default.t")
    with pytest.raises(PySparkException, match=r"outside of the partition of default.t"):
        writer.overwrite(f.col("p") == "x")
    with pytest.raises(PySparkException, match=r"overwriting the rows of default.t|translate"):
        writer.overwrite(f.col("v").like("%a"))
    with pytest.raises(PySparkException, match="DROP TABLE in the catalog acid"):
        frame.write.mode("overwrite").saveAsTable("acid.default.t")
    stream = plain.readStream.format("rate").load().writeStream
    with pytest.raises(PySparkException, match="streaming write"):
        stream.option("checkpointLocation", str(tmp_path / "c")).toTable("acid.default.t")
    assert rows(tables) == [(1, "a", "x"), (2, "b", "y")]


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("INSERT INTO acid.default.t SELECT 3, raise_error('no such luck'), 'x'", "no such luck"),
        ("INSERT INTO acid.default.t VALUES (3, NULL, 'x')", "NOT NULL constraint violated"),
        ("UPDATE acid.default.t SET v = nullif(v, 'b')", "NOT NULL constraint violated"),
        ("UPDATE acid.default.t SET p = 'other' WHERE k = 1", "10292.*partition columns"),
        ("UPDATE acid.default.t SET k = k + 1 WHERE k = 1", "10302.*bucketing columns"),
        (
            "MERGE INTO acid.default.t USING (SELECT explode(array('x', 'y')) AS w) AS s ON k = 1 "
            "WHEN MATCHED THEN UPDATE SET v = w",
            "MERGE_CARDINALITY_VIOLATION",
        ),
    ],
)
def test_a_statement_that_fails_leaves_nothing(
    plain: SparkSession, tables: hivesql.Session, statement: str, why: str
) -> None:
    with pytest.raises(PySparkException, match=why):
        plain.sql(statement)
    assert rows(tables) == [(1, "a", "x"), (2, "b", "y")]
    assert tables.sql("SHOW LOCKS").rows == []
    states = [row[1] for row in tables.sql("SHOW TRANSACTIONS").rows]
    assert set(states) == {"ABORTED"}
    assert tables.check("t") == ()


def test_an_update_that_waits_for_another_is_of_what_that_has_left(
    plain: SparkSession, tables: hivesql.Session, tmp_path: Path
) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", spark=plain) as other:
        other.sql("START TRANSACTION; UPDATE t SET v = 'other' WHERE k = 1")
        update = threading.Thread(
            target=plain.sql, args=["UPDATE acid.default.t SET v = concat(v, '!')"]
        )
        update.start()
        try:
            wait_until(lambda: "WAITING" in str(other.sql("SHOW LOCKS").rows))
            other.sql("COMMIT")
        finally:
            update.join()
    assert rows(tables) == [(1, "other!", "x"), (2, "b!", "y")]


def test_a_write_whose_transaction_is_aborted_raises(
    plain: SparkSession, tables: hivesql.Session, tmp_path: Path
) -> None:
    go_on, begun = tmp_path / "go-on", str(tmp_path / "begun")

    def wait(text: str) -> str:
        Path(begun).touch()
        while not go_on.exists():
            time.sleep(0.05)
        return text

    plain.udf.register("wait", wait, "string")
    errors = []

    def update() -> None:
        try:
            plain.sql("UPDATE acid.default.t SET v = wait(v)")
        except PySparkException as error:
            errors.append(str(error))

    updating = threading.Thread(target=update)
    updating.start()
    try:
        wait_until(lambda: Path(begun).exists())
        (txn,) = (row[0] for row in tables.sql("SHOW TRANSACTIONS").rows if row[1] == "OPEN")
        tables.sql(f"ABORT TRANSACTIONS {txn}")
    finally:
        go_on.touch()
        updating.join()
    assert "abort" in str(errors)
    assert rows(tables) == [(1, "a", "x"), (2, "b", "y")]


def rows(session: hivesql.Session) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in session.sql("SELECT * FROM t ORDER BY k").rows]
