"""Whose turn it is to write into an SQLite file: threads and processes queue, first come first."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from types import TracebackType

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock

_PATIENCE = 5.0
"""Seconds after which a process asks SQLite itself, which tells what is wrong."""


class _Writing(threading.local):
    """Whether a thread has a turn anywhere: waiting for a second one it might wait for itself."""

    has_turn = False


_writing = _Writing()


class FileTurn:
    """The right to write into one SQLite file, which is asked for before SQLite is.

    SQLite's busy handler sleeps, for longer each time, while others come and go: with eight writers
    it lets some wait for seconds. Here the operating system wakes who waits, in their order, by a
    lock of the directory, which needs no file of its own. It is a courtesy: SQLite's own locks
    decide, so programs that do not queue, and file systems without such locks, do no harm.
    """

    def __init__(self, database: str) -> None:
        self._directory = Path(database).absolute().parent
        self._fd: int | None = None
        self._begin()

    def _begin(self) -> None:
        self._thread = threading.RLock()
        self._depth = 0
        self._is_queued = False

    def __enter__(self) -> None:
        """Wait for the turn."""
        self._thread.acquire()
        try:
            if self._depth == 0 and not _writing.has_turn:
                self._is_queued = self._take()
                _writing.has_turn = self._is_queued
            self._depth += 1
        except BaseException:
            self._thread.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Let the next one write."""
        self._depth -= 1
        if self._depth == 0 and self._is_queued:
            self._is_queued = _writing.has_turn = False
            if self._fd is not None:
                flock(self._fd, LOCK_UN)
        self._thread.release()

    def close(self) -> None:
        """Let go of the directory."""
        with self._thread:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def forget_parent(self) -> None:
        """Begin anew in a forked process: it would keep the turn of a parent that was killed."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        self._begin()
        _writing.has_turn = False

    def _take(self) -> bool:
        """Wait for other processes; False where one cannot, or no longer."""
        if sys.platform == "win32":
            return False
        try:
            if self._fd is None:
                self._fd = os.open(self._directory, os.O_RDONLY | os.O_CLOEXEC)
            flock(self._fd, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return self._wait()
        except OSError:
            return False
        return True

    def _wait(self) -> bool:
        """Wait in a thread of its own, because the call knows no time-out."""
        assert self._fd is not None
        try:
            waiting = _Waiting(self._fd)
        except RuntimeError:
            # The system has no thread left.
            return False
        try:
            waiting.answer.wait(_PATIENCE)
        except BaseException:
            if self._is_taken(waiting):
                flock(self._fd, LOCK_UN)
            raise
        return self._is_taken(waiting)

    def _is_taken(self, waiting: _Waiting) -> bool:
        taken = waiting.leave()
        if taken is None:
            # The thread closes it, and the lock ends with it.
            self._fd = None
        return bool(taken)


class _Waiting:
    """A thread that waits for the lock of an open directory."""

    def __init__(self, fd: int) -> None:
        self.answer = threading.Event()
        self._fd = fd
        self._guard = threading.Lock()
        self._is_left = False
        self._taken: bool | None = None
        threading.Thread(target=self._take, name="hivesql-turn", daemon=True).start()

    def leave(self) -> bool | None:
        """Tell whether the lock is taken; where that is not known yet, it never will be."""
        with self._guard:
            self._is_left = True
            return self._taken

    def _take(self) -> None:
        try:
            flock(self._fd, LOCK_EX)
            taken = True
        except OSError:
            taken = False
        with self._guard:
            if self._is_left:
                # A fork has the open directory too, and with it the lock.
                flock(self._fd, LOCK_UN)
                os.close(self._fd)
            self._taken = taken
        self.answer.set()
