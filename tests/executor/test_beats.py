"""What is repeated beside a statement: from its first interval on, until it is ended."""

from __future__ import annotations

import threading

from hivesql_executor.beats import repeat_beside
from hivesql_executor.statement_log import beginning


def test_work_is_repeated_until_it_is_ended() -> None:
    beats = threading.Semaphore(0)

    def beat() -> bool:
        beats.release()
        return True

    later = repeat_beside(3600, beat, "later")
    end = repeat_beside(0.001, beat, "soon")
    for _ in range(3):
        assert beats.acquire(timeout=30)
    assert "soon" in {thread.name for thread in threading.enumerate()}
    end()
    # A statement that ends before its first beat has started no thread.
    assert {"soon", "later"}.isdisjoint(thread.name for thread in threading.enumerate())
    later()


def test_work_that_answers_false_is_not_repeated() -> None:
    beats = threading.Semaphore(0)
    end = repeat_beside(0.001, lambda: bool(beats.release()), "once")
    assert beats.acquire(timeout=30)
    end()
    assert not beats.acquire(blocking=False)


def test_who_is_cancelled_does_not_wait_for_a_call_under_way() -> None:
    begun, ends = threading.Event(), threading.Event()

    def beat() -> bool:
        begun.set()
        return ends.wait(600)

    with beginning() as work:
        work.cancelled = threading.Event()
        end = repeat_beside(0.001, beat, "hangs")
        assert begun.wait(30)
        work.cancelled.set()
        end()
        assert not ends.is_set()
    ends.set()
