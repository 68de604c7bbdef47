"""How costs grow: small deltas, partitions, and what reaches the driver as a table grows tenfold.

    python tests/benchmarks/scale.py deltas [--count 1000]
    python tests/benchmarks/scale.py partitions [--count 10000]
    python tests/benchmarks/scale.py growth [--rows 1000000] [--factor 10] [--executors 1g]

``growth`` runs on a standalone cluster of two workers, one core each, so that the driver's CPU,
peak memory and received bytes are its own; HiveSQL's Python is told apart from the driver's JVM.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hivesql

sys.path.insert(0, str(Path(__file__).parents[1]))
from standalone import standalone_cluster

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
ROWS = (
    "SELECT id, cast(id % 1000 as int) AS k, id / 7.0D AS v, concat('row ', id % 5000) AS s "
    "FROM numbers"
)


def _open(home: Path, master: str, **settings: str) -> hivesql.Session:
    return hivesql.connect(
        f"sqlite:///{home}/metastore.db",
        str(home / "warehouse"),
        settings={"spark.master": master, "spark.driver.memory": "2g", **settings},
    )


def _timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def measure_deltas(home: Path, count: int) -> None:
    """Single-row inserts, then what each of them adds to a read, a delete and a compaction."""
    with _open(home, "local[2]") as session:
        session.sql(f"CREATE TABLE t (id int, v string) {ACID}")
        session.sql("INSERT INTO t SELECT 0, 'first'")
        print(f"{'deltas':>8} {'insert ms':>10} {'count(*) s':>11} {'us a delta':>11} "
              f"{'delete s':>9}")  # fmt: skip
        base = min(_timed(lambda: session.sql("SELECT count(*) FROM t").rows) for _ in range(3))
        done = 0
        for goal in (count // 100, count // 10, count):
            inserts = [
                _timed(lambda i=i: session.sql(f"INSERT INTO t VALUES ({i}, 'row {i}')"))
                for i in range(done, goal)
            ]
            done = goal
            scan = min(_timed(lambda: session.sql("SELECT count(*) FROM t").rows) for _ in range(3))
            delete = _timed(lambda: session.sql("DELETE FROM t WHERE v = concat('row ', '1')"))
            print(f"{goal:8} {1e3 * statistics.median(inserts[-100:]):10.1f} {scan:11.2f} "
                  f"{1e6 * (scan - base) / goal:11.0f} {delete:9.2f}", flush=True)  # fmt: skip
        for kind in ("minor", "major"):
            seconds = _timed(lambda kind=kind: session.sql(f"ALTER TABLE t COMPACT '{kind}'"))
            scan = _timed(lambda: session.sql("SELECT count(*) FROM t").rows)
            print(f"{kind} compaction {seconds:.2f} s, count(*) after it {scan:.2f} s", flush=True)


def measure_partitions(home: Path, count: int) -> None:
    """A dynamic insert into many partitions, and statements on one and on all of them."""
    with _open(home, "local[2]") as session:
        _numbers(session, home, 4 * count)
        session.sql("SET hive.exec.max.dynamic.partitions=1000000")
        session.sql("SET hive.exec.max.dynamic.partitions.pernode=1000000")
        session.sql(f"CREATE TABLE t (id bigint, v string) PARTITIONED BY (p int) {ACID}")
        one = f"p = {count // 2}"
        for name, text in {
            "insert into all": "INSERT INTO t PARTITION (p) SELECT id, concat('v', id), "
                               f"cast(id % {count} as int) FROM numbers",
            "explain of one": f"EXPLAIN SELECT * FROM t WHERE {one}",
            "select of one": f"SELECT * FROM t WHERE {one}",
            "update of one": f"UPDATE t SET v = concat(v, '!') WHERE {one}",
            "select of all": "SELECT count(*), max(v) FROM t",
            "delete in all": f"DELETE FROM t WHERE id < {count}",
            "select of all after": "SELECT count(*), max(v) FROM t",
            "show partitions": "SHOW PARTITIONS t",
            "drop": "DROP TABLE t",
        }.items():  # fmt: skip
            seconds = _timed(lambda text=text: session.sql(text).rows)
            print(f"{name:22} {seconds:8.2f} s", flush=True)


def _numbers(session: hivesql.Session, home: Path, rows: int) -> None:
    where = str(home / f"numbers{rows}")
    session.runtime.spark().range(0, rows, 1, 4).write.orc(where)
    session.sql("DROP TABLE IF EXISTS numbers")
    session.sql(f"CREATE EXTERNAL TABLE numbers (id bigint) STORED AS ORC LOCATION '{where}'")


def _memory(pid: int, field: str) -> float:
    """A line of a process's status in MiB."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _driver_jvm(session: hivesql.Session) -> int:
    jvm: Any = session.runtime.spark()._jvm
    return int(jvm.java.lang.ProcessHandle.current().pid())


def _received(log: Path) -> int:
    """Bytes of task results that have reached the driver so far."""
    total = 0
    for file in log.rglob("*"):
        if file.is_file():
            for line in file.read_text(errors="replace").splitlines():
                if '"SparkListenerTaskEnd"' in line:
                    metrics = json.loads(line).get("Task Metrics") or {}
                    total += metrics.get("Result Size", 0)
    return total


def measure_growth(home: Path, rows: int, factor: int, executors: str) -> None:
    """Each statement on a table and on one that is ``factor`` times as large."""
    log = home / "events"
    log.mkdir()
    settings = {
        "spark.executor.memory": executors, "spark.driver.host": "127.0.0.1",
        "spark.eventLog.enabled": "true", "spark.eventLog.dir": log.as_uri(),
        "spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false",
        "spark.executor.instances": "2",
    }  # fmt: skip
    memory = executors.replace("g", "024m") if executors == "1g" else executors
    with (
        standalone_cluster(home, memory=memory) as master,
        _open(home, master, **settings) as session,
    ):
        jvm = _driver_jvm(session)
        print(f"{'rows':>10} {'statement':14} {'wall s':>8} {'driver JVM s':>13} {'Python s':>9} "
              f"{'to driver KiB':>14} {'JVM peak MiB':>13} {'Python peak MiB':>16}")  # fmt: skip
        # The first round, of the small size, warms the cluster up and is not told.
        for told, size in ((False, rows), (True, rows), (True, rows * factor)):
            _numbers(session, home, size + (not told))
            session.sql("DROP TABLE IF EXISTS t")
            session.sql(f"CREATE TABLE t (id bigint, k int, v double, s string) {ACID}")
            for name, text in {
                "insert": f"INSERT INTO t {ROWS}",
                "update 1%": "UPDATE t SET k = k + 1 WHERE id % 100 = 7",
                "delete 1%": "DELETE FROM t WHERE id % 100 = 8",
                "merge 1%": "MERGE INTO t USING (SELECT id * 2 AS id FROM numbers WHERE "
                            "id % 100 = 9) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET k = 1 "
                            "WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1, 1.0, 'new')",
                "update half": "UPDATE t SET k = k + 1 WHERE id % 2 = 0",
                "select": "SELECT count(*), sum(k), max(s) FROM t",
                "major": "ALTER TABLE t COMPACT 'major'",
            }.items():  # fmt: skip
                before = (_cpu(jvm), _cpu(os.getpid()), _received(log))
                seconds = _timed(lambda text=text: session.sql(text).rows)
                time.sleep(1.5)  # the log of events lags behind
                if told:
                    print(f"{size:10} {name:14} {seconds:8.2f} {_cpu(jvm) - before[0]:13.2f} "
                          f"{_cpu(os.getpid()) - before[1]:9.2f} "
                          f"{(_received(log) - before[2]) / 1024:14.1f} "
                          f"{_memory(jvm, 'VmHWM'):13.0f} {_memory(os.getpid(), 'VmHWM'):16.0f}",
                          flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("deltas", "partitions", "growth"))
    parser.add_argument("--count", type=int)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--factor", type=int, default=10)
    parser.add_argument("--executors", default="1g")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hivesql-scale-") as directory:
        home = Path(directory)
        match options.what:
            case "deltas":
                measure_deltas(home, options.count or 1000)
            case "partitions":
                measure_partitions(home, options.count or 10_000)
            case "growth":
                measure_growth(home, options.rows, options.factor, options.executors)


if __name__ == "__main__":
    main()
