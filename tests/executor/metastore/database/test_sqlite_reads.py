"""What is read with Python's own driver is what the database layer reads."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hivesql_executor.metastore.api import LockOwner, Metastore, ObjectLockRow
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.opening import open_metastore
from hivesql_executor.metastore.sqlite_fast_start.quick_start import QuickStart
from hivesql_executor.metastore.sqlite_fast_start.sqlite_reads import SqliteReads
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.locks.lock import Lock, LockType, ObjectLock
from hivesql_planner.model.functions import StoredFunction
from hivesql_planner.model.hive_type import STRING
from hivesql_planner.model.statistics import ColumnStatistics, Statistics
from hivesql_planner.model.table import (
    Column,
    Constraint,
    Database,
    Partition,
    PartitionStorage,
    Table,
    TableName,
)
from hivesql_planner.predicates.partitions import PartitionTest

DAY = 86400.0
T, P, Q, V = (TableName("Shop", name) for name in "tpqv")
ACID = {"transactional": "true"}
COLUMNS = (Column.of("a", "int", "a number"), Column.of("b", "string"))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/metastore.db"


@pytest.fixture
def behind(url: str) -> Iterator[DatabaseMetastore]:
    store = DatabaseMetastore.open(url, "/wh")
    yield store
    store.close()


@pytest.fixture
def quick(behind: DatabaseMetastore, url: str) -> Iterator[Metastore]:
    store = open_metastore(url, "/wh", timeout=1)
    assert isinstance(store, QuickStart)
    yield store
    store.close()


def fill(store: DatabaseMetastore) -> None:
    shop = Database(name="Shop", location="", comment="all", owner="ann", properties={"k": "v"})
    store.create_database(shop)
    store.create_table(
        Table(
            name=T, columns=COLUMNS, location="", type="EXTERNAL_TABLE", format="textfile",
            properties={"z": "1", "a": ""}, serde_properties={"field.delim": ";"}, comment="said",
            bucket_columns=("b", "a"), bucket_count=4, sort_columns=("b", "a"),
            sort_descending=("a",), owner="ann", owner_type="ROLE",
            constraints=(
                Constraint(kind="primary key", name="pk", columns=("a", "b"), enabled=False),
                Constraint(kind="default", name="d", columns=("b",), text="'x'", rely=False),
                Constraint(kind="foreign key", columns=("a",), parent=P, parent_columns=("a",)),
            ),
        )
    )  # fmt: skip
    keys = (Column.of("p", "int", "the key"), Column.of("q", "string"))
    for name in (P, Q):
        table = Table(name=name, columns=COLUMNS, location="", partition_columns=keys)
        store.create_table(replace(table, properties=ACID))
        values = [("10", "x"), ("9", None), ("9", "ä"), ("100", "Z")]
        store.add_partitions(name, [Partition(values=one, location="") for one in values])
    own = PartitionStorage(format="orc", serde_properties={"k": "v"})
    store.alter_partition(
        Q, ("10", "x"), Partition(values=("10", "x"), location="/else", storage=own)
    )
    store.create_table(
        Table(name=V, columns=COLUMNS, location="", type="VIRTUAL_VIEW", view_text="select 1")
    )
    for name in ("g", "F"):
        store.create_function(StoredFunction(database="Shop", name=name, java_class="own.F"))
    numbers = ColumnStatistics(name="b", type=STRING, nulls=1, distinct=2, average_length=1.5)
    store.put_statistics(T, [Statistics(rows=7, files=2, bytes=100, columns=(numbers,))])


def wait_and_abort(store: DatabaseMetastore) -> None:
    one, two, gone = (store.open_txns(1, "ann", "here")[0] for _ in "abc")
    store.abort_txns([gone], "for the test")
    lock = Lock(LockType.EXCLUSIVE, "shop", "t", None)
    for txn_id in (one, two):
        store.enqueue_locks(txn_id, [lock], LockOwner("ann", "here", "x"))
    part = Lock(LockType.SHARED_READ, "shop", "p", "p=9/q=x")
    store.enqueue_locks(0, [part], LockOwner("bob", "there"))


def test_all_answers_are_those_of_the_database_layer(
    quick: Metastore, behind: DatabaseMetastore
) -> None:
    def same(question: str, *about: Any) -> None:
        assert getattr(quick, question)(*about) == getattr(behind, question)(*about)

    for change in (lambda _: None, fill, wait_and_abort):
        change(behind)
        same("databases")
        same("function_names")
        same("transactions")
        same("needs_housekeeping", 300, DAY)
        for where in ((), ("SHOP",), ("shop", "T"), ("shop", "p", "p=9/q=x"), ("nosuch",)):
            same("locks", *where)
    for name in behind.databases():
        same("database", name.upper())
        same("tables", name.upper())
        same("some_tables", name.upper(), 2)
        same("some_tables", name.upper(), 2, "P")
    for table in (T, P, Q, V):
        same("table", table)
        same("statistics", table)
        same("partitions", table)
        same("partition_count", table)
    wide = PartitionTest(position=0, operator=">", values=("9",), kind="integer")
    narrow = PartitionTest(position=1, operator="=", values=("ä", "x"), kind="text")
    for tests in ([wide], [narrow], [wide, narrow]):
        for table in (P, Q):
            same("partitions", table, tests)
    same("statistics", P, ("9", None))
    assert len(behind.locks()) == 3
    assert len(behind.transactions()) == 3


def test_what_is_missing_is_told_by_the_database_layer(
    quick: Metastore, behind: DatabaseMetastore
) -> None:
    nosuch = TableName("default", "nosuch")
    questions: list[Callable[[Any], Any]] = [
        lambda store: store.database("nosuch"), lambda store: store.tables("nosuch"),
        lambda store: store.table(nosuch), lambda store: store.table(TableName("nosuch", "t")),
        lambda store: store.statistics(nosuch), lambda store: store.partitions(nosuch),
        lambda store: store.partition_count(nosuch),
    ]  # fmt: skip
    for ask in questions:
        told = []
        for store in (quick, behind):
            with pytest.raises(NoSuchObject) as error:
                ask(store)
            told.append((error.value.code, error.value.message))
        assert told[0] == told[1]


def test_housekeeping_is_due_whenever_it_was(quick: Metastore, behind: DatabaseMetastore) -> None:
    assert not quick.needs_housekeeping(300, DAY)
    row = ObjectLockRow(explicit=True, query_id="q", query_text="", user="ann", host="here")
    behind.take_object_locks([ObjectLock(path=("default", "t"), exclusive=True)], row)
    # Those of LOCK stay, however old they are.
    assert not quick.needs_housekeeping(-1, DAY)
    txn_id = behind.open_txns(1, "ann", "here")[0]
    assert quick.needs_housekeeping(-1, DAY)
    assert not quick.needs_housekeeping(300, DAY)
    behind.abort_txns([txn_id], "for the test")
    assert not quick.needs_housekeeping(-1, DAY)
    behind.open_txns(101, "ann", "here")
    assert quick.needs_housekeeping(300, DAY)


def test_more_partitions_than_a_few_are_listed_by_the_database_layer(
    quick: Metastore, behind: DatabaseMetastore, url: str
) -> None:
    key = (Column.of("p", "int"),)
    table = Table(
        name=TableName("default", "t"), columns=COLUMNS, location="", partition_columns=key
    )
    behind.create_table(table)
    reads = SqliteReads.open(url)
    assert reads
    many = [Partition(values=(str(number),), location="") for number in range(1001)]
    for known, new in ((1000, many[:1000]), (None, many[1000:])):
        behind.add_partitions(table.name, new)
        found = reads.partitions(table.name, ())
        assert (found and len(found)) == known
    reads.close()
    assert len(quick.partitions(table.name)) == 1001


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE HIVESQL_REVISION SET version_num = '0001'",
        "DELETE FROM HIVESQL_REVISION",
        "DROP TABLE HIVESQL_REVISION",
    ],
)
def test_another_schema_is_not_read(change: str, behind: DatabaseMetastore, url: str) -> None:
    behind.close()
    with sqlite3.connect(url.removeprefix("sqlite:///")) as db:
        db.execute(change)
    db.close()
    assert SqliteReads.open(url) is None


@pytest.mark.parametrize("text", ["{}?timeout=1", "{}.nosuch", "sqlite://", "sqlite:///:memory:"])
def test_other_addresses_are_left_alone(
    text: str, behind: DatabaseMetastore, url: str, tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    assert SqliteReads.open(text.format(url)) is None
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_that_fails_is_left_to_the_database_layer(url: str, tmp_path: Path) -> None:
    (tmp_path / "metastore.db").write_bytes(b"this is no database" * 100)
    assert SqliteReads.open(url) is None


def test_reads_import_no_database_layer(behind: DatabaseMetastore, url: str) -> None:
    program = (
        "import json, sys; from hivesql_executor.metastore.opening import open_metastore\n"
        f"store = open_metastore({url!r}, '/wh', timeout=1)\n"
        "store.tables('default'); print(json.dumps('sqlalchemy' in sys.modules))\n"
        "store.create_database\n"
        "print(json.dumps('sqlalchemy' in sys.modules)); store.close()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [False, True]
