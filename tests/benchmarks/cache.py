"""Tables and partitions with and without a cache: python tests/benchmarks/cache.py [URL].

Looks up tables of 20 columns while every so many look-ups another client commits data, or a
change of a table; and lists many partitions. In a new SQLite file, or in an empty database or Hive
Metastore with a log at URL; the latter with half the look-ups and a fifth of the partitions.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from typing import Any

from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.cache.metastore import CachingMetastore
from hivesql_executor.metastore.opening import THRIFT, open_metastore
from hivesql_planner.model.table import Column, Partition, Table, TableName

TABLES, PARTITIONS, ROUNDS = 50, 5_000, 600
MANY = TableName("default", "many")
NAMES = [TableName("default", f"t{number}") for number in range(TABLES)]


def opened(url: str) -> Metastore:
    return open_metastore(url, "/warehouse", timeout=60)


def fill(store: Metastore, partitions: int) -> None:
    columns = tuple(Column.of(f"c{number}", "string") for number in range(20))
    plain = Table(
        name=MANY, columns=columns, location="", properties={"transactional": "true"},
        partition_columns=(Column.of("p", "int"),),
    )  # fmt: skip
    store.create_table(plain)
    new = [Partition(values=(str(number),), location="") for number in range(partitions)]
    store.add_partitions(MANY, new)
    for name in NAMES:
        store.create_table(replace(plain, name=name, partition_columns=()))


def change(store: Metastore, name: TableName, *, described: bool) -> None:
    (txn_id,) = store.open_txns(1, "bench", "localhost")
    store.allocate_write_id(txn_id, name)
    if described:
        altered = replace(store.table(name), comment=str(txn_id))
        store.alter_table(name, altered, txn_id=txn_id)
    store.commit_txn(txn_id)


def measure(
    store: Any, other: Metastore, every: int, rounds: int, *, described: bool
) -> list[float]:
    """Seconds of each look-up."""
    chance, times = random.Random(1), []
    for number in range(rounds):
        if every and number % every == 0:
            change(other, chance.choice(NAMES), described=described)
        name = chance.choice(NAMES)
        began = time.perf_counter()
        store.table(name)
        times.append(time.perf_counter() - began)
    return times


def told(times: list[float]) -> str:
    slow = sorted(times)[len(times) * 99 // 100]
    return f"median {statistics.median(times) * 1000:7.2f} ms  99% {slow * 1000:7.2f} ms"


def listing(store: Any) -> list[float]:
    times = []
    for _ in range(10):
        began = time.perf_counter()
        store.partitions(MANY)
        times.append(time.perf_counter() - began)
    return times


def main(url: str) -> None:
    slow = url.startswith(THRIFT)
    rounds, partitions = (ROUNDS // 2, PARTITIONS // 5) if slow else (ROUNDS, PARTITIONS)
    other = opened(url)
    fill(other, partitions)
    loads: list[tuple[str, int, bool]] = [
        ("nobody writes", 0, False), ("a commit of data every 10", 10, False),
        ("a changed table every 10", 10, True), ("a changed table every 2", 2, True),
    ]  # fmt: skip
    for text, every, described in loads:
        without = measure(opened(url), other, every, rounds, described=described)
        cached = CachingMetastore(opened(url))
        times = measure(cached, other, every, rounds, described=described)
        print(f"{text:28} without: {told(without)}")
        print(f"{'':28} with:    {told(times)}  hits {cached.counters.hit_ratio:.0%}")
    cached = CachingMetastore(opened(url))
    cached.table(MANY)
    print(f"{'list ' + str(partitions) + ' partitions':28} without: {told(listing(other))}")
    print(f"{'':28} with:    {told(listing(cached))}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        main(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{directory}/metastore.db")
