"""How long `hivesql -e STATEMENT` takes from a cold start, for statements of the metastore alone.

    python tests/benchmarks/start.py [--runs 10]

Prints the fastest and the median of the runs in seconds of wall clock, and of the processor.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time

STATEMENTS = (
    "SHOW TABLES", "SHOW LOCKS", "SHOW TRANSACTIONS", "DESCRIBE FORMATTED t",
    "EXPLAIN SELECT b, count(*) FROM t WHERE a > 1 GROUP BY b",
)  # fmt: skip
CREATE = "CREATE TABLE t (a INT, b STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as home:

        def run(statement: str) -> tuple[float, float]:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            began = time.perf_counter()
            command = [sys.executable, "-m", "hivesql_repl", "--silent", "-e", statement]
            subprocess.run(command, cwd=home, check=True, stdout=subprocess.DEVNULL)
            took = time.perf_counter() - began
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            return took, used

        run(CREATE)
        for statement in STATEMENTS:
            taken = [run(statement) for _ in range(runs)]
            for what, values in zip(("wall", "processor"), zip(*taken, strict=True), strict=True):
                print(
                    f"{statement:58} {what:9} fastest {min(values):.3f} "
                    f"median {statistics.median(values):.3f}"
                )


if __name__ == "__main__":
    main()
