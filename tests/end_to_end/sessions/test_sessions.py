"""Sessions are opened and closed several times in one process, and a closed one answers nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import hivesql
from hivesql import dbapi, streaming
from hivesql.script import StatementText

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = pa.table({"k": pa.array([1], pa.int32())})
# Everything that runs, reads or changes something; what is left tells what the session was.
USES: dict[str, Callable[[hivesql.Session], object]] = {
    "sql": lambda session: session.sql("SELECT 1"),
    "execute": lambda session: session.execute("SET a=b"),
    "run": lambda session: list(session.run("")),
    "run_statement": lambda session: session.run_statement(StatementText("EXPLAIN SELECT 1")),
    "append": lambda session: session.append("t", ROWS),
    "merge": lambda session: session.merge("t", ROWS, on=["k"]),
    "frame": lambda session: session.frame("SELECT 1"),
    "inspect": lambda session: session.inspect("t"),
    "check": lambda session: session.check("t"),
    "set": lambda session: session.set("hive.txn.timeout", "1s"),
    "forget": lambda session: session.forget("key"),
    "keeps_keys": lambda session: session.keeps_keys,
    "changes": lambda session: session.changes("t", 0),
    "start_spark": lambda session: session.start_spark(),
}
QUIET = {
    "at_close", "authorize", "beside", "cache_counters", "cancel", "close", "closed",
    "end_interrupted", "has_changed", "in_transaction", "open_transaction", "progress", "settings",
    "spark_views", "starts_spark", "stop",
}  # fmt: skip


@pytest.mark.spark
@pytest.mark.slow
def test_many_sessions_in_one_process(tmp_path: Path) -> None:
    program = Path(__file__).parents[2] / "support" / "many_sessions.py"
    # As in many containers, where the rights to it are there.
    without_address = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', "nameless"]
    done = subprocess.run(
        [*(without_address if os.geteuid() == 0 and shutil.which("unshare") else ()),
         sys.executable, "-W", "error", program, tmp_path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr, "nothing was hidden, nothing is told for nothing"


@pytest.mark.spark
def test_reset_leaves_what_spark_cannot_be_told_again(spark: SparkSession, tmp_path: Path) -> None:
    key = "spark.sql.shuffle.partitions"
    given = {"spark.driver.memory": "2g", key: "3"}
    url = f"sqlite:///{tmp_path}/metastore.db"
    with hivesql.connect(url, str(tmp_path / "wh"), spark=spark, settings=given) as session:
        session.sql(f"SELECT 1; SET {key}=7; RESET")
        assert session.frame("SELECT 1").sparkSession.conf.get(key) == "3"


@pytest.fixture
def closed(tmp_path: Path) -> hivesql.Session:
    """A session that has been used, and was closed twice."""
    session = hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"))
    session.sql("CREATE TRANSACTIONAL TABLE t (k INT) STORED AS ORC; INSERT INTO t VALUES (1)")
    session.close()
    session.close()
    return session


def test_every_public_name_is_looked_at() -> None:
    public = {name for name in dir(hivesql.Session) if not name.startswith("_")}
    assert public == USES.keys() | QUIET


@pytest.mark.parametrize("use", USES)
def test_a_closed_session_refuses(use: str, closed: hivesql.Session) -> None:
    with pytest.raises(hivesql.SessionClosed, match=r"closed.*hivesql\.connect"):
        USES[use](closed)


def test_what_came_from_a_session_ends_with_it(closed: hivesql.Session, tmp_path: Path) -> None:
    builder = streaming.HiveStreamingConnection.builder().with_session(closed).with_table("t")
    with pytest.raises(hivesql.SessionClosed):
        builder.with_record_writer(streaming.StrictDelimitedInputWriter()).connect()
    connection = dbapi.connect(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"))
    cursor = connection.cursor()
    connection.session.close()
    with pytest.raises(dbapi.InterfaceError, match="closed"):
        cursor.execute("SELECT k FROM t")
    connection.close()
    with pytest.raises(dbapi.InterfaceError, match="closed"):
        connection.cursor()


def test_an_open_transaction_ends_with_its_session(tmp_path: Path) -> None:
    places = f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse")
    session = hivesql.connect(*places)
    session.sql("CREATE TRANSACTIONAL TABLE t (k INT) STORED AS ORC; START TRANSACTION")
    session.sql("INSERT INTO t VALUES (1)")
    session.close()
    with hivesql.connect(*places) as other:
        assert list(other.sql("SELECT k FROM t").rows) == []
        assert [row.state for row in other.runtime.metastore.transactions()] in ([], ["aborted"])


@pytest.mark.spark
def test_what_only_a_start_of_spark_can_set_may_be_equal(
    spark: SparkSession, tmp_path: Path
) -> None:
    static = "spark.sql.warehouse.dir"
    has = spark.conf.get(static)
    for value, refused in ((has, False), (f"{has}/other", True)):
        settings = {static: value, "hivesql.local.max.bytes": "0"}
        with hivesql.connect(
            f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w"), spark=spark, settings=settings
        ) as session:
            session.sql("CREATE TABLE IF NOT EXISTS t (a INT) STORED AS ORC")
            if not refused:
                assert session.sql("SELECT count(*) FROM t").rows == [(0,)]
                continue
            for _ in range(2):
                with pytest.raises(hivesql.HiveSqlError, match=f"{static} is set where Spark"):
                    session.sql("SELECT count(*) FROM t")
