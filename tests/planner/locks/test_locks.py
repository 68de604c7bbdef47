"""Which lock blocks which, how a request is built, and what each statement asks for."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.locks.requested import locks_of
from hivesql_planner.locks.rules import SW, XW, S, X, conflicts, merge
from hivesql_planner.model.functions import StoredFunction
from hivesql_planner.model.table import Column, Database, Partition, Table, TableName, TableType
from hivesql_planner.relations import Expr, Query, Scan, Source
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.alter import AddColumns, ChangeProperties
from hivesql_planner.statements.bound import (
    AbortTransactions,
    CompactTable,
    CreateDatabase,
    CreateTable,
    CreateView,
    DeleteRows,
    DropDatabase,
    DropTable,
    InsertRows,
    InsertTarget,
    MergeClause,
    MergeRows,
    SelectRows,
    SetSetting,
    Show,
    Statement,
    TruncateTable,
    UpdateRows,
    UseDatabase,
)
from hivesql_planner.statements.ddl import AddPartitions, AlterView, DropPartitions, RenameTable
from hivesql_planner.statements.functions import DropStoredFunction, StoreFunction
from memory_catalog import altering

SHORT = {S: "S", SW: "SW", XW: "XW", X: "X"}
LONG = {short: kind for kind, short in SHORT.items()}


def shown(locks: Iterable[Lock]) -> list[str]:
    """``XW d.t/k=1 u``: type, object, operation, and ``*`` for a dynamic partition."""
    return [
        f"{SHORT[lock.type]} {'/'.join(filter(None, (_object(lock), lock.partition)))}"
        f" {lock.operation}{'*' if lock.dynamic_partition else ''}"
        for lock in locks
    ]


def _object(lock: Lock) -> str:
    return f"{lock.database}.{lock.table}" if lock.table else lock.database


def lock(text: str) -> Lock:
    """The other way round; without an operation it is a SELECT's."""
    kind, unit, *operation = text.split()
    unit, _, partition = unit.partition("/")
    database, _, table = unit.partition(".")
    return Lock(LONG[kind], database, table or None, partition or None,
                Operation((operation or ["s"])[0]))  # fmt: skip


# Requested (rows) against existing (columns).
MATRIX = """
     S SW XW X
S    + +  +  -
SW   + +  -  -
XW   + -  -  -
X    - -  -  -
"""
_HEAD, *_ROWS = [line.split() for line in MATRIX.strip().splitlines()]
PAIRS = [
    (LONG[row[0]], LONG[column], sign == "-")
    for row in _ROWS
    for column, sign in zip(_HEAD, row[1:], strict=True)
]


@pytest.mark.parametrize(("requested", "existing", "waits"), PAIRS)
@pytest.mark.parametrize("unit", ["d", "d.t", "d.t/k=1"])
def test_matrix(requested: LockType, existing: LockType, waits: bool, unit: str) -> None:
    ask, held = lock(f"{SHORT[requested]} {unit}"), lock(f"{SHORT[existing]} {unit}")
    assert conflicts(ask, held) is waits


MEETINGS = {
    # requested, existing: waits
    ("X d.t", "X d.u"): False,
    ("X d", "X e"): False,
    ("X d.t", "X e.t"): False,
    ("X d.t/k=1", "X d.t/k=2"): False,
    ("X d.t/k=1", "X d.t/k=1"): True,
    ("X d.t/k=1", "X d.u/k=1"): False,
    ("X d.t/k=1", "S d.t"): True,
    ("S d.t", "X d.t/k=1"): True,
    # A partial name is just another name.
    ("X d.t/k=1", "X d.t/k=1/l=2"): False,
    # Shared locks of a database live beside exclusive locks of its tables and partitions …
    ("S d", "X d.t"): False,
    ("S d", "X d.t/k=1"): False,
    ("X d.t", "S d"): False,
    ("X d.t/k=1", "S d"): False,
    # … and of the database there is no such exception,
    ("S d", "X d"): True,
    ("X d", "S d"): True,
    ("X d", "S d.t"): True,
    ("S d.t", "X d"): True,
    # nor for other types.
    ("SW d.t", "X d"): True,
    ("X d", "SW d.t"): True,
    ("XW d", "S d.t"): False,
    ("S d.t", "XW d"): False,
    ("SW d.t", "XW d"): True,
    ("XW d.t", "SW d"): True,
}


@pytest.mark.parametrize(("pair", "waits"), MEETINGS.items(), ids=map(" after ".join, MEETINGS))
def test_hierarchy(pair: tuple[str, str], waits: bool) -> None:
    assert conflicts(lock(pair[0]), lock(pair[1])) is waits


MERGES = {
    "the stronger type": (["S d.t i", "XW d.t u"], ["XW d.t u"]),
    "in any order": (["XW d.t u", "S d.t i"], ["XW d.t u"]),
    "a change after an insert": (["SW d.t i", "SW d.t u"], ["SW d.t u"]),
    "an insert after a change": (["SW d.t u", "SW d.t i"], ["SW d.t u"]),
    # The transaction must record the insert, although the read is as strong.
    "an insert into what is read": (["S d.t s", "S d.t i"], ["S d.t i"]),
    "a read of what is inserted into": (["S d.t i", "S d.t s"], ["S d.t i"]),
    "other units stay": (
        ["S d.t i", "XW d.t/k=1 u", "XW d.t/k=2 u"],
        ["S d.t i", "XW d.t/k=1 u", "XW d.t/k=2 u"],
    ),
    "order of first appearance": (
        ["S e.u", "XW d.t/k=2 u", "S d.s", "S e.v", "X d n", "XW d.t/k=1 u", "S e.u"],
        ["S e.u s", "S e.v s", "XW d.t/k=2 u", "XW d.t/k=1 u", "S d.s s", "X d n"],
    ),
    "nothing": ([], []),
}


@pytest.mark.parametrize(("asked", "merged"), MERGES.values(), ids=MERGES)
def test_merge(asked: list[str], merged: list[str]) -> None:
    assert shown(merge(map(lock, asked))) == merged


ACID = {"transactional": "true"}


def table(name: str, keys: str = "", type: TableType = "MANAGED_TABLE", **properties: str) -> Table:
    return Table(
        name=TableName("d", name),
        columns=(Column.of("id", "int"),),
        partition_columns=tuple(Column.of(key, "string") for key in keys.split()),
        location=f"/w/{name}",
        type=type,
        properties=properties,
    )


T, P = table("t", **ACID), table("p", "k", **ACID)
I = table("i", transactional_properties="insert_only", **ACID)  # noqa: E741 - as short as T
N, NP = table("n"), table("np", "k")
E, V = table("e", type="EXTERNAL_TABLE"), table("v", type="VIRTUAL_VIEW")
SOFT = table("soft", soft_delete="true", **ACID)
ONE, TWO = (Partition(values=(value,), location=f"/w/{value}") for value in "12")
ODD = Partition(values=("a/b",), location="/w/odd")
NONE = Expr("false")


def scan(of: Table, *partitions: Partition) -> Scan:
    return Scan(table=of, partitions=partitions, partition_count=9)


def query(*scans: Scan) -> Query:
    sources = tuple(Source(view=one.table.name.name, scan=one) for one in scans)
    return Query(sql="…", sources=sources)


FROM_S = query(scan(table("s", **ACID)))


def insert(into: Table, rows: Query = FROM_S, *, overwrite: bool = False, static: str = "",
           dynamic: str = "") -> InsertRows:  # fmt: skip
    target = InsertTarget(
        table=into,
        query=rows,
        overwrite=overwrite,
        static_partition=dict(pair.split("=") for pair in static.split()),
        dynamic_partition=tuple(dynamic.split()),
    )
    return InsertRows(targets=(target,))


def update(target: Scan, *others: Scan) -> UpdateRows:
    return UpdateRows(target=target, alias="t", assignments={"id": Expr("1")},
                      subqueries=query(*others).sources)  # fmt: skip


def delete(target: Scan, *others: Scan) -> DeleteRows:
    return DeleteRows(target=target, alias="t", subqueries=query(*others).sources)


DROPPED = ChangeProperties(unset=("a",), if_exists=True)
GIVEN = ChangeProperties(set={"a": "b"})
CONVERTED = ChangeProperties(set={"transactional": "TRUE"})
PLAIN = ChangeProperties(set={"transactional": "false", "transactional_properties": "default"})


def merging(target: Scan, kinds: str) -> MergeRows:
    clauses = tuple(
        MergeClause(kind=kind)
        for kind in ("update", "delete", "insert")
        if kind in kinds.split()
    )  # fmt: skip
    return MergeRows(target=target, alias="t", source=FROM_S, source_alias="s", on=NONE,
                     clauses=clauses)  # fmt: skip


SHARED_WRITES = {"hive.txn.xlock.write": "false"}
LOCKLESS = {"hive.acid.lockless.reads.enabled": "true"}
NO_READS = {"hive.txn.read.locks": "false"}
MERGE_INSERT = {"hive.txn.xlock.mergeinsert": "true"}
EXTERNAL = {"hive.txn.ext.locking.enabled": "true"}

WANTED: dict[str, tuple[Statement, list[str]]] = {
    # reads
    "select": (SelectRows(query=query(scan(T), scan(N))), ["S d.t s", "S d.n s"]),
    "select of partitions": (
        SelectRows(query=query(scan(P, ONE, TWO))), ["S d.p/k=1 s", "S d.p/k=2 s"]),
    "select of no partition": (SelectRows(query=query(scan(P))), ["S d.p s"]),
    "select of an odd partition": (SelectRows(query=query(scan(P, ODD))), ["S d.p/k=a%2Fb s"]),
    "select of an external table": (SelectRows(query=query(scan(E))), []),
    "select of a view": (SelectRows(query=query(scan(V), scan(T))), ["S d.t s"]),
    # inserts
    "insert": (insert(T), ["S d.t i", "S d.s s"]),
    "insert into insert-only": (insert(I), ["S d.i i", "S d.s s"]),
    "insert into a partition": (insert(P, static="k=1"), ["S d.p/k=1 i", "S d.s s"]),
    "dynamic insert": (insert(P, dynamic="k"), ["S d.p i*", "S d.s s"]),
    "partly dynamic insert": (
        insert(table("q", "k l", **ACID), static="k=1", dynamic="l"), ["S d.q i*", "S d.s s"]),
    "insert without ACID": (insert(N), ["X d.n n", "S d.s s"]),
    "insert into a partition without ACID": (insert(NP, static="k=1"), ["X d.np/k=1 n", "S d.s s"]),
    "dynamic insert without ACID": (insert(NP, dynamic="k"), ["X d.np n*", "S d.s s"]),
    "insert into an external table": (insert(E), ["S d.s s"]),
    "overwrite": (insert(T, overwrite=True), ["X d.t u", "S d.s s"]),
    "overwrite a partition": (
        insert(P, overwrite=True, static="k=1"), ["X d.p/k=1 u", "S d.s s"]),
    "dynamic overwrite": (insert(P, overwrite=True, dynamic="k"), ["X d.p u*", "S d.s s"]),
    "overwrite without ACID": (insert(N, overwrite=True), ["X d.n n", "S d.s s"]),
    # changes
    "update": (update(scan(T)), ["XW d.t u"]),
    "update of partitions": (
        update(scan(P, ONE, TWO)), ["XW d.p/k=1 u*", "XW d.p/k=2 u*", "S d.p i*"]),
    "update of no partition": (update(scan(P)), ["XW d.p u*"]),
    "update by a subquery": (update(scan(T), scan(P, ONE)), ["XW d.t u", "S d.p/k=1 s"]),
    "delete": (delete(scan(T)), ["XW d.t d"]),
    "delete of partitions": (delete(scan(P, ONE, TWO)), ["XW d.p/k=1 d*", "XW d.p/k=2 d*"]),
    "delete of no partition": (delete(scan(P)), ["XW d.p d*"]),
    "delete by a subquery": (delete(scan(T), scan(N)), ["XW d.t d", "S d.n s"]),
    # merges
    "merge": (
        merging(scan(P, ONE, TWO), "update insert"),
        ["XW d.p/k=1 u*", "XW d.p/k=2 u*", "S d.p i*", "S d.s s"]),
    "merge that deletes": (merging(scan(P, ONE), "delete"), ["XW d.p/k=1 d*", "S d.s s"]),
    "merge that deletes and inserts": (
        merging(scan(P, ONE), "delete insert"), ["XW d.p/k=1 d*", "S d.p i*", "S d.s s"]),
    "merge that inserts": (merging(scan(P, ONE), "insert"), ["S d.p i*", "S d.s s"]),
    "merge into one table": (merging(scan(T), "update delete insert"), ["XW d.t u", "S d.s s"]),
    "merge that inserts into one table": (merging(scan(T), "insert"), ["S d.t i", "S d.s s"]),
    # definitions
    "create table": (CreateTable(table=T), ["S d n"]),
    "create table as": (CreateTable(table=T, rows=FROM_S), ["S d n", "XW d.t i", "S d.s s"]),
    "create table as without ACID": (
        CreateTable(table=N, rows=FROM_S), ["S d n", "X d.n n", "S d.s s"]),
    "create an external table as": (
        CreateTable(table=E, rows=FROM_S), ["S d n", "X d.e n", "S d.s s"]),
    "create view": (CreateView(table=V, reads=(T, N, E)), ["S d n", "S d.t s", "S d.n s"]),
    "drop table": (DropTable(name=T.name, table=T), ["S d n", "X d.t n"]),
    "drop an external table": (DropTable(name=E.name, table=E), ["S d n"]),
    "drop a table that is not there": (DropTable(name=T.name, if_exists=True), ["S d n"]),
    "drop view": (DropTable(name=V.name, kind="VIEW"), []),
    "drop materialized view": (
        DropTable(name=T.name, kind="MATERIALIZED VIEW", table=T), ["S d n", "X d.t n"]),
    "create function": (
        StoreFunction(function=StoredFunction(database="d", name="f", java_class="a.B")),
        ["S d n"]),
    "drop function": (DropStoredFunction(database="d", name="f"), ["S d n"]),
    "drop database": (DropDatabase(name="d"), ["X d n"]),
    "drop database cascade": (DropDatabase(name="d", cascade=True), ["X d n"]),
    # Hive records nothing of TRUNCATE. We record an update: an aborted base must stay aborted.
    "truncate": (TruncateTable(table=T), ["XW d.t u"]),
    "truncate partitions": (
        TruncateTable(table=P, partitions=(ONE, TWO)), ["XW d.p/k=1 u", "XW d.p/k=2 u"]),
    "truncate without ACID": (TruncateTable(table=N), ["X d.n n"]),
    "rename": (RenameTable(table=T, to=TableName("e", "t2")), ["X d.t n", "S e n"]),
    "rename without ACID": (RenameTable(table=N, to=TableName("d", "n2")), ["X d.n n", "S d n"]),
    "add columns": (altering(T, AddColumns(())), ["X d.t n"]),
    "set properties": (altering(T, GIVEN), ["S d.t n"]),
    "unset properties": (altering(T, DROPPED), ["X d.t n"]),
    "convert to ACID": (altering(N, CONVERTED), ["X d.n n"]),
    "convert nothing": (altering(N, PLAIN), ["S d.n n"]),
    "alter an external table": (altering(E, DROPPED), []),
    "alter a view": (AlterView(view=V, altered=V), []),
    "add partitions": (AddPartitions(table=P, partitions=(ONE,)), ["S d.p n"]),
    "add partitions if new": (
        AddPartitions(table=P, partitions=(ONE,), if_not_exists=True), ["XW d.p n"]),
    "add partitions without ACID": (
        AddPartitions(table=NP, partitions=(ONE,), if_not_exists=True), ["S d.np n"]),
    "drop partitions": (
        DropPartitions(table=P, partitions=(ONE, TWO)), ["X d.p/k=1 n", "X d.p/k=2 n"]),
    "drop no partition": (DropPartitions(table=P, partitions=()), []),
    # statements without locks
    "create database": (CreateDatabase(database=Database(name="d", location="/w")), []),
    "use": (UseDatabase(name="d"), []),
    "compact": (CompactTable(table=T, kind="major"), []),
    "abort transactions": (AbortTransactions(txn_ids=(1,)), []),
    "show": (Show(kind="tables"), []),
    "set": (SetSetting(key="a", value="b"), []),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "locks"), WANTED.values(), ids=WANTED)
def test_what_a_statement_wants(statement: Statement, locks: list[str]) -> None:
    assert sorted(shown(merge(locks_of(statement, Settings())))) == sorted(locks)


FLIPPED: dict[str, tuple[dict[str, str], Statement, list[str]]] = {
    "xlock.write: insert": (SHARED_WRITES, insert(T), ["SW d.t i", "S d.s s"]),
    "xlock.write: overwrite": (SHARED_WRITES, insert(T, overwrite=True), ["XW d.t u", "S d.s s"]),
    "xlock.write: update": (
        SHARED_WRITES, update(scan(P, ONE)), ["SW d.p/k=1 u*", "SW d.p i*"]),
    "xlock.write: delete": (SHARED_WRITES, delete(scan(T)), ["SW d.t d"]),
    "xlock.write: merge": (
        SHARED_WRITES, merging(scan(P, ONE), "update insert"),
        ["SW d.p/k=1 u*", "SW d.p i*", "S d.s s"]),
    "xlock.iow": (
        {"hive.txn.xlock.iow": "false"}, insert(T, overwrite=True), ["XW d.t u", "S d.s s"]),
    "xlock.mergeinsert": (MERGE_INSERT, merging(scan(T), "insert"), ["XW d.t u", "S d.s s"]),
    "xlock.mergeinsert: with updates": (
        MERGE_INSERT, merging(scan(P, ONE), "update insert"),
        ["XW d.p/k=1 u*", "XW d.p u*", "S d.s s"]),
    "xlock.mergeinsert: only updates": (
        MERGE_INSERT, merging(scan(P, ONE), "update"), ["XW d.p/k=1 u*", "S d.p i*", "S d.s s"]),
    "xlock.mergeinsert and shared writes": (
        MERGE_INSERT | SHARED_WRITES, merging(scan(T), "insert"), ["SW d.t u", "S d.s s"]),
    "xlock.mergeinsert: plain inserts": (MERGE_INSERT, insert(T), ["S d.t i", "S d.s s"]),
    "xlock.ctas": (
        {"hive.txn.xlock.ctas": "false"}, CreateTable(table=T, rows=FROM_S), ["S d n", "S d.s s"]),
    "strict.locking.mode": (
        {"hive.txn.strict.locking.mode": "false"}, insert(N), ["S d.n n", "S d.s s"]),
    "strict.locking.mode: overwrite": (
        {"hive.txn.strict.locking.mode": "false"}, insert(N, overwrite=True),
        ["X d.n n", "S d.s s"]),
    "ext.locking: read": (EXTERNAL, SelectRows(query=query(scan(E))), ["S d.e s"]),
    "ext.locking: insert": (EXTERNAL, insert(E), ["X d.e n", "S d.s s"]),
    "ext.locking: drop": (EXTERNAL, DropTable(name=E.name, table=E), ["S d n", "X d.e n"]),
    "ext.locking: alter": (EXTERNAL, altering(E, AddColumns(())), ["X d.e n"]),
    "read.locks": (NO_READS, insert(T), ["S d.t i"]),
    "read.locks: update": (NO_READS, update(scan(T), scan(N)), ["XW d.t u"]),
    "nonacid.read.locks": (
        {"hive.txn.nonacid.read.locks": "false"}, SelectRows(query=query(scan(N), scan(T))),
        ["S d.t s"]),
    "max.partitions is reached": (
        {"hive.locks.max.partitions": "2"}, SelectRows(query=query(scan(P, ONE, TWO))),
        ["S d.p s"]),
    "max.partitions is reached by all scans of a table": (
        {"hive.locks.max.partitions": "2"},
        SelectRows(query=query(scan(P, ONE), scan(P, TWO), scan(NP, ONE))),
        ["S d.p s", "S d.np/k=1 s"]),
    "max.partitions is not for what is written": (
        {"hive.locks.max.partitions": "2"}, update(scan(P, ONE, TWO)),
        ["XW d.p/k=1 u*", "XW d.p/k=2 u*", "S d.p i*"]),
    "max.partitions is not": (
        {"hive.locks.max.partitions": "3"}, SelectRows(query=query(scan(P, ONE, TWO))),
        ["S d.p/k=1 s", "S d.p/k=2 s"]),
    "lockless: select": (LOCKLESS, SelectRows(query=query(scan(T), scan(N))), ["S d.n s"]),
    "lockless: insert": (LOCKLESS, insert(T), ["SW d.t i"]),
    "lockless: overwrite": (LOCKLESS, insert(T, overwrite=True), ["XW d.t u"]),
    "lockless: add columns": (LOCKLESS, altering(T, AddColumns(())), ["XW d.t n"]),
    "lockless: add columns without ACID": (LOCKLESS, altering(N, AddColumns(())), ["X d.n n"]),
    "lockless: rename": (
        LOCKLESS, RenameTable(table=T, to=TableName("d", "u")), ["XW d.t n", "S d n"]),
    "lockless: set properties": (LOCKLESS, altering(T, GIVEN), ["S d.t n"]),
    "lockless: unset properties": (LOCKLESS, altering(T, DROPPED), ["XW d.t n"]),
    "lockless: convert": (
        LOCKLESS, altering(N, CONVERTED), ["X d.n n"]),
    "lockless: drop partitions": (
        LOCKLESS, DropPartitions(table=P, partitions=(ONE,)), ["XW d.p/k=1 n"]),
    "lockless: drop table": (LOCKLESS, DropTable(name=T.name, table=T), ["S d n", "X d.t n"]),
    "lockless: drop database": (LOCKLESS, DropDatabase(name="d"), ["XW d n"]),
    "lockless: drop database cascade": (
        LOCKLESS, DropDatabase(name="d", cascade=True, tables=(T, SOFT, N, E, V)),
        ["S d n", "X d.t n", "XW d.soft n", "X d.n n"]),
    "lockless: drop database of soft tables": (
        LOCKLESS, DropDatabase(name="d", cascade=True, tables=(SOFT, E)), ["XW d n"]),
    "truncate.usebase": (
        {"hive.acid.truncate.usebase": "false"}, TruncateTable(table=T), ["X d.t u"]),
}  # fmt: skip


@pytest.mark.parametrize(("values", "statement", "locks"), FLIPPED.values(), ids=FLIPPED)
def test_settings(values: dict[str, str], statement: Statement, locks: list[str]) -> None:
    assert sorted(shown(merge(locks_of(statement, Settings(values))))) == sorted(locks)
