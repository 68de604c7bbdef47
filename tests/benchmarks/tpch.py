"""TPC-H on ACID tables: 22 queries, changes, 22 queries again; every answer compared with DuckDB's.

    python tests/benchmarks/tpch.py [--scale 1] [--home .bench] [--master local[2]] [--memory 4g]
                                    [--rounds 3] [--seconds 250] [--beside orc,iceberg=JAR]

Each query runs on the ACID tables, on plain ORC tables and, where its runtime's jar is given, on
Iceberg's (version 3, merge-on-read) of the same rows, in turns in the same Spark, so load from
outside hits all alike. A first round warms up; what is printed is the least of the other rounds for
each, by the clock and by the processors' time of this process and of Spark, and the ratios. With
``--rounds 1`` the first one counts. After the changes the plain tables are written anew, since they
cannot be changed. ``--beside ""`` leaves the others out.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
from results import Results
from worker import ICEBERG_PROPERTIES, SHUFFLES, cpu_seconds, iceberg_settings

import hivesql
from hivesql_executor.spark.session import SQL_SETTINGS

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


Rows = list[tuple[Any, ...]]
Cost = tuple[float, float]
"""Seconds by the clock, and of processors."""


class Beside:
    """Iceberg's tables in HiveSQL's own Spark, through nothing of HiveSQL."""

    database = "ice.tpc"

    def __init__(self, session: hivesql.Session) -> None:
        self.spark = session.runtime.spark().newSession()
        for name in SQL_SETTINGS:
            self.spark.conf.unset(name)
        for name, text in {"spark.sql.session.timeZone": "UTC", **SHUFFLES}.items():
            self.spark.conf.set(name, text)
        self.sql(f"CREATE NAMESPACE IF NOT EXISTS {self.database}")
        self.sql(f"USE {self.database}")

    @staticmethod
    def settings(jar: str, place: Path) -> dict[str, str]:
        """Settings with which a Spark has the catalog."""
        return {
            "spark.driver.extraClassPath": jar,
            "spark.executor.extraClassPath": jar,
            **iceberg_settings(place),
        }

    def sql(self, text: str) -> Rows:
        """A statement's rows; of Spark's grammar is INSERT * only."""
        text = re.sub(r"(?s)THEN INSERT VALUES \([^)]*\)", "THEN INSERT *", text)
        return [tuple(row) for row in self.spark.sql(text).collect()]

    def give(self, name: str, files: Path) -> None:
        """A view of Parquet files, as Spark calls it."""
        self.spark.read.parquet(str(files)).createOrReplaceTempView(name)

    def write(self, table: str, columns: str, source: str) -> None:
        """A table with the rows of ``source``."""
        self.sql(f"DROP TABLE IF EXISTS {table} PURGE")
        self.sql(f"CREATE TABLE {table} ({columns}) USING iceberg "
                 f"TBLPROPERTIES ({ICEBERG_PROPERTIES})")  # fmt: skip
        self.sql(f"INSERT INTO {table} SELECT * FROM {source}")

    def compact(self, table: str) -> None:
        """Write all files of a table anew, without what was deleted."""
        self.sql(f"CALL ice.system.rewrite_data_files(table => 'tpc.{table}', "
                 "options => map('rewrite-all', 'true'))")  # fmt: skip


class Bench:
    """HiveSQL's session with its tables and those beside them, and DuckDB with its own."""

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
        beside: Mapping[str, str],
    ) -> None:
        self.data, self.results, self.rounds = data, results, rounds
        self.until = time.monotonic() + seconds
        self.duck = duckdb.connect(str(work / "duck.db"), config={"memory_limit": memory})
        jar = beside.get("iceberg", "")
        self.session = hivesql.connect(
            f"sqlite:///{work}/metastore.db",
            str(work / "warehouse"),
            settings={
                "spark.master": master, "spark.driver.memory": memory, **SHUFFLES,
                **(Beside.settings(jar, work / "iceberg") if jar else {}),
            },
        )  # fmt: skip
        self.sql("CREATE DATABASE IF NOT EXISTS plain")
        self.session.runtime.spark()  # its start is no table's time
        self.iceberg = Beside(self.session) if jar else None
        self.asked: dict[str, Callable[[str], Rows]] = {"hivesql": self.sql}
        if "orc" in beside:
            self.asked["orc"] = self.sql
        if self.iceberg is not None:
            self.asked["iceberg"] = self.iceberg.sql

    def sql(self, text: str) -> Rows:
        """A statement's rows."""
        return [tuple(row) for row in self.session.sql(text).rows]

    def cost_of(self, work: Callable[[], Any]) -> tuple[Any, Cost]:
        """What some work gives, and what it takes."""
        wall, cpu = time.monotonic(), cpu_seconds()
        found = work()
        return found, (round(time.monotonic() - wall, 3), round(cpu_seconds() - cpu, 3))

    def costs_of(
        self, ours: Callable[[], Any], icebergs: Callable[[Beside], Any]
    ) -> dict[str, Cost]:
        """What the same work takes on our tables and, where they are run, on Iceberg's."""
        costs = {"hivesql": self.cost_of(ours)[1]}
        if self.iceberg is not None:
            costs["iceberg"] = self.cost_of(partial(icebergs, self.iceberg))[1]
        return costs

    def ask(self, what: str, text: str, expected: Rows, key: Any = None) -> dict[str, Cost]:
        """Run a query in turns on all kinds of tables: the least that each took.

        Rows are compared in the order of ``key``; None takes them as they come.
        """
        costs: dict[str, list[Cost]] = {name: [] for name in self.asked}
        for _ in range(self.rounds):
            for name, sql in self.asked.items():
                if name != "iceberg":
                    self.sql("USE plain" if name == "orc" else "USE default")
                found, cost = self.cost_of(lambda sql=sql: sql(text))
                costs[name].append(cost)
                if key is not None:
                    found.sort(key=key)
                self.compare(f"{what} on {name}", found, expected)
        self.sql("USE default")
        return {
            name: (min(one for one, _ in of[1:] or of), min(one for _, one in of[1:] or of))
            for name, of in costs.items()
        }

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
        """All tables, ours and those beside them."""
        for table, columns in TABLES.items():
            self.load_table(table, columns)
            self.duck.execute(
                f"CREATE OR REPLACE TABLE {table} AS FROM '{self.data}/{table}/*.parquet'"
            )
        for table, like in ARRIVALS.items():
            self.given(table, TABLES[like], table)
            self.duck.execute(
                f"CREATE OR REPLACE VIEW {table} AS FROM '{self.data}/{table}/*.parquet'"
            )

    def load_table(self, table: str, columns: str) -> None:
        """One table of each kind with the rows of generated files."""
        files = self.given(f"{table}_files", columns, table)
        if self.is_done(f"load/{table}"):
            return
        self.sql(f"DROP TABLE IF EXISTS {table}")
        self.sql(f"CREATE TABLE {table} ({columns}) STORED AS ORC "
                 "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
        load = f"INSERT INTO {table} SELECT * FROM {files}"
        costs = self.costs_of(
            partial(self.sql, load), lambda iceberg: iceberg.write(table, columns, files)
        )
        if "orc" in self.asked:
            costs["orc"] = self.write_plain(table, columns, files)
        self.note(f"load/{table}", costs)

    def given(self, name: str, columns: str, directory: str) -> str:
        """An external table over generated files."""
        self.sql(f"CREATE EXTERNAL TABLE IF NOT EXISTS {name} ({columns}) STORED AS PARQUET "
                 f"LOCATION '{self.data}/{directory}'")  # fmt: skip
        if self.iceberg is not None:
            self.iceberg.give(name, self.data / directory)
        return name

    def write_plain(self, table: str, columns: str, source: str) -> Cost:
        """Write the plain ORC table anew."""
        self.sql(f"DROP TABLE IF EXISTS plain.{table}")
        self.sql(
            f"CREATE EXTERNAL TABLE plain.{table} ({columns}) STORED AS ORC "
            "TBLPROPERTIES ('external.table.purge'='true')"
        )
        return self.cost_of(
            lambda: self.sql(f"INSERT INTO plain.{table} SELECT * FROM default.{source}")
        )[1]

    def queries(self, title: str) -> None:
        """The 22 queries on all kinds of tables, compared with DuckDB's rows."""
        for name, text in texts_of("queries.sql").items():
            if not self.is_done(f"{title}/{name}"):
                expected = self.duck.execute(text).fetchall()
                self.note(f"{title}/{name}", self.ask(f"{title} {name}", text, expected))

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
                costs = self.costs_of(
                    partial(self.sql, text), lambda iceberg, text=text: iceberg.sql(text)
                )
                self.duck.execute(text)
                self.note(f"change/{name}", costs)
        for table in ("orders", "lineitem"):
            if self.is_done(f"changed/{table}"):
                continue
            key = table[0]
            text = (f"SELECT count(*), sum({key}_orderkey), count(DISTINCT {key}_comment) "
                    f"FROM {table}")  # fmt: skip
            expected = self.duck.execute(text).fetchall()
            self.compare(table, self.sql(text), expected)
            if self.iceberg is not None:
                self.compare(f"{table} of iceberg", self.iceberg.sql(text), expected)
            cost = self.write_plain(table, TABLES[table], table) if "orc" in self.asked else None
            self.note(f"changed/{table}", cost)

    def compact(self) -> None:
        """A major compaction of the changed tables."""
        for table in ("orders", "lineitem"):
            if self.is_done(f"compact/{table}"):
                continue
            costs = self.costs_of(
                partial(self.sql, f"ALTER TABLE {table} COMPACT 'major'"),
                lambda iceberg, table=table: iceberg.compact(table),
            )
            self.note(f"compact/{table}", costs)


TITLES = ("before", "after", "compacted")
CLOCKS = ("wall", "CPU")


def ratios(pairs: Iterable[Mapping[str, Sequence[float]]], rival: str, which: int) -> list[float]:
    """Ours by a rival's: by the clock (0), or by processors (1)."""
    return [
        costs["hivesql"][which] / max(costs[rival][which], 0.01)
        for costs in pairs
        if rival in costs
    ]


def means(results: Results) -> dict[str, dict[str, float]]:
    """The geometric mean of ours by each rival's wall clock, for each round of queries."""
    found: dict[str, dict[str, float]] = {}
    for title in TITLES:
        costs = results.starting(f"{title}/").values()
        for rival in ("orc", "iceberg"):
            if several := ratios(costs, rival, 0):
                found.setdefault(title, {})[rival] = statistics.geometric_mean(several)
    return found


def extremes(results: Results) -> dict[str, dict[str, float]]:
    """The two queries that are slowest and the two that are fastest beside plain ORC files."""
    found = sorted(
        (ratios([costs], "orc", 0)[0], f"{name} {title}")
        for title in TITLES
        for name, costs in results.starting(f"{title}/").items()
        if "orc" in costs
    )
    return {name: {"orc": ratio} for ratio, name in [*found[:2], *found[2:][-2:]]}


def lines_of(results: Results, prefix: str) -> list[str]:
    """Seconds of ours for each query, ratios to the others by both clocks, and the means."""
    found = results.starting(prefix)
    if not found:
        return []
    rivals = [one for one in ("orc", "iceberg") if any(one in costs for costs in found.values())]
    head = "".join(f"{f'/ {rival} {clock}':>15}" for rival in rivals for clock in CLOCKS)
    lines = [f"{prefix.rstrip('/'):10}{'s':>8}{'CPU s':>8}{head}"]
    for name, costs in found.items():
        shares = [ratios([costs], rival, which) for rival in rivals for which in (0, 1)]
        cells = "".join(f"{share[0]:15.2f}" if share else f"{'-':>15}" for share in shares)
        wall, cpu = costs["hivesql"]
        lines.append(f"{name:10}{wall:8.2f}{cpu:8.2f}{cells}")
    for rival in rivals:
        for which, clock in enumerate(CLOCKS):
            several = ratios(found.values(), rival, which)
            mean, most = statistics.geometric_mean(several), max(several)
            lines.append(f"geometric mean beside {rival}, {clock}: {mean:.2f}; at most {most:.2f}")
    return lines


def table(results: Results) -> str:
    """What the queries and the changes took, beside the others."""
    lines: list[str] = []
    for prefix in ("load/", "query/", *(f"{title}/" for title in TITLES), "change/", "compact/"):
        lines += lines_of(results, prefix)
    lines += [f"wrong: {name}: {value}" for name, value in results.starting("wrong/").items()]
    return "\n".join(lines)


def run(
    scale: float,
    home: Path,
    master: str,
    memory: str,
    *,
    rounds: int = 3,
    seconds: float = math.inf,
    beside: Mapping[str, str] = MappingProxyType({"orc": ""}),
) -> tuple[Results, bool]:
    """Everything that has not been done yet, and whether all is done."""
    data = generate(scale, home)
    sizes = {"scale": scale, "master": master, "memory": memory}
    kind = "".join(f"-{name}" for name in sorted(beside))
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
        beside=beside,
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
    parser.add_argument("--beside", type=rivals_of, default="orc", help="orc,iceberg=JAR")
    return parser


def rivals_of(text: str) -> dict[str, str]:
    """The kinds of tables beside ours, with the jar of each."""
    found = {name: jar for name, _, jar in (one.partition("=") for one in text.split(",") if one)}
    if found.keys() - {"orc", "iceberg"} or not found.get("iceberg", "jar"):
        raise argparse.ArgumentTypeError(f"{text!r}: give orc, iceberg=JAR, or both")
    return found


def main() -> None:
    parser = make_parser(__doc__)
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
        beside=options.beside,
    )
    print(table(results))
    sys.exit(75 if not done else bool(results.starting("wrong/")))


if __name__ == "__main__":
    main()
