"""Plans as EXPLAIN prints them, and the statement ids inside."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from hivesql_planner.errors import NotSupported
from hivesql_planner.explain import explain, explain_in_style, explain_locks
from hivesql_planner.model.table import Column, Partition, Table, TableName
from hivesql_planner.planning import plan
from hivesql_planner.relations import Expr, Query, Scan, Source
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import (
    DeleteRows,
    InsertRows,
    InsertTarget,
    MergeClause,
    MergeRows,
    SelectRows,
    Show,
    Statement,
    UpdateRows,
)
from hivesql_planner.transactional_plans import choose_locks

ACID = {"transactional": "true"}
T = Table(
    name=TableName("d", "t"),
    columns=(Column.of("id", "int"), Column.of("v", "string")),
    location="/w/t",
    properties=ACID,
)
P = Table(
    name=TableName("d", "p"),
    columns=(Column.of("id", "int"),),
    partition_columns=(Column.of("k", "int"),),
    location="/w/p",
    properties=ACID,
)
PARTS = tuple(Partition(values=(k,), location=f"/w/p/k={k}") for k in "12")
QUERY = Query(sql="SELECT * FROM s", sources=(Source(view="s", scan=Scan(table=T)),))
UPDATE, DELETE = MergeClause(kind="update", condition=Expr("s.x")), MergeClause(kind="delete")
INSERT = MergeClause(kind="insert", values=(Expr("s.id"), Expr("s.v")))


def merge(*clauses: MergeClause) -> MergeRows:
    return MergeRows(
        target=Scan(table=T, with_row_id=True), alias="t", source=QUERY, source_alias="s",
        on=Expr("t.id = s.id"), clauses=clauses,
    )  # fmt: skip


def directories(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line.split()[0] for line in lines if line.startswith(("delta_", "delete_delta_"))]


def test_update_explained() -> None:
    update = UpdateRows(
        target=Scan(table=P, partitions=PARTS[:1], partition_count=2, with_row_id=True),
        alias="p",
        assignments={"id": Expr("p.id + p.id")},
        where=Expr("k = 1"),
    )
    assert explain(plan(update)).splitlines() == [
        "TRANSACTION",
        "  write id in d.p for update",
        "  lock d.p.k=1 -> EXCL_WRITE",
        "  lock d.p -> SHARED_READ",
        "CHANGE d.p",
        "  target p = scan d.p with row__id partitions 1 of 2",
        "  where k = 1",
        "  when matched",
        "    delete_delta_W_W_0000 of d.p",
        "    delta_W_W_0001 of d.p",
        "      values p.id + p.id",
    ]


def test_update_explained_with_its_table_and_as_json() -> None:
    update = UpdateRows(
        target=Scan(table=P, partitions=PARTS[:1], partition_count=2, with_row_id=True),
        alias="p",
        assignments={"id": Expr("p.id + p.id")},
        where=Expr("k = 1"),
    )
    extended = explain_in_style(update, "extended", Settings()).splitlines()
    assert "\n".join(extended[:-3]) == explain_in_style(update, "", Settings())
    assert extended[-3:] == [
        "TABLES", "  d.p full ACID, orc, /w/p", "    partition k=1 /w/p/k=1",
    ]  # fmt: skip
    assert json.loads(explain_in_style(update, "formatted", Settings())) == {
        "transaction": True,
        "writeIds": [{"table": "d.p", "operation": "update"}],
        "locks": [
            {"type": "EXCL_WRITE", "database": "d", "table": "p", "partition": "k=1"},
            {"type": "SHARED_READ", "database": "d", "table": "p"},
        ],
        "objectLocks": [],
        "change": {
            "target": {
                "alias": "p", "table": "d.p", "partitions": ["k=1"], "partitionCount": 2,
                "rowId": True,
            },
            "on": "k = 1",
            "branches": [
                {
                    "when": "matched",
                    "delete": {"directory": "delete_delta", "table": "d.p", "statementId": 0},
                    "insert": {"directory": "delta", "table": "d.p", "statementId": 1},
                    "values": ["p.id + p.id"],
                }
            ],
        },
    }  # fmt: skip


def test_other_plans_as_json() -> None:
    def told(statement: Statement) -> Any:
        return json.loads(explain_in_style(statement, "formatted", Settings()))

    query = {"sql": "SELECT * FROM s", "scans": [{"view": "s", "table": "d.t"}]}
    assert told(SelectRows(query=QUERY))["select"] == query
    assert told(Show(kind="databases"))["command"] == "Show"
    changed = told(merge(UPDATE, INSERT))["change"]
    assert (changed["source"], changed["on"]) == ({"alias": "s", **query}, "t.id = s.id")
    assert changed["cardinalityCheck"]
    assert [clause["when"] for clause in changed["branches"]] == ["matched", "not matched"]
    target = InsertTarget(table=P, query=QUERY, static_partition={"k": "1"}, check=Expr("row.id"))
    (branch,) = told(InsertRows(targets=(target,)))["insert"]
    assert branch == {
        "write": {"directory": "delta", "table": "d.p", "statementId": 0}, "query": query,
        "partition": {"k": "1"}, "constraint": "row.id",
    }  # fmt: skip


def test_statement_ids_of_merge_are_hives() -> None:
    cases = {
        (UPDATE, DELETE, INSERT): ["delete_delta_W_W_0000", "delta_W_W_0002",
                                   "delete_delta_W_W_0001", "delta_W_W_0003"],
        (DELETE,): ["delete_delta_W_W_0000"],
        (INSERT,): ["delta_W_W_0000"],
        (UPDATE, INSERT): ["delete_delta_W_W_0000", "delta_W_W_0001", "delta_W_W_0002"],
        (DELETE, INSERT): ["delete_delta_W_W_0000", "delta_W_W_0001"],
    }  # fmt: skip
    for clauses, expected in cases.items():
        assert directories(explain(plan(merge(*clauses)))) == expected


def test_later_clause_needs_the_earlier_condition_to_be_false() -> None:
    text = explain(plan(merge(UPDATE, DELETE)))
    assert "when matched and (s.x)" in text
    assert "when matched and NOT (s.x)" in text


def test_a_merge_reads_its_target_by_keys_where_its_conditions_ask_no_other_table() -> None:
    by_keys = "target by the keys of the source"
    assert by_keys in explain(plan(merge(UPDATE, INSERT)))
    asking = replace(merge(UPDATE, INSERT), subqueries=(Source(view="q", scan=Scan(table=T)),))
    assert by_keys not in explain(plan(asking))


def test_cardinality_is_checked_unless_only_rows_are_inserted() -> None:
    check = "check that no target row matches twice"
    assert check in explain(plan(merge(UPDATE)))
    assert check not in explain(plan(merge(INSERT)))
    off = Settings(values={"hive.merge.cardinality.check": "false"})
    assert check not in explain(plan(merge(UPDATE), off))


def test_multi_insert_counts_over_tables() -> None:
    targets = (
        InsertTarget(table=T, query=QUERY),
        InsertTarget(table=P, query=QUERY, dynamic_partition=("k",)),
    )
    text = explain(plan(InsertRows(targets=targets)))
    assert "INSERT delta_W_W_0000 of d.t" in text
    assert "INSERT delta_W_W_0001 of d.p" in text


def test_a_union_all_has_as_many_branches_as_a_transaction_has_writes() -> None:
    def union_of(count: int, table: Table) -> InsertRows:
        target = InsertTarget(table=table, query=QUERY, union_branches=(QUERY,) * count)
        return InsertRows(targets=(target,))

    assert plan(union_of(4095, T)).targets
    with pytest.raises(NotSupported, match="more than 4095 branches of UNION ALL in one INSERT"):
        plan(union_of(4096, T))
    plan(union_of(4096, replace(T, properties={})))


def test_insert_from_itself_keeps_the_write_known() -> None:
    target = InsertTarget(table=T, query=QUERY)
    (lock,) = plan(InsertRows(targets=(target,))).locks
    assert lock.operation == "i"


def test_no_row_id_tells_of_more_than_4096_buckets() -> None:
    full = replace(T, bucket_columns=("id",), bucket_count=4096)
    many = replace(full, bucket_count=4097)
    for table in (many, full):
        scan = Scan(table=table, with_row_id=True)
        insert = InsertRows(targets=(InsertTarget(table=table, query=QUERY),))
        update = UpdateRows(target=scan, alias="t", assignments={"v": Expr("'x'")}, where=None)
        merge_into = replace(merge(UPDATE), target=scan)
        for statement in (insert, update, merge_into):
            if table is full:
                assert plan(statement).targets
                continue
            with pytest.raises(NotSupported, match=r"writing to d\.t, which has 4097 buckets"):
                plan(statement)
        assert plan(DeleteRows(target=scan, alias="t", where=None)).targets
    insert_only = {**ACID, "transactional_properties": "insert_only"}
    for properties in ({}, insert_only):
        target = InsertTarget(table=replace(many, properties=properties), query=QUERY)
        plan(InsertRows(targets=(target,)))


def test_reads_without_tables_open_no_transaction() -> None:
    assert not plan(SelectRows(query=Query(sql="SELECT 1"))).opens_txn
    assert not plan(Show(kind="locks")).opens_txn
    assert plan(SelectRows(query=QUERY)).opens_txn


def test_locks_explained() -> None:
    delete = DeleteRows(
        target=Scan(table=P, partitions=PARTS, partition_count=2, with_row_id=True), alias="p"
    )
    assert explain_locks(choose_locks(delete, Settings())).splitlines() == [
        "LOCK INFORMATION:",
        "d.p.k=1 -> EXCL_WRITE",
        "d.p.k=2 -> EXCL_WRITE",
        "d.p.k=1 -> SHARED_READ",
        "d.p.k=2 -> SHARED_READ",
    ]
    one = replace(delete, target=replace(delete.target, partitions=PARTS[:1]))
    assert explain_locks(choose_locks(one, Settings()), formatted=True) == (
        '{"LOCK INFORMATION:":"[d.p.k=1 -> EXCL_WRITE, d.p.k=1 -> SHARED_READ]"}'
    )
