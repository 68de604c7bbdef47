"""Statement beside statement: what the planner asks for, and what the metastore grants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from executor.transactions.ledger import Ledger
from hivesql_executor.metastore.api import LockAnswer, LockOwner, LockState, Metastore
from hivesql_planner.errors import StaleSnapshot, WriteConflict
from hivesql_planner.locks.rules import XW, X
from hivesql_planner.model.table import Column, Partition, Table, TableName
from hivesql_planner.planning import plan
from hivesql_planner.relations import Expr, Query, Scan, Source
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.alter import (
    AddColumns,
    Change,
    ChangeBuckets,
    ChangeProperties,
    apply_change,
)
from hivesql_planner.statements.bound import (
    CreateTable,
    DeleteRows,
    Describe,
    DropDatabase,
    DropTable,
    Explain,
    InsertRows,
    InsertTarget,
    MergeClause,
    MergeRows,
    SelectRows,
    Statement,
    TruncateTable,
    UpdateRows,
)
from hivesql_planner.statements.ddl import (
    AddPartitions,
    AlterTable,
    DropPartitions,
    RenameTable,
    RepairTable,
)

HELD, WAITS, REFUSED = LockState.ACQUIRED, LockState.WAITING, LockState.NOT_ACQUIRED
Open = Callable[..., Ledger]


def table(name: str, *keys: str, acid: bool = True, **fields: str) -> Table:
    return Table(
        name=TableName("default", name),
        columns=(Column.of("a", "int"),),
        partition_columns=tuple(Column.of(key, "int") for key in keys),
        location=f"/w/{name}",
        properties={"transactional": "true"} if acid else {},
        **fields,  # type: ignore[arg-type]
    )


T, S = table("t"), table("s")
P, P2 = table("p", "k"), table("p2", "k", "l")
N, NP = table("n", acid=False), table("np", "k", acid=False)
E = table("e", "k", acid=False, type="EXTERNAL_TABLE")
K1, K2 = (Partition(values=(k,), location=f"/w/p/k={k}") for k in "12")
KL = tuple(Partition(values=tuple(v), location="") for v in ("12", "13", "22"))


def scan(table: Table, *partitions: Partition) -> Scan:
    return Scan(table=table, partitions=partitions)


def query(*scans: Scan) -> Query:
    return Query(sql="", sources=tuple(Source(view="v", scan=one) for one in scans))


def select(*scans: Scan) -> SelectRows:
    return SelectRows(query=query(*scans))


def insert(into: Table, k: str | None = None, *, overwrite: bool = False) -> InsertRows:
    given = {"k": k} if k else {}
    target = InsertTarget(table=into, query=query(), static_partition=given, overwrite=overwrite)
    return InsertRows(targets=(target,))


def update(of: Scan) -> UpdateRows:
    return UpdateRows(target=of, alias="t", assignments={"a": Expr("1")})


def delete(of: Scan) -> DeleteRows:
    return DeleteRows(target=of, alias="t")


def merge(target: Scan, *kinds: str) -> MergeRows:
    clauses = tuple(MergeClause(kind=kind, values=(Expr("1"),)) for kind in kinds)  # type: ignore[arg-type]
    return MergeRows(
        target=target, alias="t", source=query(scan(S)), source_alias="s", on=Expr("true"),
        clauses=clauses,
    )  # fmt: skip


CTAS = CreateTable(table=table("new"), rows=query(scan(S)))


def alter(table: Table, change: Change) -> AlterTable:
    return AlterTable(table=table, change=change, altered=apply_change(table, change))


ACID = alter(N, ChangeProperties(set={"transactional": "true"}))
BUCKETS = alter(T, ChangeBuckets(columns=("a",), count=2))
READERS = {"hive.acid.lockless.reads.enabled": "true"}
WINNER = {"hive.txn.xlock.write": "false"}
LAX = {"hive.txn.strict.locking.mode": "false"}
MERGES = {"hive.txn.xlock.mergeinsert": "true"}
EXTERNAL = {"hive.txn.ext.locking.enabled": "true"}

MEETINGS: dict[str, tuple[Mapping[str, str], list[Statement], Statement, LockState]] = {
    # name: (settings, who holds or waits, who asks, the answer)
    "L1 drop waits for a reader": ({}, [select(scan(T))], DropTable(name=T.name, table=T), WAITS),
    "L2 a reader behind a waiting drop": (
        {}, [select(scan(T)), DropTable(name=T.name, table=T)], select(scan(T)), WAITS),
    "L2 and when readers do not wait": (
        WINNER, [select(scan(T)), DropTable(name=T.name, table=T)], select(scan(T)), REFUSED),
    "L3 a reader of partitions, one about to be dropped": (
        {}, [select(scan(P, K1, K2)), DropPartitions(table=P, partitions=(K1,))],
        select(scan(P, K1, K2)), WAITS),
    "L3 and of the others": (
        {}, [select(scan(P, K1, K2)), DropPartitions(table=P, partitions=(K1,))],
        select(scan(P, K2)), HELD),
    "L4 drop database waits for a writer": (
        {}, [update(scan(T))], DropDatabase(name="default"), WAITS),
    "L5 a reader beside a delete": ({}, [delete(scan(T))], select(scan(T)), HELD),
    "L6 an update after a delete": ({}, [delete(scan(T))], update(scan(T)), WAITS),
    "L6 and when the first committer wins": (WINNER, [delete(scan(T))], update(scan(T)), HELD),
    "L7 a new table beside a plain insert": ({}, [insert(N)], CreateTable(table=S), HELD),
    "L8 and beside one into a partition": ({}, [insert(NP, "1")], CreateTable(table=S), HELD),
    "L9 a plain insert after a reader": ({}, [select(scan(NP, K1))], insert(NP, "1"), WAITS),
    "L9 and when not strict": (LAX, [select(scan(NP, K1))], insert(NP, "1"), HELD),
    "L10 plain reads without locks": (
        {"hive.txn.nonacid.read.locks": "false"},
        [select(scan(NP, K1))], insert(NP, "1"), HELD),
    "L12 an insert during a change of the table": (READERS, [BUCKETS], insert(T), WAITS),
    "L13 an insert during a repair": (
        READERS, [RepairTable(table=P, add=True)], insert(P, "1"), WAITS),
    "L14 a conversion waits for an insert": (LAX, [insert(N)], ACID, WAITS),
    "L15 the second CREATE TABLE AS": ({}, [CTAS], CTAS, REFUSED),
    "L15 and without its lock": ({"hive.txn.xlock.ctas": "false"}, [CTAS], CTAS, HELD),
    "L16 an inserting merge beside an insert": (
        MERGES, [insert(T)], merge(scan(T), "insert"), HELD),
    "L17 two inserting merges": (
        MERGES, [merge(scan(T), "insert")], merge(scan(T), "insert"), WAITS),
    "L17 and when the first committer wins": (
        MERGES | WINNER, [merge(scan(T), "insert")], merge(scan(T), "insert"), HELD),
    "L19 overwrites of two partitions": (
        {}, [insert(P, "1", overwrite=True)], insert(P, "2", overwrite=True), HELD),
    "L20 overwrites of one partition": (
        {}, [insert(P, "1", overwrite=True)], insert(P, "1", overwrite=True), WAITS),
    "L23 merges that change the same partitions": (
        {}, [merge(scan(P2, *KL), "update", "insert")], merge(scan(P2, *KL), "update", "insert"),
        WAITS),
    "L24 and when the first committer wins": (
        WINNER, [merge(scan(P2, *KL), "update", "insert")],
        merge(scan(P2, *KL), "update", "insert"), HELD),
    "L26 a new partition beside a reader": (
        {}, [select(scan(P, K1))],
        AddPartitions(table=P, partitions=(K2,), if_not_exists=True), HELD),
    "L27 changes beside lockless readers": (
        READERS, [select(scan(T))], alter(T, AddColumns(())), HELD),
    "L29 external tables are not locked": (
        {}, [insert(E, "1")], select(scan(E, K1)), HELD),
    "L29 unless they are": (EXTERNAL, [insert(E, "1")], select(scan(E, K1)), WAITS),
    "L31 a table behind its partition": (
        {}, [insert(P, "1", overwrite=True)], select(scan(P)), WAITS),
    "L31 another partition": ({}, [insert(P, "1", overwrite=True)], select(scan(P, K2)), HELD),
    "L32 an insert beside a dropped database": (
        READERS, [DropDatabase(name="default")], select(scan(N)), HELD),
    "a renamed table's readers": (
        {}, [select(scan(T))], RenameTable(table=T, to=TableName("default", "r")), WAITS),
}  # fmt: skip


def ask(store: Metastore, statement: Statement, settings: Settings) -> tuple[int, LockAnswer]:
    decided = plan(statement, settings)
    (txn_id,) = store.open_txns(1, "ann", "here")
    for target in decided.targets:
        store.allocate_write_id(txn_id, target.table)
    answer = store.enqueue_locks(
        txn_id, decided.locks, LockOwner("ann", "here"),
        zero_wait_read=decided.zero_wait_reads, exclusive_ctas=decided.exclusive_create,
    )  # fmt: skip
    return txn_id, answer


def test_meetings(open_ledger: Open) -> None:
    store = open_ledger().store
    for name, (given, before, statement, expected) in MEETINGS.items():
        settings = Settings.of(given)
        earlier = [ask(store, one, settings)[0] for one in before]
        rows = store.locks()
        txn_id, answer = ask(store, statement, settings)
        assert answer.state is expected, name
        mine = [row for row in store.locks() if row.txn_id == txn_id]
        if expected is REFUSED:
            # Nothing of the request is left, and the others keep what they have.
            assert store.locks() == rows, name
        if expected is WAITS:
            assert {row.state for row in mine} == {WAITS}, name
            assert [row.blocked_by for row in mine if row.blocked_by] != [], name
        store.abort_txns(earlier, "ended")
        if expected is WAITS:
            assert store.check_lock(answer.lock_id).state is HELD, name
        store.abort_txns([txn_id], "ended")
        assert store.locks() == (), name


def test_statements_that_take_no_locks() -> None:
    for statement in (Explain(statement=update(scan(T))), Describe(table=T)):
        assert plan(statement).locks == ()
    assert plan(select(scan(E, K1))).locks == ()


def test_kinds_of_truncate_and_alter() -> None:
    keeps = Settings.of({"hive.acid.truncate.usebase": "false"})
    assert [lock.type for lock in plan(TruncateTable(table=T)).locks] == [XW]
    assert [lock.type for lock in plan(TruncateTable(table=T), keeps).locks] == [X]
    unset = alter(T, ChangeProperties(unset=("a",), if_exists=True))
    assert [lock.type for lock in plan(unset, Settings.of(READERS)).locks] == [XW]


def test_many_partitions_become_their_table() -> None:
    join = select(scan(P, K1, K2), scan(NP, K1, K2))
    assert len(plan(join).locks) == 4
    few = Settings.of({"hive.locks.max.partitions": "2"})
    assert [(lock.table, lock.partition) for lock in plan(join, few).locks] == [
        ("p", None),
        ("np", None),
    ]


def test_merges_of_the_same_partitions_conflict_at_commit(open_ledger: Open) -> None:
    store, settings = open_ledger().store, Settings.of(WINNER)
    statement = merge(scan(P2, *KL), "update", "insert")
    (first, one), (second, other) = (ask(store, statement, settings) for _ in range(2))
    assert (one.state, other.state) == (HELD, HELD)
    assert len([row for row in store.locks() if row.txn_id == first]) == 5
    store.commit_txn(first, exclusive_write=False)
    with pytest.raises(WriteConflict, match="u/u") as raised:
        store.commit_txn(second, exclusive_write=False)
    assert raised.value.code == 10263


def test_an_update_that_waited_sees_what_it_waited_for(open_ledger: Open) -> None:
    one, other = open_ledger(), open_ledger()
    one.create("t")
    one.insert("t", {1: 1})
    one.begin()
    one.update("t", lambda row: 5)
    other.runtime = replace(other.runtime, notify=lambda line: _commit_once(one))
    other.update("t", lambda row: row["v"] * 10)
    assert one.values("t") == {1: 50}


def _commit_once(ledger: Ledger) -> None:
    if ledger.conversation.opened:
        ledger.commit()


@pytest.mark.parametrize(("conflicts", "succeeds"), [(4, True), (5, False)])
def test_a_snapshot_is_taken_anew_so_many_times(
    open_ledger: Open, conflicts: int, succeeds: bool
) -> None:
    one, other = open_ledger(), open_ledger()
    one.create("t")
    one.insert("t", {1: 0})
    left = [conflicts]

    def interfere(line: str) -> None:
        # Others come and go while we wait: each of them younger than we are.
        if one.conversation.opened:
            one.commit()
        if left[0]:
            left[0] -= 1
            one.update("t", lambda row: row["v"] + 1)

    original = other.store.run_in_transaction

    def ask(work: Callable[[], Any], *, durable: bool = True, early: bool = False) -> Any:
        if durable:
            # The transaction is open, and asks for its write id and locks.
            interfere("")
        return original(work, durable=durable, early=early)

    other.store.run_in_transaction = ask  # type: ignore[method-assign]
    if succeeds:
        other.update("t", lambda row: row["v"] + 100)
        assert one.values("t") == {1: 104}
        return
    with pytest.raises(StaleSnapshot, match="while transaction"):
        other.update("t", lambda row: row["v"] + 100)
    assert one.values("t") == {1: 5}
