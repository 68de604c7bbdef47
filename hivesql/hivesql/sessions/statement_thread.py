"""A statement in a thread of its own: its user sees how far it is, and Ctrl-C can stop it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hivesql_executor.beats import has_ended
from hivesql_executor.statement_log import carried
from hivesql_executor.translate_errors import as_user_errors

if TYPE_CHECKING:
    from hivesql.result import Result
    from hivesql.sessions.spark_start import Progress

Answer = TypeVar("Answer")

_LOOK_EVERY = 0.1


class Cancellable(Protocol):
    """What a session tells while its statement runs in another thread."""

    @property
    def starts_spark(self) -> bool:
        """Tell whether Spark is being started."""

    def progress(self) -> Progress | None:
        """Tell how far the statement's Spark jobs are; None when none run."""

    def cancel(self) -> bool:
        """Stop the statement; False when none runs."""


class Watcher(Protocol):
    """Who tells a user of a statement that runs."""

    def tell_progress(self, progress: Progress) -> None:
        """Tell how far the statement's Spark jobs are."""

    def tell_start(self) -> None:
        """Tell that Spark is being started."""

    def tell_stop(self) -> None:
        """Tell that the statement is being stopped."""


class OneThread:
    """A thread that carries out calls one after the other.

    Python's own pool raises where the system has no thread left, and carries the call out all the
    same once it has: a statement would be run again that its user was told has failed.
    """

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._is_there = False

    def submit(self, call: Callable[..., Answer], /, *arguments: Any) -> Future[Answer]:
        """Let it carry out a call; RuntimeError where it never will."""
        if not self._is_there:
            self._pool.submit(int)
            self._is_there = True
        return self._pool.submit(call, *arguments)

    def close(self, *, wait: bool = True) -> None:
        """Let the thread go; without waiting for it, what has not begun never does."""
        self._pool.shutdown(wait=wait, cancel_futures=not wait)


class StatementThread:
    """Runs statements one after the other in one thread.

    Spark binds job groups to threads, and an interrupt inside a call to the JVM would break the
    connection: so the main thread only waits, and tells the session to cancel.
    """

    def __init__(self, session: Cancellable, watcher: Watcher) -> None:
        self.session = session
        self.watcher = watcher
        self._interrupted = False
        self._thread = OneThread("statement")

    def close(self) -> None:
        """Let the thread go, once its statement has ended."""
        self._thread.close()

    def wait_for(self, call: Callable[[], Result]) -> Result:
        """Return the call's result; meanwhile progress is shown and Ctrl-C cancels.

        ExecutionError where the system has no thread left for it.
        """
        with as_user_errors():
            future = self._thread.submit(carried(call))
        stopping = False
        with self._noting_interrupts():
            while True:
                try:
                    is_over = self._look(future, stopping=stopping)
                except KeyboardInterrupt:
                    self._interrupted = True
                    continue
                if is_over:
                    return future.result()
                if self._interrupted and not stopping:
                    stopping = True
                    self.watcher.tell_stop()

    @contextmanager
    def _noting_interrupts(self) -> Iterator[None]:
        """Ctrl-C only leaves a note meanwhile: no call to the JVM may end in its midst."""
        self._interrupted = False
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def take_note(number: int, frame: object) -> None:
            self._interrupted = True

        before = signal.signal(signal.SIGINT, take_note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _look(self, future: Future[Result], *, stopping: bool) -> bool:
        """Wait a moment for the end of a call, and tell whether it is over."""
        if has_ended(future, _LOOK_EVERY):
            return True
        if stopping:
            # Again and again: a job may begin after the first call.
            self.session.cancel()
        elif progress := self.session.progress():
            self.watcher.tell_progress(progress)
        elif self.session.starts_spark:
            self.watcher.tell_start()
        return False
