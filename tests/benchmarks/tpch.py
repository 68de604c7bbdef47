"""TPC-H on ACID tables: 22 queries, changes, 22 queries again; every answer compared with DuckDB's.

    python tests/benchmarks/tpch.py [--scale 1] [--home .bench] [--master local[2]] [--memory 4g]
                                    [--rounds 3] [--seconds 250] [--alone]

Each query runs on the ACID tables and on plain ORC tables of the same rows, in turns in the same
Spark, so load from outside hits both alike. A first round warms up; what is printed is the least of
the other rounds for each, and the ratio. With ``--rounds 1`` the first one counts.
After the changes the plain tables are written anew, since they cannot be changed. ``--alone``
leaves them out: half the time, and no ratios.

Tables and times are kept: a run that was cut off, or that had no more than ``--seconds`` (it ends
with status 75 then), goes on where it stopped.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
from results import Results

import hivesql

TEXTS = Path(__file__).with_name("tpch")
TABLES = {
    "region": "r_regionkey bigint, r_name string, r_comment string",
    "nation": "n_nationkey bigint, n_name string, n_regionkey bigint, n_comment string",
    "supplier": "s_suppkey bigint, s_name string, s_address string, s_nationkey bigint, "
    "s_phone string, s_acctbal decimal(15,2), s_comment string",
    "customer": "c_custkey bigint, c_name string, c_address string, c_nationkey bigint, "
    "c_phone string, c_acctbal decimal(15,2), c_mktsegment string, c_comment string",
    "part": "p_partkey bigint, p_name string, p_mfgr string, p_brand string, p_type string, "
    "p_size int, p_container string, p_retailprice decimal(15,2), p_comment string",
    "partsupp": "ps_partkey bigint, ps_suppkey bigint, ps_availqty int, "
    "ps_supplycost decimal(15,2), ps_comment string",
    "orders": "o_orderkey bigint, o_custkey bigint, o_orderstatus string, "
    "o_totalprice decimal(15,2), o_orderdate date, o_orderpriority string, o_clerk string, "
    "o_shippriority int, o_comment string",
    "lineitem": "l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber int, "
    "l_quantity decimal(15,2), l_extendedprice decimal(15,2), l_discount decimal(15,2), "
    "l_tax decimal(15,2), l_returnflag string, l_linestatus string, l_shipdate date, "
    "l_commitdate date, l_receiptdate date, l_shipinstruct string, l_shipmode string, "
    "l_comment string",
}
ARRIVALS = {"arrivals": "orders", "arrived_lines": "lineitem"}
NEW = 10_000_000_000
# Of 128 order keys one comes again and one comes as a new one.
ARRIVE = {
    "arrivals": "SELECT * REPLACE (CASE WHEN o_orderkey % 128 = 1 THEN o_orderkey ELSE o_orderkey "
    f"+ {NEW} END AS o_orderkey, CAST(o_totalprice + 1 AS DECIMAL(15,2)) AS o_totalprice) "
    "FROM orders WHERE o_orderkey % 128 IN (1, 2)",
    "arrived_lines": "SELECT * REPLACE (CASE WHEN l_orderkey % 128 = 1 THEN l_orderkey ELSE "
    f"l_orderkey + {NEW} END AS l_orderkey, CAST(l_quantity + 1 AS DECIMAL(15,2)) AS l_quantity) "
    "FROM lineitem WHERE l_orderkey % 128 IN (1, 2)",
}


def texts_of(name: str) -> dict[str, str]:
    """The statements of a file by the word after their comment's dashes."""
    text = (TEXTS / name).read_text()
    found = re.findall(r"^-- ([A-Z]\d+)\b[^\n]*\n(.*?);$", text, re.MULTILINE | re.DOTALL)
    return dict(found)


def generate(scale: float, home: Path) -> Path:
    """Parquet files of the eight tables and of what arrives; made once."""
    place = home / "tpch" / f"sf{scale:g}"
    if not (place / "arrived_lines").exists():
        shutil.rmtree(place, ignore_errors=True)
        part = "4" if scale >= 1 else "1"
        for table in TABLES:
            subprocess.run(
                ["tpchgen-cli", "parquet", "-s", f"{scale:g}", "--tables", table, "--parts", part,
                 "--output-dir", str(place)], check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
        with duckdb.connect() as duck:
            for table in TABLES:
                duck.execute(f"CREATE VIEW {table} AS FROM '{place}/{table}/*.parquet'")
            for table, query in ARRIVE.items():
                (place / table).mkdir()
                duck.execute(f"COPY ({query}) TO '{place}/{table}/0.parquet'")
    return place


def same(ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
    """Whether two rows are equal, numbers up to the digits that averages differ in."""
    return len(ours) == len(theirs) and all(map(_is_same, ours, theirs))


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float | Decimal) and other is not None:
        return math.isclose(float(one), float(other), rel_tol=1e-6, abs_tol=1e-6)
    if isinstance(other, date) and not isinstance(one, date):
        return str(one) == str(other)
    return bool(one == other)


class OutOfTime(Exception):
    """The run shall go on in another process."""


class Bench:
    """HiveSQL's session with both kinds of tables, and DuckDB with its own."""

    def __init__(
        self,
        data: Path,
        work: Path,
        results: Results,
        *,
        master: str,
        memory: str,
        rounds: int,
        seconds: float,
        alone: bool,
    ) -> None:
        self.data, self.results, self.rounds = data, results, rounds
        self.databases = ("default",) if alone else ("default", "plain")
        self.until = time.monotonic() + seconds
        self.duck = duckdb.connect(str(work / "duck.db"), config={"memory_limit": memory})
        self.session = hivesql.connect(
            f"sqlite:///{work}/metastore.db",
            str(work / "warehouse"),
            settings={"spark.master": master, "spark.driver.memory": memory},
        )
        self.sql("CREATE DATABASE IF NOT EXISTS plain")
        self.session.runtime.spark()  # its start is no table's time

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        """A statement's rows."""
        return [tuple(row) for row in self.session.sql(text).rows]

    def is_done(self, name: str) -> bool:
        """Whether a step has been taken before; OutOfTime when it should not be begun any more."""
        if name in self.results:
            return True
        if time.monotonic() > self.until:
            raise OutOfTime(name)
        return False

    def note(self, name: str, value: object) -> None:
        """Keep and print what a step took."""
        self.results.note(name, value)
        print(f"{name:28} {value}", flush=True)

    def load(self) -> None:
        """All tables, ours and plain."""
        for table, columns in TABLES.items():
            if self.is_done(f"load/{table}"):
                continue
            self.sql(f"DROP TABLE IF EXISTS {table}")
            parquet = self.given(f"{table}_files", columns, table)
            self.sql(f"CREATE TABLE {table} ({columns}) STORED AS ORC "
                     "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
            seconds = [self.timed(f"INSERT INTO {table} SELECT * FROM {parquet}")]
            seconds += self.write_plain(table, parquet)
            self.duck.execute(
                f"CREATE OR REPLACE TABLE {table} AS FROM '{self.data}/{table}/*.parquet'"
            )
            self.note(f"load/{table}", seconds)
        for table, like in ARRIVALS.items():
            self.given(table, TABLES[like], table)
            self.duck.execute(
                f"CREATE OR REPLACE VIEW {table} AS FROM '{self.data}/{table}/*.parquet'"
            )

    def timed(self, text: str) -> float:
        """A statement's wall seconds."""
        began = time.monotonic()
        self.sql(text)
        return round(time.monotonic() - began, 3)

    def given(self, name: str, columns: str, directory: str) -> str:
        """An external table over generated files."""
        self.sql(f"CREATE EXTERNAL TABLE IF NOT EXISTS {name} ({columns}) STORED AS PARQUET "
                 f"LOCATION '{self.data}/{directory}'")  # fmt: skip
        return name

    def write_plain(self, table: str, source: str) -> list[float]:
        """Write the plain ORC table anew, if there is one; the seconds it took."""
        if "plain" not in self.databases:
            return []
        self.sql(f"DROP TABLE IF EXISTS plain.{table}")
        self.sql(
            f"CREATE EXTERNAL TABLE plain.{table} ({TABLES[table]}) STORED AS ORC "
            "TBLPROPERTIES ('orc.compress'='ZLIB', 'external.table.purge'='true')"
        )
        return [self.timed(f"INSERT INTO plain.{table} SELECT * FROM {source}")]

    def queries(self, title: str) -> None:
        """The 22 queries on both kinds of tables, compared with DuckDB's rows."""
        for name, text in texts_of("queries.sql").items():
            if self.is_done(f"{title}/{name}"):
                continue
            expected = self.duck.execute(text).fetchall()
            seconds: dict[str, list[float]] = {database: [] for database in self.databases}
            for _ in range(self.rounds):
                for database, taken in seconds.items():
                    self.sql(f"USE {database}")
                    began = time.monotonic()
                    found = self.sql(text)
                    taken.append(round(time.monotonic() - began, 3))
                    self.compare(f"{title} {name} on {database}", found, expected)
            self.sql("USE default")
            self.note(f"{title}/{name}", [min(taken[1:] or taken) for taken in seconds.values()])

    def compare(self, what: str, found: Sequence[Any], expected: Sequence[Any]) -> None:
        """Note what differs."""
        if len(found) != len(expected) or not all(map(same, found, expected)):
            pairs: Iterable[Any] = zip(found, expected, strict=False)
            first = next((pair for pair in pairs if not same(*pair)), None)
            self.note(f"wrong/{what}", f"{len(found)} rows, expected {len(expected)}; {first}")

    def change(self) -> None:
        """The refresh functions, here and in DuckDB; then every row compared by sums."""
        for name, text in texts_of("refresh.sql").items():
            if not self.is_done(f"change/{name}"):
                seconds = self.timed(text)
                self.duck.execute(text)
                self.note(f"change/{name}", seconds)
        for table in ("orders", "lineitem"):
            if self.is_done(f"changed/{table}"):
                continue
            key = table[0]
            text = (f"SELECT count(*), sum({key}_orderkey), count(DISTINCT {key}_comment) "
                    f"FROM {table}")  # fmt: skip
            self.compare(table, self.sql(text), self.duck.execute(text).fetchall())
            self.note(f"changed/{table}", self.write_plain(table, table))

    def compact(self) -> None:
        """A major compaction of the changed tables."""
        for table in ("orders", "lineitem"):
            if not self.is_done(f"compact/{table}"):
                self.note(f"compact/{table}", self.timed(f"ALTER TABLE {table} COMPACT 'major'"))


def means(results: Results) -> dict[str, float]:
    """The geometric mean of ours / plain, for each round of queries."""
    found = {}
    for title in ("before", "after", "compacted"):
        pairs = results.starting(f"{title}/").values()
        if ratios := [ours / beside[0] for ours, *beside in pairs if beside]:
            found[title] = statistics.geometric_mean(ratios)
    return found


def extremes(results: Results) -> dict[str, dict[str, float]]:
    """The two queries that are slowest and the two that are fastest beside plain ORC files."""
    found = sorted(
        (ours / beside[0], f"{name} {title}")
        for title in ("before", "after", "compacted")
        for name, (ours, *beside) in results.starting(f"{title}/").items()
        if beside
    )
    return {name: {"orc": ratio} for ratio, name in [*found[:2], *found[2:][-2:]]}


def table(results: Results) -> str:
    """Seconds of each query, ACID and plain, and what the changes took."""
    lines = [f"{'query':8}" + "".join(f"{title:>24}" for title in ("before", "after", "compacted"))]
    for name in texts_of("queries.sql"):
        cells = []
        for title in ("before", "after", "compacted"):
            if f"{title}/{name}" in results:
                ours, *beside = results[f"{title}/{name}"]
                ratios = [f"{plain:8.2f}{ours / plain:6.2f}" for plain in beside]
                cells.append(f"{ours:10.2f}{''.join(ratios):14}")
            else:
                cells.append(f"{'-':>24}")
        lines.append(f"{name:8}{''.join(cells)}")
    lines += [f"geometric mean, {title}: {mean:.2f}" for title, mean in means(results).items()]
    for prefix in ("load/", "change/", "compact/", "wrong/"):
        lines += [f"{prefix}{name}: {value}" for name, value in results.starting(prefix).items()]
    return "\n".join(lines)


def run(
    scale: float,
    home: Path,
    master: str,
    memory: str,
    *,
    rounds: int = 3,
    seconds: float = math.inf,
    alone: bool = False,
) -> tuple[Results, bool]:
    """Everything that has not been done yet, and whether all is done."""
    data = generate(scale, home)
    sizes = {"scale": scale, "master": master, "memory": memory}
    kind = "-alone" if alone else ""
    results = Results(home / "results" / f"tpch-{scale:g}{kind}.json", sizes)
    work = home / "tpch" / f"tables-sf{scale:g}{kind}"
    if not results.starting(""):
        shutil.rmtree(work, ignore_errors=True)
    if "done" in results:
        return results, True
    work.mkdir(parents=True, exist_ok=True)
    bench = Bench(
        data,
        work,
        results,
        master=master,
        memory=memory,
        rounds=rounds,
        seconds=seconds,
        alone=alone,
    )
    with bench.session:
        try:
            bench.load()
            bench.queries("before")
            bench.change()
            bench.queries("after")
            bench.compact()
            bench.queries("compacted")
        except OutOfTime:
            return results, False
    shutil.rmtree(work)
    results.note("done", value=True)
    return results, True


def make_parser(text: str | None) -> argparse.ArgumentParser:
    """Make a parser of what a benchmark of queries takes; ``text`` begins with what it does."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0] if text else "")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--home", type=Path, default=Path(".bench"))
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="4g")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=math.inf)
    return parser


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--alone", action="store_true", help="no plain ORC tables beside")
    options = parser.parse_args()
    home = options.home.absolute()
    home.mkdir(parents=True, exist_ok=True)
    results, done = run(
        options.scale,
        home,
        options.master,
        options.memory,
        rounds=options.rounds,
        seconds=options.seconds,
        alone=options.alone,
    )
    print(table(results))
    sys.exit(75 if not done else bool(results.starting("wrong/")))


if __name__ == "__main__":
    main()
