"""Who waits for a lock goes on when it is released, in the order of the requests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from executor.transactions.ledger import Ledger
from hivesql_executor.metastore.api import LockAnswer, LockOwner, LockState
from hivesql_executor.runtime import Clock
from hivesql_executor.transactions.lock_wait import await_locks, sleep_in_line
from hivesql_planner.errors import Cancelled, LockTimeout, TransactionLost
from hivesql_planner.locks.lock import Lock, LockType, Operation

LOCK = Lock(LockType.EXCL_WRITE, "default", "c", None, Operation.UPDATE)


def request(ledger: Ledger) -> tuple[int, LockAnswer]:
    """A transaction, and the answer to its request for the only row of the world."""
    (txn_id,) = ledger.store.open_txns(1, "ann", "here")
    return txn_id, ledger.store.enqueue_locks(txn_id, [LOCK], LockOwner("ann", "here"))


class Sleeps:
    """A clock on which no time passes; ``events`` happen during the sleeps of these numbers."""

    def __init__(self, events: dict[int, Callable[[], object]]) -> None:
        self.slept: list[float] = []
        self.events = events

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.events.get(len(self.slept), lambda: None)()


def wait(ledger: Ledger, asked: tuple[int, LockAnswer], clock: Sleeps, **more: Any) -> None:
    runtime = replace(ledger.runtime, clock=Clock(sleep=clock.sleep), **more)
    await_locks(*asked, runtime)


def test_the_next_one_goes_on_at_once(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger()
    holder, _ = request(ledger)
    first, second, third = (request(ledger) for _ in range(3))
    assert [one[1].state for one in (first, second, third)] == [LockState.WAITING] * 3
    before = [ledger.store.requests_before(one[1].lock_id) for one in (first, second, third)]
    assert before == [1, 2, 3]
    clock = Sleeps({40: lambda: ledger.store.commit_txn(holder)})
    wait(ledger, first, clock)
    assert clock.slept[-1] == 0.005, "looks again and again, and is never asleep for long"
    assert len(clock.slept) == 40
    assert ledger.store.requests_before(first[1].lock_id) == 0
    clock = Sleeps({2: lambda: ledger.store.abort_txns([first[0], second[0]], "x")})
    wait(ledger, third, clock)
    assert clock.slept == [0.01, 0.01]


def test_who_waits_behind_others_looks_when_they_may_have_gone(
    open_ledger: Callable[..., Ledger],
) -> None:
    """Requests that take 40 ms each: who is fifth does not look every few milliseconds."""
    took, slept = 0.04, 0.0
    looks: list[int] = []

    def count_before() -> int:
        looks.append(max(0, 5 - int(slept / took)))
        return looks[-1]

    def sleep(seconds: float) -> None:
        nonlocal slept
        slept += seconds

    assert sleep_in_line(
        60.0, count_before, replace(open_ledger().runtime, clock=Clock(sleep=sleep))
    )
    assert 5 * took <= slept <= 5 * took + 0.005, "nobody sleeps while the lock is free"
    assert len(looks) < 15


def test_who_has_waited_long_looks_more_seldom(open_ledger: Callable[..., Ledger]) -> None:
    slept: list[float] = []
    runtime = replace(open_ledger().runtime, clock=Clock(sleep=slept.append))
    taken = 100.0
    assert sleep_in_line(200.0, lambda: int(sum(slept) < taken), runtime)
    assert len(slept) < 2500
    assert sum(slept) - taken <= 0.05


def test_who_is_lost_or_cancelled_is_told_at_once(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger()
    request(ledger)
    lost, cancelled = request(ledger), request(ledger)
    with pytest.raises(TransactionLost):
        wait(ledger, lost, Sleeps({3: lambda: ledger.store.abort_txns([lost[0]], "x")}))
    stop = threading.Event()
    clock = Sleeps({3: stop.set})
    with pytest.raises(Cancelled):
        wait(ledger, cancelled, clock, cancelled=stop)
    assert len(clock.slept) == 3


def test_patience_is_what_the_settings_say(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger(lock_numretries="3")
    request(ledger)
    clock = Sleeps({})
    with pytest.raises(LockTimeout):
        wait(ledger, request(ledger), clock)
    assert sum(clock.slept) == pytest.approx(0.1 + 0.2 + 0.4)


def test_many_are_served_in_their_order(open_ledger: Callable[..., Ledger]) -> None:
    ledgers = [open_ledger(clock=Clock()) for _ in range(4)]
    holder, _ = request(ledgers[0])
    asked = [(ledger, *request(ledger)) for _ in range(4) for ledger in ledgers]
    served: list[int] = []

    def serve(ledger: Ledger, txn_id: int, answer: LockAnswer) -> None:
        await_locks(txn_id, answer, ledger.runtime)
        served.append(answer.lock_id)
        ledger.store.commit_txn(txn_id)

    with ThreadPoolExecutor(len(asked)) as pool:
        waiting = [pool.submit(serve, *one) for one in reversed(asked)]
        ledgers[0].store.commit_txn(holder)
        for one in waiting:
            one.result()
    assert served == [answer.lock_id for _, _, answer in asked]
