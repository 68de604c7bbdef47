"""Snapshot isolation, read your own writes, first committer wins, atomic visibility."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from executor.transactions.ledger import Ledger
from hivesql_planner.errors import (
    Deadlock,
    ExecutionError,
    LockTimeout,
    TransactionLost,
    WriteConflict,
)

Open = Callable[..., Ledger]


@pytest.fixture
def two(open_ledger: Open) -> tuple[Ledger, Ledger]:
    one, other = open_ledger(), open_ledger()
    one.create("t")
    one.create("u")
    one.insert("t", {1: 10, 2: 20})
    return one, other


def test_own_writes_are_read_and_nobody_elses(two: tuple[Ledger, Ledger]) -> None:
    one, other = two
    one.begin()
    one.insert("t", {3: 30})
    one.update("t", lambda row: row["v"] + 1)
    one.update("t", lambda row: row["v"] + 1 if row["k"] == 3 else None)
    one.delete("t", 1)
    one.insert("u", {4: 40})
    assert one.values("t", "u") == {2: 21, 3: 32, 4: 40}
    assert other.values("t", "u") == {1: 10, 2: 20}
    one.commit()
    assert other.values("t", "u") == {2: 21, 3: 32, 4: 40}


def test_statement_ids_run_on_under_one_write_id(two: tuple[Ledger, Ledger]) -> None:
    one, _ = two
    one.begin()
    one.insert("t", {3: 30})
    one.update("t", lambda row: 0)
    one.insert("u", {1: 1})
    one.delete("t", 3)
    one.commit()
    assert sorted(path.name for path in (one.home / "t").iterdir()) == [
        "delete_delta_0000002_0000002_0001",
        "delete_delta_0000002_0000002_0004",
        "delta_0000001_0000001_0000",
        "delta_0000002_0000002_0000",
        "delta_0000002_0000002_0002",
    ]
    assert [path.name for path in (one.home / "u").iterdir()] == ["delta_0000001_0000001_0003"]


def test_the_snapshot_is_that_of_the_start(two: tuple[Ledger, Ledger]) -> None:
    one, other = two
    one.begin()
    before = one.values("t")
    other.insert("t", {5: 50})
    other.update("t", lambda row: 0)
    other.begin()
    other.insert("u", {9: 9})
    other.commit()
    assert one.values("t", "u") == before
    one.commit()
    assert one.values("t", "u") == {1: 0, 2: 0, 5: 0, 9: 9}


@pytest.mark.parametrize("exclusive", ["true", "false"])
def test_the_first_committer_wins(two: tuple[Ledger, Ledger], exclusive: str) -> None:
    one, other = two
    one.reconfigure(txn_xlock_write=exclusive)
    other.reconfigure(txn_xlock_write=exclusive)
    one.begin()
    one.values("t")
    other.update("t", lambda row: 99 if row["k"] == 1 else None)
    with pytest.raises(WriteConflict) as raised:
        one.update("t", lambda row: row["v"] + 1)
        one.commit()
    assert raised.value.retryable
    assert one.values("t") == {1: 99, 2: 20}
    assert one.store.locks() == ()
    with pytest.raises(ExecutionError, match="without an open transaction"):
        one.commit()


def test_a_conflict_on_another_table_is_none(two: tuple[Ledger, Ledger]) -> None:
    one, other = two
    one.begin()
    one.insert("u", {7: 70})
    other.update("t", lambda row: 0)
    one.update("u", lambda row: 71)
    one.commit()
    assert other.values("t", "u") == {1: 0, 2: 0, 7: 71}


def test_rollback_and_error_leave_nothing(two: tuple[Ledger, Ledger]) -> None:
    one, other = two
    one.begin()
    one.insert("t", {3: 30})
    one.roll_back()
    one.begin()
    one.insert("t", {4: 40})
    with pytest.raises(ZeroDivisionError):
        one.update("t", lambda row: 1 // 0)
    assert one.conversation.opened is None
    assert other.values("t") == {1: 10, 2: 20}
    assert other.store.locks() == ()
    one.update("t", lambda row: 5)
    assert other.values("t") == {1: 5, 2: 5}


def test_a_read_only_transaction(two: tuple[Ledger, Ledger]) -> None:
    one, other = two
    txn_id = one.begin(read_only=True)
    assert txn_id not in other.store.valid_txns().open
    assert one.values("t") == {1: 10, 2: 20}
    with pytest.raises(ExecutionError, match="READ ONLY") as raised:
        one.insert("t", {3: 30})
    assert raised.value.code == 20007


def test_a_deadlock_costs_the_youngest(two: tuple[Ledger, Ledger]) -> None:
    one, other = two
    one.begin()
    other.begin()
    one.update("t", lambda row: 1)
    other.insert("u", {1: 1})
    other.update("u", lambda row: 2)
    failed: list[Exception] = []

    def wait_for_one() -> None:
        try:
            other.update("t", lambda row: 2)
        except Deadlock as error:
            failed.append(error)

    waiting = threading.Thread(target=wait_for_one)
    waiting.start()
    one.update("u", lambda row: 3)
    waiting.join()
    assert "deadlock" in str(failed[0])
    one.commit()
    assert other.values("t") == {1: 1, 2: 1}
    assert other.values("u") == {}


def test_a_silent_transaction_is_reaped_and_says_so(two: tuple[Ledger, Ledger]) -> None:
    one, other = two
    one.begin()
    one.insert("t", {3: 30})
    assert other.store.reap(-1) != ()
    with pytest.raises(TransactionLost, match="heartbeat time-out") as raised:
        one.values("t")
    assert raised.value.code == 10263
    assert one.conversation.opened is None
    assert other.values("t") == {1: 10, 2: 20}


def test_the_user_is_told_for_whom_and_how_long(open_ledger: Open) -> None:
    told: list[str] = []
    one, other = open_ledger(), open_ledger(lock_numretries="2", notify=told.append)
    other.reconfigure(txn_manager_dump_lock_state_on_acquire_timeout="true")
    one.create("t")
    holder = one.begin()
    one.update("t", lambda row: 0)
    with pytest.raises(LockTimeout, match="locks could not be acquired after") as raised:
        other.update("t", lambda row: 1)
    assert raised.value.code == 10307
    assert [line.startswith("waiting for locks for ") for line in told[:2]] == [True, True]
    assert f"transaction {holder} by" in told[0]
    assert ["ACQUIRED" in line for line in told[2:]] == [True, False]
    assert {row.txn_id for row in one.store.locks()} == {holder}


def test_who_was_aborted_while_asking_learns_why(open_ledger: Open) -> None:
    one, other = open_ledger(), open_ledger()
    one.create("t")
    one.begin()
    one.update("t", lambda row: 0)
    beat = other.store.heartbeat

    def aborted_afterwards(txn_id: int, lock_id: int = 0) -> None:
        beat(txn_id, lock_id)
        one.store.abort_txns([txn_id], "deadlock: of others")

    other.store.heartbeat = aborted_afterwards  # type: ignore[method-assign]
    with pytest.raises(Deadlock, match="of others"):
        other.update("t", lambda row: 1)
