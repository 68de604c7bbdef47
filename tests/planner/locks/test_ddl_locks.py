"""What ALTER and the commands beside it lock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivesql_planner.locks.lock import Lock
from hivesql_planner.locks.requested import locks_of
from hivesql_planner.locks.rules import merge
from hivesql_planner.model.table import Column, Database, Partition
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.alter import (
    ChangeBucketCount,
    ChangeColumn,
    ChangeLocation,
    ChangePartitionColumn,
    ChangeSerde,
)
from hivesql_planner.statements.bound import Statement
from hivesql_planner.statements.ddl import (
    AlterDatabase,
    AlterView,
    Analyze,
    ExchangePartitions,
    LoadData,
    MovePartition,
    RenamePartition,
    RepairTable,
    Touch,
)
from memory_catalog import altering, table

T = table("t", "id int", bucket_columns=("id",), bucket_count=2)
U = table("u", "id int")
N = replace(table("n", "id int", "k string"), properties={})
P = table("p", "id int", "k string")
V = table("v", "id int", properties={}, type="VIRTUAL_VIEW")
ONE = Partition(values=("1",), location="/p/k=1")
LOCKLESS = {"hive.acid.lockless.reads.enabled": "true"}


def shown(lock: Lock) -> str:
    unit = "/".join(filter(None, (lock.table, lock.partition)))
    return f"{lock.type} {unit or lock.database} {lock.operation}"


CASES: dict[str, tuple[dict[str, str], Statement, list[str]]] = {
    "redefine a view": (
        {}, AlterView(view=V, altered=V, reads=(T, N)),
        ["SHARED_READ default n", "SHARED_READ t s", "SHARED_READ n s"]),
    "redefine a view, lockless": (
        LOCKLESS, AlterView(view=V, altered=V, reads=(T,)), ["SHARED_READ default n"]),
    "alter a database": (
        {}, AlterDatabase(database=Database(name="d", location="/d"),
                          altered=Database(name="d", location="/e")), []),
    "change a column": (
        {}, altering(T, ChangeColumn("id", Column.of("id", "bigint"))), ["EXCLUSIVE t n"]),
    "change a column, lockless": (
        LOCKLESS, altering(T, ChangeColumn("id", Column.of("id", "bigint"))), ["EXCL_WRITE t n"]),
    "set serde properties": ({}, altering(N, ChangeSerde(set={"a": "b"})), ["SHARED_READ n n"]),
    "unset serde properties": ({}, altering(N, ChangeSerde(unset=("a",))), ["EXCLUSIVE n n"]),
    "set location": ({}, altering(T, ChangeLocation("/x")), ["EXCLUSIVE t n"]),
    "set location, lockless": (LOCKLESS, altering(T, ChangeLocation("/x")), ["EXCLUSIVE t n"]),
    "number of buckets": (LOCKLESS, altering(T, ChangeBucketCount(4)), ["EXCLUSIVE t n"]),
    "partition column": (
        LOCKLESS, altering(P, ChangePartitionColumn(Column.of("k", "int"))), ["EXCLUSIVE p n"]),
    "rename a partition": (
        {}, RenamePartition(table=P, partition=ONE, values=("9",)), ["EXCLUSIVE p/k=1 n"]),
    "rename a partition, lockless": (
        LOCKLESS, RenamePartition(table=P, partition=ONE, values=("9",)), ["EXCL_WRITE p/k=1 n"]),
    "move a partition": (
        LOCKLESS, MovePartition(table=P, partition=ONE, location="/x"), ["EXCLUSIVE p/k=1 n"]),
    "exchange partitions": (
        {}, ExchangePartitions(table=N, source=replace(N, name=V.name), partitions=(ONE,)),
        ["SHARED_READ v n", "SHARED_READ n n"]),
    "load": ({}, LoadData(table=U, path="/x"), ["SHARED_READ u i"]),
    "load over": ({}, LoadData(table=U, path="/x", overwrite=True), ["EXCLUSIVE u u"]),
    "load a plain table": (
        {}, LoadData(table=replace(U, properties={}), path="/x"), ["EXCLUSIVE u n"]),
    "load a partition": (
        {}, LoadData(table=P, path="/x", values=("1",), partition=ONE), ["SHARED_READ p/k=1 i"]),
    "load a new partition": (
        {}, LoadData(table=P, path="/x", values=("1",)), ["SHARED_READ p i"]),
    "repair": ({}, RepairTable(table=P, add=True), ["EXCLUSIVE p n"]),
    "repair, lockless": (LOCKLESS, RepairTable(table=P, add=True), ["EXCL_WRITE p n"]),
    "report what a repair would do": ({}, RepairTable(table=P), ["SHARED_READ p n"]),
    "repair a plain table": ({}, RepairTable(table=N, add=True), ["SHARED_READ n n"]),
    "touch": ({}, Touch(table=T), ["SHARED_READ t s"]),
    "touch, lockless": (LOCKLESS, Touch(table=T), []),
    "look at files alone": ({}, Analyze(table=P), ["SHARED_READ p s"]),
}  # fmt: skip


@pytest.mark.parametrize(("values", "statement", "locks"), CASES.values(), ids=CASES)
def test_what_is_locked(values: dict[str, str], statement: Statement, locks: list[str]) -> None:
    assert [shown(lock) for lock in merge(locks_of(statement, Settings(values)))] == locks
