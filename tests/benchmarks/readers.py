"""Many readers plan while one writer commits each second: python tests/benchmarks/readers.py [URL].

A reader opens, takes its snapshot and its lock, lists the table and chooses its files: all that a
SELECT does before it reads. Each of ``--readers`` does so once a second, in ``--processes``
processes, on a table of ``--deltas`` directories. The metastore is a new SQLite file, or an empty
database at URL. What is printed is how long it took, and which part of it the listing was.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import tempfile
import threading
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.metastore.api import LockOwner, TxnType
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.snapshot.listing import acid_state
from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import Column, Table, TableName

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


def plan(store: DatabaseMetastore) -> tuple[float, float, int]:
    """Seconds of planning and of listing, and how many files were chosen."""
    began = time.monotonic()

    def begin() -> tuple[int, ValidTxnList]:
        (opened,) = store.open_txns(1, "bench", "localhost", type=TxnType.READ_ONLY)
        return opened, store.valid_txns(opened)

    txn_id, txns = store.run_in_transaction(begin, durable=False)

    def ask() -> ValidWriteIdList:
        visible = store.valid_write_ids(txns, [T])[T]
        store.enqueue_locks(txn_id, [LOCK], OWNER, for_reading=True)
        return visible

    visible = store.run_in_transaction(ask, durable=False)
    location, files = store.table(T).location, LocalFiles()
    listing = time.monotonic()
    state = acid_state(files, location, visible, txns)
    listed = time.monotonic() - listing
    chosen = files_to_read(state, visible, insert_only=False, location=location)
    taken = time.monotonic() - began
    store.commit_txn(txn_id, for_reading=True)
    return taken, listed, len(chosen.data)


def read(url: str, readers: int, seconds: float, ready: Barrier, done: Any) -> None:
    """Let threads plan once a second each, at moments of their own."""
    store = DatabaseMetastore.open(url, "/warehouse")
    times: list[tuple[float, float, int]] = []

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
    done.put(times)


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
    plans = [planned for _ in running for planned in done.get()]
    for process in running:
        process.join()
    totals = sorted(total for total, _, _ in plans)
    listings = sorted(listed for _, listed, _ in plans)
    least = min(chosen for _, _, chosen in plans)
    assert least >= options.deltas, "a delta was overlooked"
    return f"planning {_percentiles(totals)}  of it listing {_percentiles(listings)}"


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
