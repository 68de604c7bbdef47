"""What goes on at one moment, and which tables wait for compactions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hivesql_executor.metastore.api import CommitEntries, LockState
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import Partition, Table, TableName
from hivesql_planner.write_history import RowCounts, TableWrite


@pytest.mark.thrift
def test_all_of_one_moment(store: Any, make_table: Callable[..., Table]) -> None:
    table = make_table("t_active").name
    holder, waiter = store.begin(), store.begin()
    store.ask(holder, Lock(LockType.EXCL_WRITE, "default", table.name, None, Operation.UPDATE))
    store.ask(waiter, Lock(LockType.EXCL_WRITE, "default", table.name, None, Operation.UPDATE))
    store.calls.enqueue_compaction(table, None, "major", initiator_id="x")
    activity = store.calls.activity(10)
    opened = {row.txn_id: row for row in activity.transactions if row.state == "open"}
    assert {holder, waiter} <= set(opened)
    assert abs(activity.now - opened[holder].started) < 60_000
    states = {row.txn_id: row.state for row in activity.locks if row.table == table.name}
    assert states == {holder: LockState.ACQUIRED, waiter: LockState.WAITING}
    queued = [row.state for row in activity.compactions if row.table == table]
    assert queued == ["initiated"]
    assert activity.backlogs == ()


def write(store: Any, table: TableName, **counts: int | None) -> int:
    txn_id = store.begin()
    write_id: int = store.calls.allocate_write_id(txn_id, table)
    done = TableWrite(table=table, write_id=write_id, operation="X", counts=RowCounts(**counts))
    store.calls.commit_txn(txn_id, entries=CommitEntries(writes=[done]))
    return write_id


def test_tables_with_most_writes_since_a_compaction_come_first(
    store: Any, make_table: Callable[..., Table]
) -> None:
    few, many, gone = (make_table(name) for name in ("few", "many", "gone"))
    parted = make_table("parted", ["p"])
    for table in (few, parted, gone):
        write(store, table.name)
    for counts in ({"updated": 3}, {"deleted": 1}, {"updated": None, "deleted": None}):
        write(store, many.name, **counts)
    for value, rows in (("1", "10"), ("2", "no number"), ("3", "-1")):
        parameters = {"numRows": rows}
        store.calls.add_partitions(
            parted.name, [Partition(values=(value,), location=f"/x/{value}", properties=parameters)]
        )
    store.calls.alter_table(
        many.name, replace(many, properties={**many.properties, "numRows": "12"})
    )
    store.calls.drop_table(gone.name)
    backlogs = store.calls.activity(10).backlogs
    assert [(str(of.table), of.writes, of.changed, of.rows) for of in backlogs] == [
        ("default.many", 3, 4, 12), ("default.few", 1, 0, 0), ("default.parted", 1, 0, 10),
    ]  # fmt: skip
    assert [of.deleted_share for of in backlogs] == [0.25, 0.0, 0.0]
    assert [str(of.table) for of in store.calls.activity(1).backlogs] == ["default.many"]
    assert store.calls.activity().backlogs == ()
    # What a compaction has covered counts no more, be it cleaned or not.
    id_ = store.calls.enqueue_compaction(many.name, None, "major", initiator_id="x").id
    store.calls.next_compaction("w-1", id=id_)
    txn_id = store.begin()
    store.calls.set_compaction_txn(id_, txn_id, 2)
    assert store.calls.activity(1).backlogs[0].writes == 3
    store.calls.mark_compacted(id_)
    store.calls.commit_txn(txn_id)
    assert {str(of.table): of.writes for of in store.calls.activity(10).backlogs}[
        "default.many"
    ] == 1
    store.calls.mark_cleaned(id_)
    assert {str(of.table): of.writes for of in store.calls.activity(10).backlogs}[
        "default.many"
    ] == 1
