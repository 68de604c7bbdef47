"""Opening, heartbeats, aborts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy import text as sql

from hivesql_executor.metastore.api import LockOwner, Metastore, TxnType
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.schema import min_history_level, txn_components, txns
from hivesql_planner.acid.write_ids import ValidTxnList
from hivesql_planner.errors import ExecutionError, SemanticError, TransactionLost
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import TableName

T = TableName("default", "t")


def test_first_ids(metastore: Metastore) -> None:
    assert metastore.open_txns(3, "u", "h") == (1, 2, 3)
    assert metastore.valid_txns() == ValidTxnList(3, frozenset({1, 2, 3}), frozenset())


def test_an_empty_metastore_sees_nothing(metastore: Metastore) -> None:
    assert metastore.valid_txns() == ValidTxnList(0)
    assert metastore.transactions() == ()
    assert metastore.min_open_txn() == 1


def test_open_abort_commit(metastore: Metastore) -> None:
    metastore.open_txns(3, "u", "h")
    assert metastore.abort_txns([1], "why") == (1,)
    metastore.commit_txn(2)
    now = metastore.valid_txns()
    assert now == ValidTxnList(3, frozenset({3}), frozenset({1}))
    assert now.format() == "3:3:3:1"
    metastore.commit_txn(2)
    assert metastore.valid_txns() == now
    assert metastore.abort_txns([2], "too late") == ()
    assert metastore.valid_txns() == now
    assert [(row.txn_id, row.state) for row in metastore.transactions()] == [
        (1, "aborted"),
        (3, "open"),
    ]


def test_a_batch_is_capped(metastore: Metastore) -> None:
    ids = metastore.open_txns(5000, "u", "h")
    # Where opening takes longer than Hive's window, it is done again with later ids.
    assert ids == tuple(range(ids[0], ids[0] + 1000))
    with pytest.raises(SemanticError, match="number of txns: 0"):
        metastore.open_txns(0, "u", "h")


def test_abort_passes_over_what_is_not_open(metastore: Metastore) -> None:
    metastore.open_txns(3, "u", "h")
    assert metastore.abort_txns([3, 99, 3], "abort by query command") == (3,)


def test_abort_keeps_what_was_written_and_frees_locks(store: Any) -> None:
    txn_id = store.begin()
    lock = Lock(LockType.SHARED_READ, "default", "t", None, Operation.INSERT)
    store.ask(txn_id, lock)
    store.calls.abort_txns([txn_id], "x" * 200)
    assert store.calls.locks() == ()
    assert store.rows(txn_components, "txn_id", "operation") == [(txn_id, "i")]
    assert store.rows(min_history_level, "txn_id") == []
    assert store.rows(txns, "id", "meta_info")[1] == (txn_id, "x" * 128)


def test_heartbeat_tells_of_the_loss(store: Any) -> None:
    metastore = store.calls
    store.begin(3)
    metastore.abort_txns([1], "x")
    metastore.commit_txn(2)
    metastore.heartbeat(3)
    for txn_id, code, text in (
        (1, 10263, "already aborted"),
        (2, 10262, "already committed"),
        (9, 10262, "No such transaction txnid:9"),
    ):
        with pytest.raises(TransactionLost, match=text) as error:
            metastore.heartbeat(txn_id)
        assert error.value.code == code


def test_heartbeat_of_a_lock(store: Any) -> None:
    answer = store.ask(0, Lock(LockType.SHARED_READ, "default"))
    store.age(100)
    before = store.calls.locks()[0].last_heartbeat
    store.calls.heartbeat(0, answer.lock_id)
    assert store.calls.locks()[0].last_heartbeat >= before + 100_000
    with pytest.raises(ExecutionError) as error:
        store.calls.heartbeat(0, 99)
    assert error.value.code == 10270


def test_readers_are_no_exceptions(store: Any) -> None:
    store.begin(type=TxnType.READ_ONLY)
    txn_id = store.begin()
    assert store.calls.valid_txns(txn_id) == ValidTxnList(txn_id)
    assert [row.txn_id for row in store.calls.transactions()] == [1, 2]


def test_a_write_with_dynamic_partitions_names_them_late(store: Any) -> None:
    table = TableName("default", "t")
    txn_id = store.begin()
    write_id = store.calls.allocate_write_id(txn_id, table)
    locks = [
        Lock(LockType.EXCL_WRITE, "default", "t", "p=1", Operation.UPDATE, True),
        Lock(LockType.EXCL_WRITE, "default", "t", "p=2", Operation.UPDATE, True),
        Lock(LockType.SHARED_READ, "default", "t", None, Operation.INSERT, True),
    ]
    store.ask(txn_id, *locks)
    keys = ("txn_id", "table", "partition", "operation", "write_id")
    assert store.rows(txn_components, *keys) == [(txn_id, "t", None, "u", write_id)]
    add = store.calls.add_dynamic_partitions
    add(txn_id, write_id, table, ["p=1"], Operation.UPDATE)
    add(txn_id, write_id, table, ["p=3"], Operation.INSERT)
    assert store.rows(txn_components, *keys) == [
        (txn_id, "t", "p=1", "u", write_id),
        (txn_id, "t", "p=3", "i", write_id),
    ]
    store.calls.abort_txns([txn_id], "x")
    with pytest.raises(TransactionLost):
        add(txn_id, write_id, table, ["p=4"], Operation.INSERT)


def test_no_more_than_the_limit_are_open_until_a_tenth_has_ended(store: Any) -> None:
    def begin() -> int:
        (txn_id,) = store.calls.open_txns(1, "ann", "here", max_open=20)
        return int(txn_id)

    opened = [begin() for _ in range(20)]
    for ended in opened[:2]:
        with pytest.raises(ExecutionError, match=r"hive\.max\.open\.txns=20"):
            begin()
        store.calls.commit_txn(ended)
    with pytest.raises(ExecutionError, match="18 are open"):
        begin()
    store.calls.commit_txn(opened[2])
    begin()


def test_a_batch_is_cut_to_its_limit(store: Any) -> None:
    assert len(store.calls.open_txns(50, "ann", "here", max_batch=30)) == 30


ON_ONES_BEHALF: dict[str, Callable[[Any, int], object]] = {
    "write id": lambda store, txn_id: store.calls.allocate_write_id(txn_id, T),
    "write ids": lambda store, txn_id: store.calls.allocate_write_ids([txn_id], T),
    "locks": lambda store, txn_id: store.ask(txn_id, Lock(LockType.SHARED_READ, "default", "t")),
    "commit": lambda store, txn_id: store.calls.commit_txn(txn_id),
    "commit of a reader": lambda store, txn_id: store.calls.commit_txn(txn_id, for_reading=True),
}


@pytest.mark.databases("postgres")
@pytest.mark.parametrize("act", ON_ONES_BEHALF.values(), ids=ON_ONES_BEHALF)
def test_who_was_forgotten_by_a_crash_acts_for_nobody_else(
    store: Any, act: Callable[[Any, int], object]
) -> None:
    """A server that lost an opening gives its id again, to somebody who came later."""
    txn_id = store.begin()
    later = update(txns).where(txns.c.id == txn_id).values(started=txns.c.started + 1)
    store.rdbms.write(lambda db: db.execute(later))
    with pytest.raises(TransactionLost, match=f"No such transaction txnid:{txn_id}"):
        act(store, txn_id)
    assert store.calls.abort_txns([txn_id], "too late") == ()
    assert [row.state for row in store.calls.transactions()] == ["open"]
    assert store.calls.locks() == ()


@pytest.mark.databases("postgres")
def test_nobody_is_given_an_id_that_another_here_may_act_under(store: Any) -> None:
    """A process of many sessions could not tell who had the id before from who has it now."""
    forgotten = store.begin()

    def forget(db: Connection) -> None:
        db.execute(delete(min_history_level))
        db.execute(delete(txns).where(txns.c.id == forgotten))
        sequence = func.pg_get_serial_sequence(f'"{txns.name}"', txns.c.id.name)
        db.execute(select(func.setval(sequence, forgotten, False)))

    store.rdbms.write(forget)
    ids = store.calls.open_txns(2, "ann", "here")
    assert ids == (forgotten + 1, forgotten + 2)
    with pytest.raises(TransactionLost):
        store.calls.allocate_write_id(forgotten, T)
    store.calls.allocate_write_id(ids[0], T)
    store.calls.commit_txn(ids[0])


@pytest.mark.databases("postgres")
def test_openings_and_readers_do_not_wait_for_the_disk(store: Any) -> None:
    calls = DatabaseMetastore.open(f"{store.url}?options=-csynchronous_commit%3Don", "/wh")

    def begin() -> int:
        return calls.open_txns(1, "ann", "here")[0]

    def ask(txn_id: int) -> None:
        lock = Lock(LockType.SHARED_READ, "default", "t")
        calls.enqueue_locks(txn_id, [lock], LockOwner("ann", "here"))

    def waits(work: Callable[[], object]) -> bool:
        """Tell whether the commit of a transaction that need not be durable waits for the disk."""
        query, found = sql("SELECT current_setting('synchronous_commit')"), []

        def look() -> None:
            work()
            found.append(calls._rdbms.read(lambda db: db.execute(query).scalar_one()))

        calls.run_in_transaction(look, durable=False)
        return found == ["on"]

    txn_id = begin()
    assert not waits(begin)
    assert not waits(lambda: ask(txn_id))
    assert not waits(lambda: calls.commit_txn(txn_id))
    txn_id = begin()
    assert waits(lambda: calls.allocate_write_id(txn_id, T))
    calls.keep_log()
    assert waits(begin)
    calls.close()
