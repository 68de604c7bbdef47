"""The compaction queue and its states."""

from __future__ import annotations

from typing import Any

import pytest

from hivesql_executor.metastore.api import Compaction, TxnType
from hivesql_executor.metastore.database.schema import (
    completed_txn_components,
    txn_components,
    txns,
)
from hivesql_planner.errors import ExecutionError
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import TableName

T = TableName("default", "t")


def insert(store: Any, *, commit: bool = True) -> int:
    txn_id: int = store.begin()
    store.calls.allocate_write_id(txn_id, T)
    store.ask(txn_id, Lock(LockType.SHARED_READ, "default", "t", None, Operation.INSERT))
    if commit:
        store.calls.commit_txn(txn_id)
    else:
        store.calls.abort_txns([txn_id], "x")
    return txn_id


def enqueue(store: Any, kind: str = "major") -> Any:
    return store.calls.enqueue_compaction(T, None, kind, initiator_id="me")


def start(store: Any, kind: str = "major") -> tuple[int, int]:
    """Enqueue, claim, open: the ids of compaction and transaction."""
    id_ = enqueue(store, kind).id
    assert store.calls.next_compaction("worker").id == id_
    txn_id = store.begin(type=TxnType.COMPACTION)
    highest = store.calls.compactor_write_ids(T).high_watermark
    store.calls.set_compaction_txn(id_, txn_id, highest)
    return id_, txn_id


def finish(store: Any, id_: int, txn_id: int) -> None:
    store.calls.mark_compacted(id_)
    store.calls.commit_txn(txn_id)
    store.age(2)


def ready(store: Any) -> list[int]:
    return [compaction.id for compaction in store.calls.ready_to_clean()]


def only(store: Any) -> Compaction:
    (found,) = store.calls.compactions()
    assert isinstance(found, Compaction)
    return found


def test_the_whole_way(store: Any) -> None:
    for _ in range(2):
        insert(store)
    answer = enqueue(store)
    assert (answer.id, answer.state, answer.accepted) == (1, "initiated", True)
    claimed = store.calls.next_compaction("worker")
    assert (claimed.state, claimed.worker_id, claimed.kind) == ("working", "worker", "major")
    assert claimed.started >= claimed.enqueued > 0
    assert store.calls.next_compaction("other") is None
    txn_id = store.begin(type=TxnType.COMPACTION)
    store.calls.set_compaction_txn(1, txn_id, 2)
    assert store.rows(txn_components, "txn_id", "operation", "write_id") == [(txn_id, "c", 2)]
    store.calls.mark_compacted(1)
    assert ready(store) == []
    store.calls.commit_txn(txn_id)
    done = only(store)
    assert (done.state, done.worker_id) == ("ready for cleaning", None)
    assert (done.txn_id, done.next_txn_id, done.highest_write_id) == (txn_id, txn_id, 2)
    store.age(2)
    assert ready(store) == [1]
    assert len(store.rows(completed_txn_components, "txn_id")) == 2
    store.calls.mark_cleaned(1)
    assert only(store).state == "succeeded"
    assert (only(store).ended or 0) > 0
    assert store.rows(completed_txn_components, "txn_id") == []
    assert ready(store) == []


def test_a_cleaner_that_comes_second_has_nothing_to_do(store: Any) -> None:
    """A statement cleans what it has compacted, while the services do so too."""
    insert(store)
    finish(store, *start(store))
    store.age(2)
    assert ready(store) == [1]
    store.calls.mark_cleaned(1)
    done = only(store)
    store.calls.mark_cleaned(1)
    # What it listed is gone under its hands: no failure of the compaction either.
    assert store.calls.retry_cleaning(1, "no such file", base=1, attempts=1)
    assert only(store) == done and done.state == "succeeded"


def test_one_request_per_unit(store: Any) -> None:
    insert(store)
    enqueue(store)
    for expected in ("initiated", "working"):
        again = enqueue(store, "minor")
        assert (again.id, again.state, again.accepted) == (-1, "refused", False)
        assert again.error == f"Compaction is already scheduled with state='{expected}' and id=1"
        store.calls.next_compaction("worker")
    other = store.calls.enqueue_compaction(T, "p=1", "minor", initiator_id="me")
    assert (other.id, other.accepted) == (2, True)


def test_while_ready_only_new_writes_are_a_reason(store: Any) -> None:
    insert(store)
    finish(store, *start(store))
    again = enqueue(store)
    assert again.error == (
        "Compaction is already scheduled with state='ready for cleaning' and id=1"
    )
    insert(store)
    assert enqueue(store).accepted


def test_a_named_request_is_claimed(store: Any) -> None:
    for partition in ("p=1", "p=2"):
        store.calls.enqueue_compaction(T, partition, "minor", initiator_id="me")
    assert store.calls.next_compaction("w", id=2).partition == "p=2"
    assert store.calls.next_compaction("w", id=2) is None
    assert store.calls.next_compaction("w").id == 1


@pytest.mark.parametrize(("refused", "state"), [(False, "failed"), (True, "refused")])
def test_failure_ends_a_request(store: Any, refused: bool, state: str) -> None:
    enqueue(store)
    store.calls.next_compaction("worker")
    store.calls.mark_failed(1, "no room", refused=refused)
    assert (only(store).state, only(store).error) == (state, "no room")
    with pytest.raises(ExecutionError, match="not in the queue"):
        store.calls.mark_compacted(1)
    assert enqueue(store).id == 2


def test_an_older_reader_holds_the_cleaner_back(store: Any) -> None:
    insert(store)
    reader = store.begin()
    id_, txn_id = start(store)
    during = store.begin()
    finish(store, id_, txn_id)
    assert ready(store) == []
    store.calls.commit_txn(reader)
    # This one began before the compaction had committed: it reads the old directories.
    assert ready(store) == []
    store.calls.commit_txn(during)
    assert ready(store) == [id_]


def test_a_later_reader_does_not(store: Any) -> None:
    insert(store)
    id_, txn_id = start(store)
    finish(store, id_, txn_id)
    store.begin()
    store.age(2)
    assert ready(store) == [id_]
    assert store.calls.min_open_txn() > txn_id


def test_a_reader_between_two_compactions(store: Any) -> None:
    insert(store)
    first = start(store, "minor")
    finish(store, *first)
    store.begin()
    insert(store)
    second = start(store, "minor")
    finish(store, *second)
    assert ready(store) == [first[0]]
    store.calls.mark_cleaned(first[0])
    assert ready(store) == []


def test_cleaning_forgets_aborted_writes_it_covered(store: Any) -> None:
    insert(store)
    lost = insert(store, commit=False)
    finish(store, *start(store))
    late = insert(store, commit=False)
    store.age(2)
    store.calls.mark_cleaned(1)
    assert store.rows(txn_components, "txn_id") == [(late,)]
    store.begin()
    store.age(2)
    store.calls.clean_txns()
    kept = {id_ for (id_,) in store.rows(txns, "id")}
    assert lost not in kept
    assert late in kept


def test_an_aborted_write_above_the_cleaner_s_sight_is_remembered(store: Any) -> None:
    insert(store)
    lost = [insert(store, commit=False) for _ in range(2)]
    store.age(2)
    id_, txn_id = start(store)
    # The only committed write id is purged: lists now end at the first aborted one.
    store.calls.clean_txns()
    finish(store, id_, txn_id)
    store.calls.mark_cleaned(id_)
    assert (lost[1],) in store.rows(txn_components, "txn_id")


def test_a_compactor_that_was_lost_is_remembered(store: Any) -> None:
    insert(store)
    _, txn_id = start(store)
    store.calls.abort_txns([txn_id], "x")
    store.begin()
    store.age(2)
    store.calls.clean_txns()
    assert txn_id in store.calls.valid_txns().aborted
