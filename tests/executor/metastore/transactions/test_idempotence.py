"""Keys that are recorded in the commit's own database transaction."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from hivesql_executor.metastore.api import Metastore, Once
from hivesql_planner.errors import AlreadyCommitted, HiveSqlError, SemanticError, TransactionLost


def opened(store: Metastore) -> int:
    (txn_id,) = store.open_txns(1, "me", "here")
    return txn_id


def test_a_key_is_done_once(store: Any) -> None:
    calls = store.calls
    once = Once(key="dag/run/1", text="INSERT …")
    first, second = opened(calls), opened(calls)
    assert calls.done(once) is None
    calls.commit_txn(first, once=once)
    done = calls.done(once)
    assert done is not None
    assert done.txn_id == first
    assert abs(done.committed / 1000 - time.time()) < 60
    # The same transaction again is silent, as after a lost answer; another one is aborted.
    calls.commit_txn(first, once=once)
    with pytest.raises(AlreadyCommitted, match=f"transaction {first} "):
        calls.commit_txn(second, once=once)
    with pytest.raises(TransactionLost):
        calls.heartbeat(second)
    assert calls.done(once) == done
    with pytest.raises(SemanticError, match="another statement"):
        calls.done(Once(key=once.key, text="DELETE …"))


def test_an_abort_records_nothing(store: Any) -> None:
    calls = store.calls
    once = Once(key="k")
    txn_id = opened(calls)
    calls.abort_txns([txn_id], "test")
    with pytest.raises(TransactionLost):
        calls.commit_txn(txn_id, once=once)
    assert calls.done(once) is None


def test_numbers_rise(store: Any) -> None:
    calls = store.calls

    def batch(number: int) -> Once:
        return Once(key="stream/1", number=number)

    calls.commit_txn(opened(calls), once=batch(0))
    calls.commit_txn(opened(calls), once=batch(3))
    assert [calls.done(batch(n)) is not None for n in (0, 1, 3, 4)] == [True, True, True, False]
    with pytest.raises(AlreadyCommitted):
        calls.commit_txn(opened(calls), once=batch(2))
    calls.commit_txn(opened(calls), once=batch(4))
    assert calls.done(batch(4)) is not None


def test_forgetting(store: Any) -> None:
    calls = store.calls
    for key in ("a/1", "a/2", "ab/1", "a%/1"):
        calls.commit_txn(opened(calls), once=Once(key=key))
    calls.commit_txn(opened(calls), once=Once(key="stream", number=1))
    assert calls.forget_key("a") == 2
    assert calls.forget_key("a") == 0
    assert calls.done(Once(key="ab/1")) is not None
    assert calls.forget_key("a%/1") == 1
    calls.forget_keys(3600)
    assert calls.done(Once(key="ab/1")) is not None
    time.sleep(0.01)
    calls.forget_keys(0)
    assert calls.done(Once(key="ab/1")) is None
    assert calls.done(Once(key="stream", number=1)) is not None


@pytest.mark.parametrize("number", [None, 7])
def test_of_many_at_once_one_commits(store: Any, number: int | None) -> None:
    calls = store.calls
    once = Once(key="race", number=number)
    if number is not None:
        calls.commit_txn(opened(calls), once=Once(key="race", number=number - 1))
    ids = [opened(calls) for _ in range(8)]
    outcomes: dict[int, HiveSqlError | None] = {}
    ready = threading.Barrier(len(ids))

    def commit(txn_id: int) -> None:
        ready.wait()
        try:
            calls.commit_txn(txn_id, once=once)
            outcomes[txn_id] = None
        except HiveSqlError as error:
            outcomes[txn_id] = error

    threads = [threading.Thread(target=commit, args=[txn_id]) for txn_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [txn_id for txn_id, error in outcomes.items() if error is None]
    assert len(winners) == 1
    assert all(isinstance(error, AlreadyCommitted) for error in outcomes.values() if error)
    done = calls.done(once)
    assert done is not None
    assert done.txn_id == winners[0]
