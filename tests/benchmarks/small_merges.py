"""What MERGEs of few rows into many cost, with and without Spark's looking for their matches.

Usage: python tests/benchmarks/small_merges.py [rows] [rounds] [rows of a source]

Two tables of as many rows, one whole and sorted by its key, the other in 30 partitions. Each
statement runs in turns with ``hivesql.local.source.max`` at its default and at 0, after a round
that warms up. Prints medians: wall clock, CPU of the processes, and Spark's jobs and tasks.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from worker import cpu_seconds

import hivesql

ROWS = "id bigint, cust int, qty int, note string, amount decimal(12,2)"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
WAYS = {"without": "5000", "by Spark": "0"}
_WHENS = (
    " WHEN MATCHED THEN UPDATE SET qty = s.qty, note = s.note WHEN NOT MATCHED THEN "
    "INSERT (id, cust, qty, note, amount{day}) VALUES (s.id, 1, s.qty, s.note, 2.5{value})"
)


def tables(rows: int) -> Iterator[str]:
    """Make and fill the tables."""
    numbers = (
        f"(SELECT cast(i as bigint) AS id FROM (SELECT posexplode(split(space({rows} - 1), ' ')) "
        "AS (i, b)) x) n"
    )
    columns = (
        "id, cast(id * 31 % 100000 as int) cust, cast(id % 17 as int) qty, "
        "concat('note ', id % 5000) note, cast(id % 1000000 / 100 as decimal(12,2)) amount"
    )
    yield f"CREATE TABLE whole ({ROWS}) {ACID}"
    yield f"CREATE TABLE days ({ROWS}) PARTITIONED BY (day int) {ACID}"
    yield f"CREATE TABLE staging (id bigint, qty int, note string, day int) {ACID}"
    yield f"CREATE TABLE chosen (cust int) {ACID}"
    yield f"INSERT INTO whole SELECT {columns} FROM {numbers}"
    yield f"INSERT INTO days SELECT {columns}, cast(id % 30 as int) FROM {numbers}"


def statements(rows: int, few: int, turn: int) -> Iterator[tuple[str, str]]:
    """Give each statement a name and a text; half of a source's rows are new."""
    half, near = few // 2, rows // 3 + turn * few

    def source(ids: list[int]) -> str:
        values = ", ".join(f"({i}, {i % 7}, 'now {turn}', {i % 30})" for i in ids)
        return f"(SELECT * FROM (VALUES {values}) v (id, qty, note, day)) s"

    new = [rows * 2 + turn * few + i for i in range(half)]
    close = source([near + i for i in range(half)] + new)
    spread = source([i * (rows // half) + turn for i in range(half)] + new)
    in_day = source([(i * (rows // half) // 30 + turn) * 30 + 7 for i in range(half)]
                    + [i * 30 + 7 for i in new])  # fmt: skip
    whole = _WHENS.format(day="", value="")
    days = _WHENS.format(day=", day", value=", s.day")
    computed = close.replace("SELECT *", "SELECT id + 0 AS id, qty, upper(note) AS note, day")
    yield "keys near", f"MERGE INTO whole t USING {close} ON t.id = s.id{whole}"
    yield "keys near, computed", f"MERGE INTO whole t USING {computed} ON t.id = s.id{whole}"
    yield "keys spread", f"MERGE INTO whole t USING {spread} ON t.id = s.id{whole}"
    in_one = "ON t.id = s.id AND t.day = s.day"
    yield "one partition", f"MERGE INTO days t USING {in_day} {in_one}{days}"
    yield "all partitions", f"MERGE INTO days t USING {spread} {in_one}{days}"
    yield "", "TRUNCATE TABLE staging"
    yield "", f"INSERT INTO staging SELECT * FROM {close}"
    yield "a table's rows", f"MERGE INTO whole t USING staging s ON t.id = s.id{whole}"
    yield "DELETE … IN (SELECT)", "DELETE FROM whole WHERE id IN (SELECT id + 5000 FROM staging)"
    yield "", "TRUNCATE TABLE chosen"
    yield "", f"INSERT INTO chosen VALUES ({turn}), ({turn + 500})"
    yield "DELETE of all places", "DELETE FROM days WHERE cust IN (SELECT cust FROM chosen)"


def main(rows: int, rounds: int, few: int) -> None:
    """Measure each statement in both ways by turns, and print the medians."""
    measured: dict[tuple[str, str], list[tuple[float, ...]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as home:
        settings = {"spark.master": "local[2]"}
        address = f"sqlite:///{home}/m.db"
        with hivesql.connect(address, f"{home}/warehouse", settings=settings) as session:
            for text in tables(rows):
                session.sql(text)
            scheduler: Any = session.runtime.spark()._jsc.sc()
            print(f"{rows:,} rows, sources of {few}, load {os.getloadavg()[0]:.1f}")
            for turn in range((rounds + 1) * len(WAYS)):
                way = list(WAYS)[turn % len(WAYS)]
                session.sql(f"SET hivesql.local.source.max={WAYS[way]}")
                for name, text in statements(rows, few, turn):
                    before = _now(scheduler)
                    session.sql(text)
                    if name and turn >= len(WAYS):
                        spent = (a - b for a, b in zip(_now(scheduler), before, strict=True))
                        measured[name, way].append(tuple(spent))
    for (name, way), spent in measured.items():
        wall, cpu, jobs, tasks = map(statistics.median, zip(*spent, strict=True))
        print(
            f"{name:22} {way:9} {wall * 1e3:7.0f} ms, CPU {cpu * 1e3:7.0f} ms, "
            f"jobs {jobs:3.0f}, tasks {tasks:4.0f}"
        )


def _now(context: Any) -> tuple[float, float, int, int]:
    """Return the clock, CPU seconds of all processes, and numbers of Spark's jobs and tasks."""
    jobs = context.dagScheduler().numTotalJobs()
    tasks = context.taskScheduler().newTaskId()
    return time.perf_counter(), cpu_seconds(), jobs, tasks


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    main(*(numbers + [2_000_000, 5, 100][len(numbers) :]))
