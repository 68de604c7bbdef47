"""Statements over a real metastore of Hive 3.1: what it lacks is replaced, or refused by name."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

import hivesql
from executor.metastore.conftest import empty
from hivesql_executor.metastore.api import LockOwner, LockState, Metastore
from hivesql_executor.metastore.hms.client import Client, idl
from hivesql_planner.errors import (
    ExecutionError,
    HiveSqlError,
    NotSupported,
    TransactionLost,
    WriteConflict,
)
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
T = TableName("default", "t")


def clear(store: Metastore) -> None:
    """Drop what is there, and the directories: the catalog alone forgets its tables here."""
    warehouse = urlsplit(store.database("default").location).path
    empty(store)
    for left in Path(warehouse).iterdir():
        shutil.rmtree(left)


@pytest.fixture
def session(hive3_metastore: str, spark: SparkSession) -> Iterator[hivesql.Session]:
    with hivesql.connect(metastore=hive3_metastore, spark=spark) as session:
        # Tests of other files share the server, and some leave directories.
        clear(session.runtime.metastore)
        yield session
        clear(session.runtime.metastore)


def test_statements(session: hivesql.Session) -> None:
    def run(*statements: str) -> None:
        for statement in statements:
            session.sql(statement)

    def read(query: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in session.sql(query).rows)

    run(
        f"CREATE TABLE t (a INT, b STRING) PARTITIONED BY (p INT) {ACID}",
        "INSERT INTO t VALUES (1, 'x', 1), (2, 'y', 1), (3, 'z', 2)",
        "INSERT INTO t PARTITION (p) SELECT a + 10, b, p + 1 FROM t",
        "UPDATE t SET b = 'changed' WHERE a = 2",
        "DELETE FROM t WHERE a = 11",
        "MERGE INTO t USING (SELECT 3 AS a UNION ALL SELECT 4) s ON t.a = s.a "
        "WHEN MATCHED THEN UPDATE SET b = 'merged' "
        "WHEN NOT MATCHED THEN INSERT VALUES (s.a, 'new', 9)",
    )
    expected = [(1, "x", 1), (2, "changed", 1), (3, "merged", 2), (4, "new", 9), (12, "y", 2),
                (13, "z", 3)]  # fmt: skip
    assert read("SELECT * FROM t") == expected
    assert read("SELECT a FROM t WHERE p = 2") == [(3,), (12,)]
    run("ALTER TABLE t PARTITION (p=1) COMPACT 'major'")
    (queued,) = read("SHOW COMPACTIONS")
    assert ("t" in queued, "initiated" in queued) == (True, True)
    run(
        "ALTER TABLE t ADD COLUMNS (c INT)",
        "ALTER TABLE t DROP PARTITION (p=9)",
        "ALTER TABLE t PARTITION (p=3) RENAME TO PARTITION (p=4)",
        "ALTER TABLE t RENAME TO renamed",
        "TRUNCATE TABLE renamed PARTITION (p=2)",
    )
    assert read("SELECT a, c, p FROM renamed") == [(1, None, 1), (2, None, 1), (13, None, 4)]
    run(
        "CREATE TABLE inserts (a INT) TBLPROPERTIES ('transactional'='true', "
        "'transactional_properties'='insert_only')",
        "INSERT INTO inserts VALUES (1), (2)",
        "CREATE EXTERNAL TABLE plain (a INT) STORED AS PARQUET",
        "INSERT INTO plain SELECT a FROM inserts",
        "INSERT OVERWRITE TABLE inserts SELECT a + 1 FROM plain",
        "CREATE VIEW v AS SELECT a * 2 AS d FROM inserts",
        "CREATE DATABASE d",
        f"CREATE TABLE d.copied {ACID} AS SELECT * FROM v",
        "START TRANSACTION",
        "UPDATE d.copied SET d = 0 WHERE d = 4",
        "DELETE FROM d.copied WHERE d = 6",
        "ROLLBACK",
    )
    assert read("SELECT * FROM d.copied") == [(4,), (6,)]
    assert session.runtime.metastore.partition_count(TableName("default", "renamed")) == 3


def test_constraints(session: hivesql.Session) -> None:
    """Asked for kind by kind, for Hive 3 has no call for all of them."""
    session.sql(
        "CREATE TABLE t (a INT DEFAULT 7, b STRING NOT NULL ENABLE, c INT CHECK (c > 0) ENABLE, "
        f"PRIMARY KEY (a) DISABLE NOVALIDATE, UNIQUE (b) DISABLE NOVALIDATE) {ACID}"
    )
    table = session.runtime.metastore.table(T)
    assert sorted(one.kind for one in table.constraints) == [
        "check", "default", "not null", "primary key", "unique",
    ]  # fmt: skip
    session.sql("INSERT INTO t (b, c) VALUES ('x', 1)")
    for wrong in ("(b, c) VALUES (NULL, 1)", "(b, c) VALUES ('y', 0)"):
        with pytest.raises(HiveSqlError):
            session.sql(f"INSERT INTO t {wrong}")
    assert [tuple(row) for row in session.sql("SELECT * FROM t").rows] == [(7, "x", 1)]
    (key,) = [one for one in table.constraints if one.kind == "unique"]
    session.sql(f"ALTER TABLE t DROP CONSTRAINT {key.name}")
    assert len(session.runtime.metastore.table(T).constraints) == 4


def test_conflicts_and_locks(
    session: hivesql.Session, hive3_metastore: str, spark: SparkSession
) -> None:
    session.sql(f"CREATE TABLE t (a INT, b INT) {ACID}")
    session.sql("INSERT INTO t VALUES (1, 0), (2, 0)")
    with hivesql.connect(metastore=hive3_metastore, spark=spark) as other:
        session.sql("START TRANSACTION")
        session.sql("UPDATE t SET b = 1 WHERE a = 1")
        other.set("hive.lock.numretries", "1")
        with pytest.raises(HiveSqlError, match="lock"):
            other.sql("UPDATE t SET b = 2 WHERE a = 2")
        (lock,) = session.runtime.metastore.locks("default", "t")
        assert (lock.type, lock.state) == (LockType.SHARED_WRITE, LockState.ACQUIRED)
        assert other.sql("SELECT sum(b) FROM t").rows[0][0] == 0
        other.sql("START TRANSACTION")
        other.sql("SELECT * FROM t")
        session.sql("COMMIT")
        other.sql("UPDATE t SET b = 2 WHERE a = 2")
        # Nothing tells before the commit that another writer was first.
        with pytest.raises(WriteConflict):
            other.sql("COMMIT")
        assert other.sql("SELECT sum(b) FROM t").rows[0][0] == 1


def test_calls(session: hivesql.Session) -> None:
    store = session.runtime.metastore
    session.sql(f"CREATE TABLE t (a INT) {ACID}")
    session.sql("INSERT INTO t VALUES (1)")
    assert store.version() == "Hive Metastore 3.0", "what Hive 3.1.3 calls itself"
    first, second = store.open_txns(2, "ann", "here")
    assert store.allocate_write_id(first, T) == store.allocate_write_id(first, T) == 2
    seen = store.valid_write_ids(store.valid_txns(), [T])[T]
    assert (seen.high_watermark, seen.open) == (2, frozenset({2}))
    store.heartbeat(first)
    assert store.abort_txns([first], "test") == (first,)
    with pytest.raises(TransactionLost):
        store.heartbeat(first)
    assert store.valid_write_ids(store.valid_txns(), [T])[T].aborted == frozenset({2})
    assert store.compactor_write_ids(T).high_watermark == 2
    states = {row.txn_id: row.state for row in store.transactions()}
    assert (states[first], states[second]) == ("aborted", "open")
    store.commit_txn(second)
    # Readers that shall not wait do so here: Hive 3 does not know the wish.
    lock = Lock(LockType.EXCLUSIVE, "default", "t", None, Operation.NO_TXN)
    held = store.enqueue_locks(0, [lock], LockOwner("ann", "here"))
    shared = Lock(LockType.SHARED_READ, "default", "t", None, Operation.SELECT)
    (reader,) = store.open_txns(1, "ann", "here")
    waits = store.enqueue_locks(reader, [shared], LockOwner("ann", "here"), zero_wait_read=True)
    assert waits.state is LockState.WAITING
    store.unlock(held.lock_id)
    assert store.check_lock(waits.lock_id).state is LockState.ACQUIRED
    store.commit_txn(reader)
    check_statistics(session, store)
    refused = {
        "workers": lambda: store.next_compaction("me"),
        "ABORT COMPACTIONS": lambda: store.abort_compactions([1]),
        "rebalance": lambda: session.sql("ALTER TABLE t COMPACT 'rebalance'"),
        "statistics of columns": lambda: session.sql(
            "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS"
        ),
    }
    for told, call in refused.items():
        with pytest.raises(NotSupported, match=told):
            call()


def test_what_the_server_cannot_read(hive3_metastore: str) -> None:
    """It leaves bytes of the request behind, which must not be taken for the next one."""
    wire, client = idl(), Client(hive3_metastore, timeout=20)
    unknown = wire.CompactionType._NAMES_TO_VALUES["REBALANCE"]
    request = wire.CompactionRequest(dbname="default", tablename="t", type=unknown)
    with pytest.raises(ExecutionError, match="refused compact2"):
        client.call("compact2", request)
    assert client.call("get_all_databases") == ["default"]
    client.close()


def check_statistics(session: hivesql.Session, store: Metastore) -> None:
    """ANALYZE is remembered, and never called accurate after a write."""
    session.sql("ANALYZE TABLE t COMPUTE STATISTICS")
    assert store.statistics(T).rows == 1
    session.sql("INSERT INTO t VALUES (2)")
    assert not store.statistics(T).is_accurate
