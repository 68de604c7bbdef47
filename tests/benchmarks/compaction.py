"""Seconds of minor and major compactions, beside a plain rewrite of the same rows by Spark.

    python tests/benchmarks/compaction.py [ROWS] [ROUNDS]

Each round makes a table anew (five inserts, a delete of every hundredth row), then compacts it and
rewrites its rows as plain ORC files, one after the other, so that all see the same machine.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator

import hivesql

INSERTS = 5
COLUMNS = "id bigint, k int, v double, s string"
ROWS = ("id", "cast(id % 1000 as int) k", "id / 7.0D v", "concat('row ', id % 5000) s")
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def main(rows: int, rounds: int) -> None:
    """Print the median of every operation."""
    taken: dict[str, list[float]] = defaultdict(list)
    settings = {"spark.master": "local[2]", "spark.ui.enabled": "false"}
    with (
        tempfile.TemporaryDirectory(prefix="hivesql-compaction-") as place,
        hivesql.connect(f"sqlite:///{place}/m.db", f"{place}/wh", settings=settings) as session,
    ):
        numbers = f"{place}/numbers"
        session.runtime.spark().range(rows).selectExpr(*ROWS).write.orc(numbers)
        session.sql(f"CREATE EXTERNAL TABLE n ({COLUMNS}) STORED AS ORC LOCATION '{numbers}'")
        for number in range(rounds):
            for name, seconds in one_round(session, f"{place}/copy{number}"):
                taken[name].append(seconds)
    for name, all_seconds in taken.items():
        print(f"{name:30}{statistics.median(all_seconds):8.2f} s")


def one_round(session: hivesql.Session, copy: str) -> Iterator[tuple[str, float]]:
    """Make the table, and measure each operation on it."""
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    for i in range(INSERTS):
        session.sql(f"INSERT INTO t SELECT * FROM n WHERE id % {INSERTS} = {i}")
    session.sql("DELETE FROM t WHERE id % 100 = 7")
    spark = session.runtime.spark()
    operations: dict[str, Callable[[], object]] = {
        "minor": lambda: session.sql("ALTER TABLE t COMPACT 'minor'"),
        "read and write as plain ORC": lambda: session.sql(
            "SELECT * FROM t", consume=lambda frame: frame.write.orc(copy)
        ),
        "major": lambda: session.sql("ALTER TABLE t COMPACT 'major'"),
        "plain ORC to plain ORC": lambda: spark.read.orc(copy).write.orc(f"{copy}-again"),
    }
    for name, work in operations.items():
        began = time.perf_counter()
        work()
        yield name, time.perf_counter() - began
    session.sql("DROP TABLE t")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [2_000_000, 3][len(given) :]))
