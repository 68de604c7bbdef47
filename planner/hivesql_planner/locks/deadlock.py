"""Deadlocks: transactions that wait for each other in a circle. Hive has no such detector."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from hivesql_planner.locks.lock import Lock
from hivesql_planner.locks.rules import LocksByPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A component of a lock request; ``txn_id`` is 0 for a request outside transactions."""

    request: int
    txn_id: int
    lock: Lock
    waiting: bool


def cycle(queue: Iterable[Queued], txn_id: int) -> tuple[int, ...]:
    """Find the transactions of a circle through ``txn_id``, each waiting for the next; () if none.

    A waiting component waits for every earlier one of another transaction that conflicts with
    it, granted or not, since requests are served in order.
    """
    waits_for = _edges(queue)
    came_from: dict[int, int] = {}
    reached = [txn_id]
    for waiter in reached:
        for other in sorted(waits_for[waiter]):
            if other == txn_id:
                return _path(came_from, txn_id, waiter)
            if other not in came_from:
                came_from[other] = waiter
                reached.append(other)
    return ()


def victim(circle: Iterable[int]) -> int:
    """Return the transaction to abort: the youngest has done the least."""
    return max(circle)


def _edges(queue: Iterable[Queued]) -> dict[int, set[int]]:
    requests: dict[int, list[Queued]] = defaultdict(list)
    for queued in queue:
        requests[queued.request].append(queued)
    by_place = {
        number: LocksByPlace((queued.lock, True) for queued in request)
        for number, request in requests.items()
    }
    waits_for: dict[int, set[int]] = defaultdict(set)
    for number, request in requests.items():
        owner = request[0].txn_id
        waiting = [queued.lock for queued in request if queued.waiting and owner]
        for other, locks in by_place.items():
            blocker = requests[other][0].txn_id
            if other >= number or blocker in (0, owner) or blocker in waits_for[owner]:
                continue
            if any(locks.first_conflict(lock) for lock in waiting):
                waits_for[owner].add(blocker)
    return waits_for


def _path(came_from: dict[int, int], first: int, last: int) -> tuple[int, ...]:
    path = [last]
    while path[-1] != first:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))
