"""Compaction killed at every named place, and running beside writers and readers: no row lost."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import forks
import hivesql
from end_to_end.places import COMPACTION_PLACES
from hivesql.services import run_services
from hivesql_executor.failpoints import VARIABLE, FailPoint
from hivesql_planner.errors import HiveSqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CLEANING = (FailPoint.ENTRY_DELETED, FailPoint.DIRECTORY_CLEANED)
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def rows(session: hivesql.Session) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in session.sql("SELECT * FROM t").rows)


def hivesql_until(place: FailPoint, *words: str, cwd: Path) -> tuple[int, str]:
    """Run the command, killed at a place; its exit code and what it told."""
    spark = ("--master", "local[1]", "--hiveconf", "spark.driver.memory=1g")
    program = forks.start("hivesql_repl", *words, *spark, cwd=cwd, environment={VARIABLE: place})
    return program.wait()


def test_a_killed_service_loses_nothing(session: hivesql.Session, tmp_path: Path) -> None:
    """Killed again and again, then finished by a service that lives."""
    session.sql(f"CREATE TABLE t (id int, v int) {ACID}; SET hivesql.compactor.inline=false")
    home = Path(session.runtime.metastore.database("default").location) / "t"
    for number, place in enumerate(COMPACTION_PLACES):
        first = 10 * number
        session.sql(f"""
            INSERT INTO t VALUES ({first}, 1), ({first + 1}, 2);
            UPDATE t SET v = v + 1 WHERE id = {first};
            ALTER TABLE t COMPACT 'major';
        """)
        expected = rows(session)
        if place in CLEANING:
            # What is left to the service needs no Spark, which would take it most of its time.
            session.sql("SET metastore.compactor.cleaner.on=false")
            assert run_services(session, threading.Event(), once=True), place
            session.sql("SET metastore.compactor.cleaner.on=true")
        code, told = hivesql_until(place, "services", "--once", cwd=tmp_path)
        assert code == -signal.SIGKILL, f"{place}: {told}"
        assert rows(session) == expected, place
        session.runtime.metastore.reap(0)
        for _ in range(2):
            assert run_services(session, threading.Event(), once=True), place
        assert rows(session) == expected, place
        queued = [row for row in session.sql("SHOW COMPACTIONS").rows if row[5] in (
            "initiated", "working", "ready for cleaning")]  # fmt: skip
        assert queued == [], place
    session.sql("INSERT INTO t VALUES (99, 0); ALTER TABLE t COMPACT 'major'")
    expected = rows(session)
    assert run_services(session, threading.Event(), once=True)
    (base,) = (path.name for path in home.iterdir())
    assert base.startswith("base_")
    assert rows(session) == expected


def test_a_killed_statement_is_done_by_the_next(session: hivesql.Session, tmp_path: Path) -> None:
    """No services run, and the next COMPACT need not wait for anything."""
    session.sql(f"CREATE TABLE t (id int, v int) {ACID}; INSERT INTO t VALUES (1, 1)")
    session.sql("INSERT INTO t VALUES (2, 2)")
    expected = rows(session)
    words = ("-e", "ALTER TABLE t COMPACT 'major'")
    code, complaint = hivesql_until(FailPoint.COMPACTION_WRITTEN, *words, cwd=tmp_path)
    assert code == -signal.SIGKILL, complaint
    assert rows(session) == expected
    told = session.sql("ALTER TABLE t COMPACT 'major'").message
    assert told == "Compaction 1, which was queued before: ready for cleaning"
    assert rows(session) == expected
    assert session.check("t") == ()
    home = Path(session.runtime.metastore.database("default").location) / "t"
    (base,) = (path.name for path in home.iterdir())
    assert base.startswith("base_0000002_v")


@pytest.mark.parametrize("drain", [0, 200])
def test_services_end_in_their_time_whatever_runs(
    session: hivesql.Session, tmp_path: Path, drain: int
) -> None:
    """A compaction under way is finished, or waits again; nothing of it is half done."""
    session.sql(f"CREATE TABLE t (id int, v int) {ACID}; SET hivesql.compactor.inline=false")
    session.sql("INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 2)")
    expected = rows(session)
    words = ("--master", "local[1]", f"--drain={drain}", "--hiveconf", "spark.driver.memory=1g",
             "--hiveconf", "hive.compactor.worker.sleep.time=200ms")  # fmt: skip
    program = forks.start("hivesql_repl", "services", *words, cwd=tmp_path)
    session.sql("ALTER TABLE t COMPACT 'major'")
    while session.sql("SHOW COMPACTIONS").rows[0][5] == "initiated":
        time.sleep(0.1)
    program.terminate()
    code, told = program.wait()
    (state,) = (row[5] for row in session.sql("SHOW COMPACTIONS").rows)
    if drain:
        assert code == 0 and state in ("ready for cleaning", "succeeded"), told
    else:
        # While Spark starts nothing can be stopped.
        assert code == 0 or "did not end within 0 seconds (--drain)" in told, told
        assert ("waits again" in told) == (state == "initiated"), told
    assert rows(session) == expected
    for _ in range(2):
        assert run_services(session, threading.Event(), once=True)
    assert {row[5] for row in session.sql("SHOW COMPACTIONS").rows} == {"succeeded"}
    assert rows(session) == expected
    assert session.sql("SHOW LOCKS").rows == []
    assert session.check("t") == ()


SETTINGS = {
    "hive.compactor.delta.num.threshold": "2",
    "hive.compactor.delta.pct.threshold": "0.5",
    "hive.compactor.check.interval": "200ms",
    "hive.compactor.worker.sleep.time": "200ms",
    "hive.compactor.cleaner.run.interval": "200ms",
    "hive.lock.sleep.between.retries": "1s",
}
SUM = "SELECT count(*), sum(v) FROM t"


class Bank:
    """Five accounts, and threads with sessions of their own that work on them."""

    def __init__(self, spark: SparkSession, place: Path) -> None:
        self.spark, self.place = spark, place
        self.stop = threading.Event()
        self.told: list[str] = []
        self.problems: list[str] = []

    def connect(self) -> hivesql.Session:
        return hivesql.connect(
            f"sqlite:///{self.place}/metastore.db", str(self.place / "wh"), spark=self.spark,
            settings=SETTINGS, notify=self.told.append,
        )  # fmt: skip

    def move(self, session: hivesql.Session) -> None:
        for i in range(1, 5):
            session.sql(
                f"UPDATE t SET v = v + CASE WHEN id = {i} THEN -{i} ELSE {i} END "
                f"WHERE id IN ({i}, {(i + 2) % 5})"
            )

    def watch(self, session: hivesql.Session) -> None:
        while not self.stop.is_set():
            (row,) = session.sql(SUM).rows
            if tuple(row) != (5, 500):
                self.problems.append(f"a reader saw {tuple(row)}")

    def serve(self, session: hivesql.Session) -> None:
        run_services(session, self.stop)

    def start(self, work: Callable[[hivesql.Session], None]) -> threading.Thread:
        def run() -> None:
            try:
                with self.connect() as session:
                    work(session)
            except HiveSqlError as error:
                self.problems.append(str(error))

        thread = threading.Thread(target=run)
        thread.start()
        return thread


def test_writers_readers_and_compaction_at_once(spark: SparkSession, tmp_path: Path) -> None:
    """Money moves between accounts while services run: every reader sees the same sum."""
    bank = Bank(spark, tmp_path)
    with bank.connect() as session:
        values = ", ".join(f"({i}, 100)" for i in range(5))
        session.sql(f"CREATE TABLE t (id int, v int) {ACID}; INSERT INTO t VALUES {values}")
        others = [bank.start(bank.watch), bank.start(bank.serve)]
        for writer in [bank.start(bank.move), bank.start(bank.move)]:
            writer.join()
        bank.stop.set()
        for other in others:
            other.join()
        assert bank.problems == []
        assert [line for line in bank.told if "failed" in line] == []
        assert [tuple(row) for row in session.sql(SUM).rows] == [(5, 500)]
        done = {row[5] for row in session.sql("SHOW COMPACTIONS").rows}
        assert done & {"succeeded", "ready for cleaning"}, done
