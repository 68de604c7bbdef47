"""Columns of OpenLineage: which columns of which tables each written one was made from."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hivesql.lineage.column_lineage import (
    lineage_json,
    trace_columns,
)
from memory_catalog import table

ORDERS = table("orders", "id int, day string, total int, tax int")
CUST = table("db2.cust", "id int, n int")
TOTALS = table("totals", "day string, total int")
DAYS = table("d.days", "a string, b int", "dt string, k int")
READ = [ORDERS, CUST]
DAY = {"orders.day"}
CASES = {
    "INSERT INTO totals SELECT day, sum(total + TAX) s FROM Orders GROUP BY day": {
        "day": DAY, "total": {"orders.total", "orders.tax"},
    },
    "INSERT INTO totals SELECT * FROM (SELECT day, id FROM orders) q": {
        "day": DAY, "total": {"orders.id"},
    },
    "WITH q AS (SELECT o.day x, c.n FROM orders o JOIN db2.cust c ON o.id = c.id) "
    "INSERT OVERWRITE TABLE d.days PARTITION (dt = 'x', k) SELECT x, max(n), 1 FROM q GROUP BY x": {
        "a": DAY, "b": {"cust.n"}, "k": set(),
    },
    "INSERT INTO d.days (b, a) SELECT id, 'x' FROM orders": {
        "b": {"orders.id"}, "a": set(),
    },
    "FROM orders INSERT INTO totals SELECT day, id INSERT INTO d.days PARTITION (dt='a', k=1) "
    "SELECT 'x', tax": {
        "day": DAY, "total": {"orders.id"}, "a": set(), "b": {"orders.tax"},
    },
    "INSERT INTO totals SELECT w, count(1) FROM orders LATERAL VIEW explode(split(day, ' ')) t AS w"
    " GROUP BY w": {"day": DAY, "total": set()},
    "INSERT INTO totals SELECT day, id FROM orders UNION ALL SELECT 'x', n FROM db2.cust": {
        "day": DAY, "total": {"orders.id", "cust.n"},
    },
    "UPDATE totals SET total = total + 1 WHERE day = 'a'": {"total": {"totals.total"}},
    "UPDATE totals SET total = o.id FROM orders o WHERE o.day = totals.day": {
        "total": {"orders.id"},
    },
    "MERGE INTO totals t USING (SELECT day, sum(id) s FROM orders GROUP BY day) x ON t.day = x.day "
    "WHEN MATCHED THEN UPDATE SET total = t.total + x.s "
    "WHEN NOT MATCHED THEN INSERT VALUES (x.day, 1)": {
        "total": {"totals.total", "orders.id"}, "day": DAY,
    },
    "MERGE INTO totals t USING orders x ON t.day = x.day WHEN MATCHED THEN UPDATE SET * "
    "WHEN NOT MATCHED THEN INSERT *": {"day": DAY, "total": {"orders.total"}},
    "CREATE TABLE totals AS SELECT day, id FROM orders": {"day": DAY, "total": {"orders.id"}},
    "INSERT INTO `totals` SELECT `Day`, O.`iD` FROM `default`.`Orders` `o`": {
        "day": DAY, "total": {"orders.id"},
    },
    "INSERT INTO totals VALUES ('a', 1)": {},
    "DELETE FROM totals": {},
    "INSERT INTO totals SELECT v.* FROM some_view v": {},
}  # fmt: skip


@pytest.mark.parametrize("sql", CASES)
def test_sources_of_columns(sql: str) -> None:
    written = [target for target in (TOTALS, DAYS) if target.name.name in sql]
    traced = trace_columns(sql, READ, written)
    columns = {
        column: {f"{source.table.partition('.')[2]}.{source.column}" for source in sources}
        for made in traced.values()
        for column, sources in made.items()
    }
    assert columns == CASES[sql]


SUMS = replace(
    table("sums", "d string, s int"),
    view_text="SELECT `orders`.`day`, sum(`orders`.`total` + `orders`.`tax`)"
    " FROM `default`.`orders` GROUP BY `orders`.`day`",
)
BOTH = replace(
    table("both", "d string, s int, n int"),
    view_text="WITH q AS (SELECT `s`.`d`, `s`.`s` FROM `default`.`sums` `s`) "
    "SELECT `q`.`d`, `q`.`s`, `c`.`n` FROM q JOIN `db2`.`cust` `c` ON `q`.`s` = `c`.`id`",
)
SUMMED = {"orders.total", "orders.tax"}
THROUGH_VIEWS = {
    "INSERT INTO totals SELECT d, s FROM sums": {"day": DAY, "total": SUMMED},
    "INSERT INTO totals SELECT * FROM default.sums v": {"day": DAY, "total": SUMMED},
    "INSERT INTO totals SELECT b.d, b.s + b.n FROM both b JOIN orders o ON o.day = b.d": {
        "day": DAY, "total": SUMMED | {"cust.n"},
    },
    "WITH sums AS (SELECT day d, id s FROM orders) INSERT INTO totals SELECT * FROM sums": {
        "day": DAY, "total": {"orders.id"},
    },
    "INSERT INTO totals SELECT d, max(n) OVER (PARTITION BY d) FROM both": {
        "day": DAY, "total": DAY | {"cust.n"},
    },
    "UPDATE totals SET total = (SELECT max(s) FROM sums)": {"total": SUMMED},
    "MERGE INTO totals t USING sums v ON t.day = v.d WHEN MATCHED THEN UPDATE SET total = v.s + "
    "t.total WHEN NOT MATCHED THEN INSERT VALUES (v.d, v.s)": {
        "total": SUMMED | {"totals.total"}, "day": DAY,
    },
    "CREATE TABLE totals AS SELECT d, s FROM (SELECT * FROM sums) q": {
        "day": DAY, "total": SUMMED,
    },
}  # fmt: skip


@pytest.mark.parametrize("sql", THROUGH_VIEWS)
def test_sources_are_those_behind_views(sql: str) -> None:
    traced = trace_columns(sql, READ, [TOTALS], [SUMS, BOTH])
    assert set(traced) == {TOTALS.name}
    columns = {
        column: {f"{source.table.partition('.')[2]}.{source.column}" for source in sources}
        for column, sources in traced[TOTALS.name].items()
    }
    assert columns == THROUGH_VIEWS[sql]


def test_a_table_that_a_query_makes_has_the_columns_of_the_query() -> None:
    made = table("made", "")
    for sql, columns in (
        ("CREATE TABLE made STORED AS ORC AS SELECT day AS Moment, count(*) FROM orders GROUP BY 1",
         {"moment": DAY, "_c1": set()}),
        ("CREATE TABLE made AS SELECT * FROM sums", {"d": DAY, "s": SUMMED}),
    ):  # fmt: skip
        traced = trace_columns(sql, READ, [made], [SUMS])[made.name]
        assert {
            column: {f"{source.table.partition('.')[2]}.{source.column}" for source in sources}
            for column, sources in traced.items()
        } == columns


def test_a_name_of_two_tables_tells_nothing() -> None:
    twins = [table("db1.t", "a int"), table("db2.t", "a int")]
    target = table("totals", "a int")
    assert trace_columns("INSERT INTO totals SELECT a FROM t", twins, [target]) == {}


def test_lineage_is_written_as_hives_logger_does() -> None:
    sql = "INSERT INTO totals SELECT day, sum(total + tax) FROM orders GROUP BY day"
    text = lineage_json(sql, "shop", READ, [TOTALS])
    document = json.loads(text)
    assert (document["database"], document["queryText"]) == ("shop", sql)
    assert document["edges"] == [
        {"sources": [2], "targets": [0], "edgeType": "PROJECTION"},
        {"sources": [3, 4], "targets": [1], "edgeType": "PROJECTION"},
    ]
    names = [vertex["vertexId"] for vertex in document["vertices"]]
    assert names == [
        "default.totals.day", "default.totals.total",
        "default.orders.day", "default.orders.tax", "default.orders.total",
    ]  # fmt: skip
    assert lineage_json("DELETE FROM totals", "shop", [], [TOTALS]) == ""
