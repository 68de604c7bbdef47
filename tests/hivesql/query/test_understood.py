"""Which statements are small, and what is left to Spark."""

from __future__ import annotations

import datetime
from dataclasses import replace
from decimal import Decimal

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.explain import explain
from hivesql_planner.model.table import DEFAULT_PARTITION, Column, Constraint, Table, TableName
from hivesql_planner.plan import Change, Insert, Plan
from hivesql_planner.planning import plan
from hivesql_planner.predicates.predicate import (
    AllOf,
    AnyOf,
    Compare,
    Computed,
    Constant,
    IsNull,
    IsTrue,
    Not,
    OldValue,
    OneOf,
    Predicate,
    SmallChange,
    SmallInsert,
    UnlessFalse,
)
from hivesql_planner.settings.settings import Settings
from memory_catalog import MemoryCatalog

TABLE = Table(
    name=TableName("default", "t"),
    columns=(
        Column.of("a", "int"),
        Column.of("s", "string"),
        Column.of("n", "decimal(5,2)"),
        Column.of("d", "date"),
        Column.of("ts", "timestamp"),
        Column.of("b", "boolean"),
        Column.of("f", "double"),
        Column.of("c", "char(3)"),
    ),
    partition_columns=(Column.of("k", "int"), Column.of("p", "double")),
    location="/w/t",
    properties={"transactional": "true"},
)
WIDE = replace(TABLE, columns=TABLE.columns[:2], partition_columns=(Column.of("k", "string"),))


def planned(sql: str, table: Table, settings: Settings) -> Plan:
    catalog = MemoryCatalog.of(table)
    return plan(bind(parse(StatementText(sql)), catalog, settings=settings), settings)


def inserted(rows: str, table: Table = WIDE, **more: str) -> SmallInsert | None:
    into = "" if rows.startswith("(") else " "
    body = planned(f"INSERT INTO t{into}{rows}", table, Settings.of(more)).body
    assert isinstance(body, Insert)
    return body.branches[0].small


ROWS = {
    "values (1, 'a', 'x')": (((1, "a"),), (("x",),)),
    "VALUES (1, 'a', 'x'), (-2, NULL, null), (3, '\\u0041\\n', 'y')": (
        ((1, "a"), (-2, None), (3, "A\n")),
        (("x",), (DEFAULT_PARTITION,), ("y",)),
    ),
    "values (1, 'a', 'x'), (1, ('b'), \"y\"), (-1, 'c;(,)', 'z')": (
        ((1, "a"), (1, "b"), (-1, "c;(,)")),
        (("x",), ("y",), ("z",)),
    ),
    "(a, s, k) values (default, default, 'x') -- what": (((None, None),), (("x",),)),
    "(k, a) values ('x', 1), ('y', 2), ('z', 3)": (
        ((1, None), (2, None), (3, None)),
        (("x",), ("y",), ("z",)),
    ),
    "select 1 AS `_c0`, ('it\\'s') , \"q\"": (((1, "it's"),), (("q",),)),
    "SELECT `c1` AS `a`, NULL AS `s`, ('d') AS `k` FROM (values ('u', 3)) AS `rows`(`c0`, `c1`)": (
        ((3, None),),
        (("d",),),
    ),
}
NOT_ROWS = (
    "values (1 + 1, 'a', 'x')",
    "values (1, upper('a'), 'x')",
    "values (1, 'a' 'b', 'x')",
    "values (1.5, 'a', 'x')",
    "values (1, 1.5, 'x')",
    "values (1, 'a', 'x'), ('2', 'b', 'y')",
    "values (2147483648, 'a', 'x')",
    "values (1, 'a', current_date)",
    "select 1, 'a', 'x' where false",
    "select * from (values (1, 'a', 'x')) as r limit 1",
    "values (1, case when true then 'a' end, 'x')",
)


@pytest.mark.parametrize("sql", ROWS)
def test_rows_that_stand_in_a_statement_are_known(sql: str) -> None:
    small = inserted(sql)
    assert small is not None
    assert (small.rows, small.partitions) == ROWS[sql]


@pytest.mark.parametrize("sql", NOT_ROWS)
def test_other_rows_are_left_to_spark(sql: str) -> None:
    assert inserted(sql) is None


def test_what_is_small_can_be_set() -> None:
    rows = "values (1, 'a', 'x')"
    assert inserted(rows, **{"hivesql.local.max.bytes": "0"}) is None
    assert inserted(rows, **{"hivesql.local.max.bytes": "10"}) is None
    for properties in ({}, {"transactional": "true", "orc.compress": "LZO"}):
        assert inserted(rows, replace(WIDE, properties=properties)) is None


def changed(where: str | None, values: dict[str, str] | None = None, check: str = "") -> Plan:
    condition = f" WHERE {where}" if where else ""
    checks = (
        Constraint(kind="not null", name="nn", columns=("a",)),
        Constraint(kind="check", name="cc", text=check),
    )
    table = replace(TABLE, constraints=checks if check else ())
    if values is None:
        return planned(f"DELETE FROM t{condition}", table, Settings())
    assigned = ", ".join(f"{name} = {text}" for name, text in values.items())
    return planned(f"UPDATE t SET {assigned}{condition}", table, Settings())


def small_change(of: Plan) -> SmallChange | None:
    assert isinstance(of.body, Change)
    return of.body.small


A1 = Compare("a", "=", 1)
CONDITIONS: dict[str, Predicate | None] = {
    "true": None,
    "1 = 1": None,
    "1=1 AND (true AND 2L = 2)": None,
    "1 = 1 AND a = 1 AND true": A1,
    "NOT (b AND a = 1)": Not(AllOf((IsTrue("b"), A1))),
    "a = 1": A1,
    "T.`A` == 1": A1,
    "1 = a": A1,
    "2 < a": Compare("a", ">", 2),
    "a <> 9223372036854775807L": Compare("a", "<>", 2**63 - 1),
    "a = null": Compare("a", "=", None),
    "NOT a = 1 AND b OR s != 'x'": AnyOf((AllOf((Not(A1), IsTrue("b"))), Compare("s", "<>", "x"))),
    "(a = 1)": A1,
    "a in (2, 1, 2)": OneOf("a", (1, 2)),
    "a not in (1, NULL)": Not(OneOf("a", (1,), has_null=True)),
    "a is not null": Not(IsNull("a")),
    "a between -1 and 1": AllOf((Compare("a", ">=", -1), Compare("a", "<=", 1))),
    "n = 1.5": Compare("n", "=", Decimal("1.50")),
    "n >= 2": Compare("n", ">=", Decimal(2)),
    "d = '2020-02-29'": Compare("d", "=", datetime.date(2020, 2, 29)),
    "ts < timestamp '2020-01-01 00:00:00.5'": Compare(
        "ts", "<", datetime.datetime(2020, 1, 1, 0, 0, 0, 500000)
    ),
    "c = 'a '": Compare("c", "=", "a"),
    "a = 1 OR 2 = a OR a IN (3, NULL)": OneOf("a", (1, 2, 3), has_null=True),
    "d IN ('2020-01-02', DATE '2020-01-01')": OneOf(
        "d", (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2))
    ),
    "a = 1 /* x */": A1,
    "s = 'a\\nb'": Compare("s", "=", "a\nb"),
    "k = 1": Compare("k", "=", 1),
}
NOT_CONDITIONS = (
    "false",
    "1 = 2",
    "a = 1 OR true",
    "a = '1'",
    "CAST(a AS DOUBLE)=CAST('1' AS DOUBLE)",
    "a = 1.5",
    "n = 1.555",
    "f = 1.5",
    "p = 1.5",
    "d = CAST('2020-01-01' AS DATE FORMAT 'yyyy-dd-MM')",
    "CASE WHEN a = 1 THEN true END",
    "s = 1",
    "s like 'a%'",
    "a + 1 = 2",
    "a <=> 1",
    "d = '2020-2-9'",
    "d = '2021-02-29'",
    "d = '1500-01-01'",
    "ts = '2020-01-01'",
    "ts = '2020-01-01 00:00:00 Z'",
    "t.row__id.writeid = 1",
    "a in (1, 'x')",
    "length(s) = 1",
    "a = 1 = true",
    "b = 1",
    "a is true",
)


@pytest.mark.parametrize("where", CONDITIONS)
def test_simple_conditions_are_understood(where: str) -> None:
    small = small_change(changed(where))
    assert small is not None
    assert small.where == CONDITIONS[where]
    assert small.values is None


@pytest.mark.parametrize("where", NOT_CONDITIONS)
def test_other_conditions_are_left_to_spark(where: str) -> None:
    assert small_change(changed(where)) is None


COMPUTED = {
    "a + 1": Computed("a", "+", 1),
    "`t`.a-1": Computed("a", "-", 1),
    "-2 * a": Computed("a", "*", -2),
    "n + 1": Computed("n", "+", Decimal(1)),
    "n * -0.05": Computed("n", "*", Decimal("-0.05")),
    "n - 1.5BD": Computed("n", "-", Decimal("1.5")),
    "f + 1": Computed("f", "+", 1.0),
    "0.1 * f": Computed("f", "*", 0.1),
    "f - 1e3": Computed("f", "-", 1000.0),
}
NOT_VALUES = (
    {"s": "upper(s)"}, {"s": "`t`.a"}, {"a": "'x'"}, {"a": "a + 1 + 1"}, {"a": "a + 1.5"},
    {"a": "1 - a"}, {"a": "a + a"}, {"a": "a + 3000000000"}, {"a": "a / 2"}, {"s": "a + 1"},
    {"n": "n + 1.5D"}, {"f": "f + '1'"}, {"f": "1 - f"}, {"n": "n / 2"},
    {"n": f"n + 1.{1:037}"}, {"n": f"n * 123456789.{1:024}"},
    {"f": "f + 9007199254740993"}, {"n": "f + 1"}, {"f": "n + 1"},
)  # fmt: skip


def test_an_update_knows_its_new_row_and_what_must_hold() -> None:
    of = changed("a = 1", {"s": "'x'", "a": "`t`.a", "c": "'z'"}, check="c > 'b'")
    small = small_change(of)
    assert small is not None
    kept = [OldValue(name) for name in ("n", "d", "ts", "b", "f")]
    assert small.values == (OldValue("a"), Constant("x"), *kept, Constant("z  "))
    assert small.check == AllOf((Not(IsNull("a")), UnlessFalse(Compare("c", ">", "b"))))
    assert "while row groups that may hold such rows have at most 16777216 bytes" in explain(of)
    assert "there are at most 16777216 bytes to read" in explain(changed(None))
    for text, computed in COMPUTED.items():
        small = small_change(changed("a = 1", {computed.column: text}))
        assert small is not None
        assert small.values is not None
        assert small.values[TABLE.column_names.index(computed.column)] == computed
    for values in NOT_VALUES:
        assert small_change(changed("a = 1", values)) is None
