"""Room for deep recursion, without changing a limit that is the whole process's.

Python counts the calls of each thread by itself. Where those of one thread are nearly used up, the
work goes on in a thread of its own while the first one waits, and so on for as long as it takes.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

_RESERVE = 250
"""Calls that must be left: more than lie between two places that ask for room."""


def with_room(work: Callable[[], T]) -> T:
    """Do the work, in a thread of its own where this one has few calls left."""
    return work() if _has_room() else _elsewhere(work)


def _has_room() -> bool:
    try:
        sys._getframe(sys.getrecursionlimit() - _RESERVE)
    except ValueError:
        return True
    return False


def _elsewhere(work: Callable[[], T]) -> T:
    results: list[T] = []
    failed: list[BaseException] = []
    context = copy_context()

    def carry_out() -> None:
        try:
            results.append(context.run(work))
        except BaseException as error:  # noqa: BLE001 - it is raised where the work was asked for
            failed.append(error)

    thread = threading.Thread(target=carry_out, name="hivesql-room", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        # Ctrl-C: what goes on there must not outlive the statement.
        thread.join()
        raise
    if failed:
        raise failed[0]
    return results[0]
