"""What commits keep of writes, and what the transaction tables tell of other programs' writes."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import update

from hivesql_executor.metastore.api import CommitEntries
from hivesql_executor.metastore.database.schema import completed_txn_components, history
from hivesql_planner.errors import TransactionLost, WriteConflict
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import Column, Table, TableName
from hivesql_planner.write_history import RowCounts, TableWrite, unknown_counts

HOUR = 3_600_000
T, U = TableName("default", "t"), TableName("default", "u")
INSERT = Lock(LockType.SHARED_READ, "default", "t", None, Operation.INSERT)
UPDATE = Lock(LockType.EXCL_WRITE, "default", "t", None, Operation.UPDATE)


def write(store: Any, *tables: TableName, lock: Lock | None = None, told: bool = True) -> int:
    """A committed transaction that writes to tables; another program's where it is not told."""
    txn_id: int = store.begin()
    ids = {table: store.calls.allocate_write_id(txn_id, table) for table in tables}
    if lock is not None:
        store.ask(txn_id, lock)
    counts = RowCounts(inserted=3, files=1, bytes=10)
    writes = [
        TableWrite(
            table=table, write_id=write_id, operation="INSERT", counts=counts, statement="…",
            user="ann", host="here", program="test", duration=7,
            started=round(time.time() * 1000) - HOUR,
        )
        for table, write_id in ids.items()
    ]  # fmt: skip
    store.calls.commit_txn(txn_id, entries=CommitEntries(writes=writes if told else ()))
    return txn_id


def back(store: Any, write_id: int, seconds: float) -> datetime:
    """Let a write be older; the moment after it."""
    past = round(seconds * 1000)
    store.rdbms.write(
        lambda db: db.execute(
            update(history)
            .where(history.c.write_id == write_id)
            .values(committed=history.c.committed - past)
        )
    )
    return datetime.now(timezone.utc) - timedelta(seconds=seconds - 1)


def test_a_commit_keeps_what_its_statements_did(store: Any) -> None:
    first, second = write(store, T), write(store, T, U)
    told = store.calls.writes()
    assert [(line.table, line.write_id, line.txn_id) for line in told] == [
        (U, 1, second), (T, 2, second), (T, 1, first),
    ]  # fmt: skip
    line = told[-1]
    assert (line.operation, line.statement, line.user, line.host) == ("INSERT", "…", "ann", "here")
    assert (line.program, line.duration) == ("test", 7)
    began = (line.committed or 0) - HOUR
    assert line.started is not None and abs(line.started - began) < HOUR / 2
    assert line.counts == RowCounts(inserted=3, files=1, bytes=10)
    assert abs((line.committed or 0) / 1000 - time.time()) < 60
    assert [line.write_id for line in store.calls.writes(table=T)] == [2, 1]
    assert [line.write_id for line in store.calls.writes(table=T, limit=1)] == [2]
    assert len(store.calls.writes(database="default")) == 3
    assert store.calls.writes(database="other") == ()
    # As after a lost answer.
    store.calls.commit_txn(first, entries=CommitEntries(writes=[line]))
    assert len(store.calls.writes()) == 3


def test_what_is_not_committed_leaves_no_line(store: Any) -> None:
    line = TableWrite(table=T, write_id=1, operation="UPDATE", counts=unknown_counts())
    aborted, behind = store.begin(), store.begin()
    store.calls.abort_txns([aborted], "test")
    with pytest.raises(TransactionLost):
        store.calls.commit_txn(aborted, entries=CommitEntries(writes=[line]))
    store.calls.add_dynamic_partitions(
        behind, store.calls.allocate_write_id(behind, T), T, ["p=1"], Operation.UPDATE
    )
    other = store.begin()
    store.calls.add_dynamic_partitions(
        other, store.calls.allocate_write_id(other, T), T, ["p=1"], Operation.UPDATE
    )
    store.calls.commit_txn(other, exclusive_write=False)
    with pytest.raises(WriteConflict):
        store.calls.commit_txn(behind, exclusive_write=False, entries=CommitEntries(writes=[line]))
    assert [told.txn_id for told in store.calls.writes()] == [other]


def test_other_programs_writes_are_told_as_far_as_they_are_known(store: Any) -> None:
    theirs = write(store, T, lock=INSERT, told=False)
    changed = write(store, T, lock=UPDATE, told=False)
    ours = write(store, T, lock=INSERT)
    told = store.calls.writes(table=T)
    assert [(line.txn_id, line.operation) for line in told] == [
        (ours, "INSERT"), (changed, "WRITE"), (theirs, "INSERT"),
    ]  # fmt: skip
    assert told[-1].user == "ann"
    assert told[-1].statement is None
    assert told[-1].counts == unknown_counts()
    assert abs((told[-1].committed or 0) / 1000 - time.time()) < 60


def test_a_table_takes_its_history_along(store: Any) -> None:
    columns = (Column.of("a", "int"),)
    properties = {"transactional": "true", "transactional_properties": "default"}
    table = Table(name=T, columns=columns, location="", format="orc", properties=properties)
    store.calls.create_table(table)
    write(store, T)
    moved = TableName("default", "moved")
    store.calls.alter_table(T, Table(name=moved, columns=columns, location=store.calls.table(
        T).location, format="orc", properties=properties))  # fmt: skip
    assert [line.table for line in store.calls.writes()] == [moved]
    store.calls.drop_table(moved)
    assert store.calls.writes() == ()


def test_what_was_written_long_ago_is_forgotten(store: Any) -> None:
    for _ in range(3):
        write(store, T)
    back(store, 1, 100)
    store.calls.forget_writes(50)
    assert [line.write_id for line in store.calls.writes()] == [3, 2]


def test_which_writes_came_after_a_moment(store: Any) -> None:
    """Housekeeping forgets in Hive's tables all but the latest write to a place."""
    for _ in range(3):
        write(store, T, lock=INSERT)
    moment, earlier = back(store, 1, 100), datetime.now(timezone.utc) - timedelta(seconds=200)
    back(store, 2, 50)
    store.calls.clean_txns()
    assert store.rows(completed_txn_components, "write_id") == [(3,)]
    later = store.calls.writes_after(T, moment)
    assert (later.ids, later.forgotten) == (frozenset({2, 3}), 0)
    later = store.calls.writes_after(T, earlier)
    assert (later.ids, later.forgotten) == (frozenset({1, 2, 3}), 0)
    now = store.calls.writes_after(T, datetime.now(timezone.utc) + timedelta(seconds=5))
    assert (now.ids, now.forgotten) == (frozenset(), 0)


def test_what_nobody_knows_any_more_is_told(store: Any) -> None:
    for _ in range(3):
        write(store, T)
    back(store, 1, 100)
    store.calls.forget_writes(50)
    later = store.calls.writes_after(T, datetime.now(timezone.utc) - timedelta(seconds=70))
    assert (later.ids, later.forgotten) == (frozenset({2, 3}), 1)
