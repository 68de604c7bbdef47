"""Plans as EXPLAIN prints them, and the statement ids inside."""

from __future__ import annotations

from hivesql_planner.explain import explain, explain_locks
from hivesql_planner.plan import Expr, Query, Scan, Source
from hivesql_planner.planning import plan, wanted_locks
from hivesql_planner.settings import Settings
from hivesql_planner.statements import (
    DeleteRows,
    InsertRows,
    InsertTarget,
    MergeClause,
    MergeRows,
    SelectRows,
    Show,
    UpdateRows,
)
from hivesql_planner.table import Column, Partition, Table, TableName

ACID = {"transactional": "true"}
T = Table(
    name=TableName("d", "t"),
    columns=(Column("id", "int"), Column("v", "string")),
    location="/w/t",
    properties=ACID,
)
P = Table(
    name=TableName("d", "p"),
    columns=(Column("id", "int"),),
    partition_columns=(Column("k", "int"),),
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
        assignments={"id": Expr("p.id + 1")},
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
        "      values p.id + 1",
    ]


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


def test_insert_from_itself_keeps_the_write_known() -> None:
    target = InsertTarget(table=T, query=QUERY)
    (lock,) = plan(InsertRows(targets=(target,))).locks
    assert lock.operation == "i"


def test_reads_without_tables_open_no_transaction() -> None:
    assert not plan(SelectRows(query=Query(sql="SELECT 1"))).opens_txn
    assert not plan(Show(kind="locks")).opens_txn
    assert plan(SelectRows(query=QUERY)).opens_txn


def test_locks_explained() -> None:
    delete = DeleteRows(
        target=Scan(table=P, partitions=PARTS, partition_count=2, with_row_id=True), alias="p"
    )
    assert explain_locks(wanted_locks(delete, Settings())).splitlines() == [
        "LOCK INFORMATION:",
        "d.p.k=1 -> EXCL_WRITE",
        "d.p.k=2 -> EXCL_WRITE",
    ]
    assert explain_locks(wanted_locks(delete, Settings()), formatted=True) == (
        '{"LOCK INFORMATION:":"[d.p.k=1 -> EXCL_WRITE, d.p.k=2 -> EXCL_WRITE]"}'
    )
