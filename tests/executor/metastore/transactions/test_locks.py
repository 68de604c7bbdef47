"""Lock requests: all or nothing, in order of arrival."""

from __future__ import annotations

from typing import Any

import pytest

from hivesql_executor.metastore.api import LockAnswer, LockState
from hivesql_executor.metastore.database.schema import txn_components
from hivesql_planner.errors import ExecutionError, TransactionLost
from hivesql_planner.locks.lock import Lock, LockType, Operation

S, SW, XW, X = (
    LockType.SHARED_READ,
    LockType.SHARED_WRITE,
    LockType.EXCL_WRITE,
    LockType.EXCLUSIVE,
)
HELD, WAITS, REFUSED = LockState.ACQUIRED, LockState.WAITING, LockState.NOT_ACQUIRED
NONE = Operation.NO_TXN


def on(kind: LockType, unit: str = "t", operation: Operation = Operation.SELECT) -> Lock:
    """A lock on ``""`` (the database), a table, or ``table/partition``."""
    table, _, partition = unit.partition("/")
    return Lock(kind, "default", table or None, partition or None, operation)


def ask(store: Any, *locks: Lock, **flags: bool) -> tuple[int, LockAnswer]:
    """A new transaction and what it was told."""
    txn_id = store.begin()
    return txn_id, store.ask(txn_id, *locks, **flags)


def state(store: Any, answer: LockAnswer) -> LockState:
    found: LockState = store.calls.check_lock(answer.lock_id).state
    return found


DROP = (on(S, "", NONE), on(X, "t", NONE))
MEETINGS = {
    # name: (held, requested, answer)
    "drop waits for a reader": ([on(S)], DROP, WAITS),
    "drop database waits for a writer": ([on(XW)], [on(X, "")], WAITS),
    "a reader beside a delete": ([on(XW)], [on(S)], HELD),
    "an update after a delete": ([on(XW)], [on(XW)], WAITS),
    "shared writers": ([on(SW)], [on(SW)], HELD),
    "show tables beside an exclusive table": ([on(X)], [on(S, "")], HELD),
    "show tables beside an exclusive partition": ([on(X, "t/p=1")], [on(S, "")], HELD),
    "an exclusive table beside show tables": ([on(S, "")], [on(X)], HELD),
    "an exclusive partition after its reader": ([on(S, "t/p=1")], [on(X, "t/p=1")], WAITS),
    "an insert beside a reader": ([on(S, "t/p=1")], [on(S, "t/p=1")], HELD),
    "an insert during DDL without readers": ([on(XW)], [on(SW)], WAITS),
    "a conversion waits for an insert": ([on(S)], [on(X)], WAITS),
    "a merge that only inserts, beside an insert": ([on(S)], [on(XW)], HELD),
    "a table reader after an exclusive partition": ([on(X, "t/p=1")], [on(S)], WAITS),
    "another partition": ([on(X, "t/p=1")], [on(S, "t/p=2")], HELD),
    "an insert beside a database write lock": ([on(XW, "")], [on(S)], HELD),
    "a shared write beside a database write lock": ([on(XW, "")], [on(SW)], WAITS),
    "a partial partition is just another name": ([on(X, "t/p=1")], [on(X, "t/p=1/q=2")], HELD),
    "another table": ([on(X)], [on(X, "u")], HELD),
}


@pytest.mark.parametrize(("held", "requested", "answer"), MEETINGS.values(), ids=MEETINGS)
@pytest.mark.thrift
def test_meetings(
    store: Any, held: list[Lock], requested: list[Lock], answer: LockState, backend: str
) -> None:
    if backend == "thrift3" and (held, requested) == MEETINGS["shared writers"][:2]:
        answer = WAITS  # as Hive 3 has no stronger lock for writers
    first, granted = ask(store, *held)
    assert granted.state is HELD
    _, second = ask(store, *requested)
    assert second.state is answer
    store.calls.commit_txn(first)
    assert state(store, second) is HELD


@pytest.mark.thrift
def test_a_request_waits_as_a_whole(store: Any) -> None:
    reader, held = ask(store, on(S))
    _, waiting = ask(store, *DROP)
    rows = store.calls.locks()
    assert [(row.lock_id, row.internal_id, row.type, row.state) for row in rows] == [
        (held.lock_id, 1, S, HELD),
        (waiting.lock_id, 1, S, WAITS),
        (waiting.lock_id, 2, X, WAITS),
    ]
    assert [row.blocked_by for row in rows] == [None, None, f"{held.lock_id}.1"]
    assert rows[0].acquired_at
    assert rows[1].acquired_at is None
    assert f"transaction {reader}" in (waiting.reason or "")
    store.calls.commit_txn(reader)
    assert state(store, waiting) is HELD
    assert {row.blocked_by for row in store.calls.locks()} == {None}


@pytest.mark.thrift
def test_a_reader_does_not_overtake_a_waiting_drop(store: Any) -> None:
    first, _ = ask(store, on(S, "t/p=1"), on(S, "t/p=2"))
    second, drop = ask(store, on(X, "t/p=1", NONE))
    _, third = ask(store, on(S, "t/p=1"), on(S, "t/p=2"))
    assert (drop.state, third.state) == (WAITS, WAITS)
    assert state(store, third) is WAITS
    store.calls.commit_txn(first)
    assert state(store, third) is WAITS
    assert state(store, drop) is HELD
    assert state(store, third) is WAITS
    store.calls.commit_txn(second)
    assert state(store, third) is HELD


@pytest.mark.thrift
def test_a_later_request_never_blocks_an_earlier_one(store: Any) -> None:
    first, _ = ask(store, on(X))
    _, second = ask(store, on(X))
    _, third = ask(store, on(X))
    store.calls.abort_txns([first], "x")
    assert state(store, third) is WAITS
    assert state(store, second) is HELD


@pytest.mark.thrift
def test_own_locks_do_not_block(store: Any) -> None:
    txn_id, _ = ask(store, on(S))
    assert store.ask(txn_id, on(X)).state is HELD


@pytest.mark.thrift
def test_locks_without_transaction_block_each_other(store: Any) -> None:
    first = store.ask(0, on(XW))
    second = store.ask(0, on(XW))
    assert (first.state, second.state) == (HELD, WAITS)
    store.calls.unlock(first.lock_id)
    assert state(store, second) is HELD


@pytest.mark.thrift(hive3=False)
def test_zero_wait_readers_fail_at_once(store: Any) -> None:
    ask(store, on(S))
    ask(store, *DROP)
    _, answer = ask(store, on(S), zero_wait_read=True)
    assert answer.state is REFUSED
    text = "Unable to acquire read lock due to an existing exclusive lock"
    assert (answer.reason or "").startswith(text)
    assert answer.lock_id not in {row.lock_id for row in store.calls.locks()}
    assert ask(store, on(XW), zero_wait_read=True)[1].state is WAITS


@pytest.mark.thrift(hive3=False)
def test_the_second_create_table_as_fails_at_once(store: Any) -> None:
    create = (on(S, "", NONE), on(XW, "new", Operation.INSERT), on(S, "src"))
    ask(store, *create, exclusive_ctas=True)
    before = store.calls.locks()
    _, answer = ask(store, *create, exclusive_ctas=True)
    assert answer.state is REFUSED
    assert "concurrent CTAS operation with the same table name" in (answer.reason or "")
    assert store.calls.locks() == before
    assert len(before) == 3


@pytest.mark.thrift
def test_unlock(store: Any) -> None:
    txn_id, held = ask(store, on(X))
    _, waiting = ask(store, on(X))
    with pytest.raises(ExecutionError, match="not permitted"):
        store.calls.unlock(held.lock_id)
    store.calls.unlock(waiting.lock_id)
    store.calls.unlock(99)
    assert {row.txn_id for row in store.calls.locks()} == {txn_id}
    with pytest.raises(ExecutionError) as error:
        store.calls.check_lock(waiting.lock_id)
    assert error.value.code == 10270


@pytest.mark.thrift
def test_an_aborted_transaction_gets_no_lock(store: Any) -> None:
    txn_id, _ = ask(store, on(S))
    _, waiting = ask(store, on(X))
    store.calls.abort_txns([txn_id + 1], "x")
    with pytest.raises(TransactionLost):
        store.ask(txn_id + 1, on(S))
    with pytest.raises(ExecutionError):
        store.calls.check_lock(waiting.lock_id)


def test_show_locks_filters_by_equality(store: Any) -> None:
    units = [("db1", "t14", "ds=today"), ("db1", "t14", "ds=tomorrow"), ("db2", "t14", None)]
    store.ask(store.begin(), *(Lock(S, *unit) for unit in units), Lock(S, "db2", "t15"))

    def shown(*names: str) -> set[tuple[str, str | None, str | None]]:
        return {(row.database, row.table, row.partition) for row in store.calls.locks(*names)}

    assert shown("db2") == {("db2", "t14", None), ("db2", "t15", None)}
    assert shown("DB1", "T14") == set(units[:2])
    assert shown("db1", "t14", "ds=today") == {units[0]}
    assert len(shown()) == 4


def test_show_locks_order(store: Any) -> None:
    ask(store, on(XW, "a"), on(S, "b"))
    ask(store, on(X, "b"), on(S, "c"))
    ask(store, on(S, "d"))
    found = [(row.lock_id, row.internal_id) for row in store.calls.locks()]
    assert found == [(1, 2), (3, 1), (1, 1), (2, 2), (2, 1)]


COMPONENTS = {
    "reads are not recorded": ([on(S)], []),
    "plain tables are not recorded": ([on(X, "t", NONE)], []),
    "an insert that reads its own table": (
        [on(S, "t", Operation.INSERT), on(S)],
        [("t", None, "i")],
    ),
    "the change wins over the insert": (
        [on(S, "t", Operation.INSERT), on(XW, "t", Operation.DELETE)],
        [("t", None, "d")],
    ),
    "one per static partition": (
        [on(X, "t/p=1", Operation.UPDATE), on(S, "t/p=2", Operation.INSERT)],
        [("t", "p=1", "u"), ("t", "p=2", "i")],
    ),
}


@pytest.mark.parametrize(("locks", "recorded"), COMPONENTS.values(), ids=COMPONENTS)
def test_what_a_request_records(
    store: Any, locks: list[Lock], recorded: list[tuple[str, str | None, str]]
) -> None:
    ask(store, *locks)
    assert store.rows(txn_components, "table", "partition", "operation") == recorded


class TestNewerWriter:
    def committed(self, store: Any, unit: str, operation: Operation) -> int:
        txn_id, _ = ask(store, on(SW, unit, operation))
        store.calls.commit_txn(txn_id)
        return txn_id

    @pytest.mark.parametrize(
        ("written", "operation", "lock", "conflict"),
        [
            ("t", Operation.UPDATE, on(XW, "t", Operation.UPDATE), True),
            ("t", Operation.DELETE, on(X, "t", Operation.UPDATE), True),
            ("t/p=1", Operation.DELETE, on(XW, "t/p=1", Operation.DELETE), True),
            ("t/p=1", Operation.DELETE, on(XW, "t", Operation.DELETE), True),
            ("t/p=1", Operation.UPDATE, on(XW, "t/p=2", Operation.UPDATE), False),
            ("t", Operation.INSERT, on(XW, "t", Operation.UPDATE), False),
            ("t", Operation.UPDATE, on(S, "t", Operation.INSERT), False),
            ("t", Operation.UPDATE, on(SW, "t", Operation.UPDATE), False),
            ("u", Operation.UPDATE, on(XW, "t", Operation.UPDATE), False),
        ],
    )
    def test_cover(
        self, store: Any, written: str, operation: Operation, lock: Lock, conflict: bool
    ) -> None:
        ours = store.begin()
        theirs = self.committed(store, written, operation)
        assert store.calls.newer_writer(ours, [lock]) == (theirs if conflict else None)

    @pytest.mark.thrift
    def test_what_committed_before_is_no_conflict(self, store: Any) -> None:
        self.committed(store, "t", Operation.UPDATE)
        ours = store.begin()
        assert store.calls.newer_writer(ours, [on(XW, "t", Operation.UPDATE)]) is None

    def test_an_older_transaction_that_committed_later(self, store: Any) -> None:
        theirs, _ = ask(store, on(XW, "t", Operation.UPDATE))
        ours = store.begin()
        store.calls.commit_txn(theirs)
        assert store.calls.newer_writer(ours, [on(XW, "t", Operation.UPDATE)]) == theirs
