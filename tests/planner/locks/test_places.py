"""Locks by their places: the same answers as looking at each pair of locks."""

from __future__ import annotations

import itertools
import random

import pytest

from hivesql_planner.locks.deadlock import Queued, cycle
from hivesql_planner.locks.lock import Lock
from hivesql_planner.locks.rules import SW, XW, LocksByPlace, S, X, conflicts, covers

PLACES = [
    (database, table, partition)
    for database in ("a", "b")
    for table, partition in [
        (None, None), *itertools.product(("t", "u"), (None, "p=1", "p=2", "p=3")),
    ]
]  # fmt: skip


def locks_of(chance: random.Random, count: int) -> list[Lock]:
    return [Lock(chance.choice((S, SW, XW, X)), *chance.choice(PLACES)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(40))
def test_conflicts_are_those_of_all_pairs(seed: int) -> None:
    chance = random.Random(seed)
    existing = locks_of(chance, chance.randrange(25))
    by_place = LocksByPlace((lock, number) for number, lock in enumerate(existing))
    for requested in locks_of(chance, 40):
        standing = [i for i, other in enumerate(existing) if conflicts(requested, other)]
        assert by_place.first_conflict(requested) == (standing[0] if standing else None)
        met = [other for _, other, _ in by_place.meeting(requested)]
        for rule in (conflicts, covers):
            each = any(rule(other, requested) for other in existing)
            assert any(rule(other, requested) for other in met) == each


@pytest.mark.parametrize("seed", range(40))
def test_circles_are_those_of_all_pairs(seed: int) -> None:
    chance = random.Random(seed)
    queue = [
        Queued(request=request, txn_id=txn_id, lock=lock, waiting=waiting)
        for request in range(1, 9)
        for txn_id, waiting in [(chance.randrange(4), chance.random() < 0.6)]
        for lock in locks_of(chance, chance.randrange(1, 4))
    ]
    chance.shuffle(queue)
    waits = {
        (mine.txn_id, other.txn_id)
        for mine, other in itertools.permutations(queue, 2)
        if mine.waiting and mine.txn_id and other.request < mine.request
        and other.txn_id not in (0, mine.txn_id) and conflicts(mine.lock, other.lock)
    }  # fmt: skip
    for txn_id in (1, 2, 3):
        circle = cycle(queue, txn_id)
        rounds = [
            path
            for size in (2, 3)
            for path in itertools.permutations((1, 2, 3), size)
            if path[0] == txn_id and waits.issuperset(zip(path, (*path[1:], txn_id), strict=True))
        ]
        assert bool(circle) == bool(rounds)
        assert not circle or len(circle) == min(map(len, rounds))
        assert not circle or circle in rounds
