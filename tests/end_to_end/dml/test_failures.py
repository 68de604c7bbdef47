"""A failed statement says why, and leaves nothing that anyone can see."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from hivesql import dbapi
from hivesql_executor.failpoints import VARIABLE, FailPoint
from hivesql_executor.metastore.api import LockOwner
from hivesql_executor.transactions.reaper import reap
from hivesql_planner.model.table import TableName
from hivesql_planner.settings.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"

REFUSED = {
    # name: (statement, error class, Hive's code, text)
    "unknown table": ("SELECT * FROM nosuch", hivesql.NoSuchObject, 10001, "default.nosuch"),
    "unknown table to change": ("DELETE FROM nosuch", hivesql.NoSuchObject, 10001, "nosuch"),
    "unknown database": ("USE nosuch", hivesql.NoSuchObject, 10072, "nosuch"),
    "unknown column to set": ("UPDATE t SET nope = 1", hivesql.SemanticError, 10408, "nope"),
    "unknown column in a condition": (
        "DELETE FROM t WHERE nope = 1", hivesql.SemanticError, 10004, "nope"),
    "unknown column in a query": ("SELECT nope FROM t", hivesql.SemanticError, None, "nope"),
    "too few values": ("INSERT INTO t VALUES (1)", hivesql.SemanticError, 10044, "2 values"),
    "too many columns": (
        "INSERT INTO t SELECT 1, 'a', 2", hivesql.SemanticError, 10044, "2 columns"),
    "a type that cannot be cast": (
        "INSERT INTO t SELECT array(1), 'a'", hivesql.SemanticError, None, "cast"),
    "a wrong type in an update": (
        "UPDATE t SET id = array(1)", hivesql.SemanticError, None, "cast"),
    **{
        f"fields of other names: {change}": (change, hivesql.SemanticError, 10044, "struct<")
        for change in (
            "INSERT INTO f SELECT 1, named_struct('b', '1', 'a', 2), NULL",
            "INSERT INTO f SELECT 1, struct(1, 'x'), NULL",
            "INSERT INTO f SELECT 1, named_struct('a', 1), NULL",
            "INSERT INTO f VALUES (1, named_struct('x', 1, 'y', 'k'), NULL)",
            "INSERT INTO f (l, id) SELECT array(named_struct('z', 1)), 1",
            "INSERT OVERWRITE TABLE f SELECT id, if(id > 0, named_struct('z', 1, 'b', v), NULL), "
            "NULL FROM t",
            "UPDATE f SET s = named_struct('b', 'y', 'a', 2)",
            "MERGE INTO f USING t ON f.id = t.id WHEN MATCHED THEN "
            "UPDATE SET s = named_struct('z', 7, 'b', 'y')",
            "MERGE INTO f USING t ON f.id = t.id WHEN NOT MATCHED THEN "
            "INSERT VALUES (3, NULL, array(named_struct('z', 7)))",
        )
    },
    "update of a plain table": ("UPDATE plain SET v = 'x'", hivesql.SemanticError, 10297, "plain"),
    "delete from a plain table": (
        "DELETE FROM plain WHERE id = 1", hivesql.SemanticError, 10297, "plain"),
    "merge into a plain table": (
        "MERGE INTO plain USING t ON plain.id = t.id WHEN MATCHED THEN DELETE",
        hivesql.SemanticError, 10297, "plain"),
    "delete from an insert-only table": (
        "DELETE FROM m WHERE id = 1", hivesql.SemanticError, 10414, "m"),
    "update of no column": ("UPDATE p SET nothing = 2", hivesql.SemanticError, 10408, "nothing"),
    "both clauses, first without a condition": (
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET v = 'x'", hivesql.SemanticError, 10404, ""),
    "two updates": (
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'x' "
        "WHEN MATCHED AND s.id = 1 THEN UPDATE SET v = 'y'", hivesql.SemanticError, 10406, ""),
    "two deletes": (
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE "
        "WHEN MATCHED THEN DELETE", hivesql.SemanticError, 10405, ""),
    "two inserts": (
        "MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (1) "
        "WHEN NOT MATCHED THEN INSERT (id) VALUES (2)", hivesql.SemanticError, None, "no row"),
    "a column of the source where there is none": (
        "MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND s.id = 1 THEN DELETE",
        hivesql.SemanticError, 10004, "'s'"),
    "a source without the table's columns": (
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
        hivesql.SemanticError, 10004, "s has no v"),
    "same output twice": (
        "FROM t INSERT INTO s SELECT id INSERT INTO s SELECT id",
        hivesql.SemanticError, 10087, "s"),
    "existing table": ("CREATE TABLE t (a int)", hivesql.SemanticError, 10073, "default.t"),
    "taken name": ("ALTER TABLE t RENAME TO s", hivesql.SemanticError, 40013, "default.s"),
    "taken name of a view": ("ALTER VIEW w RENAME TO t", hivesql.SemanticError, 40013, "default.t"),
    "external transactional": (
        f"CREATE EXTERNAL TABLE e (a int) {ACID}", hivesql.SemanticError, 40000, "external"),
    "unknown compaction": ("ALTER TABLE t COMPACT 'foo'", hivesql.SemanticError, 10282, "foo"),
    "no longer transactional": (
        "ALTER TABLE t SET TBLPROPERTIES ('transactional'='false')",
        hivesql.SemanticError, 40000, "Cannot change 'transactional'"),
    "half a statement": ("UPDATE t SET", hivesql.ParseError, None, "end of the statement"),
    "no statement": ("FROBNICATE t", hivesql.ParseError, None, "FROBNICATE"),
    "an open quote": ("SELECT 'a", hivesql.ParseError, None, ""),
    "a feature that is not there": (
        "PREPARE x FROM SELECT 1", hivesql.NotSupported, None, "PREPARE"),
}  # fmt: skip


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> hivesql.Session:
    session = hivesql.connect(
        f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"), spark=spark
    )
    session.sql(f"""
        CREATE TABLE t (id int, v string) {ACID};
        INSERT INTO t VALUES (1, 'a'), (2, 'b');
        CREATE TABLE s (id int) {ACID};
        CREATE TABLE plain (id int, v string) STORED AS ORC;
        CREATE TABLE m (id int) STORED AS ORC TBLPROPERTIES
          ('transactional'='true', 'transactional_properties'='insert_only');
        CREATE TABLE p (id int) PARTITIONED BY (k int) {ACID};
        CREATE TABLE b (id int) CLUSTERED BY (id) INTO 2 BUCKETS {ACID};
        CREATE TABLE f (id int, s struct<a:int,b:string>, l array<struct<a:int>>) {ACID};
        CREATE VIEW w AS SELECT id FROM t;
        ALTER TABLE s RENAME TO s;
    """)
    return session


def _unharmed(session: hivesql.Session) -> None:
    assert sorted(map(tuple, session.sql("SELECT * FROM t").rows)) == [(1, "a"), (2, "b")]
    assert session.sql("SHOW LOCKS").rows == []
    assert [row for row in session.sql("SHOW TRANSACTIONS").rows if row[1] == "OPEN"] == []


def test_refusals(session: hivesql.Session) -> None:
    for name, (statement, kind, code, text) in REFUSED.items():
        with pytest.raises(hivesql.HiveSqlError) as raised:
            session.sql(f"-- {name}\n{statement}")
        error = raised.value
        assert type(error) is kind or isinstance(error, kind), f"{name}: {error!r}"
        assert text.lower() in str(error).lower(), f"{name}: {error}"
        if code is not None:
            assert error.code == code, f"{name}: {error}"
        assert error.line is not None
        assert error.line >= 2, f"{name}: {error}"
    _unharmed(session)


def test_place_of_an_error(session: hivesql.Session) -> None:
    with pytest.raises(hivesql.SemanticError) as raised:
        list(session.run("SELECT 1;\n\n  UPDATE t\n  SET v = 'x', nope = 2", file="x.hql"))
    error = raised.value
    assert (error.file, error.line, error.column) == ("x.hql", 4, 16)


def test_job_that_fails_half_way(session: hivesql.Session) -> None:
    statements = [
        "INSERT INTO t SELECT id, CAST(assert_true(id < 0) AS STRING) FROM t",
        "UPDATE t SET v = CAST(assert_true(id < 0) AS STRING) WHERE id = 2",
        "INSERT OVERWRITE TABLE t SELECT id, CAST(assert_true(id < 0) AS STRING) FROM t",
        f"CREATE TABLE c {ACID} AS SELECT CAST(assert_true(id < 0) AS STRING) AS v FROM t",
    ]
    for statement in statements:
        with pytest.raises(hivesql.ExecutionError, match="no"):
            session.sql(statement)
    _unharmed(session)
    assert ("c",) not in session.sql("SHOW TABLES").rows
    home = Path(session.runtime.metastore.table(TableName("default", "t")).location)
    assert [path.name for path in home.iterdir()] == ["delta_0000001_0000001_0000"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE t SET v = 'c' WHERE id = (SELECT id FROM t)",
        "DELETE FROM t WHERE id = (SELECT id FROM t)",
        "INSERT INTO t SELECT id, (SELECT v FROM t) FROM t",
    ],
)
def test_a_subquery_of_several_rows_is_no_value(session: hivesql.Session, statement: str) -> None:
    with pytest.raises(hivesql.ExecutionError, match="Scalar subquery expression returns more"):
        session.sql(statement)
    _unharmed(session)


def test_missing_and_truncated_files(session: hivesql.Session) -> None:
    home = Path(session.runtime.metastore.table(TableName("default", "t")).location)
    (data,) = home.rglob("bucket_*")
    whole = data.read_bytes()
    data.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(hivesql.DataError, match="bucket_00000"):
        session.sql("SELECT * FROM t")
    data.write_bytes(b"")
    with pytest.raises(hivesql.DataError, match="bucket_00000"):
        session.sql("SELECT count(*) FROM t")
    data.write_bytes(whole)
    _unharmed(session)


def test_damaged_directories_are_named(session: hivesql.Session) -> None:
    session.sql("DELETE FROM t WHERE id = 1")
    home = Path(session.runtime.metastore.table(TableName("default", "t")).location)
    rows = session.sql("SELECT * FROM t").rows
    version = home / "delta_0000001_0000001_0000" / "_orc_acid_version"
    for text in (b"1", b"", b"22"):
        version.write_bytes(text)
        with pytest.raises(hivesql.DataError, match="delta_0000001_0000001_0000/_orc_acid_vers"):
            session.sql("SELECT * FROM t")
    version.write_bytes(b"2")
    metadata = version.with_name("_metadata_acid")
    for said in (
        "{",
        "[]",
        '{"dataFormat":"compacted"}',
        '{"thisFileVersion":"1","dataFormat":""}',
    ):
        metadata.write_text(said)
        with pytest.raises(hivesql.DataError, match="_metadata_acid is "):
            session.sql("SELECT * FROM t")
    metadata.unlink()
    assert session.sql("SELECT * FROM t").rows == rows
    for path in version.parent.glob("bucket_*"):
        path.unlink()
    with pytest.raises(hivesql.DataError, match=r"delete_delta.*bucket_00000.*missing"):
        session.sql("SELECT * FROM t")


def test_waits_for_a_lock_and_tells_whose(session: hivesql.Session) -> None:
    from hivesql_planner.locks.lock import Lock, LockType

    told: list[str] = []
    store = session.runtime.metastore
    (other,) = store.open_txns(1, "alice", "elsewhere")
    store.enqueue_locks(
        other, [Lock(LockType.EXCLUSIVE, "default", "t")], LockOwner("alice", "elsewhere")
    )
    waiting = hivesql.connect(
        f"sqlite:///{_database_file(session)}",
        str(Path(_database_file(session)).parent / "warehouse"),
        spark=session.runtime.spark(),
        notify=told.append,
    )
    threading.Timer(1.5, lambda: store.abort_txns([other], "test")).start()
    began = time.monotonic()
    assert waiting.sql("DELETE FROM t WHERE id = 1").affected == 1
    assert time.monotonic() - began > 1.4
    assert any("alice@elsewhere" in line and "EXCLUSIVE" in line for line in told)


def _database_file(session: hivesql.Session) -> str:
    home = Path(session.runtime.metastore.database("default").location)
    return str(home.parent / "metastore.db")


def test_lost_update_is_impossible(session: hivesql.Session) -> None:
    session.sql("INSERT INTO s VALUES (0)")
    session.sql(f"CREATE TABLE counter (n int) {ACID}; INSERT INTO counter VALUES (0)")
    failures: list[BaseException] = []

    def add() -> None:
        own = hivesql.connect(
            f"sqlite:///{_database_file(session)}",
            str(Path(_database_file(session)).parent / "warehouse"),
            spark=session.runtime.spark(),
        )
        try:
            for _ in range(3):
                own.sql("UPDATE counter SET n = n + 1")
        except BaseException as error:  # noqa: BLE001 - reported by the test below
            failures.append(error)

    threads = [threading.Thread(target=add) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert session.sql("SELECT n FROM counter").rows == [(9,)]


def open_transactions(session: hivesql.Session) -> list[int]:
    """Return which transactions are open."""
    return [txn.txn_id for txn in session.runtime.metastore.transactions() if txn.state == "open"]


def test_kill_before_commit_leaves_nothing(session: hivesql.Session, tmp_path: Path) -> None:
    """The process dies by SIGKILL with its files in place but nothing committed."""
    script = textwrap.dedent(f"""
        import hivesql
        s = hivesql.connect("sqlite:///{tmp_path}/metastore.db", "{tmp_path}/warehouse",
                            settings={{"spark.master": "local[1]", "spark.driver.memory": "1g"}})
        s.sql('''START TRANSACTION; INSERT INTO p PARTITION (k) VALUES (7, 1);
                 UPDATE t SET v = 'lost'; COMMIT''')
    """)
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True,
                          env={**os.environ, VARIABLE: FailPoint.BEFORE_COMMIT})  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]
    home = Path(session.runtime.metastore.table(TableName("default", "t")).location)
    assert (home / "delta_0000002_0000002_0002").exists()
    assert sorted(map(tuple, session.sql("SELECT * FROM t").rows)) == [(1, "a"), (2, "b")]
    assert session.sql("SELECT * FROM p").rows == []
    assert len(session.sql("SHOW LOCKS").rows) == 2
    time.sleep(0.01)
    assert open_transactions(session)
    reap(replace(session.runtime, settings=Settings.of({"hive.txn.timeout": "1ms"})))
    assert not open_transactions(session)
    _unharmed(session)
    assert session.sql("UPDATE t SET v = 'B' WHERE id = 2").affected == 1
    session.sql("ALTER TABLE t COMPACT 'major'")
    assert sorted(map(tuple, session.sql("SELECT * FROM t").rows)) == [(1, "a"), (2, "B")]
    assert not (home / "delta_0000002_0000002_0002").exists()


@pytest.mark.parametrize(
    "point", [f"{FailPoint.FILE_PUBLISHED}:2", str(FailPoint.PARTITIONS_RECORDED)]
)
def test_kill_among_new_partitions(session: hivesql.Session, tmp_path: Path, point: str) -> None:
    """Half of the partitions are in place, or all are and the catalog knows them."""
    insert = "INSERT INTO p PARTITION (k) VALUES (7, 1), (8, 2)"
    script = textwrap.dedent(f"""
        import hivesql
        s = hivesql.connect("sqlite:///{tmp_path}/metastore.db", "{tmp_path}/warehouse",
                            settings={{"spark.master": "local[1]", "spark.driver.memory": "1g"}})
        s.sql("{insert}")
    """)
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True,
                          env={**os.environ, VARIABLE: point})  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]
    home = Path(session.runtime.metastore.table(TableName("default", "p")).location)
    assert list(home.glob("k=*/delta_0000001_0000001_0000"))
    assert session.sql("SELECT * FROM p").rows == []
    time.sleep(0.01)
    assert open_transactions(session)
    reap(replace(session.runtime, settings=Settings.of({"hive.txn.timeout": "1ms"})))
    assert not open_transactions(session)
    assert session.sql("SELECT * FROM p").rows == []
    assert session.sql(insert).affected == 2
    assert sorted(map(tuple, session.sql("SELECT * FROM p").rows)) == [(7, 1), (8, 2)]
    for k in (1, 2):
        session.sql(f"ALTER TABLE p PARTITION (k = {k}) COMPACT 'major'")
    assert not list(home.glob("k=*/delta_0000001_*"))
    assert sorted(map(tuple, session.sql("SELECT * FROM p").rows)) == [(7, 1), (8, 2)]


def test_years_that_python_has_not(session: hivesql.Session) -> None:
    late, columns = "date_add(date '9999-12-31', 1)", "in d or a .*CAST"
    told = pytest.raises(hivesql.DataError, match=columns)
    session.sql(f"CREATE TABLE far (n INT, d DATE, a ARRAY<DATE>) {ACID}")
    session.sql(f"INSERT INTO far SELECT 1, {late}, array({late})")
    session.sql("INSERT INTO far VALUES (2, '2024-01-01', NULL)")
    for query in ("SELECT d, a FROM far", "SELECT n, d, a FROM far ORDER BY d LIMIT 1",
                  "SELECT max(d) AS d, max(a) AS a FROM far"):  # fmt: skip
        with told if "LIMIT" not in query else nullcontext():
            session.sql(query)
    assert session.sql("SELECT n FROM far ORDER BY d").rows == [(2,), (1,)]
    cursor = dbapi.Connection(session, autocommit=True).cursor()
    # Its rows come part by part: others may be out already.
    with pytest.raises(dbapi.DataError, match="CAST"):
        cursor.execute("SELECT d FROM far").fetchall()
    shown = cursor.execute("SELECT CAST(max(d) AS STRING) FROM far").fetchall()
    assert shown == [("+10000-01-01",)]

    def fail(frame: object) -> None:
        raise ValueError("year 10000 is out of range")

    # Errors of the user's own function are his.
    with pytest.raises(ValueError, match="year 10000"):
        session.sql("SELECT d FROM far", consume=fail)
