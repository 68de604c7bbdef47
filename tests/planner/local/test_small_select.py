"""Which queries are small, and what is left to Spark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivesql_planner.explain import explain
from hivesql_planner.model.table import Column, Table, TableName
from hivesql_planner.plan import Select
from hivesql_planner.planning import plan
from hivesql_planner.predicates.predicate import (
    Compare,
    Given,
    IsNull,
    Shown,
    SmallSelect,
    Sorting,
    Total,
)
from hivesql_planner.relations import AsOf, Query, Scan, Source
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import SelectRows

TABLE = Table(
    name=TableName("default", "t"),
    columns=(
        Column("a", "int"),
        Column("s", "string"),
        Column("c", "char(3)"),
        Column("f", "double"),
        Column("m", "array<timestamp>"),
    ),
    partition_columns=(Column("k", "int"), Column("p", "double")),
    location="/w/t",
    properties={"transactional": "true"},
)
INT, TEXT, LONG = Column("x", "int"), Column("x", "string"), Column("x", "bigint")


def small(sql: str, *columns: Column, scan: Scan | None = None) -> SmallSelect | None:
    source = Source(view="default__t__1", scan=scan or Scan(table=TABLE))
    query = Query(sql=sql, sources=(source,), columns=columns)
    body = plan(SelectRows(query=query), Settings()).body
    assert isinstance(body, Select)
    return body.small


FROM = "from `default__t__1` AS `t`"
A, S = Shown("a"), Shown("s")
QUERIES: dict[str, tuple[tuple[Column, ...], SmallSelect]] = {
    f"select a {FROM}": ((INT,), SmallSelect(items=(A,), where=None, most_bytes=16777216)),
    f"SELECT T.`A` AS b, 's', 1, k {FROM} WHERE a=1": (
        (INT, TEXT, INT, INT),
        SmallSelect(
            items=(A, Given("s"), Given(1), Shown("k")),
            where=Compare("a", "=", 1),
            most_bytes=16777216,
        ),
    ),
    f"select s as a, a as b {FROM} where k is null order by a desc, t.a, b nulls last limit 3": (
        (TEXT, INT),
        SmallSelect(
            items=(S, A),
            where=IsNull("k"),
            order=(
                Sorting("s", True, False),
                Sorting("a", False, True),
                Sorting("a", False, False),
            ),
            limit=3,
            most_bytes=16777216,
        ),
    ),
    f"select count(*) AS `_c0`, MIN(t.s), sum(a), count(c) {FROM} limit 2": (
        (LONG, TEXT, LONG, LONG),
        SmallSelect(
            items=(Total("count", None), Total("min", "s"), Total("sum", "a"), Total("count", "c")),
            where=None,
            limit=2,
            most_bytes=16777216,
        ),
    ),
}
NOT_QUERIES: dict[str, tuple[Column, ...]] = {
    f"select distinct a {FROM}": (INT,),
    f"select all a {FROM}": (INT,),
    f"select a b {FROM}": (INT,),
    f"select a {FROM} join x": (INT,),
    f"select a {FROM}, u": (INT,),
    f"select a {FROM} group by a": (INT,),
    f"select a {FROM} having a = 1": (INT,),
    f"select a {FROM} order by 1": (INT,),
    f"select a {FROM} order by a + 1": (INT,),
    f"select a {FROM} order by f": (INT,),
    f"select a {FROM} sort by a": (INT,),
    f"select a {FROM} limit 1, 2": (INT,),
    f"select a {FROM} limit -1": (INT,),
    f"select a {FROM} limit 1 offset 1": (INT,),
    f"select a {FROM} where s like 'x'": (INT,),
    f"select a {FROM} where p = 1": (INT,),
    f"select a + 1 {FROM}": (INT,),
    f"select 1.5 {FROM}": (Column("x", "decimal(2,1)"),),
    f"select p {FROM}": (Column("x", "double"),),
    f"select m {FROM}": (Column("x", "array<timestamp>"),),
    f"select * {FROM}": tuple(TABLE.all_columns),
    f"select u.* {FROM}": (INT,),
    f"select a, count(*) {FROM}": (INT, LONG),
    f"select count(*) {FROM} order by a": (LONG,),
    f"select count(distinct a) {FROM}": (LONG,),
    f"select avg(a) {FROM}": (Column("x", "double"),),
    f"select sum(f) {FROM}": (Column("x", "double"),),
    f"select min(c) {FROM}": (Column("x", "char(3)"),),
    f"select a {FROM} union all select a {FROM}": (INT,),
    f"select a {FROM} /* x */": (INT,),
    f"select a {FROM} ": (),
    f"select a  {FROM}": (LONG,),
    "select a from other AS t": (INT,),
    "select a from (select a from `default__t__1` AS `t`) q": (INT,),
    "with q as (select 1) select a from `default__t__1` AS `t`": (INT,),
}


@pytest.mark.parametrize("sql", QUERIES)
def test_looks_into_one_table_are_known(sql: str) -> None:
    columns, expected = QUERIES[sql]
    assert small(sql, *columns) == expected


@pytest.mark.parametrize("sql", NOT_QUERIES)
def test_other_queries_are_left_to_spark(sql: str) -> None:
    assert small(sql, *NOT_QUERIES[sql]) is None


def test_only_todays_rows_of_full_acid_tables_are_known() -> None:
    sql = f"select a {FROM}"
    plain = replace(TABLE, properties={})
    for scan in (
        Scan(table=plain),
        Scan(table=TABLE, as_of=AsOf(write_id=1)),
        Scan(table=TABLE, with_row_id=True),
    ):
        assert small(sql, INT, scan=scan) is None


def test_the_limit_is_told() -> None:
    source = Source(view="default__t__1", scan=Scan(table=TABLE))
    for where, told in (("", "there are"), (" where a = 1", "row groups that may hold such rows")):
        query = Query(sql=f"select a {FROM}{where}", sources=(source,), columns=(INT,))
        text = explain(plan(SelectRows(query=query), Settings()))
        assert f"without Spark while {told}" in text
        none = Settings.of({"hivesql.local.max.bytes": "0"})
        assert "without Spark" not in explain(plan(SelectRows(query=query), none))
