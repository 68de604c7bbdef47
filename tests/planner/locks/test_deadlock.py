"""Circles of waiting transactions."""

from __future__ import annotations

import pytest

from hivesql_planner.locks.deadlock import Queued, cycle, victim
from hivesql_planner.locks.lock import Lock
from hivesql_planner.locks.rules import XW, S, X


def queue(*texts: str) -> list[Queued]:
    """``txn type table``, waiting with a question mark; one request each, in order."""
    found = []
    for request, text in enumerate(texts, start=1):
        txn, kind, table = text.rstrip("?").split()
        lock = Lock({"S": S, "XW": XW, "X": X}[kind], "d", table)
        waiting = text.endswith("?")
        found.append(Queued(request=request, txn_id=int(txn), lock=lock, waiting=waiting))
    return found


CIRCLES = {
    # name: (queue, who asks, circle)
    "nobody waits": (["1 XW a", "2 XW b"], 1, ()),
    "one waits": (["1 XW a", "2 XW b", "2 XW a?"], 2, ()),
    "two wait for each other": (["1 XW a", "2 XW b", "1 XW b?", "2 XW a?"], 2, (2, 1)),
    "seen from the other": (["1 XW a", "2 XW b", "1 XW b?", "2 XW a?"], 1, (1, 2)),
    "three in a circle": (
        ["1 XW a", "2 XW b", "3 XW c", "1 XW b?", "2 XW c?", "3 XW a?"], 3, (3, 1, 2)),
    "a circle that one only looks at": (
        ["1 XW a", "2 XW b", "1 XW b?", "2 XW a?", "3 XW a?"], 3, ()),
    "readers that both want to write": (["1 S a", "2 S a", "1 X a?", "2 X a?"], 2, (2, 1)),
    "behind a waiting stranger": (["1 S a", "2 X a?", "1 XW a?"], 1, (1, 2)),
    "readers do not wait for readers": (["1 S a", "2 S b", "1 S b?", "2 S a?"], 2, ()),
    "locks outside transactions hold nobody in a circle": (
        ["0 XW a", "1 XW b", "1 XW a?", "0 XW b?"], 1, ()),
}  # fmt: skip


@pytest.mark.parametrize(("texts", "asking", "circle"), CIRCLES.values(), ids=CIRCLES)
def test_circles(texts: list[str], asking: int, circle: tuple[int, ...]) -> None:
    assert cycle(queue(*texts), asking) == circle


def test_the_youngest_goes() -> None:
    assert victim((3, 9, 1)) == 9
