"""Time-outs, and forgetting what nobody needs."""

from __future__ import annotations

from typing import Any

import pytest

from hivesql_executor.metastore.api import ObjectLockRow
from hivesql_executor.metastore.database.schema import (
    completed_txn_components,
    txn_to_write_id,
    txns,
    write_set,
)
from hivesql_planner.errors import ExecutionError, TransactionLost
from hivesql_planner.locks.lock import Lock, LockType, ObjectLock, Operation
from hivesql_planner.model.table import Database, TableName

T = TableName("default", "t")
READ = Lock(LockType.SHARED_READ, "default", "t")
UPDATE = Lock(LockType.EXCL_WRITE, "default", "t", None, Operation.UPDATE)
INSERT = Lock(LockType.SHARED_READ, "default", "t", None, Operation.INSERT)


def write(store: Any, lock: Lock) -> int:
    txn_id: int = store.begin()
    store.calls.allocate_write_id(txn_id, T)
    store.ask(txn_id, lock)
    store.calls.commit_txn(txn_id)
    return txn_id


def test_a_silent_transaction_is_aborted(store: Any) -> None:
    silent = store.begin()
    store.ask(silent, READ)
    store.age(400)
    alive = store.begin()
    assert store.calls.reap(300) == (silent,)
    assert store.calls.locks() == ()
    assert (silent, "a", "heartbeat time-out") in store.rows(txns, "id", "state", "meta_info")
    with pytest.raises(TransactionLost) as error:
        store.calls.heartbeat(silent)
    assert error.value.code == 10263
    store.calls.heartbeat(alive)
    assert store.calls.reap(300) == ()


def test_when_housekeeping_is_due(store: Any) -> None:
    def due(timeout: float = 300, kept: float = 60) -> bool:
        answer: bool = store.calls.needs_housekeeping(timeout, kept)
        return answer

    store.begin()
    assert not due()
    store.age(400)
    assert due()
    store.calls.reap(300)
    assert not due()
    store.begin(101)
    assert due()
    store.calls.abort_txns(range(3, 104), "enough")
    store.age(2)
    store.calls.clean_txns()
    assert not due()
    store.calls.keep_log()
    store.calls.create_database(Database(name="noted", location="/w/noted"))
    assert not due(kept=60)
    assert due(kept=-60)
    lock = ObjectLockRow(explicit=False, query_id="q", query_text="", user="ann", host="here")
    store.calls.purge_events(-60)
    store.calls.take_object_locks([ObjectLock(("default",), True)], lock)
    assert not due(timeout=300)
    assert due(timeout=-60)


def test_a_heartbeat_keeps_a_transaction_alive(store: Any) -> None:
    txn_id = store.begin()
    store.age(400)
    store.calls.heartbeat(txn_id)
    assert store.calls.reap(300) == ()


def test_many_expire_at_once(store: Any) -> None:
    last = store.begin(503)
    store.age(400)
    # Not from 1 where opening them took so long that it was tried again.
    assert store.calls.reap(300) == tuple(range(last - 502, last + 1))
    assert len(store.calls.valid_txns().aborted) == 503


def test_a_silent_lock_without_transaction_goes(store: Any) -> None:
    silent = store.ask(0, READ)
    store.age(400)
    alive = store.ask(0, READ)
    store.calls.reap(300)
    assert [row.lock_id for row in store.calls.locks()] == [alive.lock_id]
    with pytest.raises(ExecutionError) as error:
        store.calls.check_lock(silent.lock_id)
    assert error.value.code == 10270


def test_only_ended_transactions_without_traces_are_forgotten(store: Any) -> None:
    write(store, INSERT)
    empty, wrote = store.begin(), store.begin()
    store.ask(wrote, INSERT)
    store.calls.abort_txns([empty, wrote], "x")
    last = store.begin()
    store.calls.commit_txn(last)
    store.age(10)
    store.calls.clean_txns()
    # The newest row always survives: it is the high watermark.
    assert store.rows(txns, "id") == [(wrote,), (last,)]
    assert store.calls.valid_txns().high_watermark == last


def test_the_write_set_lives_as_long_as_a_transaction_that_it_may_stop(store: Any) -> None:
    older = store.begin()
    write(store, UPDATE)
    store.age(10)
    store.calls.clean_txns()
    assert len(store.rows(write_set, "txn_id")) == 1
    store.calls.commit_txn(older)
    store.age(10)
    store.calls.clean_txns()
    assert store.rows(write_set, "txn_id") == []


def test_write_ids_of_settled_transactions_are_forgotten(store: Any) -> None:
    first = write(store, INSERT)
    reader = store.begin()
    second = write(store, INSERT)
    store.age(10)
    store.calls.clean_txns()
    kept = {txn_id for (txn_id,) in store.rows(txn_to_write_id, "txn_id")}
    assert second in kept
    store.calls.commit_txn(reader)
    store.calls.clean_txns()
    assert store.rows(txn_to_write_id, "txn_id") == []
    found = store.calls.valid_write_ids(store.calls.valid_txns(), [T])[T]
    assert found.high_watermark == 2
    assert first < second


def test_a_write_id_above_those_that_stay_is_not_forgotten(store: Any) -> None:
    """Snapshots reach no further than what stays, and the older transaction got the greater id."""
    older, younger = store.begin(), store.begin()
    for txn_id in (younger, older):
        store.calls.allocate_write_id(txn_id, T)
        store.ask(txn_id, INSERT)
    store.calls.abort_txns([younger], "x")
    store.calls.commit_txn(older)
    store.age(2)
    for _ in range(3):
        seen = store.calls.valid_write_ids(store.calls.valid_txns(), [T])[T]
        assert [seen.sees(write_id) for write_id in (1, 2)] == [False, True]
        store.calls.clean_txns()


def test_write_ids_of_aborted_transactions_stay(store: Any) -> None:
    txn_id = store.begin()
    store.calls.allocate_write_id(txn_id, T)
    store.ask(txn_id, INSERT)
    store.calls.abort_txns([txn_id], "x")
    write(store, INSERT)
    store.age(10)
    store.calls.clean_txns()
    found = store.calls.valid_write_ids(store.calls.valid_txns(), [T])[T]
    assert (found.high_watermark, found.aborted) == (2, frozenset({1}))


def test_of_completed_writes_the_newest_and_the_newest_change_stay(store: Any) -> None:
    for lock in (INSERT, UPDATE, UPDATE, INSERT, INSERT):
        write(store, lock)
    store.calls.clean_txns()
    kept = store.rows(completed_txn_components, "write_id", "update_delete")
    assert kept == [(3, "Y"), (5, "N")]
