"""How many transactions a second: open, snapshot, write id, lock, commit.

    python tests/benchmarks/transactions.py sqlite:////tmp/m.db
    python tests/benchmarks/transactions.py postgresql://postgres@127.0.0.1/bench
    python tests/benchmarks/transactions.py thrift://127.0.0.1:9083

The last one is a real Hive metastore (``tests/interop/hive/hive-local hms start``) and needs
``pip install pymetastore``. Each client is a process with a table of its own; all commit inserts,
so nobody waits for a lock. Tables need not exist: transactions know only names. With ``--same`` all
update one table of our metastores and queue for its lock.

    python tests/benchmarks/transactions.py URL --log OTHER_URL --rounds 5

takes turns between a database and another one in which a notification log is kept.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.synchronize import Barrier
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from hivesql_executor.metastore.api import LockAnswer, LockOwner, LockState
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.transactions.lock_wait import sleep_in_line
from hivesql_planner.acid.write_ids import ValidTxnList
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import TableName

Once = Callable[[], None]
Kind = Callable[[str, str], Once]


def ours(url: str, table: str) -> Once:
    """One transaction of a client on our metastore."""
    store = DatabaseMetastore.open(url, "/warehouse")
    name = TableName("default", table)
    lock = Lock(LockType.SHARED_READ, "default", table, None, Operation.INSERT)

    def begin() -> tuple[int, ValidTxnList]:
        (txn_id,) = store.open_txns(1, "bench", "localhost")
        return txn_id, store.valid_txns(txn_id)

    def prepare(txn_id: int, txns: ValidTxnList) -> None:
        store.take_write_ids(txn_id, [name], txns, [name])
        store.enqueue_locks(txn_id, [lock], LockOwner("bench", "localhost"))

    def once() -> None:
        txn_id, txns = store.run_in_transaction(begin, durable=False)
        store.run_in_transaction(lambda: prepare(txn_id, txns), early=True)
        store.commit_txn(txn_id)

    return once


def waits(url: str, _: str) -> Once:
    """One transaction of a client that waits for its lock as statements do."""
    store = DatabaseMetastore.open(url, "/warehouse")
    name = TableName("default", "same")
    lock = Lock(LockType.EXCL_WRITE, "default", "same", None, Operation.UPDATE)
    runtime: Any = SimpleNamespace(clock=time, check_cancelled=lambda: None)

    def prepare(txn_id: int) -> LockAnswer:
        store.allocate_write_id(txn_id, name)
        return store.enqueue_locks(txn_id, [lock], LockOwner("bench", "localhost"))

    def once() -> None:
        (txn_id,) = store.open_txns(1, "bench", "localhost")
        answer = store.run_in_transaction(lambda: prepare(txn_id), early=True)
        while answer.state is LockState.WAITING:
            sleep_in_line(1.0, partial(store.requests_before, answer.lock_id), runtime)
            answer = store.check_lock(answer.lock_id)
        store.commit_txn(txn_id)

    return once


def hives(url: str, table: str) -> Once:
    """The same calls of a real Hive metastore."""
    from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
    from thrift.protocol import TBinaryProtocol
    from thrift.transport import TSocket, TTransport

    place = urlsplit(url)
    transport = TTransport.TBufferedTransport(TSocket.TSocket(place.hostname, place.port or 9083))
    client: Any = ThriftHiveMetastore.Client(TBinaryProtocol.TBinaryProtocol(transport))
    transport.open()

    def once() -> None:
        opened = client.open_txns(
            ttypes.OpenTxnRequest(num_txns=1, user="bench", hostname="localhost")
        )
        (txn_id,) = opened.txn_ids
        client.get_open_txns()
        client.allocate_table_write_ids(
            ttypes.AllocateTableWriteIdsRequest(dbName="default", tableName=table, txnIds=[txn_id])
        )
        component = ttypes.LockComponent(
            type=ttypes.LockType.SHARED_READ,
            level=ttypes.LockLevel.TABLE,
            dbname="default",
            tablename=table,
            operationType=ttypes.DataOperationType.INSERT,
            isTransactional=True,
        )
        client.lock(
            ttypes.LockRequest(
                component=[component], txnid=txn_id, user="bench", hostname="localhost"
            )
        )
        client.get_valid_write_ids(
            ttypes.GetValidWriteIdsRequest(fullTableNames=[f"default.{table}"])
        )
        client.commit_txn(ttypes.CommitTxnRequest(txnid=txn_id))

    return once


def work(kind: Kind, url: str, table: str, seconds: float, ready: Barrier, done: Any) -> None:
    """A client: as many transactions as fit, and the time that each took."""
    once = kind(url, table)
    once()
    ready.wait()
    times: list[float] = []
    end = time.monotonic() + seconds
    while (began := time.monotonic()) < end:
        once()
        times.append(time.monotonic() - began)
    done.put(times)


def measure(url: str, clients: int, seconds: float, *, same: bool = False) -> str:
    """One line of the report."""
    kind = waits if same else hives if url.startswith("thrift:") else ours
    context = multiprocessing.get_context("spawn")
    ready, done = context.Barrier(clients), context.Queue()
    running = [
        context.Process(target=work, args=(kind, url, f"bench_{number}", seconds, ready, done))
        for number in range(clients)
    ]
    for process in running:
        process.start()
    by_client = [done.get() for _ in running]
    times = sorted(taken for of_client in by_client for taken in of_client)
    each = sorted(map(len, by_client))
    for process in running:
        process.join()
    middle, slow = times[len(times) // 2], times[len(times) * 99 // 100]
    return (
        f"{clients:3} clients  {len(times) / seconds:8.1f} transactions/s  "
        f"median {middle * 1000:7.1f} ms  99% {slow * 1000:7.1f} ms  {each[0]} to {each[-1]} each"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Transactions a second.")
    parser.add_argument("url", nargs="+", help="sqlite:///…, postgresql://… or thrift://…")
    parser.add_argument("--log", nargs="+", default=[], help="of databases with a log")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--same", action="store_true", help="all wait for one lock")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    for url in options.log:
        store = DatabaseMetastore.open(url, "/warehouse")
        store.keep_log()
        store.close()
    for clients in options.clients * options.rounds:
        for url in (*options.url, *options.log):
            kind = url.partition(":")[0] + (" with log" if url in options.log else "")
            print(
                f"{kind:22} {measure(url, clients, options.seconds, same=options.same)}", flush=True
            )


if __name__ == "__main__":
    main()
