"""TPC-DS on ACID tables: queries of a folder, every answer compared with DuckDB's.

    python tests/benchmarks/tpcds.py --queries DIR [--scale 1] [--home .bench] [--master local[2]]
                                     [--memory 4g] [--rounds 3] [--seconds 250] [--only 3,42]
                                     [--beside orc,iceberg=JAR]

DIR has files of one query each, as hive-testbench's ``sample-queries-tpcds``; they stay with their
owners. DuckDB's extension generates the rows and answers the same text, with days of intervals
written as it takes them. Rows are compared in any order, since ties are left to each engine.

Turns, rounds, other tables beside and what is printed and kept are as ``tpch.py`` tells.
"""

from __future__ import annotations

import math
import re
import sys
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


def as_hive(value: Any) -> Any:
    """Return what Hive has for a value of DuckDB's: NULL for 0 by 0."""
    return None if isinstance(value, float) and math.isnan(value) else value


class Bench(tpch.Bench):
    """All kinds of tables, with DuckDB's generator."""

    def __init__(self, home: Path, results: Results, *, memory: str, **options: Any) -> None:
        # One of the tables is called as the directory is in which ours lie.
        super().__init__(home / "rows", home, results, memory=memory, **options)
        self.duck.close()
        self.duck = open_duck(home / "duck.db", memory)

    def load_all(self, scale: float) -> None:
        """Generate the rows, and write each table of each kind."""
        if not self.is_done("generated"):
            self.duck.execute(f"CALL dsdgen(sf={scale:g}, overwrite=true)")
            self.note("generated", value=True)
        for (table,) in self.duck.execute("SHOW TABLES").fetchall():
            if not self.is_done(f"load/{table}"):
                (self.data / table).mkdir(parents=True, exist_ok=True)
                self.duck.execute(f"COPY {table} TO '{self.data}/{table}/0.parquet'")
            described = self.duck.execute(f"DESCRIBE {table}").fetchall()
            columns = ", ".join(f"{name} {TYPES.get(of, of)}" for name, of, *_ in described)
            self.load_table(table, columns)

    def ask_all(self, queries: dict[str, str]) -> None:
        """Run each query on all kinds of tables."""
        for name, text in queries.items():
            if self.is_done(f"query/{name}"):
                continue
            answer = [
                tuple(map(as_hive, row)) for row in self.duck.execute(for_duck(text)).fetchall()
            ]
            expected = sorted(answer, key=sortable)
            self.note(f"query/{name}", self.ask(name, text, expected, sortable))


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
        results,
        master=given.master,
        memory=given.memory,
        rounds=given.rounds,
        seconds=given.seconds,
        beside=given.beside,
    )
    done = True
    with bench.session:
        try:
            bench.load_all(given.scale)
            bench.ask_all(queries)
        except tpch.OutOfTime:
            done = False
    print(tpch.table(results))
    sys.exit(75 if not done else bool(results.starting("wrong/")))


if __name__ == "__main__":
    main()
