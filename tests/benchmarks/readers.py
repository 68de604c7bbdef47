"""Many readers plan while one writer commits each second: python tests/benchmarks/readers.py [URL].

A reader opens, takes its snapshot and its lock, lists the table and chooses its files: all that a
SELECT does before it reads. Each of ``--readers`` does so once a second, in ``--processes``
processes, on a table of ``--deltas`` directories. The metastore is a new SQLite file, or an empty
database at URL. What is printed is how long it took, which part of it the listing and choosing was,
the thread's CPU, and how many directories were listed beside the table's own, in each process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.metastore.api import LockOwner, TxnType
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import scan_files
from hivesql_planner.acid.snapshot import FileStatus
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import Column, Table, TableName
from hivesql_planner.relations import Scan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TableName("default", "t")
OWNER = LockOwner("bench", "localhost")
LOCK = Lock(LockType.SHARED_READ, "default", "t", None, Operation.SELECT)


def write(store: DatabaseMetastore, home: Path) -> None:
    """Commit one delta of one empty file: nobody reads it."""
    (txn_id,) = store.open_txns(1, "bench", "localhost")
    write_id = store.allocate_write_id(txn_id, T)
    delta = home / f"delta_{write_id:07}_{write_id:07}_0000"
    delta.mkdir(parents=True)
    (delta / "bucket_00000_0").touch()
    store.commit_txn(txn_id)


@dataclass(frozen=True)
class CountedFiles(LocalFiles):
    """Local files, and how many directories were listed of them."""

    listed: list[int] = field(default_factory=list, hash=False, compare=False)

    def list(self, location: str, only: Sequence[str] | None = None) -> tuple[FileStatus, ...]:
        statuses = super().list(location, only)
        directories = {status.path.partition("/")[0] for status in statuses}
        self.listed.append(len(directories))
        return statuses


FILES = CountedFiles()


def plan(store: DatabaseMetastore) -> tuple[float, float, float, int]:
    """Seconds of planning, of listing and of CPU, and how many files were chosen."""
    began, cpu = time.monotonic(), time.thread_time()

    def begin() -> tuple[int, ValidTxnList]:
        (opened,) = store.open_txns(1, "bench", "localhost", type=TxnType.READ_ONLY)
        return opened, store.valid_txns(opened)

    txn_id, txns = store.run_in_transaction(begin, durable=False)

    def ask() -> ValidWriteIdList:
        visible = store.valid_write_ids(txns, [T])[T]
        store.enqueue_locks(txn_id, [LOCK], OWNER, for_reading=True)
        return visible

    visible = store.run_in_transaction(ask, durable=False)
    runtime = Runtime(metastore=store, spark=_no_spark, files=lambda place: FILES)
    scan = Scan(table=store.table(T))
    listing = time.monotonic()
    (part,) = scan_files(scan, visible, txns, runtime)
    listed = time.monotonic() - listing
    taken, cpu = time.monotonic() - began, time.thread_time() - cpu
    store.commit_txn(txn_id, for_reading=True)
    return taken, listed, cpu, len(part.files.data)


def _no_spark() -> SparkSession:
    raise AssertionError("planning starts no Spark")


def read(url: str, readers: int, seconds: float, ready: Barrier, done: Any) -> None:
    """Let threads plan once a second each, at moments of their own."""
    store = DatabaseMetastore.open(url, "/warehouse")
    times: list[tuple[float, float, float, int]] = []

    def client() -> None:
        chance, end = random.Random(), time.monotonic() + seconds
        following = time.monotonic() + chance.random()
        while following < end:
            time.sleep(max(0.0, following - time.monotonic()))
            times.append(plan(store))
            following += 1

    plan(store)
    threads = [threading.Thread(target=client) for _ in range(readers)]
    ready.wait()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done.put((times, sum(FILES.listed)))


def measure(url: str, home: Path, options: argparse.Namespace) -> str:
    """What came of it, as a line."""
    store = DatabaseMetastore.open(url, "/warehouse")
    columns = (Column.of("a", "int"),)
    table = Table(name=T, columns=columns, location=str(home), properties={"transactional": "true"})
    store.create_table(table)
    for _ in range(options.deltas):
        write(store, home)
    store.clean_txns()
    context = multiprocessing.get_context("spawn")
    ready, done = context.Barrier(options.processes + 1), context.Queue()
    share = options.readers // options.processes
    running = [
        context.Process(target=read, args=(url, share, options.seconds, ready, done))
        for _ in range(options.processes)
    ]
    for process in running:
        process.start()
    ready.wait()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        write(store, home)
        time.sleep(1)
    answers = [done.get() for _ in running]
    for process in running:
        process.join()
    plans = [planned for planned_there, _ in answers for planned in planned_there]
    totals, listings, cpu, chosen = (sorted(each) for each in zip(*plans, strict=True))
    assert chosen[0] >= options.deltas, "a delta was overlooked"
    directories = [listed for _, listed in answers]
    return (
        f"{len(plans)} plans of up to {chosen[-1]} files: {_percentiles(totals)}  of it listing "
        f"{_percentiles(listings)}  CPU {_percentiles(cpu)}  directories listed {directories}"
    )


def _percentiles(times: list[float]) -> str:
    middle, slow = times[len(times) // 2] * 1000, times[len(times) * 99 // 100] * 1000
    return f"{middle:.1f} ms, 99% {slow:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description="Readers beside a writer.")
    parser.add_argument("url", nargs="?")
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--deltas", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        url = options.url or f"sqlite:///{directory}/m.db"
        print(measure(url, Path(directory) / "t", options))


if __name__ == "__main__":
    main()
