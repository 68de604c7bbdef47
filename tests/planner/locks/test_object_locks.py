"""DummyTxnManager: each row of the Locking design's table, and what is refused without ACID."""

from __future__ import annotations

import pytest

from hivesql_planner.errors import SemanticError
from hivesql_planner.locks.lock import ObjectLock
from hivesql_planner.locks.object_locks import blocks, object_locks
from hivesql_planner.model.table import Column, Database, Partition, Table, TableName
from hivesql_planner.planning import plan
from hivesql_planner.relations import Query, Scan, Source
from hivesql_planner.settings.settings import Settings
from hivesql_planner.settings.transaction_keys import DUMMY_TXN_MANAGER
from hivesql_planner.statements.alter import (
    AddColumns,
    Change,
    ChangeFormat,
    ChangeProperties,
    ChangeSerde,
)
from hivesql_planner.statements.bound import (
    CreateDatabase,
    CreateTable,
    CreateView,
    DeleteRows,
    DropDatabase,
    DropTable,
    InsertRows,
    InsertTarget,
    SelectRows,
    Show,
    Statement,
    TruncateTable,
    WriteDirectory,
)
from hivesql_planner.statements.ddl import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    AlterView,
    Analyze,
    DropPartitions,
    ExchangePartitions,
    LoadData,
    RenameTable,
    Touch,
)

DUMMY = Settings.of({"hive.txn.manager": DUMMY_TXN_MANAGER})


def table(name: str, *keys: str, acid: bool = False) -> Table:
    return Table(
        name=TableName("d", name),
        columns=(Column.of("a", "int"),),
        partition_columns=tuple(Column.of(key, "string") for key in keys),
        location=f"/w/{name}",
        properties={"transactional": "true"} if acid else {},
    )


U, T1, T2, T3 = table("u"), table("t1", "p"), table("t2", "p"), table("t3", "p", "q")
ACID = table("acid", acid=True)
P1, P2 = Partition(values=("1",), location=""), Partition(values=("2",), location="")
SELECT_P1 = Query(sql="", sources=(Source(view="v", scan=Scan(table=T1, partitions=(P1,))),))


def insert(into: Table, dynamic: tuple[str, ...] = (), **static: str) -> InsertRows:
    target = InsertTarget(
        table=into, query=SELECT_P1, static_partition=static, dynamic_partition=dynamic
    )
    return InsertRows(targets=(target,))


def alter(change: object) -> AlterTable:
    return AlterTable(table=T1, change=change, altered=T1)  # type: ignore[arg-type]


def alter_partition(change: Change) -> AlterPartitions:
    return AlterPartitions(table=T1, change=change, partitions=(P1,), altered=(P1,))


READ = ["S d", "S d@t1", "S d@t1@p=1"]
ROWS: dict[str, tuple[Statement, list[str]]] = {
    # name: (statement, locks in the order in which they are taken)
    "select of a partition": (SelectRows(query=SELECT_P1), READ),
    "select of a table": (
        SelectRows(query=Query(sql="", sources=(Source(view="v", scan=Scan(table=U)),))),
        ["S d", "S d@u"]),
    "insert into a partition": (insert(T2, p="2"), [*READ, "S d@t2", "X d@t2@p=2"]),
    "insert into a partition of two columns": (
        insert(T3, p="1", q="2"), [*READ, "S d@t3", "S d@t3@p=1", "X d@t3@p=1@q=2"]),
    "insert into a table": (insert(U), [*READ, "X d@u"]),
    "insert into what is read": (insert(T1, p="1"), ["S d", "S d@t1", "X d@t1@p=1"]),
    "dynamic partitions": (insert(T3, ("p", "q")), [*READ, "S d@t3"]),
    "dynamic partitions below a static one": (
        insert(T3, ("q",), p="1"), [*READ, "S d@t3", "S d@t3@p=1"]),
    "rename": (RenameTable(table=T1, to=TableName("d", "r")), ["S d", "X d@t1"]),
    "add columns": (alter(AddColumns(())), ["S d", "X d@t1"]),
    "set tblproperties": (alter(ChangeProperties(set={"a": "b"})), ["S d", "X d@t1"]),
    "set serdeproperties": (alter(ChangeSerde(set={"a": "b"})), ["S d", "S d@t1"]),
    "set file format": (alter(ChangeFormat("textfile")), ["S d", "S d@t1"]),
    "add partitions": (
        AddPartitions(table=T1, partitions=(P2, P1)),
        ["S d", "S d@t1", "X d@t1@p=1", "X d@t1@p=2"]),
    "drop a partition": (
        DropPartitions(table=T1, partitions=(P1,)), ["S d", "S d@t1", "X d@t1@p=1"]),
    "touch": (Touch(table=T1), ["S d", "S d@t1"]),
    "touch a partition": (
        Touch(table=T1, partition=P1), ["S d", "S d@t1", "X d@t1@p=1"]),
    "set serdeproperties of a partition": (
        alter_partition(ChangeSerde(set={"a": "b"})), ["S d", "S d@t1", "S d@t1@p=1"]),
    "set file format of a partition": (
        alter_partition(ChangeFormat("textfile")), ["S d", "S d@t1", "S d@t1@p=1"]),
    "write a directory": (
        WriteDirectory(path="/o", local=False, format="orc", query=SELECT_P1), READ),
    "analyze": (Analyze(table=U), ["S d", "S d@u"]),
    "analyze a partition": (Analyze(table=T1, partitions=(P1,), query=SELECT_P1), READ),
    "alter a view": (AlterView(view=U, altered=U, reads=(T1,)), ["S d", "S d@t1", "X d@u"]),
    "create a database": (CreateDatabase(database=Database(name="e", location="/e")), []),
    "exchange": (
        ExchangePartitions(table=T1, source=T2, partitions=(P1,)),
        ["S d", "S d@t1", "X d@t1@p=1", "S d@t2", "X d@t2@p=1"]),
    "load": (LoadData(table=T1, path="/x", values=("7",)), ["S d", "S d@t1", "X d@t1@p=7"]),
    "drop": (DropTable(name=T1.name), ["S d", "X d@t1"]),
    "drop database": (DropDatabase(name="d"), ["X d"]),
    "truncate": (TruncateTable(table=U), ["S d", "X d@u"]),
    "truncate a partition": (
        TruncateTable(table=T1, partitions=(P1,)), ["S d", "S d@t1", "X d@t1@p=1"]),
    "create": (CreateTable(table=U), ["S d"]),
    "create as select": (CreateTable(table=U, rows=SELECT_P1), [*READ, "X d@u"]),
    "create view": (CreateView(table=U), ["S d"]),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "expected"), ROWS.values(), ids=ROWS)
def test_operations(statement: Statement, expected: list[str]) -> None:
    locks = object_locks(statement)
    assert [f"{'X' if lock.exclusive else 'S'} {lock.name}" for lock in locks] == expected
    assert [lock.path for lock in locks] == sorted(lock.path for lock in locks)


def test_matrix() -> None:
    shared, exclusive = (ObjectLock(("d", "t"), exclusive) for exclusive in (False, True))
    assert not blocks(shared, shared)
    assert blocks(shared, exclusive)
    assert blocks(exclusive, shared)
    assert blocks(exclusive, exclusive)
    assert not blocks(exclusive, ObjectLock(("d", "u"), exclusive=True))


def test_plans_have_these_locks_and_no_transaction() -> None:
    decided = plan(insert(U), DUMMY)
    assert (decided.locks, decided.opens_txn) == ((), False)
    assert [lock.name for lock in decided.object_locks][-1] == "d@u"
    assert plan(insert(U)).object_locks == ()
    assert plan(Show(kind="locks"), DUMMY).object_locks == ()
    off = DUMMY.with_value("hive.support.concurrency", "false")
    assert plan(insert(U), off).object_locks == ()
    only_jobs = DUMMY.with_value("hive.lock.mapred.only.operation", "true")
    assert plan(DropTable(name=U.name), only_jobs).object_locks == ()
    assert plan(insert(U), only_jobs).object_locks != ()


REFUSED = {
    # name: (statement, Hive's code)
    "select": (
        SelectRows(query=Query(sql="", sources=(Source(view="v", scan=Scan(table=ACID)),))),
        10265),
    "insert": (insert(ACID), 10265),
    "create as select": (CreateTable(table=ACID, rows=SELECT_P1), 10265),
    "delete": (DeleteRows(target=Scan(table=ACID), alias="t"), 10294),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "code"), REFUSED.values(), ids=REFUSED)
def test_acid_tables_are_refused(statement: Statement, code: int) -> None:
    with pytest.raises(SemanticError, match="DbTxnManager") as raised:
        plan(statement, DUMMY)
    assert raised.value.code == code


def test_only_two_managers_are_known() -> None:
    with pytest.raises(SemanticError) as raised:
        Settings.of({"hive.txn.manager": "x.Manager"})
    assert raised.value.code == 10261
