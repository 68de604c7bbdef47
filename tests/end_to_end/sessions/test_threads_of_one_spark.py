"""Two sessions and their user in threads of their own, on one Spark that is the user's."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession as PySparkSession

import hivesql
from hivesql.sessions.running_statement import RunningStatement
from hivesql.sessions.spark_start import LazySpark
from hivesql_executor.statement_log import beginning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SETTINGS = {
    "spark.sql.session.timeZone": "Asia/Kolkata",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.shuffle.partitions": "3",
}
ZONED = "SELECT CAST(TIMESTAMP_LTZ'2024-03-10 05:30:00' AS BIGINT) % 86400, count(*) FROM mine"
ENDLESS = "SELECT count(*) FROM endless WHERE id % 7 = 8"
"""Its tasks look each thousand rows whether they are stopped; those of nested loops go on."""


@pytest.fixture
def users(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    """A user's Spark, with settings, views and a database of the user's."""
    session = spark.newSession()
    for key, value in SETTINGS.items():
        session.conf.set(key, value)
    session.range(3).createOrReplaceTempView("mine")
    session.range(3000).createOrReplaceTempView("big")
    session.range(10**15).createOrReplaceTempView("endless")
    session.sql("CREATE DATABASE IF NOT EXISTS users")
    session.catalog.setCurrentDatabase("users")
    monkeypatch.setattr(PySparkSession, "_activeSession", session)
    yield session
    session.sql("DROP DATABASE users")


@pytest.fixture
def connect(users: SparkSession, tmp_path: Path) -> Callable[[], hivesql.Session]:
    """Opens sessions on the user's Spark and one warehouse."""

    def open_session() -> hivesql.Session:
        return hivesql.connect(
            f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"), spark=users,
            settings={"hivesql.local.max.bytes": "0"},
        )  # fmt: skip

    return open_session


def properties(spark: SparkSession) -> list[str | None]:
    """What jobs of this thread are called by."""
    keys = ("spark.jobGroup.id", "spark.job.description", "spark.scheduler.pool")
    return [spark.sparkContext.getLocalProperty(key) for key in keys]


def test_two_sessions_and_their_user_at_once(
    users: SparkSession, connect: Callable[[], hivesql.Session]
) -> None:
    together = threading.Barrier(3)
    written = threading.Event()

    def write(name: str) -> tuple[Any, ...]:
        users.sparkContext.setJobGroup(f"group of {name}", f"text of {name}")
        users.sparkContext.setLocalProperty("spark.scheduler.pool", name)
        with connect() as session:
            session.sql(f"CREATE DATABASE {name}; USE {name}")
            session.sql("CREATE TRANSACTIONAL TABLE t (i INT, w STRING, t TIMESTAMP) STORED AS ORC")
            together.wait(60)
            # Both make frames in Spark.
            session.append("t", pa.table({"i": pa.array([], pa.int32())}))
            assert session.sql("SELECT count(*) FROM t").scalar() == 0
            session.sql(
                f"INSERT INTO t SELECT id, '{name}', TIMESTAMP '2024-03-10 02:30:00' FROM mine"
            )
            session.sql("UPDATE t SET w = concat(w, '!') WHERE i > 0")
            session.sql("MERGE INTO t USING mine ON t.i = mine.id AND id = 2 WHEN MATCHED THEN "
                        "UPDATE SET t = '1500-03-01 00:00:00'")  # fmt: skip
            session.sql(f"INSERT INTO default.common SELECT i, w FROM {name}.t")
            rows = session.sql("SELECT i, w, CAST(t AS STRING) FROM t ORDER BY i").rows
        return [tuple(row) for row in rows], properties(users)

    def ask() -> set[tuple[Any, ...]]:
        users.sparkContext.setJobGroup("group of user", "text of user")
        answers = set()
        # This thread has an active session from now on.
        users.createDataFrame([(1,)], "a INT")
        together.wait(60)
        while True:
            last = written.is_set()
            active = PySparkSession.getActiveSession()
            made = users.range(1)
            answers.add(
                (
                    *users.sql(ZONED).collect()[0],
                    made.count(),
                    active is users,
                    users.catalog.currentDatabase(),
                    tuple(properties(users)[:2]),
                    tuple(sorted(table.name for table in users.catalog.listTables())),
                    tuple(users.conf.get(key) for key in SETTINGS),
                )
            )
            if last:
                return answers
            time.sleep(0.2)

    with connect() as session, ThreadPoolExecutor(3) as threads:
        session.sql("CREATE TRANSACTIONAL TABLE common (i INT, w STRING) STORED AS ORC")
        users_own = threads.submit(ask)
        writers: list[Future[tuple[Any, ...]]] = [
            threads.submit(write, name) for name in ("one", "two")
        ]
        try:
            results = [writer.result(120) for writer in writers]
        finally:
            written.set()
        common = session.sql("SELECT w, count(*) FROM common GROUP BY w ORDER BY w").rows
        assert users_own.result(60) == {
            (0, 3, 1, True, "users", ("group of user", "text of user"), ("big", "endless", "mine"),
             tuple(SETTINGS.values()))
        }  # fmt: skip
    for name, (rows, kept) in zip(("one", "two"), results, strict=True):
        assert rows == [
            (0, name, "2024-03-10 02:30:00"),
            (1, f"{name}!", "2024-03-10 02:30:00"),
            (2, f"{name}!", "1500-03-01 00:00:00"),
        ]
        assert kept == [f"group of {name}", f"text of {name}", name]
    assert [tuple(row) for row in common] == [("one", 1), ("one!", 2), ("two", 1), ("two!", 2)]


def test_a_cancel_ends_one_sessions_statement_alone(
    users: SparkSession, connect: Callable[[], hivesql.Session]
) -> None:
    stopped = threading.Event()
    joined = "SELECT count(*) FROM big a JOIN mine b ON a.id + b.id = 7"

    def ask(count: Callable[[], Any]) -> list[Any]:
        users.sparkContext.setJobGroup("the user's", "text")
        answers = []
        while not stopped.is_set():
            answers.append(count())
            time.sleep(0.2)
        return [*answers, properties(users)[:2]]

    one, two = connect(), connect()
    with one, two, ThreadPoolExecutor(3) as threads:
        one.sql("CREATE TRANSACTIONAL TABLE t (i BIGINT) STORED AS ORC; INSERT INTO t VALUES (1)")
        others = [
            threads.submit(ask, lambda: two.sql(joined).scalar()),
            threads.submit(ask, lambda: users.sql(joined).collect()[0][0]),
        ]
        try:
            for is_at_once in (True, False):
                endless = threads.submit(one.sql, f"INSERT INTO t {ENDLESS}")
                if is_at_once:
                    while not (one.cancel() or endless.done()):
                        time.sleep(0.001)
                else:
                    while one.progress() is None and not endless.done():
                        time.sleep(0.01)
                    one.cancel()
                with pytest.raises(hivesql.Cancelled):
                    endless.result(60)
        finally:
            stopped.set()
        for other in others:
            *answers, kept = other.result(60)
            assert set(answers) == {3}
            assert kept == ["the user's", "text"]
        assert [row.i for row in two.sql("SELECT * FROM t").rows] == [1]
        assert one.sql("DELETE FROM t").affected == 1


def test_a_cancel_just_before_a_job(users: SparkSession) -> None:
    """Spark knows of no job yet that it could end, and begins one."""
    running, spark = RunningStatement(), LazySpark(users)
    with beginning():
        running.begin(ENDLESS)
        with spark.group(running.query_id, ENDLESS, running.cancelled) as grouped:
            session = grouped()
            session.range(10**15).createOrReplaceTempView("endless")
            assert running.cancel(spark)
            with pytest.raises(Exception, match=f"cancelled job tags? {running.query_id}"):
                session.sql(ENDLESS).collect()
        running.end()
    assert running.await_end(0)


def test_a_cancel_of_the_users_group_ends_our_statement(
    users: SparkSession, connect: Callable[[], hivesql.Session]
) -> None:
    def insert(session: hivesql.Session) -> None:
        users.sparkContext.setJobGroup("the user's", "text")
        session.sql(f"INSERT INTO t {ENDLESS}")

    with connect() as session, ThreadPoolExecutor(1) as threads:
        session.sql("CREATE TRANSACTIONAL TABLE t (i BIGINT) STORED AS ORC")
        endless = threads.submit(insert, session)
        while session.progress() is None and not endless.done():
            time.sleep(0.01)
        while not endless.done():
            users.sparkContext.cancelJobGroup("the user's")
            time.sleep(0.1)
        with pytest.raises(hivesql.ExecutionError, match="job group the user's"):
            endless.result()
        assert session.sql("SELECT * FROM t").rows == []
