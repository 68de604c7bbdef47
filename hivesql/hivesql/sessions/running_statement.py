"""The statement that a session runs: how far it is, and how another thread ends it."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from hivesql.sessions.spark_start import CANCELLED
from hivesql_executor.statement_log import current_work, note
from hivesql_planner.errors import Cancelled, CommitUnknown, SessionClosed

if TYPE_CHECKING:
    from hivesql.sessions.spark_start import LazySpark, Progress

_AGAIN = 0.2
"""Seconds from one attempt to stop a statement to the next."""


class RunningStatement:
    """At most one statement, of the thread that has begun it."""

    def __init__(self) -> None:
        self.query_id: str = ""
        """Empty when none runs."""
        self.last_id: str = ""
        """Of the statement that runs, or ran last."""
        self.text: str = ""
        self.txn_id: int = 0
        """Its own transaction, once that is open."""
        self.only_reads: bool = False
        self.cancelled: threading.Event = threading.Event()
        self.is_closed: bool = False
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._turn, self._process = threading.RLock(), os.getpid()

    def check_open(self) -> None:
        """SessionClosed once the session was closed."""
        if self.is_closed:
            raise SessionClosed

    def begin(self, text: str) -> None:
        """Let a statement run in this thread, once none of another thread does; ``end`` follows.

        Statements of two threads at once would take each other's transaction for their own.
        """
        if self._process != os.getpid():
            # Threads of the process that this one was forked from do not run here.
            self._turn, self._process = threading.RLock(), os.getpid()
        self._turn.acquire()
        try:
            with self._starting:
                self.check_open()
                self.cancelled, self._ended = threading.Event(), threading.Event()
                self.txn_id = 0
                self.only_reads = False
                self._thread = threading.current_thread()
                self.query_id = self.last_id = current_work().statement
                note(cancelled=self.cancelled)
            self.text = text
        except BaseException:
            self._turn.release()
            raise

    def end(self) -> None:
        """Tell those who wait for its end."""
        self.query_id = ""
        self._ended.set()
        self._turn.release()

    def close(self) -> bool:
        """Let no other statement begin; False when that was so before."""
        with self._starting:
            was_open, self.is_closed = not self.is_closed, True
        return was_open

    @property
    def is_of_this_thread(self) -> bool:
        """Tell whether the last statement was this thread's."""
        return self._thread is threading.current_thread()

    def opened(self, txn_id: int) -> None:
        """Note the transaction that was opened for it."""
        self.txn_id = txn_id

    def progress(self, spark: LazySpark) -> Progress | None:
        """Tell how far its Spark jobs are; None when none run."""
        return spark.progress(self.query_id) if self.query_id else None

    def cancel(self, spark: LazySpark) -> bool:
        """Stop it; False when none runs."""
        with self._starting:
            query_id, cancelled, ended = self.query_id, self.cancelled, self._ended
            if not query_id:
                return False
            is_first = not cancelled.is_set()
            cancelled.set()
        spark.cancel(query_id)
        if is_first:
            # Spark may just be between two jobs, of which it would begin the second.
            again = threading.Thread(
                target=_cancel_until, args=(ended, spark, query_id), daemon=True,
                name="hivesql-cancel",
            )  # fmt: skip
            # Where the system has no thread left, the statement has been told once all the same.
            with suppress(RuntimeError):
                again.start()
        return True

    def await_end(self, seconds: float) -> bool:
        """Wait until it has ended; False when it goes on after so long."""
        return self._ended.wait(seconds)

    def as_cancellation(self, error: BaseException) -> BaseException:
        """Tell what to tell of a statement that failed, perhaps since it was stopped."""
        if not self.cancelled.is_set() or isinstance(error, CommitUnknown):
            return error
        return Cancelled("cancelled" if self.only_reads else CANCELLED)


def _cancel_until(ended: threading.Event, spark: LazySpark, query_id: str) -> None:
    # A Spark that cannot be told has ended, and the statement learns of it by itself.
    with suppress(Exception):
        while not ended.wait(_AGAIN):
            spark.cancel(query_id)
