"""Ctrl-C in the main thread of a program: work ends where nothing of it is left half done.

Python raises KeyboardInterrupt between any two instructions, also where a transaction is open that
nobody knows of yet, or where it is just being ended. So it is noted, and raised afterwards.
"""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_AGAIN = 0.05
"""Seconds from one attempt to stop work that has just begun to the next."""
_OF_SPARK = ("pyspark.context", "pyspark.core.context")
"""Where PySpark defines what it does at Ctrl-C: it cancels all jobs, and raises the same."""


class NotingInterrupts:
    """Note Ctrl-C in a block, and raise KeyboardInterrupt behind it; the second one at once.

    ``stop`` asks the work to end, from another thread, until it answers that it has taken effect.
    A handler of the program's own is left alone, and so are other threads than the main one.
    """

    def __init__(self, stop: Callable[[], bool] = lambda: True) -> None:
        self._stop = stop
        self._ended = threading.Event()
        self._before: Any = None
        self.is_noted: bool = False

    def __enter__(self) -> NotingInterrupts:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if before is signal.default_int_handler or _is_of_spark(before):
                self._before = before
                signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # PySpark has put its own in the place of ours where it was started meanwhile.
        if self._before is not None and _owner() is self:
            signal.signal(signal.SIGINT, self._before)
        self._ended.set()
        if self.is_noted and not isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt from error

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.is_noted:
            raise KeyboardInterrupt
        self.is_noted = True
        # Not by threading, one of whose locks the main thread may have just now.
        _thread.start_new_thread(self._ask_to_stop, ())

    def _ask_to_stop(self) -> None:
        with suppress(Exception):
            while not self._ended.is_set() and not self._stop():
                self._ended.wait(_AGAIN)

    def heed(self) -> Any:
        """Let Ctrl-C raise at once, as before the block; return what was there."""
        if self.is_noted:
            raise KeyboardInterrupt
        return signal.signal(signal.SIGINT, self._before)


def heeding_interrupts(call: Callable[P, T]) -> Callable[P, T]:
    """Let Ctrl-C end a function of the user's at once, which a block that notes it calls."""

    @wraps(call)
    def heeding(*args: P.args, **kwargs: P.kwargs) -> T:
        owner = _owner() if threading.current_thread() is threading.main_thread() else None
        if owner is None:
            return call(*args, **kwargs)
        noting = owner.heed()
        try:
            return call(*args, **kwargs)
        finally:
            signal.signal(signal.SIGINT, noting)

    return heeding


def noting_interrupts(call: Callable[P, T]) -> Callable[P, T]:
    """Make a function note Ctrl-C, and raise KeyboardInterrupt when it has done its work."""

    @wraps(call)
    def noting(*args: P.args, **kwargs: P.kwargs) -> T:
        with NotingInterrupts():
            return call(*args, **kwargs)

    return noting


def _owner() -> NotingInterrupts | None:
    """Return the block whose notes are taken now, if any."""
    owner = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    return owner if isinstance(owner, NotingInterrupts) else None


def _is_of_spark(handler: object) -> bool:
    return getattr(handler, "__module__", "") in _OF_SPARK
