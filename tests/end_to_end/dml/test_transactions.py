"""START TRANSACTION … COMMIT over many statements and tables, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from end_to_end.answers import rows
from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def directories(session: hivesql.Session, table: str) -> list[str]:
    home = Path(session.runtime.metastore.table(TableName("default", table)).location)
    return sorted(str(p.relative_to(home)) for p in home.rglob("*") if p.is_dir())


@pytest.fixture
def pair(
    spark: SparkSession, tmp_path: Path
) -> Iterator[tuple[hivesql.Session, hivesql.Session, list[str]]]:
    """Two sessions on one warehouse, and what the second was told."""
    told: list[str] = []
    url, home = f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse")
    with (
        hivesql.connect(url, home, spark=spark) as one,
        hivesql.connect(url, home, spark=spark, notify=told.append) as other,
    ):
        one.sql(f"""
            CREATE TABLE t (id int, v string) {ACID};
            CREATE TABLE p (id int) PARTITIONED BY (k int) {ACID};
            INSERT INTO t VALUES (1, 'a'), (2, 'b');
        """)
        yield one, other, told


def test_many_statements_are_one_transaction(
    pair: tuple[hivesql.Session, hivesql.Session, list[str]],
) -> None:
    one, other, told = pair
    one.sql("""
        START TRANSACTION;
        INSERT INTO t VALUES (3, 'c');
        UPDATE t SET v = upper(v) WHERE id >= 2;
        UPDATE t SET v = concat(v, '!') WHERE id = 3;
        DELETE FROM t WHERE id = 1;
        INSERT INTO p PARTITION (k) SELECT id, id % 2 FROM t;
        MERGE INTO t USING (SELECT 2 AS id UNION ALL SELECT 9) s ON t.id = s.id
          WHEN MATCHED THEN UPDATE SET v = 'merged'
          WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'new');
    """)
    inside = [(2, "merged"), (3, "C!"), (9, "new")]
    assert rows(one, "SELECT * FROM t") == inside
    assert rows(one, "SELECT id, k FROM p") == [(2, 0), (3, 1)]
    assert rows(other, "SELECT * FROM t") == [(1, "a"), (2, "b")]
    assert rows(other, "SELECT * FROM p") == []
    one.sql("COMMIT")
    assert rows(other, "SELECT * FROM t") == inside
    assert rows(other, "SELECT id, k FROM p") == [(2, 0), (3, 1)]
    assert directories(one, "t") == [
        "delete_delta_0000002_0000002_0001",
        "delete_delta_0000002_0000002_0003",
        "delete_delta_0000002_0000002_0005",
        "delete_delta_0000002_0000002_0007",
        "delta_0000001_0000001_0000",
        "delta_0000002_0000002_0000",
        "delta_0000002_0000002_0002",
        "delta_0000002_0000002_0004",
        "delta_0000002_0000002_0008",
        "delta_0000002_0000002_0009",
    ]
    assert "k=1/delta_0000001_0000001_0006" in directories(one, "p")

    # The snapshot is that of the start, whatever others commit.
    one.sql("BEGIN")
    assert rows(one, "SELECT id FROM t") == [(2,), (3,), (9,)]
    other.sql("INSERT INTO t VALUES (10, 'x'); UPDATE t SET v = 'theirs' WHERE id = 2")
    assert rows(one, "SELECT * FROM t") == inside
    with pytest.raises(hivesql.WriteConflict, match="committed first") as raised:
        one.sql("UPDATE t SET v = 'ours' WHERE id = 2")
    assert raised.value.retryable
    with pytest.raises(hivesql.ExecutionError) as ended:
        one.sql("COMMIT")
    assert ended.value.code == 20008
    assert (2, "theirs") in rows(one, "SELECT * FROM t")

    # ROLLBACK, and everything that Hive refuses inside, leaves nothing.
    before = rows(one, "SELECT * FROM t")
    one.sql("START TRANSACTION; DELETE FROM t; ROLLBACK")
    refused = {
        "CREATE TABLE c (a int)": 20007,
        "START TRANSACTION": 20007,
        "TRUNCATE TABLE t": 20007,
        "SELECT * FROM nosuch": 10001,
        "DELETE FROM t; INSERT INTO t VALUES ('x": None,
        "INSERT INTO t VALUES (${nosuch}, 'x')": None,
        "INSERT INTO t SELECT CAST(assert_true(1 = 2) AS INT), 'x'": None,
    }
    for statement, code in refused.items():
        one.sql("START TRANSACTION; INSERT INTO t VALUES (77, 'gone')")
        with pytest.raises(hivesql.HiveSqlError) as failed:
            one.sql(statement)
        assert failed.value.code == code, statement
        with pytest.raises(hivesql.ExecutionError) as ended:
            one.sql("ROLLBACK")
        assert ended.value.code == 20008
    assert rows(one, "SELECT * FROM t") == before
    assert one.sql("SHOW LOCKS").rows == []

    # An overwrite inside is one base; nothing more can be written beside it.
    one.sql("START TRANSACTION; INSERT INTO t VALUES (5, 'e')")
    one.sql("INSERT OVERWRITE TABLE t SELECT * FROM t WHERE id = 5")
    assert rows(one, "SELECT * FROM t") == [(5, "e")]
    with pytest.raises(hivesql.NotSupported, match="after INSERT OVERWRITE"):
        one.sql("INSERT INTO t VALUES (6, 'f')")
    assert rows(one, "SELECT * FROM t") == before
    one.sql("START TRANSACTION; INSERT OVERWRITE TABLE t SELECT 5, 'e'; COMMIT")
    one.sql("ALTER TABLE t COMPACT 'major'")
    assert rows(other, "SELECT * FROM t") == [(5, "e")]

    # Two transactions that want each other's tables: the younger goes.
    one.sql("START TRANSACTION; UPDATE t SET v = 'one'")
    other.sql("SET hive.lock.numretries=1; START TRANSACTION; DELETE FROM p")
    with pytest.raises(hivesql.LockTimeout, match="blocked by"):
        other.sql("UPDATE t SET v = 'other'")
    assert told[-2].startswith("waiting for locks for 0.0 s: blocked by lock")
    assert told[-1].endswith("was rolled back")
    one.sql("DELETE FROM p; COMMIT")
    assert rows(other, "SELECT * FROM t") == [(5, "one")]


def test_settings_and_locks_shown(
    pair: tuple[hivesql.Session, hivesql.Session, list[str]],
) -> None:
    one, other, told = pair
    one.sql("SET hive.lock.numretries=7; SET hivevar:x=1")
    assert rows(one, "SET") == [
        ("hive.exec.orc.default.compress=ZSTD",),
        ("hive.lock.numretries=7",),
        ("hivevar:x=1",),
    ]
    assert ("hive.txn.timeout=300s",) in rows(one, "SET -v")
    assert rows(one, "SET hive.lock.numretries") == [("hive.lock.numretries=7",)]
    (conf,) = one.sql("SHOW CONF 'hive.lock.numretries'").rows
    assert conf[:2] == ("100", "INT")
    one.sql("SET metastore.lock.numretries=8")
    assert rows(one, "SET metastore.lock.numretries") == [("metastore.lock.numretries=8",)]
    assert rows(one, "SET hive.lock.numretries") == [("hive.lock.numretries=8",)]
    one.sql("RESET metastore.lock.numretries")
    assert rows(one, "SET metastore.lock.numretries") == [("metastore.lock.numretries=100",)]

    one.sql("START TRANSACTION; INSERT INTO p PARTITION (k=1) VALUES (1); SELECT * FROM t")
    shown = other.sql("SHOW LOCKS")
    assert shown.columns[0] == "lockid"
    assert [(row[1], row[2], row[3], row[4], row[6]) for row in shown.rows] == [
        ("default", "p", "k=1", "ACQUIRED", "SHARED_READ"),
        ("default", "t", "NULL", "ACQUIRED", "SHARED_READ"),
    ]
    assert len(other.sql("SHOW LOCKS p PARTITION (k=1) EXTENDED").rows) == 1
    assert len(other.sql("SHOW LOCKS DATABASE default").rows) == 2
    (txn,) = other.sql("SHOW TRANSACTIONS").rows
    assert txn[1] == "OPEN"
    other.sql(f"ABORT TRANSACTIONS {txn[0]} 99")
    assert told[-1] == "not open, so not aborted: 99"
    with pytest.raises(hivesql.TransactionLost, match="abort by query command"):
        one.sql("COMMIT")
    assert rows(one, "SELECT * FROM p") == []

    for statement in ("LOCK TABLE t SHARED", "UNLOCK DATABASE default"):
        with pytest.raises(hivesql.SemanticError) as raised:
            one.sql(statement)
        assert raised.value.code == 10271
    lines = [row[0] for row in one.sql("EXPLAIN LOCKS UPDATE t SET v = 'x'").rows]
    shown = ["default.t -> EXCL_WRITE", "default.t -> SHARED_READ"]
    assert lines == ["LOCK INFORMATION:", *shown]
    (line,) = one.sql("EXPLAIN FORMATTED LOCKS DELETE FROM t").rows
    assert line == ('{"LOCK INFORMATION:":"[default.t -> EXCL_WRITE]"}',)
    assert one.sql("SHOW LOCKS").rows == []

    one.sql("SET hive.support.concurrency=false")
    for statement in ("INSERT INTO t VALUES (1, 'x')", "START TRANSACTION"):
        with pytest.raises(hivesql.SemanticError) as raised:
            one.sql(statement)
        assert raised.value.code == 10264
