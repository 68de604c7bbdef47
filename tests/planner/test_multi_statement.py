"""What an open transaction takes in, and its statement ids."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

from hivesql_planner.errors import ExecutionError, HiveSqlError, NotSupported
from hivesql_planner.model.table import Column, Table, TableName
from hivesql_planner.multi_statement import (
    check_inside,
    continued,
    next_statement_id,
    replaced_tables,
)
from hivesql_planner.plan import Change, Command, Insert
from hivesql_planner.planning import plan
from hivesql_planner.relations import Query, Scan
from hivesql_planner.statements.alter import AddColumns
from hivesql_planner.statements.bound import (
    CompactTable,
    CreateTable,
    DeleteRows,
    DropTable,
    EndTransaction,
    Explain,
    InsertRows,
    InsertTarget,
    MergeClause,
    SelectRows,
    SetSetting,
    Show,
    StartTransaction,
    Statement,
    TruncateTable,
    UpdateRows,
    UseDatabase,
)
from hivesql_planner.statements.ddl import AlterTable, LoadData

T = Table(
    name=TableName("d", "t"),
    columns=(Column.of("id", "int"),),
    location="/w/t",
    properties={"transactional": "true"},
)
PLAIN = replace(T, name=TableName("d", "plain"), properties={})
QUERY = Query(sql="SELECT 1")
SCAN = Scan(table=T, with_row_id=True)


def insert(table: Table, *, overwrite: bool = False) -> InsertRows:
    return InsertRows(targets=(InsertTarget(table=table, query=QUERY, overwrite=overwrite),))


UPDATE = UpdateRows(target=SCAN, alias="t", assignments=MergeClause(kind="update").assignments)
ALLOWED = {
    "select": SelectRows(query=QUERY),
    "insert": insert(T),
    "overwrite": insert(T, overwrite=True),
    "update": UPDATE,
    "delete": DeleteRows(target=SCAN, alias="t"),
    "load": LoadData(table=T, path="/f"),
    "show": Show(kind="locks"),
    "set": SetSetting(key="a", value="b"),
    "use": UseDatabase(name="d"),
    "explain": Explain(statement=CreateTable(table=T)),
}
REFUSED: dict[str, tuple[Statement, type[HiveSqlError], str]] = {
    # name: (statement, error, text)
    "create": (CreateTable(table=T), ExecutionError, "CREATE TABLE is not allowed"),
    "create as": (CreateTable(table=T, rows=QUERY), ExecutionError, "CREATE TABLE is not allowed"),
    "drop": (DropTable(name=T.name), ExecutionError, "DROP TABLE is not allowed"),
    "truncate": (TruncateTable(table=T), ExecutionError, "TRUNCATE TABLE is not allowed"),
    "load over": (
        LoadData(table=T, path="/f", overwrite=True),
        ExecutionError,
        "LOAD DATA is not allowed",
    ),
    "load into a plain table": (
        LoadData(table=PLAIN, path="/f"),
        ExecutionError,
        "which is not transactional",
    ),
    "alter": (
        AlterTable(table=T, change=AddColumns(()), altered=T),
        ExecutionError,
        "ALTER TABLE is not allowed",
    ),
    "compact": (CompactTable(table=T, kind="major"), ExecutionError, "COMPACT TABLE"),
    "start": (StartTransaction(), ExecutionError, "START TRANSACTION is not allowed"),
    "plain insert": (insert(PLAIN), ExecutionError, "d.plain, which is not transactional"),
}


@pytest.mark.parametrize("statement", ALLOWED.values(), ids=ALLOWED)
def test_allowed(statement: Statement) -> None:
    check_inside(plan(statement), statement, txn_id=7)


@pytest.mark.parametrize(("statement", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(statement: Statement, error: type[HiveSqlError], text: str) -> None:
    with pytest.raises(error, match=text) as raised:
        check_inside(plan(statement), statement, txn_id=7)
    assert raised.value.code == 20007
    assert "7" in str(raised.value)


def test_a_read_only_transaction_writes_nothing() -> None:
    with pytest.raises(ExecutionError, match=r"READ ONLY transaction 7") as raised:
        check_inside(plan(UPDATE), UPDATE, txn_id=7, read_only=True)
    assert raised.value.code == 20007


@pytest.mark.parametrize(
    "statement", [insert(T), insert(T, overwrite=True), UPDATE, LoadData(table=T, path="/f")]
)
def test_nothing_is_written_beside_a_base_of_the_same_write_id(statement: Statement) -> None:
    check_inside(plan(statement), statement, txn_id=7, replaced={TableName("d", "other")})
    with pytest.raises(NotSupported, match=r"d\.t again after INSERT OVERWRITE"):
        check_inside(plan(statement), statement, txn_id=7, replaced={T.name})


def ids(body: object) -> Collection[int]:
    if isinstance(body, Command):
        assert isinstance(body.statement, LoadData)
        return [body.statement.statement_id]
    assert isinstance(body, Insert | Change)
    if isinstance(body, Insert):
        return [branch.write.statement_id for branch in body.branches]
    writes = [w for b in body.branches for w in (b.delete, b.insert) if w is not None]
    return [write.statement_id for write in writes]


def test_statement_ids_run_on() -> None:
    load = LoadData(table=T, path="/f")
    statements = [insert(T), UPDATE, load, DeleteRows(target=SCAN, alias="t"), load, insert(T)]
    next_id, found = 0, []
    for statement in statements:
        body = continued(plan(statement).body, next_id)
        found.append(ids(body))
        next_id = next_statement_id(body, next_id)
    assert found == [[0], [1, 2], [3], [4], [5], [6]]
    select = plan(SelectRows(query=QUERY)).body
    assert continued(select, 5) == select
    assert next_statement_id(select, 5) == 5


def test_statement_ids_have_twelve_bits() -> None:
    assert ids(continued(plan(insert(T)).body, 4095)) == [4095]
    with pytest.raises(NotSupported, match="4096"):
        continued(plan(UPDATE).body, 4095)
    with pytest.raises(NotSupported, match="4096"):
        continued(plan(LoadData(table=T, path="/f")).body, 4096)


def test_what_an_overwrite_replaces() -> None:
    assert replaced_tables(plan(insert(T, overwrite=True)).body) == {T.name}
    assert replaced_tables(plan(insert(T)).body) == set()


def test_ends_are_for_the_session() -> None:
    assert not plan(EndTransaction(commit=True)).opens_txn
