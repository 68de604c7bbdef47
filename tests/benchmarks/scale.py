"""How costs grow: small deltas, partitions, and what reaches the driver as a table grows tenfold.

    python tests/benchmarks/scale.py deltas [--count 10000] [--home .bench]
    python tests/benchmarks/scale.py partitions [--count 10000] [--home .bench]
    python tests/benchmarks/scale.py growth [--rows 300000] [--factor 10] [--executors 1g] [--hdfs]
    python tests/benchmarks/scale.py rivals [--count 1000] [--home .bench]

``growth`` runs on a standalone cluster of two workers, one core each, so that the driver's CPU,
peak memory and received bytes are its own; HiveSQL's Python is told apart from the driver's JVM.
With ``--hdfs`` the table lies on an HDFS of one data node. ``rivals`` reads as many small files
from plain ORC, Delta and Iceberg. What is measured is kept in ``HOME/results``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import rivals
from results import Results

import hivesql

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from minidfs import hdfs_cluster
from standalone import standalone_cluster

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
ROWS = (
    "SELECT id, cast(id % 1000 as int) AS k, id / 7.0D AS v, concat('row ', id % 5000) AS s "
    "FROM numbers"
)
COUNT = "SELECT count(*), max(v) FROM t"
SMALL_FILES = Path(__file__).with_name("small_files.py")


def _open(home: Path, master: str, warehouse: str = "", **settings: str) -> hivesql.Session:
    return hivesql.connect(
        f"sqlite:///{home}/metastore.db",
        warehouse or str(home / "warehouse"),
        settings={"spark.master": master, "spark.driver.memory": "2g", **settings},
    )


def _timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def _plan_of(frame: Any) -> None:
    """Everything but the reading itself."""
    frame._jdf.queryExecution().executedPlan()


def measure_deltas(home: Path, count: int, results: Results) -> None:
    """Single-row inserts, then what their files add to a read, a delete and a compaction.

    Most are inserted many in a transaction: each makes a delta of its own all the same.
    """
    with _open(home, "local[2]") as session:
        session.sql(f"CREATE TABLE t (id int, v string) {ACID}")
        session.sql("INSERT INTO t SELECT 0, 'first'")
        base = min(_timed(lambda: session.sql(COUNT).rows) for _ in range(8))
        alone = [
            _timed(lambda i=i: session.sql(f"INSERT INTO t VALUES ({i}, 'row {i}')"))
            for i in range(count // 100)
        ]
        results.note("base", {"insert ms": 1e3 * statistics.median(alone), "scan s": base})
        done = count // 100
        for goal in (count // 100, count // 10, count):
            while done < goal:
                session.sql("START TRANSACTION")
                many = range(done, min(goal, done + 1000))
                for i in many:
                    session.sql(f"INSERT INTO t VALUES ({i}, 'row {i}')")
                session.sql("COMMIT")
                done += len(many)
            first = _timed(lambda: session.sql(COUNT).rows)
            plan = min(_timed(lambda: session.sql(COUNT, consume=_plan_of)) for _ in range(5))
            scan = min(_timed(lambda: session.sql(COUNT).rows) for _ in range(5))
            delete = _timed(lambda: session.sql("DELETE FROM t WHERE v = concat('row ', '1')"))
            after = min(_timed(lambda: session.sql(COUNT).rows) for _ in range(3))
            results.note(
                f"deltas/{goal}",
                {"first read s": first, "plan s": plan, "scan s": scan,
                 "us a delta": 1e6 * (scan - base) / goal, "delete s": delete,
                 "scan after s": after},
            )  # fmt: skip
            print(goal, results[f"deltas/{goal}"], flush=True)
        for kind in ("minor", "major"):
            seconds = _timed(lambda kind=kind: session.sql(f"ALTER TABLE t COMPACT '{kind}'"))
            scan = _timed(lambda: session.sql(COUNT).rows)
            results.note(kind, {"seconds": seconds, "scan s": scan})
            print(kind, results[kind], flush=True)


def measure_partitions(home: Path, count: int, results: Results) -> None:
    """A dynamic insert into many partitions, and statements on one and on all of them."""
    with _open(home, "local[2]") as session:
        _numbers(session, str(home), 4 * count)
        session.sql("SET hive.exec.max.dynamic.partitions=1000000")
        session.sql("SET hive.exec.max.dynamic.partitions.pernode=1000000")
        session.sql(f"CREATE TABLE t (id bigint, v string) PARTITIONED BY (p int) {ACID}")
        one = f"p = {count // 2}"
        for name, text in {
            "insert into all": "INSERT INTO t PARTITION (p) SELECT id, concat('v', id), "
                               f"cast(id % {count} as int) AS p FROM numbers",
            "explain of one": f"EXPLAIN SELECT * FROM t WHERE {one}",
            "select of one": f"SELECT * FROM t WHERE {one}",
            "update of one": f"UPDATE t SET v = concat(v, '!') WHERE {one}",
            "select of one again": f"SELECT * FROM t WHERE {one}",
            "select of all": COUNT,
            "select of all again": COUNT,
            "insert into ten": "INSERT INTO t PARTITION (p) SELECT id, concat('v', id), "
                               "cast(id as int) FROM numbers WHERE id < 10",
            "delete in all": f"DELETE FROM t WHERE id < {count}",
            "select of all after": COUNT,
            "show partitions": "SHOW PARTITIONS t",
            "drop": "DROP TABLE t",
        }.items():  # fmt: skip
            results.note(name, _timed(lambda text=text: session.sql(text).rows))
            print(f"{name:22} {results[name]:8.2f} s", flush=True)


def measure_rivals(home: Path, place: Path, count: int, results: Results) -> None:
    """The same number of small files and partitions, made by few commits, in other formats."""
    rivals.set_up(home)
    for name in ("orc", *rivals.ENVIRONMENTS):
        if name in results:
            continue
        python = home / name / "bin" / "python"
        work = place / name
        work.mkdir()
        log = home / "results" / f"rivals-{name}.log"
        log.parent.mkdir(exist_ok=True)
        found = subprocess.run(
            [python if name in rivals.ENVIRONMENTS else sys.executable, SMALL_FILES, name,
             str(count), work, home / "jars"],
            check=True, stdout=subprocess.PIPE, stderr=log.open("w"), text=True, cwd=work,
            env={**os.environ, "PYSPARK_PYTHON": str(python)},
        )  # fmt: skip
        results.note(name, json.loads(found.stdout.splitlines()[-1]))
        print(name, results[name], flush=True)


def _numbers(session: hivesql.Session, home: str, rows: int) -> None:
    where = f"{home}/numbers{rows}"
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


def measure_growth(
    home: Path, rows: int, factor: int, executors: str, results: Results, *, on_hdfs: bool
) -> None:
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
    with ExitStack() as things:
        uri = things.enter_context(hdfs_cluster(home)) if on_hdfs else str(home)
        master = things.enter_context(standalone_cluster(home, memory=memory))
        session = things.enter_context(_open(home, master, f"{uri}/warehouse", **settings))
        jvm = _driver_jvm(session)
        print(f"{'rows':>10} {'statement':14} {'wall s':>8} {'driver JVM s':>13} {'Python s':>9} "
              f"{'to driver KiB':>14} {'JVM peak MiB':>13} {'Python peak MiB':>16}")  # fmt: skip
        # The first round, of the small size, warms the cluster up and is not told.
        for told, size in ((False, rows), (True, rows), (True, rows * factor)):
            _numbers(session, uri, size + (not told))
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
                    found = [
                        seconds, _cpu(jvm) - before[0], _cpu(os.getpid()) - before[1],
                        (_received(log) - before[2]) / 1024, _memory(jvm, "VmHWM"),
                        _memory(os.getpid(), "VmHWM"),
                    ]  # fmt: skip
                    results.note(f"{size}/{name}", [round(one, 3) for one in found])
                    print(f"{size:10} {name:14} {found[0]:8.2f} {found[1]:13.2f} {found[2]:9.2f} "
                          f"{found[3]:14.1f} {found[4]:13.0f} {found[5]:16.0f}",
                          flush=True)  # fmt: skip


def run(what: str, home: Path, **sizes: Any) -> Results:
    """Measure one thing, unless it has been measured with these sizes."""
    suffix = "-hdfs" if sizes.get("on_hdfs") else ""
    size = sizes.get("count") or sizes.get("rows")
    results = Results(home / "results" / f"{what}{suffix}-{size}.json", sizes)
    if "done" in results:
        return results
    with tempfile.TemporaryDirectory(prefix="hivesql-scale-") as directory:
        place = Path(directory)
        match what:
            case "deltas":
                measure_deltas(place, sizes["count"], results)
            case "partitions":
                measure_partitions(place, sizes["count"], results)
            case "rivals":
                measure_rivals(home, place, sizes["count"], results)
            case _:
                measure_growth(place, **sizes, results=results)
    results.note("done", value=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("deltas", "partitions", "rivals", "growth"))
    parser.add_argument("--home", type=Path, default=Path(".bench"))
    parser.add_argument("--count", type=int)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--factor", type=int, default=10)
    parser.add_argument("--executors", default="1g")
    parser.add_argument("--hdfs", action="store_true")
    options = parser.parse_args()
    home = options.home.absolute()
    if options.what == "growth":
        run("growth", home, rows=options.rows, factor=options.factor,
            executors=options.executors, on_hdfs=options.hdfs)  # fmt: skip
    else:
        default = 1000 if options.what == "rivals" else 10_000
        run(options.what, home, count=options.count or default)


if __name__ == "__main__":
    main()
