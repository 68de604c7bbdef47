"""Locks on objects: all or nothing, shared or exclusive, kept alive or explicit."""

from __future__ import annotations

from typing import Any

from hivesql_executor.metastore.api import ObjectLockRow
from hivesql_planner.locks.lock import ObjectLock

S = [ObjectLock(("d",), exclusive=False), ObjectLock(("d", "t"), exclusive=False)]
X = [ObjectLock(("d",), exclusive=False), ObjectLock(("d", "t"), exclusive=True)]


def asks(query_id: str, *, explicit: bool = False) -> ObjectLockRow:
    return ObjectLockRow(
        explicit=explicit, query_id=query_id, query_text="SELECT", user="ann", host="here"
    )


def test_all_or_nothing(store: Any) -> None:
    calls = store.calls
    assert calls.take_object_locks(S, asks("q1")) is None
    assert calls.take_object_locks(S, asks("q2")) is None
    blocker = calls.take_object_locks(X, asks("q3"))
    assert (blocker.name, blocker.exclusive, blocker.user) == ("d@t", False, "ann")
    assert {row.query_id for row in calls.object_locks()} == {"q1", "q2"}
    calls.release_object_locks("q1")
    calls.release_object_locks("q2")
    assert calls.take_object_locks(X, asks("q3")) is None
    assert calls.take_object_locks(S, asks("q4")).exclusive
    assert calls.take_object_locks(S[:1], asks("q4")) is None
    rows = [(row.name, row.exclusive, row.query_id) for row in calls.object_locks()]
    assert rows == [("d", False, "q3"), ("d", False, "q4"), ("d@t", True, "q3")]


def test_explicit_locks_stay_until_they_are_unlocked(store: Any) -> None:
    calls = store.calls
    calls.take_object_locks(X[1:], asks("q1", explicit=True))
    calls.take_object_locks(S[:1], asks("q2"))
    calls.release_object_locks("q1")
    assert calls.reap(-1) == ()
    assert [row.name for row in calls.object_locks()] == ["d@t"]
    assert calls.unlock_object("d@t")
    assert not calls.unlock_object("d@t")


def test_statements_keep_their_locks_alive(store: Any) -> None:
    calls = store.calls
    calls.take_object_locks(S, asks("q1"))
    calls.keep_object_locks("q1")
    calls.reap(60)
    assert len(calls.object_locks()) == 2
