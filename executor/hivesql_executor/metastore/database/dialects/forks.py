"""Forks of this process, which wait for calls of SQLite that its threads are in.

A fork copies SQLite's own locks as they are, and what it knows of locks on files: in the child, who
opens a file would wait for a thread that is not there, or take another's lock for its own.
"""

from __future__ import annotations

import os
import threading

_LONGEST = 30.0
"""Seconds after which a fork waits no longer: a call may itself wait for another process."""


class _OfThread(threading.local):
    """How deep a thread is in calls."""

    depth: int = 0


class Calls:
    """A block in which this process does not fork but from the block itself."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._forks = 0
        self._own = _OfThread()

    def __enter__(self) -> None:
        if not self._own.depth:
            with self._changed:
                self._changed.wait_for(lambda: not self._forks, _LONGEST)
                self._running += 1
        self._own.depth += 1

    def __exit__(self, *_: object) -> None:
        self._own.depth -= 1
        if not self._own.depth:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def is_inside(self) -> bool:
        """Tell whether this thread is in such a block."""
        return bool(self._own.depth)

    def before_fork(self) -> None:
        """Wait for the calls of other threads, and let none begin."""
        mine = self.is_inside()
        with self._changed:
            self._forks += 1
            self._changed.wait_for(lambda: self._running <= mine, _LONGEST)

    def after_fork(self) -> None:
        """Go on, in the process that has forked."""
        with self._changed:
            self._forks -= 1
            self._changed.notify_all()

    def begin_anew(self) -> None:
        """Begin in a forked process, which has the thread that forked and no other."""
        self._changed = threading.Condition()
        self._running, self._forks = int(self.is_inside()), 0


CALLS = Calls()
"""Those of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=CALLS.before_fork,
        after_in_parent=CALLS.after_fork,
        after_in_child=CALLS.begin_anew,
    )
