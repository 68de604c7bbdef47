"""Write ids and heartbeats of many transactions at once, as a streaming batch needs them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hivesql_executor.metastore.api import TxnType
from hivesql_executor.metastore.database.schema import next_write_id, txn_to_write_id, txns
from hivesql_planner.errors import ExecutionError, TransactionLost
from hivesql_planner.model.table import TableName

T = TableName("default", "t")
BATCH, ROUNDS = 20, 6


@pytest.mark.thrift
def test_a_batch_has_write_ids_of_its_own_in_its_order(
    store: Any, make_table: Callable[..., Any]
) -> None:
    table = make_table("t_order").name
    early, *batch = store.calls.open_txns(6, "ann", "here")
    late = store.begin()
    first = store.calls.allocate_write_id(late, table)
    given = store.calls.allocate_write_ids(batch, TableName("Default", table.name.upper()))
    assert list(given) == list(range(first + 1, first + 6))
    assert store.calls.allocate_write_id(early, table) == first + 6
    assert store.calls.allocate_write_ids(batch, table) == given, "asked again, nothing new"
    assert store.calls.allocate_write_id(batch[2], table) == given[2]


def test_who_has_a_write_id_keeps_it(store: Any) -> None:
    first, second = store.begin(), store.begin()
    assert store.calls.allocate_write_id(second, T) == 1
    assert store.calls.allocate_write_ids([first, second], T) == (2, 1)


@pytest.mark.thrift
def test_one_that_may_not_write_spoils_the_batch(
    store: Any, make_table: Callable[..., Any]
) -> None:
    table = make_table("t_batch").name
    first, second, third = store.calls.open_txns(3, "ann", "here")
    store.calls.abort_txns([second], "x")
    with pytest.raises((TransactionLost, ExecutionError)):
        store.calls.allocate_write_ids([first, second, third], table)
    assert store.calls.allocate_write_id(third, table) == 1, "nothing was given out"


def test_a_reader_spoils_the_batch(store: Any) -> None:
    reader, writer = store.begin(type=TxnType.READ_ONLY), store.begin()
    with pytest.raises(ExecutionError, match="read-only"):
        store.calls.allocate_write_ids([reader, writer], T)
    assert store.rows(next_write_id, "next") == []


def test_owners_are_known(store: Any) -> None:
    batch = store.calls.open_txns(3, "ann", "here")
    given = store.calls.allocate_write_ids(batch, T)
    assert store.calls.owners_of_write_ids(T, 2, 9) == dict(zip(given[1:], batch[1:], strict=True))
    assert store.rows(txn_to_write_id, "write_id") == [(1,), (2,), (3,)]


@pytest.mark.thrift
def test_batches_and_single_writers_at_once(store: Any, make_table: Callable[..., Any]) -> None:
    table = make_table("t_once").name
    start = threading.Barrier(4)

    def batches() -> list[tuple[int, ...]]:
        start.wait()
        return [
            store.calls.allocate_write_ids(store.calls.open_txns(BATCH, "ann", "here"), table)
            for _ in range(ROUNDS)
        ]

    def singles() -> list[tuple[int, ...]]:
        start.wait()
        return [(store.calls.allocate_write_id(store.begin(), table),) for _ in range(3 * ROUNDS)]

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(work) for work in (batches, singles, batches, singles)]
        found = [ids for future in futures for ids in future.result()]
    for ids in found:
        assert list(ids) == list(range(ids[0], ids[0] + len(ids)))
    everything = sorted(one for ids in found for one in ids)
    assert everything == list(range(1, 2 * ROUNDS * (BATCH + 3) + 1))


@pytest.mark.thrift
def test_one_beat_is_for_all_of_a_batch(store: Any) -> None:
    batch = store.calls.open_txns(5, "ann", "here")
    store.calls.heartbeat_txns(batch)
    store.calls.commit_txn(batch[0])
    store.calls.heartbeat_txns(batch[1:])
    store.calls.abort_txns([batch[2]], "x")
    for gone in (batch, batch[1:], [batch[2]]):
        with pytest.raises(TransactionLost):
            store.calls.heartbeat_txns(gone)
    store.calls.heartbeat_txns([batch[1], *batch[3:]])


def test_a_beat_keeps_all_alive(store: Any) -> None:
    batch, silent = store.calls.open_txns(3, "ann", "here"), store.begin()
    store.age(100)
    store.calls.heartbeat_txns(batch)
    assert store.calls.reap(50) == (silent,)
    assert [state for _, state in store.rows(txns, "id", "state")] == ["c", "o", "o", "o", "a"]
