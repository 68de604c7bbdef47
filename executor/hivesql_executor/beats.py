"""Work that is repeated beside a statement, by threads that start when it is first due."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from math import inf

from hivesql_executor.statement_log import carried


class _Repeated:
    """What is called every so many seconds until it answers False, or is ended."""

    def __init__(self, interval: float, work: Callable[[], bool], name: str) -> None:
        self._interval, self._work, self._name = interval, carried(work), name
        self._stopped = threading.Event()
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Call it now and then again, from a thread of its own."""
        with self._guard:
            if not self._stopped.is_set():
                self._thread = threading.Thread(target=self._loop, name=self._name, daemon=True)
                self._thread.start()

    def end(self) -> None:
        """End it, and wait for a call that is under way."""
        with self._guard:
            self._stopped.set()
        _starter.forget(self)
        if self._thread is not None:
            self._thread.join()

    def _loop(self) -> None:
        while self._work() and not self._stopped.wait(self._interval):
            pass


class _Starter:
    """One thread of the process that waits for what is due: most statements end before."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[_Repeated, float] = {}
        self._wakes = inf
        self._thread: threading.Thread | None = None

    def add(self, repeated: _Repeated, interval: float) -> None:
        due = time.monotonic() + interval
        with self._changed:
            self._due[repeated] = due
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hivesql-beats", daemon=True)
                self._thread.start()
            elif due < self._wakes:
                self._changed.notify()

    def forget(self, repeated: _Repeated) -> None:
        with self._changed:
            self._due.pop(repeated, None)

    def _run(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                ready = [repeated for repeated, due in self._due.items() if due <= now]
                for repeated in ready:
                    del self._due[repeated]
                self._wakes = min(self._due.values(), default=inf)
                if not ready:
                    self._changed.wait(None if self._wakes == inf else self._wakes - now)
            for repeated in ready:
                repeated.begin()


_starter = _Starter()


def _forget_parents() -> None:
    """Begin anew in a forked process, which has none of its parent's threads."""
    _starter.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)


def repeat_beside(interval: float, work: Callable[[], bool], name: str) -> Callable[[], None]:
    """Call ``work`` every ``interval`` seconds beside the caller, until it answers False.

    The function that is returned ends it, and waits for a call that is under way.
    """
    repeated = _Repeated(interval, work, name)
    _starter.add(repeated, interval)
    return repeated.end
