"""Statistics that commits keep true, and stop calling accurate when they cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from executor.metastore.conftest import Store, T
from hivesql_executor.metastore.api import CommitEntries
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.hive_type import INT
from hivesql_planner.model.statistics import ColumnStatistics, Statistics, StatisticsChange
from hivesql_planner.model.table import Partition, Table

MakeTable = Callable[..., Table]
NOTHING = StatisticsChange(table=T)
NUMBER = ColumnStatistics(name="a", type=INT, nulls=1)


def change(rows: int | None, partition: str | None = None, **more: Any) -> StatisticsChange:
    """One file of 100 bytes with so many rows."""
    more = {"files": 1, "bytes": 100} | more
    return StatisticsChange(table=T, partition=partition, rows=rows, **more)


def begin(store: Store) -> int:
    """A transaction with a write id in the table."""
    txn_id = store.begin()
    store.calls.allocate_write_id(txn_id, T)
    return txn_id


def write(store: Store, *changes: StatisticsChange) -> None:
    """A transaction that does this, and nothing beside it."""
    store.calls.commit_txn(begin(store), entries=CommitEntries(changes=changes))


def known(store: Store, *values: str) -> tuple[int | None, int, int, bool]:
    found = store.calls.statistics(T, values or None)
    return (found.rows, found.files, found.bytes, found.is_accurate)


def inserting(partition: str | None = None) -> Lock:
    return Lock(LockType.SHARED_READ, T.database, T.name, partition, Operation.INSERT)


@pytest.mark.thrift(hive3=False)
def test_writes_one_after_the_other(store: Store, make_table: MakeTable) -> None:
    make_table()
    # A Hive Metastore trusts no table whose directory an earlier one has left.
    write(store, change(3, replaces=True))
    write(store, change(-1), change(0))
    assert known(store) == (2, 3, 300, True)
    aborted = begin(store)
    store.calls.abort_txns([aborted], "test")
    write(store, change(1))
    assert known(store) == (3, 4, 400, True)
    write(store, change(None, files=2))
    assert known(store) == (3, 6, 500, False)
    write(store, change(1))
    assert known(store) == (4, 7, 600, False)
    write(store, change(5, replaces=True), change(1))
    assert known(store) == (6, 2, 200, True)
    silent = begin(store)
    store.ask(silent, inserting())
    store.calls.commit_txn(silent)
    assert known(store) == (6, 2, 200, False)
    write(store, StatisticsChange(table=T, replaces=True))
    told = begin(store)
    store.ask(told, inserting())
    store.calls.commit_txn(told, entries=CommitEntries(changes=[NOTHING]))
    assert known(store) == (0, 0, 0, True)


def test_writes_at_once_are_all_counted(store: Store, make_table: MakeTable) -> None:
    make_table()
    first, second, third = begin(store), begin(store), begin(store)
    store.calls.commit_txn(second, entries=CommitEntries(changes=[change(20)]))
    store.calls.commit_txn(first, entries=CommitEntries(changes=[change(1)]))
    store.calls.abort_txns([third], "test")
    assert known(store) == (21, 2, 200, True)


@pytest.mark.hive
def test_hive_does_not_call_numbers_accurate_that_were_written_at_once(
    hive_metastore: tuple[str, Any], request: pytest.FixtureRequest
) -> None:
    from executor.metastore.conftest import _transactional, empty
    from hivesql_executor.metastore.opening import open_metastore

    metastore = open_metastore(hive_metastore[0], "/wh", timeout=60)
    store = Store(hive_metastore[0], metastore)
    request.addfinalizer(metastore.close)
    request.addfinalizer(lambda: empty(metastore))
    metastore.create_table(_transactional("t", ()))
    write(store, change(1, replaces=True))
    first, second = begin(store), begin(store)
    metastore.commit_txn(second, entries=CommitEntries(changes=[change(20)]))
    assert known(store)[3]
    metastore.commit_txn(first, entries=CommitEntries(changes=[change(1)]))
    assert not known(store)[3]


OVERTAKING: dict[str, tuple[StatisticsChange, StatisticsChange, int, bool]] = {
    "a base leaves later writes visible": (change(1), change(5, replaces=True), 5, False),
    "earlier writes are not read beside a base": (change(5, replaces=True), change(1), 6, False),
    "inserts commute": (change(1), change(5), 6, True),
}


@pytest.mark.parametrize(
    ("later", "earlier", "rows", "accurate"), OVERTAKING.values(), ids=OVERTAKING
)
def test_writes_that_overtake_each_other(
    store: Store, make_table: MakeTable, later: StatisticsChange, earlier: StatisticsChange,
    rows: int, accurate: bool,
) -> None:  # fmt: skip
    make_table()
    first, second = begin(store), begin(store)
    store.calls.commit_txn(second, entries=CommitEntries(changes=[later]))
    store.calls.commit_txn(first, entries=CommitEntries(changes=[earlier]))
    assert (known(store)[0], known(store)[3]) == (rows, accurate)


def test_columns_of_each_partition_are_its_own(store: Store, make_table: MakeTable) -> None:
    make_table(partitioned_by=("p",))
    txn_id = begin(store)
    values = [str(number) for number in range(4)]
    new = [Partition(values=(value,), location="") for value in values]
    store.calls.add_partitions(T, new, if_not_exists=True, txn_id=txn_id, for_rows=True)
    first = [
        change(3, f"p={value}", columns=(replace(NUMBER, nulls=int(value)),)) for value in values
    ]
    store.calls.commit_txn(txn_id, entries=CommitEntries(changes=[*first, NOTHING]))
    # Of one more rows come, of one all are replaced, of one nobody has measured, one stays.
    write(
        store,
        change(1, "p=0", columns=(replace(NUMBER, nulls=10),)),
        change(1, "p=1", columns=(replace(NUMBER, nulls=20),), replaces=True),
        change(1, "p=2"),
        NOTHING,
    )
    found = [store.calls.statistics(T, (value,)) for value in values]
    assert [[column.nulls for column in of.columns] for of in found] == [[10], [20], [2], [3]]
    accurate = [of.accurate_columns for of in found]
    assert accurate == [("a",), ("a",), (), ("a",)]


@pytest.mark.thrift(hive3=False)
def test_partitions_are_judged_one_by_one(
    store: Store, make_table: MakeTable, backend: str
) -> None:
    make_table(partitioned_by=("p",))
    txn_id = begin(store)
    new = [Partition(values=(value,), location="") for value in ("1", "2")]
    store.calls.add_partitions(T, new, if_not_exists=True, txn_id=txn_id, for_rows=True)
    store.calls.commit_txn(
        txn_id, entries=CommitEntries(changes=[change(3, "p=1"), change(4, "p=2"), NOTHING])
    )
    assert (known(store, "1"), known(store, "2")) == ((3, 1, 100, True), (4, 1, 100, True))
    silent = begin(store)
    store.ask(silent, inserting("p=1"))
    store.calls.commit_txn(silent)
    write(store, change(-2, "p=2"))
    assert (known(store, "1"), known(store, "2")) == ((3, 1, 100, False), (2, 2, 200, True))
    if backend == "thrift":
        return
    assert known(store) == (5, 3, 300, False)
    write(store, change(8, "p=1", replaces=True))
    assert known(store) == (10, 3, 300, True)
    store.calls.alter_partition(T, ("1",), Partition(values=("1",), location="/elsewhere"))
    assert not known(store, "1")[3]
    store.calls.alter_partition(T, ("2",), Partition(values=("3",), location="/p=3"))
    assert known(store, "3")[3]


def test_of_a_table_without_rows_all_is_known(
    store: Store, make_table: MakeTable, backend: str
) -> None:
    made = make_table()
    if backend == "thrift":
        return
    assert store.calls.statistics(T).accurate_columns == tuple(sorted(made.column_names))
    write(store, change(1))
    assert store.calls.statistics(T).accurate_columns == ()
    write(store, change(0, files=0, replaces=True))
    assert store.calls.statistics(T).accurate_columns == ()


def test_what_was_counted_meanwhile_is_not_accurate(store: Store, make_table: MakeTable) -> None:
    make_table()
    write(store, change(3))

    def now() -> str:
        return store.calls.valid_write_ids(store.calls.valid_txns(), [T])[T].format()

    counted = Statistics(rows=3, files=1, bytes=100, columns=(NUMBER,), writes=now())
    store.calls.put_statistics(T, [counted])
    found = store.calls.statistics(T)
    assert (found.is_accurate, found.accurate_columns) == (True, ("a",))
    write(store, change(0, files=0, bytes=-50, keeps_values=True))
    assert store.calls.statistics(T).accurate_columns == ("a",)
    write(store, change(1))
    assert store.calls.statistics(T).accurate_columns == ()
    store.calls.put_statistics(T, [counted])
    assert known(store) == (3, 1, 100, False)
    store.calls.put_statistics(T, [replace(counted, writes=now(), rows=None, columns=())])
    assert known(store) == (3, 1, 100, False)


@pytest.mark.thrift(hive3=False)
def test_alter_table(store: Store, make_table: MakeTable, backend: str) -> None:
    make_table()
    write(store, change(3, replaces=True))
    table = store.calls.table(T)
    store.calls.alter_table(T, replace(table, comment="more"))
    assert known(store) == (3, 1, 100, True)
    if backend == "thrift":
        return
    store.calls.alter_table(T, replace(table, location="/elsewhere"))
    assert known(store) == (3, 1, 100, False)
    write(store, change(7, replaces=True))
    by_hand = {**table.properties, "numRows": "9"}
    store.calls.alter_table(T, replace(table, properties=by_hand, location="/elsewhere"))
    assert known(store) == (9, 1, 100, False)


def test_without_a_log_a_definition_takes_no_write_id(store: Store, make_table: MakeTable) -> None:
    table = make_table()
    for expected in (0, 1):
        txn_id = store.begin()
        store.calls.alter_table(T, replace(table, comment=str(expected)), txn_id=txn_id)
        store.calls.commit_txn(txn_id)
        seen = store.calls.valid_write_ids(store.calls.valid_txns(), [T])[T]
        assert seen.high_watermark == expected
        store.calls.keep_log()


def test_outside_of_transactions(store: Store, make_table: MakeTable) -> None:
    make_table(properties={})
    store.calls.count_changes([change(3)])
    store.calls.count_changes([change(2), change(1)])
    assert known(store) == (6, 3, 300, True)
