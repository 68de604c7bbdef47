"""What statements about few rows cost without Spark: the files alone, and the whole.

Usage: python tests/benchmarks/small_statements.py [runs] [rows of a large table]

Prints the median milliseconds of each statement on a warm session: of its file part (rows found,
staged, published) and of all (parse, plan, transaction, locks, commit) on a SQLite metastore. The
large table, 2,000,000 rows unless told, 0 for none, is sorted by its key and filled by Spark in a
process of its own. Files are where TMPDIR is: choose a disk, so that what must reach it does.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hivesql
from hivesql_executor.statements import change as run_change
from hivesql_executor.statements import insert as run_insert
from hivesql_executor.statements import select as run_select

TABLE = (
    "CREATE TABLE t (id INT, v STRING, n DECIMAL(10,2), ts TIMESTAMP) STORED AS ORC "
    "TBLPROPERTIES ('transactional'='true')"
)
SMALL = {
    "INSERT one row": "INSERT INTO t VALUES ({i}, 'new', 1.5, '2020-01-01 00:00:00')",
    "INSERT ten rows": "INSERT INTO t VALUES "
    + ", ".join(f"({n}, 'more', 2.5, NULL)" for n in range(10)),
    "UPDATE one row": "UPDATE t SET v = 'changed' WHERE id = 5000",
    "DELETE one row": "DELETE FROM t WHERE id = {j}",
    "SELECT one row": "SELECT * FROM t WHERE id = {k}",
    "SELECT count(*)": "SELECT count(*) FROM t",
}
LARGE = {
    "SELECT one row": "SELECT * FROM t WHERE id = {k}",
    "UPDATE one row": "UPDATE t SET v = 'changed' WHERE id = {k}",
    "UPDATE it again": "UPDATE t SET v = 'again' WHERE id = {k}",
    "DELETE one row": "DELETE FROM t WHERE id = {k}",
    "SELECT after": "SELECT * FROM t WHERE id = {k}",
}


def fill(home: str, rows: int) -> None:
    """A table of many rows, sorted by its key."""
    settings = {"spark.master": "local[2]"}
    with hivesql.connect(
        f"sqlite:///{home}/m.db", f"{home}/warehouse", settings=settings
    ) as session:
        session.sql(TABLE)
        numbers = session.runtime.spark().range(0, rows, 1, 2)
        text = "cast(id as int) id", "concat('row ', id) v", "cast(id % 1000 as decimal(10,2)) n"
        session.append("t", numbers.selectExpr(*text))


def measure(session: hivesql.Session, statements: dict[str, str], runs: int, step: int) -> None:
    """Print the medians of each statement; rows of one statement are ``step`` apart."""
    spent: list[float] = []

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*args)
            finally:
                spent.append(time.perf_counter() - began)

        return call

    # The functions that write or read files, or hand them to Spark.
    whole_ways = (run_insert, "_write"), (run_change, "_write"), (run_select, "_without_spark")
    before = [(module, name, getattr(module, name)) for module, name in whole_ways]
    for module, name, function in before:
        setattr(module, name, timed(function))
    for name, statement in statements.items():
        session.sql(statement.format(i=-1, j=-1, k=step // 2))
        spent.clear()
        whole, cpu = [], []
        for i in range(runs):
            began, worked = time.perf_counter(), time.process_time()
            session.sql(statement.format(i=20_000 + i, j=i, k=i * step + 7))
            whole.append(time.perf_counter() - began)
            cpu.append(time.process_time() - worked)
        files = statistics.median(spent) * 1e3
        every, worked = statistics.median(whole) * 1e3, statistics.median(cpu) * 1e3
        print(f"{name:16} files {files:6.1f} ms, all {every:6.1f} ms, CPU {worked:6.1f} ms")
    for module, name, function in before:
        setattr(module, name, function)
    print("Spark was started" if session._spark.started else "no Spark was started")


def main(runs: int, many: int) -> None:
    """Measure each statement on a table of 10,000 rows in a few deltas, and on a large one."""
    with tempfile.TemporaryDirectory() as home:
        with hivesql.connect(f"sqlite:///{home}/m.db", f"{home}/warehouse") as session:
            session.sql(TABLE)
            rows = ", ".join(f"({n}, 'row {n}', {n}.25, NULL)" for n in range(10_000))
            session.sql(f"INSERT INTO t VALUES {rows}")
            print("10,000 rows")
            measure(session, SMALL, runs, 10)
        if not many:
            return
        place = f"{home}/large"
        filling = multiprocessing.get_context("spawn").Process(target=fill, args=(place, many))
        Path(place).mkdir()
        filling.start()
        filling.join()
        with hivesql.connect(f"sqlite:///{place}/m.db", f"{place}/warehouse") as session:
            print(f"{many:,} rows, load {os.getloadavg()[0]:.1f}")
            measure(session, LARGE, runs, many // (runs + 1))


if __name__ == "__main__":
    numbers = [int(one) for one in sys.argv[1:]]
    main(*(numbers + [20, 2_000_000][len(numbers) :]))
