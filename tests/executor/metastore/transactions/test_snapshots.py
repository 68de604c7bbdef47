"""Write ids and what a transaction sees of them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import delete

from hivesql_executor.metastore.api import TxnType
from hivesql_executor.metastore.database.schema import (
    next_write_id,
    txn_components,
    txn_to_write_id,
    txns,
)
from hivesql_planner.acid.write_ids import ListMode, ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import ExecutionError, TransactionLost
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import TableName

T = TableName("default", "t")


def seen(store: Any, snapshot: ValidTxnList) -> ValidWriteIdList:
    found: ValidWriteIdList = store.calls.valid_write_ids(snapshot, [T])[T]
    return found


def listed(high: int, open_: set[int] | None = None, aborted: set[int] | None = None) -> Any:
    return ValidWriteIdList(
        high, frozenset(open_ or ()), frozenset(aborted or ()), table="default.t"
    )


def test_a_table_without_writes(store: Any) -> None:
    assert seen(store, store.calls.valid_txns()) == listed(0)


def test_later_transactions_are_not_seen(store: Any) -> None:
    store.written()
    two, three = store.begin(), store.begin()
    assert store.calls.allocate_write_id(three, T) == 2
    four = store.begin()
    latest = seen(store, store.calls.valid_txns(four))
    assert latest == listed(2, {2})
    assert latest.format() == "default.t:2:2:2:"
    assert seen(store, store.calls.valid_txns(two)) == listed(1)


def test_a_snapshot_stays_while_others_go_on(store: Any) -> None:
    store.written()
    two, three = store.begin(), store.begin()
    snapshot = store.calls.valid_txns(three)
    four = store.begin()
    assert store.calls.allocate_write_id(four, T) == 2
    assert store.calls.allocate_write_id(two, T) == 3
    assert seen(store, snapshot) == listed(3, {2, 3})
    store.calls.commit_txn(two)
    store.calls.commit_txn(four)
    assert seen(store, snapshot) == listed(3, {2, 3})
    assert store.calls.allocate_write_id(three, T) == 4
    assert seen(store, snapshot) == listed(4, {2, 3})
    assert seen(store, snapshot).sees(4)


@pytest.mark.parametrize("many", [1, 7, 8, 9, 20])
def test_writes_between_old_transactions_are_seen(store: Any, many: int) -> None:
    """Of few that are open or aborted each is asked for, of more all that came after them."""
    opened, aborted = set(), set()
    store.written()
    for number in range(many):
        txn_id = store.begin()
        write_id = store.calls.allocate_write_id(txn_id, T)
        if number % 3 == 1:
            store.calls.abort_txns([txn_id], "x")
            aborted.add(write_id)
        else:
            opened.add(write_id)
        store.written()
    assert seen(store, store.calls.valid_txns()) == listed(2 * many + 1, opened, aborted)
    reader = store.begin()
    snapshot = store.calls.valid_txns(reader)
    store.written()
    assert seen(store, snapshot) == listed(2 * many + 1, opened, aborted)
    assert store.calls.allocate_write_id(reader, T) == 2 * many + 3
    assert seen(store, snapshot) == listed(2 * many + 3, opened | {2 * many + 2}, aborted)


def test_an_aborted_write_id_is_not_given_out_again(store: Any) -> None:
    txn_id = store.begin()
    assert store.calls.allocate_write_id(txn_id, T) == 1
    store.calls.abort_txns([txn_id], "x")
    assert seen(store, store.calls.valid_txns()) == listed(1, set(), {1})
    store.written()
    assert seen(store, store.calls.valid_txns()) == listed(2, set(), {1})


def test_one_write_id_per_transaction_and_table(store: Any) -> None:
    txn_id = store.begin()
    given = [store.calls.allocate_write_id(txn_id, T) for _ in range(2)]
    assert given == [1, 1]
    assert store.calls.allocate_write_id(txn_id, TableName("default", "u")) == 1
    assert store.calls.allocate_write_id(txn_id, TableName("Default", "T")) == 1


def test_again_gives_a_larger_one(store: Any) -> None:
    one, two = store.begin(), store.begin()
    assert store.calls.allocate_write_id(one, T) == 1
    lock = Lock(LockType.SHARED_READ, "default", "t", None, Operation.INSERT)
    store.ask(one, lock)
    assert store.calls.allocate_write_id(two, T) == 2
    assert store.calls.allocate_write_id(one, T, again=True) == 3
    assert store.rows(txn_to_write_id, "txn_id", "write_id") == [(1, 3), (2, 2)]
    assert store.rows(txn_components, "txn_id", "write_id") == [(1, 3)]


def test_who_may_not_write(store: Any) -> None:
    reader, aborted = store.begin(type=TxnType.READ_ONLY), store.begin()
    store.calls.abort_txns([aborted], "x")
    with pytest.raises(ExecutionError, match="read-only"):
        store.calls.allocate_write_id(reader, T)
    with pytest.raises(TransactionLost):
        store.calls.allocate_write_id(aborted, T)
    with pytest.raises(ExecutionError, match="read-only"):
        store.calls.take_write_ids(reader, [T], store.calls.valid_txns(reader), [T])
    with pytest.raises(TransactionLost):
        store.calls.take_write_ids(aborted, [T], store.calls.valid_txns(aborted), [T])
    assert store.rows(next_write_id, "next") == []


def test_write_ids_come_with_what_the_snapshot_means(store: Any) -> None:
    """Asked at once or one by one: the same ids, and the same lists."""
    u = TableName("default", "u")
    store.written()
    other, mine = store.begin(), store.begin()
    store.calls.allocate_write_id(other, T)
    snapshot = store.calls.valid_txns(mine)
    given, visible = store.calls.take_write_ids(mine, [u, T], snapshot, [T, u])
    assert given == {T: 3, u: 1}
    assert visible == store.calls.valid_write_ids(snapshot, [T, u])
    assert visible[T] == listed(3, {2})
    again = store.calls.take_write_ids(mine, [T], snapshot, [T])
    assert again == ({T: 3}, {T: visible[T]})
    assert store.calls.take_write_ids(mine, [], snapshot, [T]) == ({}, {T: visible[T]})


def test_purged_writes_count_as_committed(store: Any) -> None:
    for _ in range(5):
        store.written()
    six = store.begin()
    store.calls.allocate_write_id(six, T)
    old = txn_to_write_id.c.txn_id < six
    store.rdbms.write(lambda db: db.execute(delete(txn_to_write_id).where(old)))
    found = seen(store, store.calls.valid_txns())
    assert (found, found.min_open) == (listed(6, {6}), 6)
    store.calls.abort_txns([six], "x")
    assert seen(store, store.calls.valid_txns()) == listed(6, set(), {6})


def test_a_compaction_stops_below_the_first_open_write(store: Any) -> None:
    def compactor() -> tuple[int, frozenset[int], frozenset[int], ListMode]:
        found = store.calls.compactor_write_ids(T)
        return found.high_watermark, found.open, found.aborted, found.mode

    assert compactor() == (0, frozenset(), frozenset(), ListMode.COMPACTOR)
    store.written()
    for action in ("abort", "leave", "abort"):
        txn_id = store.begin()
        store.calls.allocate_write_id(txn_id, T)
        if action == "abort":
            store.calls.abort_txns([txn_id], "x")
    store.written()
    assert compactor() == (2, frozenset(), frozenset({2}), ListMode.COMPACTOR)
    store.calls.commit_txn(3)
    assert compactor() == (5, frozenset(), frozenset({2, 4}), ListMode.COMPACTOR)


def test_a_converted_table_starts_above_its_originals(store: Any) -> None:
    store.calls.seed_write_id(T, 10_000_001)
    assert seen(store, store.calls.valid_txns()) == listed(10_000_000)
    txn_id = store.begin()
    assert store.calls.allocate_write_id(txn_id, T) == 10_000_001
    store.calls.seed_write_id(T, 5)
    assert store.rows(next_write_id, "next") == [(10_000_002,)]


def test_a_young_gap_is_open_only_where_ids_can_commit_out_of_order(store: Any) -> None:
    store.begin(8)
    for txn_id in range(1, 9):
        store.calls.commit_txn(txn_id)
    # As if the opening of 7 were not committed yet.
    store.rdbms.write(lambda db: db.execute(delete(txns).where(txns.c.id == 7)))
    missing = {7} if not store.url.startswith("sqlite") else set()
    assert store.calls.valid_txns() == ValidTxnList(8, frozenset(missing))
    store.age(1.5)
    assert store.calls.valid_txns() == ValidTxnList(8)
