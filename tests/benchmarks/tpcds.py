"""TPC-DS on ACID tables: queries of a folder, every answer compared with DuckDB's.

    python tests/benchmarks/tpcds.py --queries DIR [--scale 1] [--home .bench] [--master local[2]]
                                     [--memory 4g] [--rounds 3] [--seconds 250] [--only 3,42]

DIR has files of one query each, as hive-testbench's ``sample-queries-tpcds``; they stay with their
owners. DuckDB's extension generates the rows and answers the same text, with days of intervals
written as it takes them. Rows are compared in any order, since ties are left to each engine.

Each query runs on the ACID tables and on plain ORC tables of the same rows, in turns in the same
Spark. What is printed is the least of the rounds after the first for each, by the clock and by the
processors' time of Spark, and the ratios. Tables and times are kept as ``tpch.py`` keeps them.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import time
from collections.abc import Sequence
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import tpch
from results import Results

# Of DuckDB's types in the tables' columns.
TYPES = {"INTEGER": "int", "VARCHAR": "string"}
TICKS = os.sysconf("SC_CLK_TCK")


def open_duck(path: Path, memory: str) -> duckdb.DuckDBPyConnection:
    """A database of DuckDB's with the generator, which orders NULLs as Hive does."""
    package = find_spec("duckdb_extension_tpcds")
    if package is None or package.origin is None:
        raise SystemExit("there is no generator: pip install duckdb-extension-tpcds")
    files = sorted(Path(package.origin).parent.glob("extensions/*/tpcds.duckdb_extension"))
    duck = duckdb.connect(
        str(path), config={"memory_limit": memory, "allow_unsigned_extensions": "true"}
    )
    duck.execute(f"LOAD '{files[-1]}'")
    duck.execute("SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
    return duck


def for_duck(text: str) -> str:
    """Hive's text as DuckDB takes it: days of intervals, and names that are words of its own."""
    text = re.sub(r"(?i)\binterval\s*\(?(\d+)\)?\s+days?\b", r"INTERVAL '\1' DAY", text)
    text = re.sub(r"(?i)([+-])\s*(\d+)\s+days\b", r"\1 INTERVAL '\2' DAY", text)
    text = re.sub(r"(?i)\)\s+(at|returns)\b(?=\s*[,\n])", r') AS "\1"', text)
    return text.replace("`", '"')


def texts_of(folder: Path) -> dict[str, str]:
    """The query of each file by the number in its name; the last one where a file has several."""
    found = {}
    for path in folder.glob("*.sql"):
        number = re.search(r"(\d+\w*)\.sql$", path.name)
        text = re.sub(r"--[^\n]*", "", path.read_text()).strip().rstrip(";").rstrip()
        if number:
            found[number[1]] = text.rsplit(";", 1)[-1]
    return dict(sorted(found.items(), key=lambda one: (len(one[0].rstrip("ab")), one[0])))


def sortable(row: Sequence[Any]) -> list[str]:
    """A row's key for sorting: numbers by few digits, as the engines' types differ."""
    return [f"{one:.4g}" if isinstance(one, int | float | Decimal) else str(one) for one in row]


class Bench(tpch.Bench):
    """Both kinds of tables, and the processors' time that Spark takes."""

    def __init__(
        self, data: Path, work: Path, results: Results, *, memory: str, **options: Any
    ) -> None:
        super().__init__(data, work, results, memory=memory, alone=False, **options)
        self.duck.close()
        self.duck = open_duck(data / "duck.db", memory)
        jvm = self.session.runtime.spark()._jvm
        self.jvm = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/stat")

    def processors(self) -> float:
        """Seconds of processors that Spark's JVM has taken."""
        fields = self.jvm.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def load_all(self, scale: float) -> None:
        """Generate the rows, and write each table as ACID and as plain ORC."""
        if not self.is_done("generated"):
            self.duck.execute(f"CALL dsdgen(sf={scale:g}, overwrite=true)")
            self.note("generated", value=True)
        for (table,) in self.duck.execute("SHOW TABLES").fetchall():
            if self.is_done(f"load/{table}"):
                continue
            described = self.duck.execute(f"DESCRIBE {table}").fetchall()
            columns = ", ".join(f"{name} {TYPES.get(of, of)}" for name, of, *_ in described)
            (self.data / table).mkdir(exist_ok=True)
            self.duck.execute(f"COPY {table} TO '{self.data}/{table}/0.parquet'")
            files = self.given(f"{table}_files", columns, table)
            self.sql(f"DROP TABLE IF EXISTS {table}")
            self.sql(f"CREATE TABLE {table} ({columns}) STORED AS ORC "
                     "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
            self.sql(f"DROP TABLE IF EXISTS plain.{table}")
            self.sql(f"CREATE EXTERNAL TABLE plain.{table} ({columns}) STORED AS ORC TBLPROPERTIES "
                     "('orc.compress'='ZLIB', 'external.table.purge'='true')")  # fmt: skip
            into = f"INSERT INTO {{}} SELECT * FROM {files}"
            taken = [self.timed(into.format(name)) for name in (table, f"plain.{table}")]
            self.note(f"load/{table}", taken)

    def ask(self, queries: dict[str, str]) -> None:
        """Run each query on both kinds of tables."""
        for name, text in queries.items():
            if self.is_done(f"query/{name}"):
                continue
            expected = sorted(self.duck.execute(for_duck(text)).fetchall(), key=sortable)
            taken: dict[str, list[tuple[float, float]]] = {one: [] for one in self.databases}
            for _ in range(self.rounds):
                for database, seconds in taken.items():
                    self.sql(f"USE {database}")
                    wall, work = time.monotonic(), self.processors()
                    rows = self.sql(text)
                    wall, work = time.monotonic() - wall, self.processors() - work
                    seconds.append((round(wall, 3), round(work, 3)))
                    self.compare(f"{name} on {database}", sorted(rows, key=sortable), expected)
            self.sql("USE default")
            least = [
                [min(column) for column in zip(*(of[1:] or of), strict=True)]
                for of in taken.values()
            ]
            self.note(f"query/{name}", least)


def ratios(pairs: Sequence[Sequence[Sequence[float]]], which: int) -> list[float]:
    """Ours by plain ORC's: by the clock (0), or by processors (1)."""
    return [ours[which] / plain[which] for ours, plain in pairs if plain[which]]


def table(results: Results) -> str:
    """Ratios of each query, and their means."""
    found = results.starting("query/")
    lines = [f"{'query':8}{'seconds':>10}{'orc':>8}{'ratio':>7}{'by CPU':>8}"]
    for name, (ours, plain) in found.items():
        shares = "".join(
            f"{one / max(two, 0.01):8.2f}" for one, two in zip(ours, plain, strict=True)
        )
        lines.append(f"{name:8}{ours[0]:10.2f}{plain[0]:8.2f}{shares}")
    for which, of in enumerate(("clock", "processors")):
        if several := ratios(list(found.values()), which):
            mean, most = statistics.geometric_mean(several), max(several)
            lines.append(f"geometric mean by the {of}: {mean:.2f}; at most {most:.2f}")
    lines += [f"{name}: {value}" for name, value in results.starting("wrong/").items()]
    return "\n".join(lines)


def main() -> None:
    parser = tpch.make_parser(__doc__)
    parser.add_argument("--queries", type=Path, required=True, help="a folder of .sql files")
    parser.add_argument("--only", default="", help="numbers of queries, by commas")
    given = parser.parse_args()
    home = given.home.absolute() / "tpcds" / f"sf{given.scale:g}"
    home.mkdir(parents=True, exist_ok=True)
    queries = texts_of(given.queries)
    if given.only:
        queries = {name: queries[name] for name in given.only.split(",")}
    sizes = {"scale": given.scale, "master": given.master, "memory": given.memory}
    results = Results(given.home.absolute() / "results" / f"tpcds-{given.scale:g}.json", sizes)
    bench = Bench(
        home,
        home,
        results,
        master=given.master,
        memory=given.memory,
        rounds=given.rounds,
        seconds=given.seconds,
    )
    done = True
    with bench.session:
        try:
            bench.load_all(given.scale)
            bench.ask(queries)
        except tpch.OutOfTime:
            done = False
    print(table(results))
    sys.exit(75 if not done else bool(results.starting("wrong/")))


if __name__ == "__main__":
    main()
