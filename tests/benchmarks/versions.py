"""Two versions of HiveSQL beside each other: the same statements in turn, ratios at the end.

    python tests/benchmarks/versions.py --before PYTHON --after PYTHON [--rows 300000] [--rounds 8]
                                        [--warm 3] [--only start,small,spark]

Each PYTHON is an interpreter in whose environment a version is installed. Nothing but the public
``hivesql.connect`` and ``session.sql`` is called, each version has a warehouse of its own, and
answers must be equal. Versions take turns at each operation, and who begins changes from one to
the next: before, after, after, before. The first ``--warm`` rounds warm up and are not counted.
CPU is of the whole process tree, the JVM included; it is what to read on a busy machine.

``start``: new processes. ``small``: statements about few rows, which need no Spark, ``SMALL`` of
each a time. ``spark``: statements by Spark on a table of four partitions.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rivals import Process
from worker import cpu_seconds

SMALL = 25
PARTITIONS = 4
PARTS = ("start", "small", "spark")
VERSIONS = ("before", "after")
TABLE = (
    "CREATE TABLE {table} (id INT, k INT, s STRING, d DECIMAL(10,2)) {partitioned} STORED AS ORC "
    "TBLPROPERTIES ('transactional'='true')"
)
SETTINGS = {
    "start": {"spark.master": "local[2]"},
    "small": {},
    "spark": {
        "spark.master": "local[2]", "spark.driver.memory": "2g", "hivesql.local.max.bytes": "0",
    },
}  # fmt: skip
# A script's MERGE as programs write them: many columns' worth of expressions in every branch.
_VALUE = "CASE WHEN t.k > {n} THEN concat(t.s, '-', s.s, '-{n}') ELSE coalesce(s.s, t.s, '{n}') END"
LONG_MERGE = (
    "EXPLAIN MERGE INTO {table} t USING (SELECT a.id, max(a.k) AS k, max(a.s) AS s, "
    "sum(b.d) AS d FROM {table} a JOIN {table} b ON a.id = b.id WHERE a.k BETWEEN 1 AND 900 "
    "AND b.s LIKE 'row%' GROUP BY a.id HAVING count(*) > 0) s ON t.id = s.id "
    "WHEN MATCHED AND s.k < 0 THEN DELETE WHEN MATCHED THEN UPDATE SET k = s.k + 1, s = concat("
    + ", ".join(_VALUE.format(n=n) for n in range(20))
    + ") WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.k, upper(s.s), s.d)"
)
# What {n} stands for goes up with every statement, so each has rows of its own.
OF_FEW_ROWS = {
    "INSERT of a row": "INSERT INTO {table} VALUES (2{n:04}, {n}, 'new', 1.5)",
    "SELECT by key": "SELECT * FROM {table} WHERE id = {n}7",
    "UPDATE of a row": "UPDATE {table} SET s = 'changed' WHERE id = {n}7",
    "DELETE of a row": "DELETE FROM {table} WHERE id = {n}3",
    "EXPLAIN of a long MERGE": LONG_MERGE,
}
BY_SPARK = {
    "INSERT … SELECT": (
        "INSERT INTO {table} PARTITION (p) SELECT id, id % 1000, concat('row ', id % 5000), "
        "cast(id % 100000 / 100 AS DECIMAL(10,2)), id % 4 FROM numbers",
    ),
    "SELECT with aggregates": (
        "SELECT p, count(*), sum(id), sum(d), max(s) FROM {table} GROUP BY p ORDER BY p",
    ),
    "UPDATE by predicate": ("UPDATE {table} SET k = k + 1 WHERE id % 100 = 7",),
    "DELETE with subquery": (
        "DELETE FROM {table} WHERE id IN (SELECT id FROM numbers WHERE id % 100 = 8)",
    ),
    "MERGE of three branches": (
        "MERGE INTO {table} t USING (SELECT id * 2 AS id, id % 4 AS p FROM numbers "
        "WHERE id % 50 = 9) s ON t.id = s.id WHEN MATCHED AND t.k < 100 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET k = t.k + 1, s = 'merged' "
        "WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1, 'merged', 1.5, s.p)",
    ),
    "MERGE of one row": (
        "MERGE INTO {table} t USING (SELECT 11 AS id) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET s = 'again' "
        "WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1, 'merged', 1.5, 0)",
    ),
    "minor compaction": tuple(
        f"ALTER TABLE {{table}} PARTITION (p={p}) COMPACT 'minor'" for p in range(PARTITIONS)
    ),
    "major compaction": tuple(
        f"ALTER TABLE {{table}} PARTITION (p={p}) COMPACT 'major'" for p in range(PARTITIONS)
    ),
    "SELECT afterwards": (
        "SELECT p, count(*), sum(id), sum(d), sum(k), max(s) FROM {table} GROUP BY p ORDER BY p",
    ),
}
PREPARE = {
    "start": (TABLE.format(table="t", partitioned=""), "INSERT INTO t VALUES (1, 1, 'a', 1.5)"),
    "small": (),
    "spark": (
        "CREATE TABLE numbers (id INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        "INSERT INTO numbers SELECT i FROM "
        "(SELECT posexplode(split(space({rows} - 1), ' ')) AS (i, blank)) x",
    ),
}
STARTS = {
    "import hivesql": (),
    "first INSERT of a row": ("INSERT INTO t VALUES (2, 2, 'b', 2.5)",),
    "first query by Spark": ("SELECT count(*) FROM t a JOIN t b ON a.id = b.id WHERE a.id < 2",),
}


@dataclass
class Times:
    """What an operation took each version in one round after the other."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


class Version:
    """An installed version of HiveSQL, with a warehouse for one part of the benchmark."""

    def __init__(self, name: str, python: Path, work: Path, part: str) -> None:
        self.name, self.work = name, work
        self._command: list[Path | str] = [python, Path(__file__).absolute(), "--serve", part]
        self.process: Process | None = None

    def start(self) -> dict[str, Any]:
        """Start a process; answer what it took until HiveSQL was imported."""
        began = time.monotonic()
        self.process = Process(self.name, self._command, self.work)
        return self.process.ready | {"wall": time.monotonic() - began}

    def ask(self, statements: Sequence[str]) -> dict[str, Any]:
        """Run statements in the process that was started last."""
        assert self.process
        answer = self.process.ask(json.dumps(statements))
        if not answer:
            sys.exit(self.process.failed)
        return answer

    def stop(self) -> None:
        """End the process, if there is one."""
        if self.process:
            self.process.stop()
        self.process = None


Measure = Callable[[Version], dict[str, Any]]


def time_round(
    versions: Sequence[Version], operations: Mapping[str, Measure], turn: int
) -> dict[str, dict[str, dict[str, Any]]]:
    """Run each operation once on every version; answer seconds by operation and version."""
    taken: dict[str, dict[str, dict[str, Any]]] = {}
    for number, (operation, measure) in enumerate(operations.items()):
        order = versions if (turn + number) % 2 == 0 else versions[::-1]
        answers = {version.name: measure(version) for version in order}
        if len({str(answer.get("rows")) for answer in answers.values()}) > 1:
            print(f"{operation}: rows differ: {answers}", file=sys.stderr)
        taken[operation] = answers
    return taken


def start_operations() -> dict[str, Measure]:
    """Tell how each operation of new processes is measured."""

    def measured(statements: Sequence[str]) -> Measure:
        def measure(version: Version) -> dict[str, Any]:
            ready = version.start()
            answer = version.ask(statements) if statements else {"wall": 0, "cpu": 0}
            version.stop()
            return answer | {one: answer[one] + ready[one] for one in ("wall", "cpu")}

        return measure

    return {name: measured(statements) for name, statements in STARTS.items()}


def warm_operations(part: str, table: str) -> dict[str, Measure]:
    """Tell how each operation on a fresh table is measured, in a process that stays."""

    def measured(texts: Sequence[str]) -> Measure:
        return lambda version: version.ask(texts)

    if part == "spark":
        return {
            name: measured([text.format(table=table) for text in texts])
            for name, texts in BY_SPARK.items()
        }
    return {
        f"{SMALL} of: {name}": measured([text.format(table=table, n=n) for n in range(SMALL)])
        for name, text in OF_FEW_ROWS.items()
    }


def fresh(part: str, table: str) -> list[str]:
    """Make the table of a round: full by ten inserts where rows are few, else empty."""
    if part == "spark":
        return [TABLE.format(table=table, partitioned="PARTITIONED BY (p INT)")]
    inserts = [
        f"INSERT INTO {table} VALUES "
        + ", ".join(f"({n}, {n % 97}, 'row {n}', {n}.25)" for n in range(tenth, 1000, 10))
        for tenth in range(10)
    ]
    return [TABLE.format(table=table, partitioned=""), *inserts]


def run(
    part: str, pythons: Mapping[str, Path], home: Path, *, rows: int, rounds: int, warm: int
) -> dict[str, dict[str, Times]]:
    """Measure a part: seconds by operation and version, of ``rounds`` after ``warm`` others."""
    seconds: dict[str, dict[str, Times]] = {}
    versions = [Version(name, pythons[name], home / part, part) for name in VERSIONS]
    try:
        for version in versions:
            version.start()
            version.ask([text.format(rows=rows) for text in PREPARE[part]])
            if part == "start":
                version.stop()
        for turn in range(warm + rounds):
            operations = start_operations()
            if part != "start":
                for version in versions:
                    version.ask(fresh(part, f"t{turn}"))
                operations = warm_operations(part, f"t{turn}")
            for operation, answers in time_round(versions, operations, turn).items():
                for name, answer in answers.items():
                    print(f"{turn} {operation:32} {name:7} {answer['wall']:7.3f} s "
                          f"CPU {answer['cpu']:7.3f} s", file=sys.stderr, flush=True)  # fmt: skip
                    if turn >= warm:
                        times = seconds.setdefault(operation, {}).setdefault(name, Times())
                        times.wall.append(answer["wall"])
                        times.cpu.append(answer["cpu"])
    finally:
        for version in versions:
            version.stop()
    return seconds


def table(seconds: Mapping[str, Mapping[str, Times]]) -> str:
    """Write medians and ratios as Markdown; a ratio's brackets hold the quartiles of all rounds."""
    lines = [
        "| statement | before s (CPU) | after s (CPU) | ratio of wall | ratio of CPU |",
        "|---|---|---|---|---|",
    ]
    for operation, by_version in seconds.items():
        before, after = (by_version[name] for name in VERSIONS)
        medians = [
            f"{statistics.median(one.wall):.3f} ({statistics.median(one.cpu):.3f})"
            for one in (before, after)
        ]
        ratios = [ratio(before.wall, after.wall), ratio(before.cpu, after.cpu)]
        lines.append(f"| {' | '.join([operation, *medians, *ratios])} |")
    return "\n".join(lines)


def ratio(before: Sequence[float], after: Sequence[float]) -> str:
    """Write the ratio of medians, and how far the middle half of the rounds lies apart."""
    middle = statistics.median(after) / statistics.median(before)
    if len(before) == 1:
        return f"{middle:.2f}"
    pairs = [new / old for old, new in zip(before, after, strict=True)]
    low, _, high = statistics.quantiles(pairs, n=4, method="inclusive")
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def serve(part: str) -> None:
    """Run in this interpreter's HiveSQL the statements that each line of standard input lists."""
    import hivesql

    # Whatever else is printed must not mix with the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    print(json.dumps({"cpu": cpu_seconds()}), file=answers, flush=True)
    session = None
    for line in sys.stdin:
        cpu, began, rows = cpu_seconds(), time.monotonic(), []
        if session is None:
            home = Path.cwd()
            session = hivesql.connect(
                f"sqlite:///{home}/metastore.db", str(home / "warehouse"), settings=SETTINGS[part]
            )
        for text in json.loads(line):
            rows.append([str(list(row)) for row in session.sql(text).rows])
        answer: dict[str, object] = {
            "wall": time.monotonic() - began,
            "cpu": cpu_seconds() - cpu,
            "rows": rows,
        }
        print(json.dumps(answer), file=answers, flush=True)


def main() -> None:
    """Print the table of all parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name in VERSIONS:
        parser.add_argument(f"--{name}", type=Path, metavar="PYTHON", required=True)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--warm", type=int, default=3, help="rounds that do not count")
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    # A link to the interpreter is what makes it that of its environment.
    pythons = {name: getattr(options, name).absolute() for name in VERSIONS}
    home = Path(tempfile.mkdtemp(prefix="hivesql-bench-"))
    seconds: dict[str, dict[str, Times]] = {}
    try:
        for part in options.only.split(","):
            sizes = {"rows": options.rows, "rounds": options.rounds, "warm": options.warm}
            seconds |= run(part, pythons, home, **sizes)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print(table(seconds))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main()
