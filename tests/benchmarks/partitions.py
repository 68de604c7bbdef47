"""Listing a table of very many partitions: python tests/benchmarks/partitions.py [COUNT [URL]].

Prints how long it takes to add COUNT (default 1,000,000) partitions and to list some of them, in
a new SQLite file, or in an empty database at URL such as postgresql://user@host/database.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_planner.model.table import Column, Partition, Table, TableName
from hivesql_planner.predicates.partitions import PartitionTest

NAME = TableName("default", "many")
HOURS = 24
CHUNK = 20_000


def measure(told: str, work: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    result = work()
    print(f"{told:<60} {time.perf_counter() - began:8.2f} s")
    return result


def fill(store: DatabaseMetastore, count: int) -> None:
    store.create_table(
        Table(
            name=NAME,
            columns=(Column.of("a", "int"),),
            location="",
            partition_columns=(Column.of("day", "date"), Column.of("hour", "int")),
        )
    )
    first = date(1950, 1, 1)
    for start in range(0, count, CHUNK):
        numbers = range(start, min(start + CHUNK, count))
        store.add_partitions(
            NAME,
            [
                Partition(
                    values=(str(first + timedelta(days=n // HOURS)), str(n % HOURS)), location=""
                )
                for n in numbers
            ],
        )


def main(count: int, url: str) -> None:
    store = DatabaseMetastore.open(url, "/warehouse")
    measure(f"add {count:,}", lambda: fill(store, count))
    day = PartitionTest(position=0, operator="=", kind="date", values=("1960-05-05",))
    hour = PartitionTest(position=1, operator="=", kind="integer", values=("7",))
    late = PartitionTest(position=0, operator=">=", kind="date", values=("1960-05-05",))
    early = PartitionTest(position=0, operator="<", kind="date", values=("1960-06-05",))
    for told, tests in (
        ("one of them", (day, hour)),
        ("one day", (day,)),
        ("a month", (late, early)),
        ("nothing but one hour of every day", (hour,)),
    ):
        found = measure(f"list {told}", lambda tests=tests: store.partitions(NAME, tests))
        print(f"{'':<60} {len(found):8,}")
    measure("count", lambda: store.partition_count(NAME))
    measure("find those that live elsewhere", lambda: store.foreign_partitions(NAME))
    measure("list all", lambda: store.partitions(NAME))
    store.close()


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as directory:
        main(number, sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{directory}/metastore.db")
