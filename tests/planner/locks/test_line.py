"""Who waits in line looks in time, however late everybody has been before."""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, field

import pytest

from hivesql_planner.locks.line import Line

# Seconds that one look, being granted what is free, and asking anew after a commit take.
LOOK, GRANT, AGAIN = 0.001, 0.003, 0.01


@dataclass
class Queue:
    """Writers that all want one lock, again and again, each for ``hold`` seconds of model time."""

    writers: int
    hold: float
    chance: random.Random
    first: float
    """For how long the first one has it."""
    now: float = 0.0
    idle: float = 0.0
    """For how long the lock was free though somebody waited."""
    looks: int = 0
    line: list[int] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)
    _steps: list[tuple[float, int, str, int]] = field(default_factory=list)
    _minds: dict[int, Line] = field(default_factory=dict)
    _freed: float = 0.0

    def run(self, commits: int) -> None:
        """Go on until there were so many commits."""
        for writer in range(self.writers) if not self._steps else ():
            self._later(self.now, "ask", writer)
        while len(self.commits) < commits:
            self.now, _, step, writer = heapq.heappop(self._steps)
            getattr(self, f"_{step}")(writer)

    def _later(self, seconds: float, step: str, writer: int) -> None:
        at = self.now + seconds * self.chance.uniform(0.7, 1.3)
        heapq.heappush(self._steps, (at, len(self._steps) + self.looks, step, writer))

    def _ask(self, writer: int) -> None:
        self.line.append(writer)
        self._freed = self.now if len(self.line) == 1 else self._freed
        self._minds[writer] = Line()
        self._later(LOOK, "look", writer)

    def _look(self, writer: int) -> None:
        self.looks += 1
        before = self.line.index(writer)
        if before == 0:
            self._later(GRANT, "have", writer)
        else:
            self._later(self._minds[writer].pause(before) + LOOK, "look", writer)

    def _have(self, writer: int) -> None:
        self.idle += self.now - self._freed
        self._later(self.hold if self.commits else self.first, "commit", writer)

    def _commit(self, writer: int) -> None:
        assert self.line.pop(0) == writer
        self._freed = self.now
        self.commits.append(writer)
        self._later(AGAIN, "ask", writer)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("writers", [2, 6, 20])
@pytest.mark.parametrize("hold", [0.004, 0.01, 0.04, 0.3, 3.0])
@pytest.mark.parametrize("first", [0.001, 0.2, 10.0])
def test_the_lock_is_not_free_for_long_while_somebody_waits(
    hold: float, writers: int, first: float, seed: int
) -> None:
    """However slow the first one was: sleeps that are too long must not make others too long."""
    queue = Queue(writers, hold, random.Random(seed), first=first)
    queue.run(5 * writers)
    idle, began, looks = queue.idle, queue.now, queue.looks
    queue.run(15 * writers)
    commits = 10 * writers
    free = (queue.idle - idle) / commits
    assert free < 0.015 + min(hold * 0.1, 0.03)
    assert (queue.looks - looks) / commits < 20 + 150 * hold
    assert queue.now - began == pytest.approx(commits * (hold + free), rel=0.3)


def test_writers_go_on_in_the_order_in_which_they_asked() -> None:
    queue = Queue(6, 0.01, random.Random(1), first=0.5)
    queue.run(120)
    times = [queue.commits.count(writer) for writer in range(6)]
    assert max(times) - min(times) <= 1


def test_who_is_next_looks_at_once_and_more_seldom_after_long() -> None:
    line = Line()
    assert line.pause(1) == 0.005
    slept = 0.0
    while slept < 100.0:
        slept += line.pause(1)
    assert line.pause(1) == 0.05


def test_one_that_was_slow_does_not_make_the_others_late() -> None:
    line = Line()
    waited = 0.0
    while waited < 2.0:
        waited += line.pause(3)
    assert line.pause(2) <= 0.25
    # The next one went at once.
    line.pause(1)
    assert line.pause(1) <= 0.05
