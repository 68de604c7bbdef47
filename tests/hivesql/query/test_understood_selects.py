"""Which queries are small, and what is left to Spark."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.explain import explain
from hivesql_planner.model.table import Column, Table, TableName
from hivesql_planner.plan import Plan, Select
from hivesql_planner.planning import plan
from hivesql_planner.predicates.predicate import (
    Compare,
    Constant,
    IsNull,
    Shown,
    SmallSelect,
    Sorting,
    Total,
)
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.functions import OwnFunction
from memory_catalog import MemoryCatalog

TABLE = Table(
    name=TableName("default", "t"),
    columns=(
        Column.of("a", "int"),
        Column.of("s", "string"),
        Column.of("c", "char(3)"),
        Column.of("f", "double"),
        Column.of("m", "array<timestamp>"),
    ),
    partition_columns=(Column.of("k", "int"), Column.of("p", "double")),
    location="/w/t",
    properties={"transactional": "true"},
)
OTHER = replace(TABLE, name=TableName("default", "u"))
VIEW = replace(
    TABLE, name=TableName("default", "v"), columns=TABLE.columns[:1], partition_columns=(),
    type="VIRTUAL_VIEW", view_text="SELECT `a` FROM `default`.`t` WHERE `a` > 1",
)  # fmt: skip
SPARK_ORDER = Settings.of({"hive.default.nulls.last": "false"})


def planned(
    sql: str,
    table: Table = TABLE,
    settings: Settings = SPARK_ORDER,
    functions: dict[str, OwnFunction] | None = None,
) -> Plan:
    statement = parse(StatementText(sql))
    catalog = MemoryCatalog.of(table, OTHER, VIEW)
    return plan(bind(statement, catalog, settings=settings, functions=functions), settings)


def small(sql: str, table: Table = TABLE, settings: Settings = SPARK_ORDER) -> SmallSelect | None:
    body = planned(sql, table, settings).body
    assert isinstance(body, Select)
    return body.small


A, S = Shown("a"), Shown("s")
QUERIES: dict[str, SmallSelect] = {
    "select a from t": SmallSelect(items=(A,), where=None, most_bytes=16777216),
    "select (a) from default.t -- all": SmallSelect(items=(A,), where=None, most_bytes=16777216),
    "SELECT T.`A` AS b, 's', 1, k FROM t WHERE a=1": SmallSelect(
        items=(A, Constant("s"), Constant(1), Shown("k")),
        where=Compare("a", "=", 1),
        most_bytes=16777216,
    ),
    "select s as a, a as b from t where k is null order by a desc, t.a, b nulls last limit 3": (
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
        )
    ),
    "select count(*), MIN(x.s), sum(a), count(c) from t x limit 2": SmallSelect(
        items=(Total("count", None), Total("min", "s"), Total("sum", "a"), Total("count", "c")),
        where=None,
        limit=2,
        most_bytes=16777216,
    ),
    "select u.*, 1 from u": SmallSelect(
        items=(*(Shown(one) for one in ("a", "s", "c", "f", "k")), Constant(1)),
        where=None,
        most_bytes=16777216,
    ),
    "select 1.50, 3000000000, null, version() from t": SmallSelect(
        items=(
            Constant(Decimal("1.5")),
            Constant(3000000000),
            Constant(None),
            Constant("4.1.0 r75e40b7537c91a70ccaa31c397d21823c7528eeb"),
        ),
        where=None,
        most_bytes=16777216,
    ),
    "select 1, 'x' as b, current_database() where true limit 1": SmallSelect(
        items=(Constant(1), Constant("x"), Constant("default")),
        where=None,
        limit=1,
        most_bytes=16777216,
    ),
    "select a from t where (1 = 0) limit 5": SmallSelect(
        items=(A,), where=None, limit=0, most_bytes=16777216
    ),
}
NOT_QUERIES = (
    "select distinct a from t",
    "select t.a from t join u on t.a = u.a",
    "select a from t group by a",
    "select count(*) from t having count(*) = 1",
    "select a from t order by 1",
    "select a from t order by a + 1",
    "select f from t order by f",
    "select a as x, s as x from t order by x",
    "select 1 as a from t order by a",
    "select a from t sort by a",
    "select a from t limit 1, 2",
    "select a from t limit 1 offset 1",
    "select a from t where s like 'x'",
    "select a from t where p = 1",
    "select a from t where a in (select a from u)",
    "select a + 1 from t",
    "select 1.5 + 1 from t",
    "select 1 + 1",
    "select -9223372036854775808",
    "select count(*)",
    "select distinct 1",
    "select 1 order by 1",
    "select 1 where 1 < 0",
    "select count(*) from t where 1 = 0",
    "select p from t",
    "select m from t",
    "select m[0] from t",
    "select * from t",
    "select row__id from t",
    "select input__file__name from t",
    "select min(a) over () from t",
    "select count(distinct a) from t",
    "select avg(a) from t",
    "select sum(f) from t",
    "select min(c) from t",
    "select a from t union all select a from t",
    "select a from t tablesample (bucket 1 out of 2 on a) x",
    "select a from t for system_version as of 1",
    "select a from (select a from t) q",
    "with q as (select 1) select a from t",
    "with q as (select a from t where a = 1) select a from q",
    "select a from v",
    "select count(*) from v where a = 1",
    "select a from (values (1)) as q (a)",
    "select a from table_changes('t', 1)",
    "with t as (select 1 as a) select a from t",
    "select a from t lateral view explode(m) e as y",
)


@pytest.mark.parametrize("sql", QUERIES)
def test_looks_into_one_table_are_known(sql: str) -> None:
    table = replace(OTHER, columns=OTHER.columns[:4], partition_columns=OTHER.partition_columns[:1])
    catalog = MemoryCatalog.of(TABLE, table)
    bound = bind(parse(StatementText(sql)), catalog, settings=SPARK_ORDER)
    body = plan(bound, SPARK_ORDER).body
    assert isinstance(body, Select)
    assert body.small == QUERIES[sql]


@pytest.mark.parametrize("sql", NOT_QUERIES)
def test_other_queries_are_left_to_spark(sql: str) -> None:
    assert small(sql) is None


def test_nulls_are_last_unless_they_are_first() -> None:
    found = small("select a from t order by a, s desc, k nulls first", settings=Settings())
    assert found is not None
    assert found.order == (
        Sorting("a", False, False),
        Sorting("s", True, True),
        Sorting("k", False, True),
    )


def test_a_function_of_the_users_own_is_left_to_spark() -> None:
    own = OwnFunction(name="min", java_class="x.Min")
    body = planned("select min(a) from t", functions={"min": own}).body
    assert isinstance(body, Select)
    assert body.small is None


def test_only_rows_of_full_acid_tables_are_known() -> None:
    plain = replace(TABLE, properties={})
    assert small("select a from t", plain) is None
    for without_rows in ("select a from t limit 0", "select a from t where false"):
        assert small(without_rows, plain) is not None


def test_a_query_that_reads_no_file_has_no_limit() -> None:
    for sql in ("select 1", "select a from t limit 0", "select a from t where 1 = 0"):
        assert "\n  without Spark\n" in explain(planned(sql)) + "\n"
        none = Settings.of({"hivesql.local.max.bytes": "0"})
        assert "without Spark" not in explain(planned(sql, settings=none))


def test_the_limit_is_told() -> None:
    for where, told in (("", "there are"), (" where a = 1", "row groups that may hold such rows")):
        sql = f"select a from t{where}"
        assert f"without Spark while {told}" in explain(planned(sql))
        none = Settings.of({"hivesql.local.max.bytes": "0"})
        assert "without Spark" not in explain(planned(sql, settings=none))
