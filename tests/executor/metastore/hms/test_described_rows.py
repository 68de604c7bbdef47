"""Rows of system tables from a metastore that tells of objects and does not show its tables."""

from __future__ import annotations

from typing import Any

import pytest

from executor.metastore.conftest import Store
from hivesql_executor.metastore.api import TxnType
from hivesql_executor.system_tables.described_rows import described_rows
from hivesql_planner.errors import NotSupported
from hivesql_planner.locks.lock import Lock, LockType
from hivesql_planner.model.table import Column, Database, Table, TableName
from hivesql_planner.system_tables.definitions import system_table
from hivesql_planner.system_tables.views import Viewer, stored_tables_of, system_rows

T, V = TableName("default", "t"), TableName("d", "v")
TOLD_AS_STORED = (
    "information_schema.schemata", "information_schema.tables", "information_schema.views",
    "information_schema.columns", "information_schema.locks", "information_schema.compactions",
    "sys.locks", "sys.compactions",
)  # fmt: skip
NOT_TOLD = {
    "dtd_identifier", "heartbeat_count", "c_run_as", "c_worker_version", "c_initiator_version",
    "c_tblproperties", "c_cleaner_start",
}  # fmt: skip


@pytest.fixture
def filled(store: Store) -> Store:
    """A metastore with a table, a view, locks and a compaction."""
    calls = store.calls
    columns = (Column.of("a", "int"), Column.of("b", "decimal(5,2)"))
    properties = {"transactional": "true"}
    calls.create_table(Table(name=T, columns=columns, location="", properties=properties))
    calls.create_database(Database(name="d", location="/d", owner="ann"))
    calls.create_table(
        Table(name=V, columns=columns[:1], location="", type="VIRTUAL_VIEW", format="textfile",
              view_text="SELECT a", view_original="select a", owner="ann")
    )  # fmt: skip
    txn_id = store.begin(type=TxnType.DEFAULT)
    store.ask(txn_id, Lock(LockType.SHARED_READ, "default", "t"))
    waiting = store.begin()
    store.ask(waiting, Lock(LockType.EXCLUSIVE, "default", "t"))
    calls.enqueue_compaction(T, None, "minor", initiator_id="here-1")
    return store


def rows(name: str, stored: Any) -> list[dict[str, Any]]:
    table = system_table(TableName(*name.split(".")))
    assert table is not None
    rows = system_rows(table, stored, Viewer())
    named = [dict(zip(table.column_names, row, strict=True)) for row in rows]
    return sorted(
        ({key: value for key, value in row.items() if key not in NOT_TOLD} for row in named),
        key=str,
    )


@pytest.mark.parametrize("name", TOLD_AS_STORED)
def test_what_is_told_is_what_is_stored(filled: Store, name: str) -> None:
    table = TableName(*name.split("."))
    told = rows(name, described_rows([table], filled.calls))
    assert told == rows(name, filled.calls.stored_rows(stored_tables_of(table)))
    assert told


def test_transactions_are_told_as_far_as_they_are_known(filled: Store) -> None:
    told = rows("sys.txns", described_rows([TableName("sys", "txns")], filled.calls))
    assert [(row["txn_state"], row["txn_user"]) for row in told] == [("o", "ann"), ("o", "ann")]


@pytest.mark.parametrize(
    "name",
    ["sys.tbls", "sys.partitions", "information_schema.transactions",
     "information_schema.table_privileges", "information_schema.scheduled_queries"],
)  # fmt: skip
def test_what_nobody_tells_is_refused_by_name(store: Store, name: str) -> None:
    with pytest.raises(NotSupported, match=name.replace(".", r"\.")):
        described_rows([TableName(*name.split("."))], store.calls)


@pytest.mark.thrift
def test_any_metastore_tells_its_tables(store: Store) -> None:
    columns = (Column.of("a", "int"), Column.of("b", "varchar(7)"))
    store.calls.create_table(Table(name=T, columns=columns, location=""))
    names = ("schemata", "tables", "columns", "views", "locks", "compactions")
    tables = [TableName("information_schema", name) for name in names]
    stored = described_rows(tables, store.calls)
    assert [row["schema_name"] for row in rows("information_schema.schemata", stored)] == [
        "default"
    ]
    told = [(row["table_name"], row["column_name"], row["character_maximum_length"])
            for row in rows("information_schema.columns", stored)]  # fmt: skip
    assert told == [("t", "a", None), ("t", "b", 7)]
    assert rows("information_schema.views", stored) == []
