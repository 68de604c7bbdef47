"""Transactions with several requests: circles are broken, and own locks never block."""

from __future__ import annotations

from typing import Any

import pytest

from hivesql_executor.metastore.api import LockState
from hivesql_executor.metastore.database.schema import txn_components
from hivesql_planner.errors import Deadlock
from hivesql_planner.locks.lock import Lock, LockType, Operation

S, XW, X = LockType.SHARED_READ, LockType.EXCL_WRITE, LockType.EXCLUSIVE
HELD, WAITS, ABORTED = LockState.ACQUIRED, LockState.WAITING, LockState.ABORTED


def on(kind: LockType, table: str, partition: str | None = None) -> Lock:
    operation = Operation.UPDATE if kind is XW else Operation.SELECT
    return Lock(kind, "default", table, partition, operation)


def test_the_youngest_finds_the_circle_and_goes(store: Any) -> None:
    old, young = store.begin(), store.begin()
    assert store.ask(old, on(XW, "a")).state is HELD
    assert store.ask(young, on(XW, "b")).state is HELD
    waiting = store.ask(old, on(XW, "b"))
    assert waiting.state is WAITS
    answer = store.ask(young, on(XW, "a"))
    assert answer.state is ABORTED
    assert answer.reason == f"deadlock: transactions {young}, {old} wait for each other"
    with pytest.raises(Deadlock, match=f"txnid:{young} already aborted: deadlock"):
        store.calls.heartbeat(young)
    assert store.calls.check_lock(waiting.lock_id).state is HELD
    store.calls.commit_txn(old)


def test_the_oldest_finds_the_circle_and_the_youngest_goes(store: Any) -> None:
    old, young = store.begin(), store.begin()
    store.ask(old, on(XW, "a"))
    store.ask(young, on(XW, "b"))
    waiting = store.ask(young, on(XW, "a"))
    assert waiting.state is WAITS
    assert store.ask(old, on(XW, "b")).state is HELD
    with pytest.raises(Deadlock) as raised:
        store.calls.heartbeat(young)
    assert raised.value.retryable
    assert raised.value.code == 10263
    with pytest.raises(Deadlock):
        store.calls.commit_txn(young)
    assert [row.txn_id for row in store.calls.locks()] == [old, old]


def test_two_circles_are_broken_at_once(store: Any) -> None:
    first, second, third = store.begin(), store.begin(), store.begin()
    store.ask(first, on(X, "a"))
    store.ask(second, on(S, "b"))
    store.ask(third, on(S, "b"))
    store.ask(second, on(S, "a"))
    store.ask(third, on(S, "a"))
    assert store.ask(first, on(X, "b")).state is HELD
    assert {row.txn_id for row in store.calls.locks()} == {first}


def test_what_is_held_is_not_asked_for_again(store: Any) -> None:
    txn, drop = store.begin(), store.begin()
    assert store.ask(txn, on(XW, "t"), on(S, "u", "k=1")).state is HELD
    assert store.ask(drop, on(X, "t")).state is WAITS
    before = len(store.calls.locks())
    assert store.ask(txn, on(S, "t"), on(XW, "t", "k=2"), on(S, "u", "k=1")).state is HELD
    assert len(store.calls.locks()) == before
    # What is written under a lock that is held is recorded all the same.
    assert store.rows(txn_components, "partition", "operation") in (
        [(None, "u"), ("k=2", "u")],
        [("k=2", "u"), (None, "u")],
    )


def test_a_stronger_lock_is_asked_for(store: Any) -> None:
    txn, other = store.begin(), store.begin()
    store.ask(txn, on(S, "t", "k=1"))
    store.ask(other, on(S, "t"))
    assert store.ask(txn, on(S, "t")).state is HELD
    assert store.ask(txn, on(X, "t")).state is WAITS
