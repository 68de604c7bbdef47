"""Commit: history, and first committer wins."""

from __future__ import annotations

from typing import Any

import pytest

from hivesql_executor.metastore.database.schema import (
    completed_txn_components,
    hive_locks,
    min_history_level,
    txn_components,
    txns,
    write_set,
)
from hivesql_planner.errors import TransactionLost, WriteConflict
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import TableName

PART = TableName("default", "tab_part")
INSERT, UPDATE, DELETE = Operation.INSERT, Operation.UPDATE, Operation.DELETE


def write(
    store: Any,
    txn_id: int,
    operation: Operation,
    partition: str | None = None,
    written: list[str] | None = None,
) -> None:
    """Lock for a write without exclusive locks; ``written`` makes it a dynamic one."""
    dynamic = written is not None
    lock = Lock(LockType.SHARED_WRITE, PART.database, PART.name, partition, operation, dynamic)
    write_id = store.calls.allocate_write_id(txn_id, PART)
    store.ask(txn_id, lock)
    if written is not None:
        store.calls.add_dynamic_partitions(txn_id, write_id, PART, written, operation)


def test_commit_of_an_aborted_or_unknown_transaction(store: Any) -> None:
    txn_id = store.begin()
    store.calls.abort_txns([txn_id], "x")
    with pytest.raises(TransactionLost, match=f"Transaction txnid:{txn_id} already aborted"):
        store.calls.commit_txn(txn_id)
    with pytest.raises(TransactionLost, match="No such transaction txnid:77") as error:
        store.calls.commit_txn(77)
    assert error.value.code == 10262


def test_a_commit_leaves_history_only(store: Any) -> None:
    txn_id = store.begin()
    write(store, txn_id, INSERT)
    store.ask(txn_id, Lock(LockType.SHARED_READ, "default", "plain", None, Operation.NO_TXN))
    store.calls.commit_txn(txn_id)
    for table, key in ((txn_components, "txn_id"), (hive_locks, "lock_id"), (write_set, "txn_id")):
        assert store.rows(table, key) == []
    assert store.rows(min_history_level, "txn_id") == []
    keys = ("txn_id", "table", "partition", "write_id", "update_delete")
    assert store.rows(completed_txn_components, *keys) == [(txn_id, "tab_part", None, 1, "N")]


def test_a_purged_transaction_that_wrote_counts_as_committed(store: Any) -> None:
    txn_id = store.begin()
    write(store, txn_id, INSERT)
    store.calls.commit_txn(txn_id)
    store.begin()
    store.age(10)
    store.calls.clean_txns()
    assert (txn_id,) not in store.rows(txns, "id")
    store.calls.commit_txn(txn_id)


def test_the_flag_is_the_transaction_s(store: Any) -> None:
    txn_id = store.begin()
    write(store, txn_id, UPDATE, None, ["p=1"])
    store.calls.add_dynamic_partitions(txn_id, 1, PART, ["p=2"], INSERT)
    store.calls.commit_txn(txn_id)
    keys = ("partition", "update_delete")
    assert store.rows(completed_txn_components, *keys) == [("p=1", "Y"), ("p=2", "Y")]


@pytest.mark.parametrize("first", [INSERT, UPDATE, DELETE])
@pytest.mark.parametrize("second", [INSERT, UPDATE, DELETE])
@pytest.mark.parametrize("partition", [None, "p=blah"])
@pytest.mark.thrift
def test_first_committer_wins(
    store: Any, first: Operation, second: Operation, partition: str | None, backend: str
) -> None:
    # Hive 3 lets a row be deleted twice.
    hive3_allows = backend == "thrift3" and first is second is DELETE
    four, five = store.begin(), store.begin()
    write(store, four, first, partition)
    write(store, five, second, partition)
    store.calls.commit_txn(four, exclusive_write=False)
    if INSERT in (first, second) or hive3_allows:
        store.calls.commit_txn(five, exclusive_write=False)
        return
    with pytest.raises(WriteConflict) as error:
        store.calls.commit_txn(five, exclusive_write=False)
    unit = "default/tab_part/p=blah" if partition else "default/tab_part"
    assert (
        f"Aborting [txnid:{five},{five}] due to a write conflict on {unit} "
        f"committed by [txnid:{four},{five}] {second.value}/{first.value}"
    ) in str(error.value)
    assert error.value.code == 10263
    with pytest.raises(TransactionLost, match="already aborted"):
        store.calls.commit_txn(five, exclusive_write=False)


def test_what_the_second_committer_leaves(store: Any) -> None:
    four, five = store.begin(), store.begin()
    write(store, four, UPDATE)
    write(store, five, DELETE)
    store.calls.commit_txn(four, exclusive_write=False)
    with pytest.raises(WriteConflict):
        store.calls.commit_txn(five, exclusive_write=False)
    assert store.rows(write_set, "txn_id") == [(four,)]
    assert (five, "a", "write conflicts") in store.rows(txns, "id", "state", "meta_info")


@pytest.mark.thrift(hive3=False)
def test_no_check_under_exclusive_write_locks(store: Any) -> None:
    one, two = store.begin(), store.begin()
    write(store, one, UPDATE)
    write(store, two, UPDATE)
    store.calls.commit_txn(one)
    store.calls.commit_txn(two)


@pytest.mark.thrift
def test_other_partitions_do_not_conflict(store: Any) -> None:
    one, two = store.begin(), store.begin()
    write(store, one, UPDATE, None, ["p=1"])
    write(store, two, UPDATE, None, ["p=2"])
    store.calls.commit_txn(one, exclusive_write=False)
    store.calls.commit_txn(two, exclusive_write=False)


def test_one_after_the_other_does_not_conflict(store: Any) -> None:
    for _ in range(2):
        txn_id = store.begin()
        write(store, txn_id, UPDATE, "p=blah")
        store.calls.commit_txn(txn_id, exclusive_write=False)
    assert store.rows(write_set, "txn_id", "commit_id") == [(1, 1), (2, 2)]


def test_an_update_of_no_row(store: Any) -> None:
    nothing = store.begin()
    write(store, nothing, UPDATE, None, [])
    store.calls.commit_txn(nothing, exclusive_write=False)
    assert store.rows(write_set, "txn_id") == []
    unpartitioned = store.begin()
    write(store, unpartitioned, UPDATE)
    store.calls.commit_txn(unpartitioned, exclusive_write=False)
    assert store.rows(write_set, "txn_id", "partition") == [(unpartitioned, None)]
