"""How statements' costs grow, an axis at a time, and the exponents of their curves.

    python tests/benchmarks/growth.py [AXIS …] [--most 1000000] [--seconds 200] [--home .bench]
                                      [--table]

Each axis is a process that makes something of 10, 100, 1,000 … (``--most`` is where it ends) and
runs statements on it. An axis ends early when one of its sizes took longer than ``--seconds``.
For each statement: CPU of the whole process tree, wall clock, calls to the JVM and bytes of both
ways (py4j), Spark's jobs, and peak memory of Python and the JVM. The exponent is the slope of
log CPU over log size by least squares, of the sizes from the first on that cost twice as much as
the smallest: what every statement costs anyhow is no growth. Results lie in ``HOME/results``;
``--table`` only prints them, as they stand in ``docs/growth.md``. ``rows`` up to 100 million:
``growth.py rows --most 100000000``. What a cluster's driver alone spends: ``scale.py growth``.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j import clientserver, java_gateway
from results import Results
from worker import cpu_seconds

import hivesql
from hivesql.script import split

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
FIELDS = ("cpu", "wall", "calls", "bytes", "jobs", "python", "jvm")


class Traffic:
    """Calls to the JVM and bytes of both ways, of all threads."""

    def __init__(self) -> None:
        self.calls = self.bytes = 0

    def watch(self) -> None:
        """Count from now on."""
        for connection in (java_gateway.GatewayConnection, clientserver.ClientServerConnection):
            send = connection.send_command

            def counted(own: Any, command: str, *more: Any, send: Any = send) -> Any:
                answer = send(own, command, *more)
                self.calls += 1
                self.bytes += len(command) + len(answer)
                return answer

            connection.send_command = counted


def _peak(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def _forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


class Meter:
    """Runs statements in a session, and notes what each of them cost."""

    def __init__(self, place: Path, results: Results) -> None:
        self.place, self.results, self.size = place, results, 0
        self.traffic = Traffic()
        self.traffic.watch()
        self.session = hivesql.connect(
            f"sqlite:///{place}/metastore.db", str(place / "warehouse"),
            settings={"spark.master": "local[2]", "spark.driver.memory": "4g"},
        )  # fmt: skip
        self._jvm = 0

    def quiet(self, *texts: str) -> None:
        """Run statements that are not measured."""
        for text in texts:
            self.session.sql(text)

    def __call__(self, name: str, work: str | Callable[[], object], repeat: int = 1) -> None:
        """Measure a statement or a call; the least of repetitions counts."""
        call = work if callable(work) else lambda: self.session.sql(work).rows
        tries = [self._cost(call) for _ in range(repeat)]
        cost = dict(zip(FIELDS, (round(min(values), 4) for values in zip(*tries, strict=True)),
                        strict=True))  # fmt: skip
        self.results.note(f"{name}/{self.size}", cost)
        print(f"{self.size:>10} {name:28} CPU {cost['cpu']:9.3f} wall {cost['wall']:9.3f} calls "
              f"{cost['calls']:7.0f} KiB {cost['bytes'] / 1024:8.0f} jobs {cost['jobs']:5.0f} "
              f"MiB {cost['python']:6.0f} + {cost['jvm']:6.0f}", flush=True)  # fmt: skip

    def _cost(self, call: Callable[[], object]) -> tuple[float, ...]:
        pids = [os.getpid(), *([self._jvm] if self._jvm else [])]
        for pid in pids:
            _forget_peak(pid)
        jobs = self._jobs()
        calls, size = self.traffic.calls, self.traffic.bytes
        cpu, began = cpu_seconds(), time.perf_counter()
        call()
        wall, cpu = time.perf_counter() - began, cpu_seconds() - cpu
        calls, size = self.traffic.calls - calls, self.traffic.bytes - size
        return (cpu, wall, calls, size, self._jobs() - jobs, _peak(os.getpid()),
                _peak(self._jvm) if self._jvm else 0.0)  # fmt: skip

    def start_spark(self) -> None:
        """Start Spark, so that no statement pays for it, and warm it up."""
        spark: Any = self.session.runtime.spark()
        self._jvm = int(spark._jvm.java.lang.ProcessHandle.current().pid())
        self.quiet(
            f"CREATE TABLE warm (id bigint, v string) {ACID}",
            "INSERT INTO warm SELECT id, concat('v', id) FROM (SELECT posexplode(split(space(999), "
            "' ')) AS (id, b)) x",
            *2 * ("UPDATE warm SET v = upper(v) WHERE id % 7 = 1",
                  "SELECT max(v), count(*) FROM warm GROUP BY id % 3"),
        )  # fmt: skip

    def _jobs(self) -> int:
        if not self._jvm:
            return 0
        spark: Any = self.session.runtime.spark()
        return int(spark._jsc.sc().dagScheduler().numTotalJobs())


def _numbers(count: int) -> str:
    """A relation of numbers from 0 on, as ``id``."""
    if count <= 1_000_000:
        return f"(SELECT posexplode(split(space({count - 1}), ' ')) AS (id, b)) n"
    millions = _numbers(count // 1_000_000).removesuffix("n") + "a"
    each = _numbers(1_000_000).removesuffix("n") + "b"
    item = "cast(a.id as bigint) * 1000000 + b.id AS id"
    return f"(SELECT {item} FROM {millions} CROSS JOIN {each}) n"


def rows(meter: Meter, size: int) -> None:
    """Whole tables: every statement reads or writes a share of the rows."""
    meter.quiet("DROP TABLE IF EXISTS t", f"CREATE TABLE t (id bigint, k int, v double, s string) "
                                          f"{ACID}")  # fmt: skip
    meter("INSERT … SELECT", "INSERT INTO t SELECT id, cast(id % 1000 as int), id / 7.0D, "
                             f"concat('row ', id % 5000) FROM {_numbers(size)}")  # fmt: skip
    meter("SELECT of aggregates", "SELECT count(*), sum(k), max(s) FROM t", 2)
    meter("SELECT of one row", f"SELECT * FROM t WHERE id = {size // 2}", 3)
    meter("UPDATE of one row", f"UPDATE t SET k = k + 1 WHERE id = {size // 2}", 3)
    meter("UPDATE of 1 %", "UPDATE t SET k = k + 1 WHERE id % 100 = 7")
    meter("DELETE of 1 %", "DELETE FROM t WHERE id % 100 = 8")
    meter("MERGE of 1 %", "MERGE INTO t USING (SELECT id * 2 AS id FROM t WHERE id % 100 = 9) s "
                          "ON t.id = s.id WHEN MATCHED THEN UPDATE SET k = 1 WHEN NOT MATCHED "
                          "THEN INSERT VALUES (s.id, 1, 1.0, 'new')")  # fmt: skip
    meter("ANALYZE … FOR COLUMNS", "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS")
    meter("major compaction", "ALTER TABLE t COMPACT 'major'")


def deleted(meter: Meter, size: int) -> None:
    """One million rows of which a share in percent was deleted."""
    meter.quiet("DROP TABLE IF EXISTS t", f"CREATE TABLE t (id bigint, v string) {ACID}")
    meter.quiet(f"INSERT INTO t SELECT id, concat('row ', id) FROM {_numbers(1_000_000)}")
    meter("DELETE", f"DELETE FROM t WHERE id % 100 < {size}")
    meter("SELECT of aggregates", "SELECT count(*), max(v) FROM t", 2)
    meter("UPDATE of the rest", "UPDATE t SET v = 'x' WHERE id % 100 >= 95")
    meter("major compaction", "ALTER TABLE t COMPACT 'major'")


def columns(meter: Meter, size: int) -> None:
    """Tables of many columns."""
    names = [f"c{i}" for i in range(size)]
    defined = ", ".join(f"{name} {('int', 'string', 'double')[i % 3]}"
                        for i, name in enumerate(names))  # fmt: skip
    values = ", ".join(("1", "'x'", "1.5")[i % 3] for i in range(size))
    meter.quiet("DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS u")
    meter("CREATE TABLE", f"CREATE TABLE t (id int, {defined}) {ACID}")
    meter.quiet(f"CREATE TABLE u (id int, {defined}) {ACID}")
    meter("DESCRIBE", "DESCRIBE t")
    meter("INSERT of a row", f"INSERT INTO t VALUES (1, {values})", 2)
    meter("EXPLAIN of an UPDATE", "EXPLAIN UPDATE t SET c1 = 'y' WHERE c0 = 5", 2)
    meter("SELECT of a row", "SELECT * FROM t WHERE id = 1", 2)
    meter("SELECT of a column", "SELECT c1 FROM t WHERE id = 1", 2)
    meter("UPDATE of a row", "UPDATE t SET c1 = 'y' WHERE id = 1", 2)
    sets = ", ".join(f"{name} = {('c0 + 1', 'upper(c1)', 'c2 * 2')[i % 3]}"
                     for i, name in enumerate(names))  # fmt: skip
    meter("EXPLAIN of all columns' SET", f"EXPLAIN UPDATE t SET {sets} WHERE id = 1")
    merge = ", ".join(f"{name} = s.{name}" for name in names)
    inserted = ", ".join(f"s.{name}" for name in names)
    merge = (f"MERGE INTO t USING u s ON t.id = s.id WHEN MATCHED THEN UPDATE SET {merge} "
             f"WHEN NOT MATCHED THEN INSERT VALUES (s.id, {inserted})")  # fmt: skip
    meter("EXPLAIN of a MERGE", f"EXPLAIN {merge}")
    computed = ", ".join(("id", "concat('v', id)", "id / 7.0D")[i % 3] for i in range(size))
    meter("INSERT … SELECT, 100 rows", f"INSERT INTO u SELECT id, {computed} FROM {_numbers(100)}")
    meter("MERGE of 100 rows", merge)
    meter.quiet("SET hivesql.local.max.bytes=0")
    meter("SELECT * by Spark", "SELECT * FROM t WHERE id >= 1")
    meter("UPDATE by Spark", "UPDATE t SET c1 = 'z' WHERE id >= 1")
    meter("MERGE by Spark", merge)
    meter.quiet("SET hivesql.local.max.bytes=16777216")
    meter("ANALYZE … FOR COLUMNS", "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS")
    meter("minor compaction", "ALTER TABLE t COMPACT 'minor'")
    meter("major compaction", "ALTER TABLE t COMPACT 'major'")


def partitions(meter: Meter, size: int) -> None:
    """A table of many partitions, each of a row."""
    meter.quiet(
        "SET hive.exec.max.dynamic.partitions=10000000",
        "SET hive.exec.max.dynamic.partitions.pernode=10000000",
        "DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS e",
        f"CREATE TABLE t (id bigint, v string) PARTITIONED BY (p int) {ACID}",
    )  # fmt: skip
    meter("dynamic INSERT into all", "INSERT INTO t PARTITION (p) SELECT id, concat('v', id), "
                                     f"cast(id as int) FROM {_numbers(size)}")  # fmt: skip
    chosen = f"p = {size // 2}"
    meter("SHOW PARTITIONS", "SHOW PARTITIONS t")
    meter("SHOW PARTITIONS of one", f"SHOW PARTITIONS t PARTITION ({chosen})", 2)
    meter("DESCRIBE FORMATTED", "DESCRIBE FORMATTED t", 2)
    meter("EXPLAIN of one", f"EXPLAIN SELECT * FROM t WHERE {chosen}", 2)
    meter("SELECT of one", f"SELECT * FROM t WHERE {chosen}", 3)
    meter("INSERT into one", f"INSERT INTO t PARTITION ({chosen}) VALUES (1, 'x')", 3)
    meter("UPDATE of one", f"UPDATE t SET v = 'y' WHERE {chosen}", 3)
    meter("SELECT of all", "SELECT count(*), max(v) FROM t")
    meter("DELETE in all", f"DELETE FROM t WHERE id < {size}" if size <= 10_000 else
          "DELETE FROM t WHERE id < 10000")  # fmt: skip
    meter("ANALYZE", "ANALYZE TABLE t PARTITION (p) COMPUTE STATISTICS")
    meter("ALTER … ADD COLUMNS CASCADE", "ALTER TABLE t ADD COLUMNS (w int) CASCADE")
    meter("compaction of one", f"ALTER TABLE t PARTITION ({chosen}) COMPACT 'major'")
    meter("SHOW COMPACTIONS", "SHOW COMPACTIONS")
    meter("DROP of one partition", f"ALTER TABLE t DROP PARTITION ({chosen})")
    meter("DROP of half the partitions", f"ALTER TABLE t DROP PARTITION (p < {size // 2})")
    home = meter.place / "warehouse" / "t"
    meter.quiet(f"CREATE EXTERNAL TABLE e (id bigint, v string) PARTITIONED BY (p int) STORED AS "
                f"TEXTFILE LOCATION '{home}x'")  # fmt: skip
    for i in range(size):
        (home.with_name("tx") / f"p={i}").mkdir(parents=True, exist_ok=True)
    meter("MSCK REPAIR", "MSCK REPAIR TABLE e")
    meter("MSCK REPAIR again", "MSCK REPAIR TABLE e")
    meter("DROP TABLE", "DROP TABLE t")
    meter.quiet("DROP TABLE e")
    subprocess.run(["rm", "-rf", f"{home}x"], check=True)


def deltas(meter: Meter, size: int) -> None:
    """A table of many deltas, each of a row."""
    meter.quiet("DROP TABLE IF EXISTS t", f"CREATE TABLE t (id int, v string) {ACID}")

    def insert() -> None:
        for begin in range(0, size, 1000):
            meter.quiet("START TRANSACTION")
            for i in range(begin, min(size, begin + 1000)):
                meter.quiet(f"INSERT INTO t VALUES ({i}, 'row {i}')")
            meter.quiet("COMMIT")

    meter("all INSERTs", insert)
    meter("INSERT of one more", f"INSERT INTO t VALUES ({size}, 'last')", 3)
    meter("EXPLAIN of a SELECT", "EXPLAIN SELECT * FROM t WHERE id = 5", 2)
    meter("SELECT of a row", "SELECT * FROM t WHERE id = 5", 2)
    meter("SELECT by Spark", "SELECT count(*), max(v) FROM t GROUP BY id % 2", 2)
    meter("UPDATE of a row", "UPDATE t SET v = 'new' WHERE id = 5", 2)
    meter("DELETE of half", "DELETE FROM t WHERE id % 2 = 1")
    meter("SELECT by Spark after", "SELECT count(*), max(v) FROM t GROUP BY id % 2", 2)
    meter("minor compaction", "ALTER TABLE t COMPACT 'minor'")
    meter("major compaction", "ALTER TABLE t COMPACT 'major'")


def _small_table(meter: Meter) -> None:
    meter.quiet("DROP TABLE IF EXISTS t", f"CREATE TABLE t (id int, v string, w double) {ACID}",
                "INSERT INTO t VALUES (1, 'a', 1.5), (2, 'b', 2.5), (3, 'c', 3.5)")  # fmt: skip


def in_list(meter: Meter, size: int) -> None:
    """Lists of IN, of numbers and of texts, and rows of VALUES."""
    _small_table(meter)
    numbers = ", ".join(map(str, range(2, size + 2)))
    texts = ", ".join(f"'v{i}'" for i in range(size))
    meter("SELECT … IN", f"SELECT * FROM t WHERE id IN ({numbers})")
    meter("SELECT … IN, texts", f"SELECT * FROM t WHERE v NOT IN ({texts})")
    meter("DELETE … IN", f"DELETE FROM t WHERE id IN ({numbers})")
    meter("SELECT … IN by Spark", f"SELECT max(w) FROM t WHERE id IN ({numbers}) GROUP BY v")
    meter("VALUES", "INSERT INTO t VALUES " + ", ".join(f"({i}, 'v{i}', 1.5)" for i in range(size)))
    computed = ", ".join(f"({i} + 1, 'v{i}', 1.5)" for i in range(size))
    meter("VALUES, computed", f"INSERT INTO t VALUES {computed}")


def conditions(meter: Meter, size: int) -> None:
    """Chains of OR, AND, + and ||, branches of CASE, parentheses in parentheses."""
    _small_table(meter)
    either = " OR ".join(f"(id = {i} AND v = 'v{i}')" for i in range(size))
    every = " AND ".join(f"id <> {i + 10}" for i in range(size))
    cases = " ".join(f"WHEN id = {i} THEN 'c{i}'" for i in range(size))
    meter("SELECT … OR", f"SELECT * FROM t WHERE {either}")
    meter("SELECT … AND", f"SELECT * FROM t WHERE {every}")
    meter("UPDATE by CASE", f"UPDATE t SET v = CASE {cases} ELSE v END WHERE id = 1")
    meter("EXPLAIN of CASE", f"EXPLAIN SELECT CASE {cases} END AS c FROM t")
    meter("EXPLAIN of a sum", f"EXPLAIN SELECT {' + '.join(['id'] * size)} AS c FROM t")
    meter("EXPLAIN of concat", f"EXPLAIN SELECT {' || '.join(['v'] * size)} AS c FROM t")
    if size <= 300:
        meter("EXPLAIN of ( in (", f"EXPLAIN SELECT {'(' * size}id{' + 1)' * size} AS c FROM t")
        meter("EXPLAIN of f(f(", f"EXPLAIN SELECT {'upper(' * size}v{')' * size} AS c FROM t")


def relations(meter: Meter, size: int) -> None:
    """Branches of UNION ALL, joins, CTEs, subqueries in subqueries, views on views."""
    _small_table(meter)
    branches = " UNION ALL ".join(f"SELECT id + {i} AS id FROM t" for i in range(size))
    joins = " ".join(f"JOIN t t{i} ON t0.id = t{i}.id" for i in range(1, size))
    tables = ", ".join(
        f"c{i} AS (SELECT id + 1 AS id FROM {f'c{i - 1}' if i else 't'})" for i in range(size)
    )
    meter("EXPLAIN of UNION ALL", f"EXPLAIN SELECT count(*) AS n FROM ({branches}) u")
    meter("EXPLAIN of joins", f"EXPLAIN SELECT t0.id FROM t t0 {joins}")
    meter("EXPLAIN of CTEs", f"EXPLAIN WITH {tables} SELECT * FROM c{size - 1}")
    nested = "t"
    for i in range(size):
        nested = f"(SELECT id + 1 AS id FROM {nested} q{i})"
    meter("EXPLAIN of subqueries", f"EXPLAIN SELECT * FROM {nested} q")
    for i in range(size):
        meter.quiet(f"CREATE VIEW IF NOT EXISTS v{i} AS SELECT id + 1 AS id FROM "
                    f"{f'v{i - 1}' if i else 't'}")  # fmt: skip
    meter("EXPLAIN of views", f"EXPLAIN SELECT * FROM v{size - 1}")
    exists = " AND ".join(f"EXISTS (SELECT 1 FROM t u{i} WHERE u{i}.id = t.id + {i})"
                          for i in range(size))  # fmt: skip
    meter("EXPLAIN of EXISTS", f"EXPLAIN SELECT id FROM t WHERE {exists}")
    if size <= 30:
        meter("UNION ALL by Spark", f"SELECT count(*) AS n FROM ({branches}) u")
        meter("views by Spark", f"SELECT count(*) AS n FROM v{size - 1} GROUP BY id")


def whens(meter: Meter, size: int) -> None:
    """A MERGE of many WHENs."""
    _small_table(meter)
    updates = " ".join(
        f"WHEN MATCHED AND s.op = {i} THEN UPDATE SET v = 'v{i}'" for i in range(size)
    )
    source = "(SELECT * FROM (VALUES (1, 1), (2, 0), (7, 1)) x (id, op)) s"
    meter("EXPLAIN", f"EXPLAIN MERGE INTO t USING {source} ON t.id = s.id {updates}")
    meter("MERGE", f"MERGE INTO t USING {source} ON t.id = s.id {updates}")
    meter.quiet("SET hivesql.local.source.max=0")
    meter("MERGE by Spark", f"MERGE INTO t USING {source} ON t.id = s.id {updates}")
    meter.quiet("SET hivesql.local.source.max=5000")


def script(meter: Meter, size: int) -> None:
    """Many statements in a script, many tables in a database, variables in a text."""
    text = "\n".join(f"SELECT '{i};' AS a; -- a comment; it's one" for i in range(size))
    meter("cutting a script", lambda: sum(1 for _ in split(text, None, {})))
    for i in range(size):
        meter.quiet(f"CREATE TABLE IF NOT EXISTS many{i} (id int, v string)")
    meter("SHOW TABLES", "SHOW TABLES", 2)
    meter("SHOW TABLE EXTENDED", "SHOW TABLE EXTENDED LIKE 'many%'")
    meter("SELECT of sys.tbls", "SELECT count(*) AS n FROM information_schema.tables")
    meter("DESCRIBE", "DESCRIBE many1", 3)


def clients(meter: Meter, size: int) -> None:
    """Sessions at once that insert 256 rows in all, each into a table of its own, then into one."""
    for title, name in (("256 INSERTs, own tables", "own{}"), ("256 INSERTs, one table", "one")):
        for number in range(size):
            meter.quiet(f"CREATE TABLE IF NOT EXISTS {name.format(number)} (id int) {ACID}")

        def client(number: int, name: str = name) -> None:
            with hivesql.connect(
                f"sqlite:///{meter.place}/metastore.db", str(meter.place / "warehouse")
            ) as session:
                for i in range(256 // size):
                    session.sql(f"INSERT INTO {name.format(number)} VALUES ({i})")

        def together(client: Callable[[int], None] = client) -> None:
            threads = [threading.Thread(target=client, args=(i,)) for i in range(size)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        meter(title, together)


@dataclass(frozen=True)
class Axis:
    """What is measured at which sizes."""

    run: Callable[[Meter, int], None]
    sizes: tuple[int, ...]


AXES = {
    "rows": Axis(rows, tuple(10**i for i in range(9))),
    "deleted": Axis(deleted, (1, 3, 10, 30, 60, 90)),
    "columns": Axis(columns, (10, 100, 500, 1000, 2000)),
    "partitions": Axis(partitions, (100, 1000, 10_000, 100_000)),
    "deltas": Axis(deltas, (10, 100, 1000, 10_000)),
    "in list": Axis(in_list, (10, 100, 1000, 10_000, 100_000)),
    "conditions": Axis(conditions, (10, 30, 100, 300, 1000, 3000)),
    "relations": Axis(relations, (3, 10, 30, 100, 300)),
    "whens": Axis(whens, (2, 5, 10, 30, 100)),
    "script": Axis(script, (10, 100, 1000, 10_000)),
    "clients": Axis(clients, (1, 4, 16, 64)),
}


def exponent(points: dict[int, float]) -> float | None:
    """The slope of log cost over log size, from where a cost is twice the smallest's on.

    None where nothing costs twice as much.
    """
    sizes = sorted(points)
    least = max(min(points.values()), 0.001)
    begin = next((i for i, size in enumerate(sizes) if points[size] >= 2 * least), None)
    if begin is None:
        return None
    chosen = sizes[max(0, begin - 1) :]
    logs = [(math.log(size), math.log(max(points[size], 0.0005))) for size in chosen]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    above = sum((x - mean_x) * (y - mean_y) for x, y in logs)
    return above / sum((x - mean_x) ** 2 for x, _ in logs)


def curves(results: Results, field: str) -> dict[str, dict[int, float]]:
    """A field of what was measured, by statement and size."""
    found: dict[str, dict[int, float]] = {}
    for name, cost in results.starting("").items():
        statement, _, size = name.rpartition("/")
        found.setdefault(statement, {})[int(size)] = cost[field]
    return found


def _last(points: dict[int, float]) -> float | None:
    """The slope between the two largest sizes."""
    if len(points) < 2:
        return None
    (small, before), (large, after) = sorted(points.items())[-2:]
    return math.log(max(after, 0.0005) / max(before, 0.0005)) / math.log(large / small)


def table(results: Results, axis: str) -> Iterator[str]:
    """An axis as a table of Markdown: CPU by size, and exponents of CPU, bytes and memory."""
    spent = curves(results, "cpu")
    sizes = sorted({size for points in spent.values() for size in points})
    yield f"\n{axis}, {results.circumstances()}\n"
    yield (f"| CPU seconds | {' | '.join(f'{size:,}' for size in sizes)} | exponent | last step | "
           "KiB of the JVM | peak MiB |")  # fmt: skip
    yield "|---" * (len(sizes) + 5) + "|"
    for name, points in spent.items():
        cells = (f"{points[size]:.3g}" if size in points else "-" for size in sizes)
        slopes = (exponent(points), _last(points))
        told = (f"{slope:.2f}" if slope is not None else "-" for slope in slopes)
        value = results[f"{name}/{max(points)}"]
        yield (f"| {name} | {' | '.join(cells)} | {' | '.join(told)} | "
               f"{value['bytes'] / 1024:,.0f} | {value['python']:,.0f} + {value['jvm']:,.0f} |"
               )  # fmt: skip


def measure(axis: str, results: Results, most: int, seconds: float) -> None:
    """Run an axis from the smallest size on."""
    with tempfile.TemporaryDirectory(prefix="hivesql-growth-") as directory:
        meter = Meter(Path(directory), results)
        if axis not in ("clients", "script"):
            meter.start_spark()
        if axis in AXES:
            meter.size = AXES[axis].sizes[0]
            for size in AXES[axis].sizes:
                if size > most:
                    break
                meter.size = size
                began = time.monotonic()
                AXES[axis].run(meter, size)
                if time.monotonic() - began > seconds:
                    break
        meter.session.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("axes", nargs="*", metavar="AXIS", help=", ".join(AXES))
    parser.add_argument("--home", type=Path, default=Path(".bench"))
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--table", action="store_true", help="print what was measured")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    home = options.home.absolute()
    axes = options.axes or list(AXES)
    if unknown := set(axes) - set(AXES):
        parser.error(f"{unknown}: there are {', '.join(AXES)}")
    for axis in axes:
        path = home / "results" / f"growth-{axis.replace(' ', '-')}.json"
        results = Results(path, {"axis": axis})
        if options.measure:
            measure(axis, results, options.most, options.seconds)
            continue
        if not options.table:
            path.unlink(missing_ok=True)
            subprocess.run([sys.executable, __file__, axis, "--home", home, "--measure", "1",
                            "--most", str(options.most), "--seconds", str(options.seconds)],
                           check=False)  # fmt: skip
            results = Results(path, {"axis": axis})
        print("\n".join(table(results, axis)), flush=True)


if __name__ == "__main__":
    main()
