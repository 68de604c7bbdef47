"""Writers, readers, compaction and cleaner at once, while the services die again and again.

25 seconds by default; ``HIVESQL_STRESS_SECONDS=300`` makes it five minutes.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from end_to_end.places import COMPACTION_PLACES
from hivesql.services import run_services
from hivesql_executor.failpoints import VARIABLE
from hivesql_planner.errors import LockTimeout, TransactionLost, WriteConflict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = float(os.environ.get("HIVESQL_STRESS_SECONDS", "25"))

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(SECONDS + 600)]

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
ACCOUNTS, DEPOSIT = 20, 100
SETTINGS = {
    "hive.compactor.delta.num.threshold": "3",
    "hive.compactor.delta.pct.threshold": "0.5",
    "hive.compactor.check.interval": "300ms",
    "hive.compactor.worker.sleep.time": "300ms",
    "hive.compactor.cleaner.run.interval": "300ms",
    "hive.compactor.abortedtxn.threshold": "0",
    "metastore.compactor.initiator.failed.compacts.threshold": "1000",
    "metastore.acid.housekeeper.interval": "1s",
    "hive.lock.sleep.between.retries": "1s",
    "hive.txn.timeout": "40s",
}
PAUSED = (LockTimeout, TransactionLost, WriteConflict)
"""What a writer may be told; its statement has then changed nothing."""


class Stress:
    """Threads with sessions of their own on one warehouse, and a service that is killed."""

    def __init__(self, spark: SparkSession, place: Path) -> None:
        self.spark, self.place = spark, place
        self.stop = threading.Event()
        self.done: Counter[str] = Counter()
        self.problems: list[str] = []
        self.threads: list[threading.Thread] = []

    def connect(self) -> hivesql.Session:
        return hivesql.connect(
            f"sqlite:///{self.place}/metastore.db", str(self.place / "warehouse"), spark=self.spark,
            settings=SETTINGS, notify=lambda line: None,
        )  # fmt: skip

    def start(self, name: str, work: Callable[[hivesql.Session, random.Random], None]) -> None:
        def run() -> None:
            chance = random.Random(name)
            try:
                with self.connect() as session:
                    while not self.stop.is_set():
                        try:
                            work(session, chance)
                            self.done[name] += 1
                        except PAUSED as error:
                            self.done[type(error).__name__] += 1
            except BaseException as error:
                self.problems.append(f"{name}: {error!r}")
                raise

        self.threads.append(threading.Thread(target=run, name=name))
        self.threads[-1].start()

    def serve_and_die(self) -> None:
        """The services in a process of their own, killed at one place after the other."""
        settings = [f"--hiveconf={key}={value}" for key, value in SETTINGS.items()]
        command = [sys.executable, "-m", "hivesql_repl", "services", "--master", "local[1]",
                   "--hiveconf=spark.driver.memory=1g", *settings]  # fmt: skip
        # Few of the places have their turn in a short run: another one is the first each time.
        first = time.time_ns() % len(COMPACTION_PLACES)
        places = itertools.islice(itertools.cycle(COMPACTION_PLACES), first, None)
        for number, place in enumerate(places):
            if self.stop.is_set():
                return
            dying = {VARIABLE: f"{place}:{2 if number else 1}"}
            with (self.place / "services.log").open("a") as log:
                process = subprocess.Popen(
                    command, cwd=self.place, env={**os.environ, **dying},
                    stdout=log, stderr=log,
                )  # fmt: skip
                while process.poll() is None and not self.stop.wait(0.2):
                    pass
                if process.poll() is None:
                    process.terminate()
                    process.wait(120)
                    return
            if process.returncode != -signal.SIGKILL:
                self.problems.append(f"the services ended at {place}: {process.returncode}")
                return
            self.done[f"killed at {place}"] += 1


def transfer(session: hivesql.Session, chance: random.Random) -> None:
    """Money moves; the sum stays."""
    one, other = chance.sample(range(ACCOUNTS), 2)
    amount = chance.randint(1, 9)
    session.sql(
        f"UPDATE t SET v = v + CASE WHEN id = {one} THEN -{amount} ELSE {amount} END "
        f"WHERE id IN ({one}, {other})"
    )


def exchange(session: hivesql.Session, chance: random.Random) -> None:
    """A row with its opposite comes, and later goes."""
    part, number = chance.randrange(2), chance.randrange(30)
    if chance.random() < 0.5:
        session.sql(f"INSERT INTO p PARTITION (k = {part}) VALUES ({number}, 1), ({number}, -1)")
    elif chance.random() < 0.5:
        session.sql(f"DELETE FROM p WHERE k = {part} AND id < {number}")
    else:
        session.sql(
            f"MERGE INTO p USING (SELECT {number} AS n) s ON p.id = s.n AND p.k = {part} "
            f"WHEN MATCHED THEN UPDATE SET v = -v"
        )


def test_services_that_die_among_writers_and_readers(spark: SparkSession, tmp_path: Path) -> None:
    stress = Stress(spark, tmp_path)

    def check(session: hivesql.Session, _: random.Random) -> None:
        (row,) = session.sql("SELECT count(*), count(DISTINCT id), sum(v) FROM t").rows
        if tuple(row) != (ACCOUNTS, ACCOUNTS, ACCOUNTS * DEPOSIT):
            stress.problems.append(f"t is {tuple(row)}")
        query = "SELECT k, id, count(*), sum(v) FROM p GROUP BY k, id"
        wrong = [tuple(row) for row in session.sql(query).rows if row[2] % 2 or row[3]]
        if wrong:
            stress.problems.append(f"p has {wrong}")

    with stress.connect() as session:
        values = ", ".join(f"({i}, {DEPOSIT})" for i in range(ACCOUNTS))
        session.sql(f"""
            CREATE TABLE t (id int, v int) {ACID};
            CREATE TABLE p (id int, v int) PARTITIONED BY (k int) {ACID};
            INSERT INTO t VALUES {values};
            INSERT INTO p PARTITION (k) VALUES (0, 1, 0), (0, -1, 0), (0, 1, 1), (0, -1, 1);
        """)
        service = threading.Thread(target=stress.serve_and_die)
        service.start()
        for number in range(2):
            stress.start(f"transfer {number}", transfer)
        stress.start("exchange", exchange)
        stress.start("check", check)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and not stress.problems:
            time.sleep(0.5)
        stress.stop.set()
        for thread in (*stress.threads, service):
            thread.join()
        (tmp_path / "done.json").write_text(json.dumps(stress.done, indent=1), encoding="utf-8")
        log = (tmp_path / "services.log").read_text(encoding="utf-8")[-3000:]
        assert stress.problems == [], log
        session.runtime.metastore.reap(0)
        for _ in range(3):
            assert run_services(session, threading.Event(), once=True), log
        check(session, random.Random())
        assert stress.problems == []
        assert stress.done["transfer 0"]
        assert stress.done["check"]
        left = {row[5] for row in session.sql("SHOW COMPACTIONS").rows}
        assert "succeeded" in left
        assert not left & {"initiated", "working", "ready for cleaning"}, left
