"""What drops and renames do to the transaction tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hivesql_executor.metastore.database.schema import (
    compaction_queue,
    completed_txn_components,
    next_write_id,
    txn_components,
    txn_to_write_id,
    write_set,
)
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import Partition, Table, TableName

MakeTable = Callable[..., Table]
TABLES = (txn_components, completed_txn_components, compaction_queue)


def write(store: Any, table: Table, partition: str | None = None, *, commit: bool = True) -> int:
    txn_id: int = store.begin()
    write_id: int = store.calls.allocate_write_id(txn_id, table.name)
    name = table.name
    lock = Lock(LockType.EXCL_WRITE, name.database, name.name, partition, Operation.UPDATE)
    store.ask(txn_id, lock)
    if commit:
        store.calls.commit_txn(txn_id)
    else:
        store.calls.abort_txns([txn_id], "x")
    return write_id


def test_a_table_made_anew_starts_anew(store: Any, make_table: MakeTable) -> None:
    table, other = make_table(), make_table("other")
    for one in (table, other):
        write(store, one)
        write(store, one, commit=False)
        store.calls.enqueue_compaction(one.name, None, "major", initiator_id="me")
    store.calls.drop_table(table.name)
    for rows in (*TABLES, next_write_id, txn_to_write_id):
        assert {name for (name,) in store.rows(rows, "table")} == {"other"}
    assert write(store, make_table()) == 1


def test_a_dropped_partition_takes_its_own_history(store: Any, make_table: MakeTable) -> None:
    table = make_table(partitioned_by=("p",))
    store.calls.add_partitions(table.name, [Partition(values=(v,), location="") for v in "12"])
    for partition in ("p=1", "p=2"):
        write(store, table, partition)
        write(store, table, partition, commit=False)
        store.calls.enqueue_compaction(table.name, partition, "major", initiator_id="me")
    store.calls.drop_partitions(table.name, [("1",)])
    for rows in TABLES:
        # By what is aborted the cleaner finds what it has left elsewhere in the table.
        kept = [("p=1",), ("p=2",)] if rows is txn_components else [("p=2",)]
        assert sorted(store.rows(rows, "partition")) == kept
    assert write(store, table) == 5


def test_a_renamed_table_keeps_its_history(store: Any, make_table: MakeTable) -> None:
    table = make_table()
    write(store, table)
    write(store, table, commit=False)
    store.calls.enqueue_compaction(table.name, None, "major", initiator_id="me")
    holder = store.begin()
    store.ask(holder, Lock(LockType.SHARED_READ, "default", "t"))
    renamed = replace(table, name=TableName("default", "n"))
    store.calls.alter_table(table.name, renamed)
    for rows in (*TABLES, next_write_id, txn_to_write_id, write_set):
        assert {name for (name,) in store.rows(rows, "table")} == {"n"}
    assert [row.table for row in store.calls.locks()] == ["n"]
    found = store.calls.valid_write_ids(store.calls.valid_txns(), [renamed.name])
    assert found[renamed.name].format() == "default.n:2:9223372036854775807::2"
    assert write(store, renamed) == 3
