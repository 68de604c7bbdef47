"""What is repeated beside a statement: from its first interval on, until it is ended."""

from __future__ import annotations

import sys
import threading
import time
from functools import partial

import pytest

from hivesql_executor.beats import answer_of, repeat_beside
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


@pytest.mark.parametrize("fails", [False, True])
def test_an_answer_between_the_end_of_a_wait_and_the_next_look_is_an_answer(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, fails: bool
) -> None:
    """Each wait is about as long as the request takes, so that some end in that moment."""
    monkeypatch.setattr("hivesql_executor.beats.LOOK_SECONDS", 1e-4)
    usual = sys.getswitchinterval()
    request.addfinalizer(partial(sys.setswitchinterval, usual))
    sys.setswitchinterval(1e-6)

    def ask(number: int) -> int:
        time.sleep(number % 10 * 1e-5)
        if fails:
            raise TimeoutError(f"the server's own {number}")
        return number

    for number in range(5_000):
        if fails:
            with pytest.raises(TimeoutError, match=f"the server's own {number}"):
                answer_of(partial(ask, number), "a server")
        else:
            assert answer_of(partial(ask, number), "a server") == number
