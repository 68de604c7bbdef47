"""Work of other threads beside a statement: what is repeated, and requests that are waited for.

For an answer of a server a statement that was cancelled waits some seconds more, and no longer.
What cleans up behind it asks servers too, and has as long for each answer; moves of files are
always waited for.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Unfinished
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from math import inf
from queue import Empty, SimpleQueue
from typing import TypeVar

from hivesql_executor.statement_log import carried, current_work
from hivesql_planner.errors import Cancelled

Answer = TypeVar("Answer")

GRACE_SECONDS = 1.0
"""How long an answer is waited for when the statement that wants it is cancelled."""
LOOK_SECONDS = 0.1
"""How often who waits looks whether it is."""
_IDLE_SECONDS = 30.0
"""After how long without a request its thread ends."""
_NO_THREAD_SECONDS = 1.0
"""After how long what is due is begun again where the system had no thread for it."""
_WAITS: ContextVar[bool] = ContextVar("waits", default=False)


@dataclass(slots=True)
class Patience:
    """How long one answer is still waited for."""

    _since: float | None = None
    """When it was first seen that the statement is cancelled."""

    def is_over(self) -> bool:
        """Tell whether this thread's statement was cancelled so long ago that nobody waits."""
        if not is_cancelled():
            return False
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return now - self._since >= GRACE_SECONDS


@contextmanager
def wait_for_answers() -> Iterator[None]:
    """Wait for each answer in the block, though the statement is cancelled.

    For what is undone where it fails, and where a server may do what nobody waits for any more:
    a copy that comes after it was removed, or a removal after the file was put back.
    """
    token = _WAITS.set(True)
    try:
        yield
    finally:
        _WAITS.reset(token)


def is_cancelled() -> bool:
    """Tell whether the statement that this thread works on was cancelled, and waits no longer."""
    if _WAITS.get():
        return False
    cancelled = current_work().cancelled
    return cancelled is not None and cancelled.is_set()


def answer_of(request: Callable[[], Answer], server: str) -> Answer:
    """Return what a request gives that nothing can interrupt; Cancelled where it comes too late.

    It is made by another thread, which nobody waits for when the process ends.
    """
    future: Future[Answer] = Future()
    context = copy_context()

    def ask() -> None:
        try:
            future.set_result(context.run(request))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            future.set_exception(error)

    _requesters.run(ask)
    patience = Patience()
    while not has_ended(future, LOOK_SECONDS):
        if patience.is_over():
            raise Cancelled(f"cancelled while {server} did not answer")
    return future.result()


def has_ended(future: Future[Answer], seconds: float) -> bool:
    """Wait so long for a result, and tell whether it is there.

    ``Future.result(seconds)`` leaves the caller with a TimeoutError of which it cannot tell whether
    it is the result's own: the work may end after the time was over and before anybody looks.
    """
    with suppress(Unfinished):
        future.exception(seconds)
    return future.done()


class _Requesters:
    """Threads that make requests. One that has made its own waits for another.

    Python's pool of threads waits at the end of the process for all of its, and here each may wait
    for a server for ever.
    """

    def __init__(self) -> None:
        self._idle: list[SimpleQueue[Callable[[], None]]] = []
        self._guard = threading.Lock()

    def run(self, ask: Callable[[], None]) -> None:
        """Make the request in a thread that makes no other."""
        with self._guard:
            place = self._idle.pop() if self._idle else None
        if place is None:
            place = SimpleQueue()
            threading.Thread(
                target=self._serve, args=(place,), name="hivesql-request", daemon=True
            ).start()
        place.put(ask)

    def _serve(self, place: SimpleQueue[Callable[[], None]]) -> None:
        while True:
            try:
                place.get(timeout=_IDLE_SECONDS)()
            except Empty:
                with self._guard:
                    if place in self._idle:
                        self._idle.remove(place)
                        return
                # It was chosen in this moment.
                continue
            with self._guard:
                self._idle.append(place)


def pause(seconds: float, server: str) -> None:
    """Wait before a request is made again; Cancelled where the statement is."""
    cancelled = current_work().cancelled
    if cancelled is None:
        time.sleep(seconds)
    elif cancelled.wait(seconds):
        raise Cancelled(f"cancelled while {server} did not answer")


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
        """End it, and wait for a call that is under way; not for long where that is cancelled."""
        with self._guard:
            self._stopped.set()
        _starter.forget(self)
        patience = Patience()
        while self._thread is not None and self._thread.is_alive() and not patience.is_over():
            self._thread.join(LOOK_SECONDS)

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
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="hivesql-beats", daemon=True)
                thread.start()
                # Only now: else one that the system refused would be waited for by all later ones.
                self._thread = thread
            elif due < self._wakes:
                self._changed.notify()
            self._due[repeated] = due

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
                self._begin(repeated)

    def _begin(self, repeated: _Repeated) -> None:
        """Begin what is due, a little later where that fails: others wait for this thread too."""
        try:
            repeated.begin()
        except Exception:  # noqa: BLE001 - the system may have threads for it again by then
            with self._changed:
                self._due[repeated] = time.monotonic() + _NO_THREAD_SECONDS


_starter = _Starter()
_requesters = _Requesters()


def _forget_parents() -> None:
    """Begin anew in a forked process, which has none of its parent's threads."""
    for threads in (_starter, _requesters):
        threads.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)


def repeat_beside(interval: float, work: Callable[[], bool], name: str) -> Callable[[], None]:
    """Call ``work`` every ``interval`` seconds beside the caller, until it answers False.

    The function that is returned ends it, and waits for a call that is under way; some seconds
    where the statement is cancelled.
    """
    repeated = _Repeated(interval, work, name)
    _starter.add(repeated, interval)
    return repeated.end
