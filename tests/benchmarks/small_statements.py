"""What small statements cost without Spark: the files alone, and the whole with its transaction.

Usage: python tests/benchmarks/small_statements.py [runs]

Prints the median milliseconds of each statement on a warm session: of its file part (rows found,
staged, published) and of all (parse, plan, transaction, locks, commit) on a SQLite metastore.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import hivesql
from hivesql_executor import run_change, run_insert

TABLE = (
    "CREATE TABLE t (id INT, v STRING, n DECIMAL(10,2), ts TIMESTAMP) STORED AS ORC "
    "TBLPROPERTIES ('transactional'='true')"
)
STATEMENTS = {
    "INSERT one row": "INSERT INTO t VALUES ({i}, 'new', 1.5, '2020-01-01 00:00:00')",
    "INSERT ten rows": "INSERT INTO t VALUES "
    + ", ".join(f"({n}, 'more', 2.5, NULL)" for n in range(10)),
    "UPDATE one row": "UPDATE t SET v = 'changed' WHERE id = 5000",
    "DELETE one row": "DELETE FROM t WHERE id = {j}",
}


def main(runs: int) -> None:
    """Measure each statement on a table of 10,000 rows in a few deltas."""
    spent: list[float] = []

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*args)
            finally:
                spent.append(time.perf_counter() - began)

        return call

    # The two functions that write files, or hand them to Spark.
    run_insert._write = timed(run_insert._write)
    run_change._write = timed(run_change._write)
    with (
        tempfile.TemporaryDirectory() as home,
        hivesql.connect(f"sqlite:///{home}/m.db", f"{home}/warehouse") as session,
    ):
        session.sql(TABLE)
        rows = ", ".join(f"({n}, 'row {n}', {n}.25, NULL)" for n in range(10_000))
        session.sql(f"INSERT INTO t VALUES {rows}")
        for name, statement in STATEMENTS.items():
            session.sql(statement.format(i=-1, j=-1))
            spent.clear()
            whole = []
            for i in range(runs):
                began = time.perf_counter()
                session.sql(statement.format(i=20_000 + i, j=i))
                whole.append(time.perf_counter() - began)
            files = statistics.median(spent) * 1e3
            print(f"{name:16} files {files:6.1f} ms, all {statistics.median(whole) * 1e3:6.1f} ms")
        print("Spark was started" if session._spark.started else "no Spark was started")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
