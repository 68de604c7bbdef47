"""HiveSQL beside plain ORC, Delta and Iceberg: every operation in turn, ratios at the end.

    python tests/benchmarks/rivals.py [--rows 10000000] [--reps 3] [--warm 1] [--home .bench]
                                      [--only a,b] [--compaction | --statements | --ones | --star |
                                       --engines]

``--statements``: narrow scans, lookups and updates of single rows (five of each at a time), a
MERGE of a hundred rows, an update of a tenth, and scans while more and more rows are deleted.
``--ones``: lookups, updates and deletes of single rows alone (five of each at a time).
``--star``: a fact table in thirty partitions and its dimension: loads, joins, wide scans, MERGEs.
``--compaction``: five inserts and a delete, then a minor compaction (ours), and all files into few:
our major compaction, a plain rewrite, Delta's OPTIMIZE, Iceberg's rewrite_data_files.

Each contender is a process with its own Spark (Delta and Iceberg do not run on the newest one) that
stays up for the whole run. In every repetition each operation runs once on each contender before
the next operation comes, so load from outside hits all alike. The first ``--warm`` repetitions warm
up and are not counted, of no contender. Wall and CPU are of the contender's whole process tree.

``hivesql-zlib`` is ours in zlib, Hive's codec, instead of zstd, which is Iceberg's too.
``--engines``: the queries of the fact table and four more, before and after changes: for
``--only hivesql-comet,spark-4.1``, ours on Spark 4.1 with Apache DataFusion Comet and without, both
in the environment that ``make setup SPARK=4.1`` makes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import star

WORKER = Path(__file__).with_name("worker.py")
OPERATIONS = ("insert", "scan", "update", "delete", "merge", "scan after")
COMPACTION = ("parts", "scan", "minor", "scan after minor", "major", "scan after major")
STATEMENTS = (
    "insert", "scan", "narrow", "lookup", "updaterow", "mergefew", "update10",
    "scan updated", "fresh", "insert", "delete", "scan 1% gone", "narrow 1% gone", "delete10",
    "scan 10% gone", "delete50", "scan 50% gone", "narrow 50% gone",
)  # fmt: skip
ROWS_OF_ONE = ("insert", "lookup", "updaterow", "lookup updated", "deleterow", "lookup deleted")
_MINOR = ("minor", "scan after minor")
CAN_NOT = {
    "orc": (
        "update", "updaterow", "update10", "delete", "deleterow", "delete10", "delete50", "merge",
        "mergefew", *_MINOR,
        *star.OPERATIONS,
        *star.ENGINES,
        *(one for one in (*OPERATIONS, *STATEMENTS, *ROWS_OF_ONE) if one.split()[1:]),
    ),
    "delta": (*_MINOR, "deletecust"),  # no subqueries in DELETE
    "iceberg": _MINOR,
}  # fmt: skip
ENVIRONMENTS = {"delta": "pyspark==4.2.1", "iceberg": "pyspark==4.1.4"}
OURS = {"spark-4.1": ".venv-4.1", "hivesql-comet": ".venv-4.1"}
"""Environments of the project for other lines of Spark."""
JARS = (
    "io.delta:delta-spark_4.2_2.13:4.4.0",
    "io.delta:delta-storage:4.4.0",
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "org.apache.datafusion:comet-spark-spark4.1_2.13:1.2.0",
)


def set_up(home: Path) -> None:
    """The rivals' environments and jars, once."""
    home.mkdir(parents=True, exist_ok=True)
    for name, spark in ENVIRONMENTS.items():
        if not (home / name / "bin" / "python").exists():
            subprocess.run([sys.executable, "-m", "venv", str(home / name)], check=True)
            pip = [str(home / name / "bin/python"), "-m", "pip", "install", "--quiet", spark]
            subprocess.run(pip, check=True)
    jars = home / "jars"
    if len(list(jars.glob("*.jar"))) < len(JARS):
        for jar in JARS:
            copy = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={jar}"]
            subprocess.run([*copy, f"-DoutputDirectory={jars}"], check=True)


class Process:
    """A process that answers in JSON, a line for each line that it is asked."""

    def __init__(self, name: str, command: Sequence[Path | str], work: Path) -> None:
        place = work / name
        place.mkdir(parents=True, exist_ok=True)
        self.name, self.failed = name, ""
        self._log = (work / f"{name}.log").open("a")
        environment = {**os.environ, "PYSPARK_PYTHON": str(command[0])}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
            cwd=place, env=environment,
        )  # fmt: skip
        self.ready = self._answer()

    def ask(self, operation: str) -> dict[str, Any]:
        assert self._process.stdin
        if self.failed:
            return {}
        self._process.stdin.write(f"{operation}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            self.failed = f"{self.name} stopped: see {self._log.name}"
            print(self.failed, file=sys.stderr)
            return {}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)
        self._log.close()


def _command(name: str, rows: int, home: Path, work: Path) -> list[Path | str]:
    if name in OURS:
        python = Path(__file__).parents[2] / OURS[name] / "bin" / "python"
    else:
        python = home / name / "bin" / "python" if name in ENVIRONMENTS else Path(sys.executable)
    return [python, WORKER, name, str(rows), work / name, home / "jars"]


def run(
    names: list[str], rows: int, reps: int, home: Path, operations: tuple[str, ...], warm: int = 1
) -> dict[str, dict[str, list[float]]]:
    """Wall and CPU seconds by operation and contender, of ``reps`` after ``warm`` repetitions."""
    work = Path(tempfile.mkdtemp(prefix="hivesql-bench-", dir=home))
    seconds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    contenders = [Process(name, _command(name, rows, home, work), work) for name in names]
    try:
        for rep in range(warm + reps):
            for operation in ("fresh", *operations):
                results = set()
                for contender in contenders:
                    if operation in CAN_NOT.get(contender.name, ()):
                        continue
                    answer = contender.ask(operation.split()[0])
                    if not answer or operation == "fresh":
                        continue
                    results.add(answer.get("result"))
                    if rep >= warm:
                        seconds[operation][contender.name].append(answer["seconds"])
                        seconds[f"{operation} cpu"][contender.name].append(answer["cpu"])
                    print(f"{rep} {operation:15} {contender.name:13} {answer['seconds']:7.2f} s "
                          f"cpu {answer['cpu']:7.2f} s", flush=True)  # fmt: skip
                if len(results) > 1:
                    print(f"results differ: {results}", file=sys.stderr)
    finally:
        for contender in contenders:
            contender.stop()
        shutil.rmtree(work, ignore_errors=True)
    return seconds


def table(seconds: dict[str, dict[str, list[float]]], names: list[str]) -> str:
    """Median seconds, and ours as a ratio to each rival's."""
    lines = [f"{'':16}" + "".join(f"{name:>14}" for name in names) + "   ours / rival"]
    ours = [name for name in names if name.startswith("hivesql")]
    for operation, by_name in seconds.items():
        medians = {name: statistics.median(values) for name, values in by_name.items()}
        cells = "".join(
            f"{medians[name]:14.3f}" if name in medians else f"{'-':>14}" for name in names
        )
        ratios = "  ".join(
            f"{name} {' and '.join(f'{medians[one] / medians[name]:.2f}' for one in ours)}"
            for name in names
            if name not in ours and medians.get(name) and ours and all(map(medians.get, ours))
        )
        lines.append(f"{operation:16}{cells}   {ratios}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--warm", type=int, default=1)
    parser.add_argument("--home", type=Path, default=Path(".bench"))
    parser.add_argument("--only", default="hivesql,orc,delta,iceberg")
    parser.add_argument("--compaction", action="store_true")
    parser.add_argument("--statements", action="store_true")
    parser.add_argument("--ones", action="store_true")
    parser.add_argument("--star", action="store_true")
    parser.add_argument("--engines", action="store_true")
    options = parser.parse_args()
    home = options.home.absolute()
    set_up(home)
    names = options.only.split(",")
    operations = STATEMENTS if options.statements else OPERATIONS
    operations = COMPACTION if options.compaction else operations
    operations = ROWS_OF_ONE if options.ones else operations
    operations = star.OPERATIONS if options.star else operations
    operations = star.ENGINES if options.engines else operations
    seconds = run(names, options.rows, options.reps, home, operations, options.warm)
    print(table(seconds, names))


if __name__ == "__main__":
    main()
