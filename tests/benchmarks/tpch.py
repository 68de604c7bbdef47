"""TPC-H on ACID tables: 22 queries, changes, 22 queries again; every answer compared with DuckDB's.

    python tests/benchmarks/tpch.py [--scale 1] [--home .bench] [--master local[2]] [--memory 4g]

Each query runs on the ACID tables and on plain ORC tables of the same rows, in turns in the same
Spark, so load from outside hits both alike. A first round warms up; what is printed is the least of
two rounds for each, and the ratio.
After the changes the plain tables are written anew, since they cannot be changed.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

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


class Bench:
    """HiveSQL's session with both kinds of tables, and DuckDB with its own."""

    def __init__(self, data: Path, work: Path, master: str, memory: str) -> None:
        self.data = data
        self.wrong: list[str] = []
        self.means: dict[str, float] = {}
        self.duck = duckdb.connect()
        self.session = hivesql.connect(
            f"sqlite:///{work}/metastore.db",
            str(work / "warehouse"),
            settings={"spark.master": master, "spark.driver.memory": memory},
        )
        self.sql("CREATE DATABASE plain")

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        """A statement's rows."""
        return [tuple(row) for row in self.session.sql(text).rows]

    def timed(self, name: str, text: str) -> float:
        """Run a statement, print and return its wall seconds."""
        began = time.monotonic()
        self.sql(text)
        seconds = time.monotonic() - began
        print(f"{name:20} {seconds:8.2f} s", flush=True)
        return seconds

    def load(self) -> None:
        """All tables, ours and plain."""
        for table, columns in TABLES.items():
            parquet = self.given(f"{table}_files", columns, table)
            self.sql(f"CREATE TABLE {table} ({columns}) STORED AS ORC "
                     "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
            ours = self.timed(f"load {table}", f"INSERT INTO {table} SELECT * FROM {parquet}")
            plain = self.write_plain(table, parquet)
            print(f"{'':20} plain ORC {plain:.2f} s, ratio {ours / plain:.2f}", flush=True)
            self.duck.execute(f"CREATE TABLE {table} AS FROM '{self.data}/{table}/*.parquet'")
        for table, like in ARRIVALS.items():
            self.given(table, TABLES[like], table)
            self.duck.execute(f"CREATE VIEW {table} AS FROM '{self.data}/{table}/*.parquet'")

    def given(self, name: str, columns: str, directory: str) -> str:
        """An external table over generated files."""
        self.sql(f"CREATE EXTERNAL TABLE {name} ({columns}) STORED AS PARQUET "
                 f"LOCATION '{self.data}/{directory}'")  # fmt: skip
        return name

    def write_plain(self, table: str, source: str) -> float:
        """Write the plain ORC table anew; the seconds it took."""
        self.sql(f"DROP TABLE IF EXISTS plain.{table}")
        self.sql(
            f"CREATE EXTERNAL TABLE plain.{table} ({TABLES[table]}) STORED AS ORC "
            "TBLPROPERTIES ('orc.compress'='ZLIB', 'external.table.purge'='true')"
        )
        began = time.monotonic()
        self.sql(f"INSERT INTO plain.{table} SELECT * FROM {source}")
        return time.monotonic() - began

    def queries(self, title: str) -> None:
        """The 22 queries on both kinds of tables, compared with DuckDB's rows."""
        ratios = []
        print(f"\n{title:20} {'ACID':>8} {'plain':>8} {'ratio':>6}")
        for name, text in texts_of("queries.sql").items():
            expected = self.duck.execute(text).fetchall()
            seconds: dict[str, list[float]] = {"default": [], "plain": []}
            for _ in range(3):
                for database, taken in seconds.items():
                    self.sql(f"USE {database}")
                    began = time.monotonic()
                    found = self.sql(text)
                    taken.append(time.monotonic() - began)
                    self.compare(f"{title} {name} on {database}", found, expected)
            ours, plain = (min(taken[1:]) for taken in seconds.values())
            ratios.append(ours / plain)
            print(f"{name:20} {ours:8.2f} {plain:8.2f} {ratios[-1]:6.2f}", flush=True)
        self.sql("USE default")
        self.means[title] = statistics.geometric_mean(ratios)
        print(f"{'geometric mean':38} {self.means[title]:6.2f}", flush=True)

    def compare(self, what: str, found: Sequence[Any], expected: Sequence[Any]) -> None:
        """Note what differs."""
        if len(found) != len(expected) or not all(map(same, found, expected)):
            pairs: Iterable[Any] = zip(found, expected, strict=False)
            first = next((pair for pair in pairs if not same(*pair)), None)
            self.wrong.append(f"{what}: {len(found)} rows, expected {len(expected)}; {first}")
            print(self.wrong[-1], file=sys.stderr)

    def change(self) -> None:
        """The refresh functions, here and in DuckDB; then every row compared by sums."""
        for name, text in texts_of("refresh.sql").items():
            self.timed(name, text)
            self.duck.execute(text)
        for table in ("orders", "lineitem"):
            key = table[0]
            text = (f"SELECT count(*), sum({key}_orderkey), count(DISTINCT {key}_comment) "
                    f"FROM {table}")  # fmt: skip
            self.compare(table, self.sql(text), self.duck.execute(text).fetchall())
            self.write_plain(table, table)


def run(scale: float, home: Path, master: str, memory: str) -> Bench:
    """Everything once; what differed from DuckDB is in ``wrong``."""
    data = generate(scale, home)
    with tempfile.TemporaryDirectory(prefix="hivesql-tpch-", dir=home) as work:
        bench = Bench(data, Path(work), master, memory)
        with bench.session:
            bench.load()
            bench.queries("before the changes")
            bench.change()
            bench.queries("after the changes")
            for table in ("orders", "lineitem"):
                bench.timed(f"compact {table}", f"ALTER TABLE {table} COMPACT 'major'")
            bench.queries("after compaction")
    return bench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--home", type=Path, default=Path(".bench"))
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="4g")
    options = parser.parse_args()
    home = options.home.absolute()
    home.mkdir(parents=True, exist_ok=True)
    wrong = run(options.scale, home, options.master, options.memory).wrong
    sys.exit("\n".join(wrong) if wrong else None)


if __name__ == "__main__":
    main()
