"""Whether the threads of the services beat: what a probe asks."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

_SLACK = 60.0
"""Seconds that a machine may be late with the next round."""
_LONGEST_ROUND = 3600.0
"""Seconds in which a round that is not long by nature should end."""


@dataclass(slots=True)
class _Beat:
    thread: threading.Thread
    longest: float
    is_long: bool
    watched: float


@dataclass(slots=True)
class ServiceHealth:
    """What each service did last; told by its thread, asked by others."""

    clock: Callable[[], float] = time.monotonic
    rounds: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """Rounds that have ended, by service and whether all went well."""
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _watched: dict[str, _Beat] = field(default_factory=dict)
    _began: dict[str, float] = field(default_factory=dict)
    _ended: dict[str, float] = field(default_factory=dict)
    _failures: Counter[str] = field(default_factory=Counter)

    def watch(self, name: str, thread: threading.Thread, *, longest: float, is_long: bool) -> None:
        """Expect rounds of a thread, at most ``longest`` seconds apart."""
        with self._guard:
            self._watched[name] = _Beat(thread, longest, is_long, self.clock())

    def begin_round(self, name: str) -> None:
        """Note that a round begins."""
        with self._guard:
            self._began[name] = self.clock()

    def end_round(self, name: str, *, good: bool) -> None:
        """Note that a round has ended, and whether all went well in it."""
        with self._guard:
            del self._began[name]
            self._ended[name] = self.clock()
            self.rounds[name, good] += 1
            self._failures[name] = 0 if good else self._failures[name] + 1

    def ages(self) -> dict[str, float]:
        """Return for each service the seconds since its last round has ended, or it began."""
        with self._guard:
            now = self.clock()
            return {name: now - self._ended.get(name, of.watched)
                    for name, of in self._watched.items()}  # fmt: skip

    def running(self) -> tuple[str, ...]:
        """Return the services whose threads have not ended."""
        with self._guard:
            return tuple(name for name, beat in self._watched.items() if beat.thread.is_alive())

    def problems(self) -> tuple[str, ...]:
        """Tell what is wrong, a line each; they name services alone, no place and no error."""
        with self._guard:
            now = self.clock()
            lines = (self._problem(name, beat, now) for name, beat in self._watched.items())
            return tuple(filter(None, lines))

    def _problem(self, name: str, beat: _Beat, now: float) -> str:
        if not beat.thread.is_alive():
            return f"{name} has ended"
        if beat.is_long:
            late = name not in self._began and self._is_late(name, beat, now)
            return f"{name} begins no round" if late else ""
        if name in self._began and now - self._began[name] > _LONGEST_ROUND:
            return f"{name} is in one round for {now - self._began[name]:.0f} s"
        if failures := self._failures[name]:
            return f"{name}: the last {failures} rounds failed, see the log"
        late = name not in self._began and self._is_late(name, beat, now)
        return f"{name} begins no round" if late else ""

    def _is_late(self, name: str, beat: _Beat, now: float) -> bool:
        return now - self._ended.get(name, beat.watched) > beat.longest + _SLACK
