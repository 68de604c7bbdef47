"""What Spark is sent for a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.expressions.function_rules import RULES
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from hivesql_planner.model.conversions import text_to_instant
from hivesql_planner.relations import Query
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import InsertRows, SelectRows
from memory_catalog import warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def query(sql: str, database: str = "default") -> Query:
    made = bind(parse(StatementText(sql)), warehouse(), database=database)
    assert isinstance(made, SelectRows)
    return made.query


T = "`default__t__1`"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # set operations one after the other, also where INTERSECT is the later one
        (
            "SELECT id FROM t UNION ALL SELECT k FROM db2.t INTERSECT SELECT 1",
            f"(SELECT id FROM {T} AS `t` UNION ALL SELECT k FROM `db2__t__1` AS `t` ) "
            "INTERSECT SELECT 1 AS `_c0`",
        ),
        (
            "SELECT 1 INTERSECT SELECT 2 INTERSECT SELECT 3 UNION SELECT 4",
            "SELECT 1 AS `_c0` INTERSECT SELECT 2 AS `_c0` INTERSECT SELECT 3 AS `_c0` "
            "UNION SELECT 4 AS `_c0`",
        ),
        (
            "WITH w(a) AS (SELECT 1), v AS (SELECT 2) "
            "(SELECT a FROM w) MINUS SELECT 3 INTERSECT SELECT 4 "
            "EXCEPT SELECT 5 INTERSECT SELECT 6",
            "WITH w(a) AS (SELECT 1 AS `_c0`), v AS (SELECT 2 AS `_c0`) (((SELECT a FROM w) "
            "MINUS SELECT 3 AS `_c0` ) INTERSECT SELECT 4 AS `_c0` EXCEPT SELECT 5 AS `_c0` ) "
            "INTERSECT SELECT 6 AS `_c0`",
        ),
        (
            "SELECT 1 UNION (SELECT 2 UNION SELECT 3 INTERSECT SELECT 4)",
            "SELECT 1 AS `_c0` UNION ((SELECT 2 AS `_c0` UNION SELECT 3 AS `_c0` ) "
            "INTERSECT SELECT 4 AS `_c0`)",
        ),
        # FLOAT beside DECIMAL
        (
            "SELECT cast(id AS FLOAT) f, id FROM t UNION ALL (SELECT 1.25, id FROM t LIMIT 1) "
            "UNION SELECT cast(id AS DECIMAL(5,2)), 3 FROM t WHERE id > 3 ORDER BY f LIMIT 5",
            f"SELECT cast(id AS FLOAT) f, id FROM {T} AS `t` UNION ALL (SELECT CAST(`c0` AS FLOAT) "
            "AS `_c0`, `c1` AS `id` FROM (SELECT 1.25 AS `_c0`, id FROM `default__t__2` AS `t` "
            "LIMIT 1) AS `side`(`c0`, `c1`)) UNION SELECT CAST(`c0` AS FLOAT) AS `id`, `c1` AS "
            "`_c1` FROM (SELECT cast(id AS DECIMAL(5,2)) AS `id`, 3 AS `_c1` FROM `default__t__3` "
            "AS `t` WHERE id > 3) AS `side`(`c0`, `c1`) ORDER BY f NULLS LAST LIMIT 5",
        ),
        (
            "SELECT 1.5 UNION ALL SELECT CAST(1.1 AS FLOAT)",
            "SELECT * FROM VALUES (CAST(1.5 AS FLOAT)) AS `rows`(`_c0`) UNION ALL "
            "SELECT * FROM VALUES (CAST(1.1 AS FLOAT)) AS `rows`(`_c0`)",
        ),
        # names in VALUES, and types of its columns
        (
            "SELECT x, `A b` FROM (VALUES (1 x, 'a' AS `A b`, 3), (2, 'b', 4)) q",
            "SELECT x, `A b` AS `a b` FROM (SELECT * FROM (VALUES (1, 'a', 3), (2, 'b', 4)) "
            "AS `rows`(`x`, `a b`, `col3`)) q",
        ),
        (
            "VALUES (1 x, rand() y), (3, 4)",
            "SELECT * FROM ( SELECT 1, rand()  UNION ALL  SELECT 3, 4 ) AS `rows`(`x`, `y`)",
        ),
        (
            "SELECT col1 = '2' a FROM (VALUES (1), (NULL)) q",
            "SELECT CAST(col1 AS DOUBLE) = CAST('2' AS DOUBLE) a FROM (VALUES (1), (NULL)) q",
        ),
        # functions over windows
        (
            "SELECT count() OVER () + 1 a, count(DISTINCT) OVER (PARTITION BY id) b FROM t",
            "SELECT count(*) OVER () + 1 a, count(*) OVER (PARTITION BY id) b "
            f"FROM {T} AS `t`",
        ),
        (
            "SELECT id, sum(id) OVER () s FROM t ORDER BY sum(id) OVER () DESC, id",
            f"SELECT id, sum(id) OVER () s FROM {T} AS `t` ORDER BY 2 DESC NULLS FIRST, "
            "id NULLS LAST",
        ),
        (
            "SELECT name, sum(id) s, rank() OVER (ORDER BY name) FROM t GROUP BY name "
            "ORDER BY sum(id), name",
            "SELECT name, sum(id) s, rank() OVER (ORDER BY name NULLS LAST) AS `_c2` "
            f"FROM {T} AS `t` GROUP BY name ORDER BY 2 NULLS LAST, name NULLS LAST",
        ),
        # each grouping set once
        (
            "SELECT id, name FROM t GROUP BY id, name "
            "GROUPING SETS ((id, name), (), (name, id), id, (id), ())",
            f"SELECT id, name FROM {T} AS `t` GROUP BY id, name "
            "GROUPING SETS ((id, name), (), id)",
        ),
        # IN of values of several types
        (
            "SELECT 1 a FROM t WHERE name NOT IN (1, 'a', NULL) AND NOT name IN (2, 'b')",
            f"SELECT 1 a FROM {T} AS `t` WHERE NOT (CAST(name AS DOUBLE) IN (CAST(1 AS DOUBLE), "
            "CAST(NULL AS DOUBLE)) OR name IN ('a')) AND "
            "NOT (CAST(name AS DOUBLE) IN (CAST(2 AS DOUBLE)) OR name IN ('b'))",
        ),
        # NULL and numbers as conditions
        (
            "SELECT a.id FROM t a JOIN t b ON NULL WHERE NULL",
            "SELECT a.id FROM `default__t__1` a JOIN `default__t__2` b ON CAST(NULL AS BOOLEAN) "
            "WHERE CAST(NULL AS BOOLEAN)",
        ),
        (
            "SELECT lag(id) OVER (PARTITION BY id) l FROM t",
            f"SELECT lag(id) OVER (PARTITION BY id ORDER BY 1) l FROM {T} AS `t`",
        ),
        # names of tables
        ("SELECT id FROM t", f"SELECT id FROM {T} AS `t`"),
        ("SELECT x.id FROM t x", f"SELECT x.id FROM {T} x"),
        ("SELECT x.id FROM `T` AS x", f"SELECT x.id FROM {T} AS x"),
        ("SELECT t.k FROM db2.t", "SELECT t.k FROM `db2__t__1` AS `t`"),
        ("SELECT db2.t.k FROM db2.t", "SELECT t.k FROM `db2__t__1` AS `t`"),
        ("SELECT a.id FROM t a, t b", f"SELECT a.id FROM {T} a, `default__t__2` b"),
        ("SELECT id FROM t TABLESAMPLE (5 ROWS)",
         f"SELECT id FROM {T} TABLESAMPLE (5 ROWS) AS `t`"),
        ("SELECT id FROM t TABLESAMPLE (5 ROWS) x", f"SELECT id FROM {T} TABLESAMPLE (5 ROWS) x"),
        ("FROM t SELECT id", f"FROM {T} AS `t` SELECT id"),
        ("SELECT 't', \"t\" x FROM t -- t", f"SELECT 't' AS `_c0`, \"t\" x FROM {T} AS `t`"),
        ("SELECT id FROM t WHERE id IN (SELECT id FROM s)",
         f"SELECT id FROM {T} AS `t` WHERE id IN (SELECT id FROM `default__s__1` AS `s`)"),
        ("SELECT id FROM (t JOIN s USING (id))",
         f"SELECT id FROM ({T} AS `t` JOIN `default__s__1` AS `s` USING (id))"),
        # the columns of a star beside GROUP BY have numbers for names outside of the query
        ("SELECT * FROM s GROUP BY id, name, op",
         "SELECT * FROM `default__s__1` AS `s` GROUP BY id, name, op"),
        ("SELECT x.`_col2` FROM (SELECT 1, id, *, max(id) FROM s GROUP BY id, name, op) x",
         "SELECT x.`_col2` FROM (SELECT 1 AS `_c0`, id, `s`.`id` AS `_col2`, `s`.`name` AS `_col3`"
         ", `s`.`op` AS `_col4`, max(id) AS `_c3` FROM `default__s__1` AS `s` "
         "GROUP BY id, name, op) x"),
        ("SELECT q.id FROM (SELECT DISTINCT * FROM s GROUP BY id, name, op) q",
         "SELECT q.id FROM (SELECT DISTINCT * FROM `default__s__1` AS `s` "
         "GROUP BY id, name, op) q"),
        # CTEs shadow tables
        ("WITH t AS (SELECT 1 AS a) SELECT a FROM t", "WITH t AS (SELECT 1 AS a) SELECT a FROM t"),
        ("WITH s AS (SELECT id FROM t), t AS (SELECT id FROM s) SELECT id FROM t",
         f"WITH s AS (SELECT id FROM {T} AS `t`), t AS (SELECT id FROM s) SELECT id FROM t"),
        ("WITH t AS (SELECT 1 AS a) SELECT a FROM t, default.s",
         "WITH t AS (SELECT 1 AS a) SELECT a FROM t, `default__s__1` AS `s`"),
        # views
        ("SELECT id FROM v",
         f"SELECT id FROM (SELECT `id`, `name` FROM {T} `x` WHERE id > 1) AS `v`"),
        ("SELECT z.c FROM renamed z",
         f"SELECT z.c FROM (SELECT * FROM (SELECT id, name FROM {T} AS `t`) AS `renamed`(`a`, `c`))"
         " z"),
        ("WITH t AS (SELECT 1) SELECT id FROM v",
         f"WITH t AS (SELECT 1 AS `_c0`) SELECT id FROM (SELECT `id`, `name` FROM {T} `x` "
         "WHERE id > 1) AS `v`"),
        # Hive's order of NULLs
        ("SELECT id FROM t ORDER BY id, name DESC, amount ASC",
         f"SELECT id FROM {T} AS `t` ORDER BY id NULLS LAST, name DESC NULLS FIRST, "
         "amount ASC NULLS LAST"),
        ("SELECT id FROM t ORDER BY id nulls  first",
         f"SELECT id FROM {T} AS `t` ORDER BY id nulls  first"),
        ("SELECT id, name FROM t SORT BY (id DESC, name)",
         f"SELECT id, name FROM {T} AS `t` SORT BY id DESC NULLS FIRST, name NULLS LAST"),
        ("SELECT id FROM t SORT BY ((id) + 1 ASC NULLS FIRST) LIMIT 1",
         f"SELECT id FROM {T} AS `t` SORT BY (id) + 1 ASC NULLS FIRST LIMIT 1"),
        ("SELECT id FROM t SORT BY (id) + 1, (id)",
         f"SELECT id FROM {T} AS `t` SORT BY (id) + 1 NULLS LAST, (id) NULLS LAST"),
        ("SELECT id FROM t DISTRIBUTE BY id SORT BY name",
         f"SELECT id FROM {T} AS `t` DISTRIBUTE BY id SORT BY name NULLS LAST"),
        ("SELECT id FROM t CLUSTER BY id",
         f"SELECT id FROM {T} AS `t` DISTRIBUTE BY id SORT BY id NULLS LAST"),
        ("SELECT rank() OVER (PARTITION BY id ORDER BY name) r FROM t",
         f"SELECT rank() OVER (PARTITION BY id ORDER BY name NULLS LAST) r FROM {T} AS `t`"),
        # Hive's names of columns
        ("SELECT id + 1, ID, name AS N, hex(id), sum(id) OVER () FROM t",
         f"SELECT id + 1 AS `_c0`, ID AS `id`, name AS `n`, hex(id) AS `_c3`, "
         "sum(id) OVER () AS `sum_window_0` "
         f"FROM {T} AS `t`"),
        *((f"SELECT {item} a, max(id) OVER () FROM t {rest} ORDER BY name",
           f"SELECT {item} a, max(id) OVER () AS `{name}` FROM {T} AS `t` {rest} "
           "ORDER BY name NULLS LAST")
          for item, rest, name in (
              ("1", "GROUP BY name, id", "_c1"), ("id", "WHERE id = 1", "_c1"),
              ("id", "WHERE 1 = id AND name > 'a'", "_c1"), ("'x'", "WHERE id > 1", "_c1"),
              ("name", "WHERE id = 1", "max_window_0"), ("id", "WHERE id > 1", "max_window_0"))),
        *((f"SELECT {item}, sum(id) OVER (PARTITION BY name) FROM t ORDER BY {key}",
           f"SELECT {item}, sum(id) OVER (PARTITION BY name) AS `{name}` FROM {T} AS `t` "
           f"ORDER BY {key} NULLS LAST")
          for item, key, name in (
              ("id", "id", "sum_window_0"), ("id a", "a", "sum_window_0"), ("id", "name", "_c1"),
              ("id a", "id", "_c1"), ("id", "id + 1", "_c1"), ("*", "name", "sum_window_0"))),
        ("SELECT DISTINCT id, max(id) OVER () FROM t",
         f"SELECT DISTINCT id, max(id) OVER () AS `_c1` FROM {T} AS `t`"),
        ("SELECT s.f, s.g.h, m['k'], a[0] FROM n",
         "SELECT s.f, s.g.h, m['k'] AS `_c2`, a[0] AS `_c3` FROM `default__n__1` AS `n`"),
        ("SELECT explode(a) FROM n", "SELECT explode(a) FROM `default__n__1` AS `n`"),
        ("SELECT explode(m) AS (k, v) FROM n",
         "SELECT explode(m) AS (k, v) FROM `default__n__1` AS `n`"),
        ("SELECT id, grouping__id FROM t GROUP BY id WITH ROLLUP",
         f"SELECT id, grouping_id() AS `grouping__id` FROM {T} AS `t` GROUP BY id WITH ROLLUP"),
        # what Spark writes or reads differently
        ("SELECT id FROM t LIMIT 10, 5", f"SELECT id FROM {T} AS `t` LIMIT 5 OFFSET 10"),
        ("SELECT CAST(name AS VARCHAR(3)) x FROM t",
         f"SELECT substring(CAST(name AS STRING), 1, 3) x FROM {T} AS `t`"),
        ("SELECT CAST(CAST(id AS CHAR(2)) AS VARCHAR(3)) FROM t",
         "SELECT substring(CAST(rtrim(substring(CAST(id AS STRING), 1, 2)) AS STRING), 1, 3) "
         f"AS `_c0` FROM {T} AS `t`"),
        ("SELECT CAST('x' AS TIMESTAMP WITH LOCAL TIME ZONE) a",
         "SELECT " + text_to_instant().replace("@0", "'x'") + " a"),
        ("SELECT TIMESTAMPLOCALTZ '2020-01-01 00:00:00' a",
         "SELECT TIMESTAMP_LTZ '2020-01-01 00:00:00' a"),
        ("SELECT 'it''s' a, 'b' \"c\" d", "SELECT 'it' 's' a, 'b' \"c\" d"),
        ("SELECT a FROM TABLE(VALUES (1, 'x')) q(a, b)", "SELECT a FROM (VALUES (1, 'x')) q(a, b)"),
        ("VALUES (1, 'a'), (2, NULL)", "VALUES (1, 'a'), (2, NULL)"),
        # what stays: no function is renamed
        ("SELECT log10(id) a, date_sub(DATE '2020-01-01', 1) b, nvl(name, 'x') c FROM t",
         "SELECT log10(id) a, date_sub(DATE '2020-01-01', 1) b, nvl(name, 'x') c "
         f"FROM {T} AS `t`"),
        # row ids
        ("SELECT row__id, t.* FROM t",
         f"SELECT row__id AS `row__id`, `t`.`id`, `t`.`name`, `t`.`amount` FROM {T} AS `t`"),
        ("SELECT * FROM t WHERE ROW__ID.writeid > 5",
         f"SELECT `t`.`id`, `t`.`name`, `t`.`amount` FROM {T} AS `t` WHERE ROW__ID.writeid > 5"),
        ("SELECT x.row__id.rowid FROM t x", f"SELECT x.row__id.rowid FROM {T} x"),
        ("SELECT * FROM (SELECT row__id, id FROM t) q",
         f"SELECT * FROM (SELECT row__id AS `row__id`, id FROM {T} AS `t`) q"),
        ("SELECT *, s.row__id.rowid FROM t JOIN s ON t.id = s.id",
         "SELECT `t`.`id`, `t`.`name`, `t`.`amount`, `s`.`id`, `s`.`name`, `s`.`op`, "
         f"s.row__id.rowid FROM {T} AS `t` JOIN `default__s__1` AS `s` ON t.id = s.id"),
        ("SELECT only.row__id, * FROM only",
         "SELECT CAST(NULL AS STRUCT<writeid:BIGINT,bucketid:INT,rowid:BIGINT>) AS `row__id`, * "
         "FROM `default__only__1` AS `only`"),
    ],
)  # fmt: skip
def test_text_for_spark(sql: str, expected: str) -> None:
    assert query(sql).sql == expected


def test_only_the_tables_asked_for_row_ids_carry_them() -> None:
    made = query("SELECT x.row__id FROM t x JOIN s ON x.id = s.id JOIN t y ON y.id = s.id")
    assert [(one.view, one.scan.with_row_id) for one in made.sources] == [
        ("default__t__1", True), ("default__s__1", False), ("default__t__2", False),
    ]  # fmt: skip


def test_star_beside_row_ids_needs_known_columns() -> None:
    with pytest.raises(NotSupported, match="beside row__id"):
        query("SELECT row__id, * FROM t LATERAL VIEW explode(array(1)) x")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM t", "id int, name string, amount decimal(10,2)"),
        ("SELECT name n, x.* FROM s x", "n string, id int, name string, op string"),
        ("SELECT q.b FROM (SELECT id a, name b FROM t) q", "b string"),
        ("WITH q(z) AS (SELECT id FROM t) SELECT * FROM q", "z int"),
        ("SELECT t.id FROM t LEFT SEMI JOIN s ON t.id = s.id", "id int"),
        ("SELECT * FROM t LEFT SEMI JOIN s ON t.id = s.id",
         "id int, name string, amount decimal(10,2)"),
        ("SELECT id FROM t UNION ALL SELECT id FROM s", "id int"),
        ("SELECT id + 1, id / 2, upper(name), amount * id FROM t",
         "_c0 int, _c1 double, _c2 string, _c3 decimal(21,2)"),
        ("SELECT sum(amount), avg(id), count(*), max(name) FROM t",
         "_c0 decimal(20,2), _c1 double, _c2 bigint, _c3 string"),
        ("SELECT round(amount, 1) FROM t", "_c0 "),
        ("SELECT * FROM t JOIN s USING (id)", ""),
    ],
)  # fmt: skip
def test_columns_that_are_known(sql: str, expected: str) -> None:
    assert ", ".join(f"{one.name} {one.type}" for one in query(sql).columns) == expected


@pytest.mark.parametrize(
    ("sql", "feature"),
    [
        ("SELECT * FROM db2.t.files", "names of three parts"),
        ("SELECT * FROM range(3)", "table functions"),
        ("WITH RECURSIVE q AS (SELECT 1) SELECT * FROM q", "WITH RECURSIVE"),
        ("SELECT RAW__DATA__SIZE FROM t", "RAW__DATA__SIZE"),
        ("SELECT BLOCK__OFFSET__INSIDE__FILE FROM t", "BLOCK__OFFSET__INSIDE__FILE of default.t"),
        ("SELECT id FROM t QUALIFY id = 1 SORT BY id", "SORT BY with QUALIFY"),
        ("SELECT TRANSFORM (id) USING 'cat' AS (i) FROM t QUALIFY id = 1", "that only Spark knows"),
        ("SELECT DISTINCT id FROM t QUALIFY id = 1 ORDER BY id + 1", "DISTINCT … QUALIFY does not"),
        ("SELECT id FROM t WHERE id > ANY (1, 2)", "of anything but a subquery"),
        ("SELECT id FROM t WHERE id > ALL (SELECT id FROM s LIMIT 1)", "> ALL of a subquery that"),
        ("SELECT id FROM t WHERE id < ANY (SELECT rand() FROM s)", "< ANY of a subquery that"),
    ],
)
def test_what_is_refused_by_name(sql: str, feature: str) -> None:
    with pytest.raises(NotSupported, match=feature) as caught:
        query(sql)
    assert caught.value.line == 1


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("INSERT INTO t VALUES (1, 'a', DEFAULT)", "VALUES (1, 'a', NULL)"),
        ("INSERT INTO t (name, id) VALUES ('a', 1)",
         "SELECT `c1` AS `id`, `c0` AS `name`, NULL AS `amount` FROM (VALUES ('a', 1)) "
         "AS `rows`(`c0`, `c1`)"),
        ("INSERT INTO p PARTITION (ds='x', hr) (hr, id) SELECT 7, id FROM t",
         "SELECT `c1` AS `id`, NULL AS `v`, NULL AS `day`, `c0` AS `hr` FROM (SELECT 7 AS `_c0`, "
         "id FROM `default__t__1` AS `t`) AS `rows`(`c0`, `c1`)"),
        ("INSERT INTO t SELECT * FROM t WHERE id < 0",
         "SELECT * FROM `default__t__1` AS `t` WHERE id < 0"),
    ],
)  # fmt: skip
def test_the_query_of_an_insert_is_in_table_order(sql: str, expected: str) -> None:
    made = bind(parse(StatementText(sql)), warehouse())
    assert isinstance(made, InsertRows)
    assert made.targets[0].query.sql == expected


def test_branches_of_union_all_are_queries_of_their_own() -> None:
    sql = "WITH q AS (SELECT * FROM s) INSERT INTO t SELECT id, name, 1 FROM q UNION ALL TABLE_"
    sql = sql.replace("TABLE_", "SELECT id, name, 2 FROM s")
    made = bind(parse(StatementText(sql)), warehouse())
    assert isinstance(made, InsertRows)
    first, second = made.targets[0].union_branches
    assert first.sql.splitlines() == [
        "WITH q AS (SELECT * FROM `default__s__3` AS `s`)",
        "SELECT id, name, 1 AS `_c2` FROM q",
    ]
    assert second.sql.splitlines()[1] == "SELECT id, name, 2 AS `_c2` FROM `default__s__5` AS `s`"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT `(id|name)?+.+` FROM t", "SELECT `t`.`amount` FROM"),
        ("SELECT `.*M.*`, `id` FROM t", "SELECT `t`.`name`, `t`.`amount`, `id` FROM"),
        ("SELECT x.`(ds|hr)?+.+`, s.id FROM p x, s",
         "SELECT `x`.`id`, `x`.`v`, `x`.`day`, s.id FROM"),
        ("SELECT `nosuch.*` FROM t", "1:8: [Error 10002] no column matches 'nosuch.*'"),
        ("SELECT `(` FROM t", "1:8: '(' is no regular expression"),
    ],
)  # fmt: skip
def test_quoted_names_as_regular_expressions(sql: str, expected: str) -> None:
    settings = Settings(values={"hive.support.quoted.identifiers": "none"})
    try:
        made = bind(parse(StatementText(sql)), warehouse(), settings=settings)
    except SemanticError as error:
        assert expected in str(error)
        return
    assert isinstance(made, SelectRows)
    assert made.query.sql.startswith(expected)


@pytest.mark.spark
def test_spark_understands_the_text_and_means_what_hive_means(spark: SparkSession) -> None:
    data: dict[str, list[tuple[Any, ...]]] = {
        "default__t__1": [(1, "one", None), (2, None, None), (None, "none", None)],
        "default__s__1": [(1, "uno", "x"), (3, "tres", "y")],
    }
    types = {"default__t__1": "id int, name string, amount decimal(10,2)",
             "default__s__1": "id int, name string, op string"}  # fmt: skip

    def rows(sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        made = query(sql)
        views = [source.view for source in made.sources]
        for view in views:
            spark.createDataFrame(data[view], types[view]).createOrReplaceTempView(view)
        try:
            found = spark.sql(made.sql)
            return found.columns, [tuple(row) for row in found.collect()]
        finally:
            for view in views:
                spark.catalog.dropTempView(view)

    assert rows("SELECT ID FROM t ORDER BY id") == (["id"], [(1,), (2,), (None,)])
    assert rows("SELECT name FROM t ORDER BY name DESC LIMIT 1, 1") == (["name"], [("one",)])
    assert rows("SELECT id, count(*) FROM t GROUP BY id HAVING count(*) > 0 ORDER BY id LIMIT 1") \
        == (["id", "_c1"], [(1, 1)])  # fmt: skip
    assert rows("SELECT CAST('abcdef' AS VARCHAR(3)), CAST('ab ' AS CHAR(3)), 'it''s'")[1] == [
        ("abc", "ab", "its")
    ]
    assert rows("FROM t SELECT id WHERE id = 1") == (["id"], [(1,)])
    assert rows("WITH t2 AS (SELECT id FROM t) FROM t2 JOIN s ON t2.id = s.id SELECT s.name")[1] \
        == [("uno",)]  # fmt: skip
    assert rows("SELECT id FROM v")[1] == [(2,)]
    assert rows("SELECT z.c FROM renamed z WHERE z.a = 1")[1] == [("one",)]
    assert rows("SELECT id, grouping__id FROM t GROUP BY id WITH ROLLUP ORDER BY grouping__id DESC "
                "LIMIT 1") == (["id", "grouping__id"], [(None, 1)])  # fmt: skip
    assert rows("SELECT * FROM TABLE(VALUES (1, 'x')) q(a, b)") == (["a", "b"], [(1, "x")])
    assert rows("SELECT id FROM (t JOIN s USING (id))")[1] == [(1,)]
    assert len(rows("SELECT id FROM t TABLESAMPLE (5 ROWS)")[1]) == 3


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.id, count(1) FROM t GROUP BY id",
        "SELECT ID + 1, (id+1)*2, count(1) FROM t GROUP BY (id + 1)",
        "SELECT id, sum(count(*)) OVER (PARTITION BY id) FROM t GROUP BY id",
        "SELECT id, rank() OVER (ORDER BY sum(id)) FROM t GROUP BY id",
        "SELECT max(id) OVER (), name FROM t",
        "SELECT first_value(id) OVER (ORDER BY name) FROM t",
        "SELECT substr(name, 1, 2), count(1) FROM t GROUP BY SUBSTR(name,1,2)",
        "SELECT id, name, grouping__id, grouping(id), count(1) FROM t GROUP BY id, name WITH CUBE",
        "SELECT id, name, count(1) FROM t GROUP BY id, name GROUPING SETS ((id), (id, name), ())",
        "SELECT id, name, count(1) FROM t GROUP BY cube(id, name)",
        "SELECT id k, count(1) c FROM t GROUP BY id HAVING c > 1 AND k > 2",
        "SELECT count(1), (SELECT max(id) FROM s) FROM t",
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM s WHERE s.id = t.id HAVING count(*) > 1)",
        "SELECT *, count(1) FROM t GROUP BY id, name, amount",
        "SELECT x, count(1) FROM t LATERAL VIEW explode(array(1, 2)) e AS x GROUP BY x",
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY id), name FROM t GROUP BY name",
        "SELECT CASE WHEN id = 1 THEN 'a' END, count(1) FROM t "
        "GROUP BY case when id = 1 then 'a' end",
        "SELECT name IS NULL, count(1) FROM t GROUP BY name IS NULL",
        "SELECT r.a.b, r.a, count(1) FROM (SELECT named_struct('b', 1) AS a FROM t) r GROUP BY r.a",
    ],
)
def test_what_may_stand_beside_aggregates(sql: str) -> None:
    assert isinstance(bind(parse(StatementText(sql)), warehouse()), SelectRows)


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        (
            "name, 0.5",
            "Only numeric type arguments are accepted but string was passed as parameter 1.",
        ),
        ("DISTINCT id, 0.5", "percentile_approx takes no DISTINCT"),
        ("id, 1", "decimal array argument is accepted as parameter 2, but INT was passed"),
        ("id, array()", "accepted as parameter 2, but"),
        ("id, -0.5", "shares strictly between 0 and 1, not -0.5"),
        ("id, array(0.5, 1.0)", "shares strictly between 0 and 1, not 1.0"),
        ("id, 0.5, 0", "percentile_approx takes one bin or more, not 0"),
        ("id, 0.5, -3", "percentile_approx takes one bin or more, not -3"),
    ],
)
def test_what_percentiles_are_not_estimated_of(argument: str, told: str) -> None:
    with pytest.raises(SemanticError, match=told) as caught:
        query(f"SELECT percentile_approx({argument}) FROM t")
    assert caught.value.code == 40000


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("approx_distinct(array(id))", "Only primitive/struct rows are accepted but array<int>"),
        ("approx_distinct(id, name)", "Function only takes 1 parameter"),
        ("approx_distinct(DISTINCT id)", "approx_distinct takes no DISTINCT"),
        ("ngrams(name, 2, 3)", "Only list type arguments are accepted but string was passed"),
        ("ngrams(array(id), 2, 3)", "array<array<string>> is allowed, but array<int> was passed"),
        ("ngrams(split(name, ' '), 2)", "Please specify either three or four arguments"),
        ("ngrams(split(name, ' '), 'a', 3)", "integers are accepted but string was passed as"),
        ("ngrams(DISTINCT split(name, ' '), 2, 3)", "ngrams takes no DISTINCT"),
        ("context_ngrams(split(name, ' '), id, 3)", "arrays of strings are accepted but int"),
    ],
)
def test_what_is_not_estimated_of_texts_and_values(call: str, told: str) -> None:
    with pytest.raises(SemanticError, match=told) as caught:
        query(f"SELECT {call} FROM t")
    assert caught.value.code == 40000


@pytest.mark.parametrize("share", ["1 - 0.5", "0.25 * 3", "array(1.5 - 1)", "0.5D", "2.0 / 3"])
def test_shares_may_be_calculated(share: str) -> None:
    query(f"SELECT percentile_approx(id, {share}) FROM t")


def test_a_map_is_no_key_of_changes() -> None:
    with pytest.raises(SemanticError, match="is no key: rows cannot be brought"):
        query("SELECT a FROM table_changes('n', 1, 2, 'm')")


def test_a_lateral_view_without_a_name_is_left_to_spark() -> None:
    assert query("SELECT 1 FROM t LATERAL VIEW posexplode(array(id))").sql


def test_calls_with_too_few_arguments() -> None:
    """Whatever the function, they are refused here, or left to Spark."""
    codes = set()
    for name in sorted(RULES):
        for arguments in ("", "name", "id, name"):
            try:
                query(f"SELECT `{name}`({arguments}) FROM t")
            except HiveSqlError as error:
                codes.add(error.code)
    assert 10015 in codes


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        # As Hive 4.1 calls them.
        ("SELECT id, id + 1, x.ID, x.id z FROM t x", ["id", "_c1", "x.id", "z"]),
        ("SELECT x.*, id k FROM (SELECT id FROM t) x", ["x.id", "k"]),
        ("WITH c AS (SELECT id FROM t) SELECT * FROM c", ["c.id"]),
        ("SELECT t.id, count(*) FROM t GROUP BY t.id ORDER BY t.id", ["t.id", "_c1"]),
        ("SELECT l.* FROM t LATERAL VIEW explode(array(1)) l AS e", ["l.e"]),
        ("SELECT st.a, n.st.a FROM (SELECT named_struct('a', 1) st) n", ["a", "a_1"]),
        ("SELECT t.id FROM t UNION ALL SELECT t.id FROM t", ["id"]),
        ("(SELECT DISTINCT t.id FROM t)", ["t.id"]),
    ],
)
def test_labels_have_the_alias_that_the_statement_names(sql: str, names: list[str]) -> None:
    made = bind(parse(StatementText(sql)), warehouse())
    assert isinstance(made, SelectRows)
    assert [label.name for label in made.labels] == names


UNITED = {
    # as Hive 4.1 calls the columns of a statement's own UNION ALL of constants
    "SELECT 1 UNION ALL SELECT 2": ["col1"],
    "SELECT 1 AS a UNION ALL SELECT 2 AS b": ["a"],
    "SELECT 1, 2 AS b UNION ALL SELECT 3, 4": ["col1", "b"],
    "SELECT 1 AS x, 'a' UNION ALL SELECT 3, 'b'": ["x", "col2"],
    "SELECT 1 AS `_c0` UNION ALL SELECT 2": ["col1"],
    "(SELECT 1) UNION ALL (SELECT 2)": ["col1"],
    "SELECT 1 UNION ALL (SELECT 2 UNION ALL SELECT 3)": ["col1"],
    "SELECT 1 UNION ALL SELECT 2 LIMIT 1": ["col1"],
    "SELECT 1 UNION SELECT 2": ["_c0"],
    "SELECT 1 UNION ALL SELECT 2 UNION SELECT 3": ["_c0"],
    "SELECT 1 UNION SELECT 2 UNION ALL SELECT 3": ["_c0"],
    "SELECT 1 INTERSECT SELECT 1": ["_c0"],
    "SELECT DISTINCT 1 UNION ALL SELECT 2": ["_c0"],
    "SELECT 1 + 1 UNION ALL SELECT 2": ["_c0"],
    "SELECT 1 UNION ALL SELECT NULL": ["_c0"],
    "SELECT 1 UNION ALL SELECT id FROM t": ["_c0"],
    "SELECT * FROM (SELECT 1 UNION ALL SELECT 2) q": ["_c0"],
    "SELECT 1": ["_c0"],
}


@pytest.mark.parametrize("sql", UNITED)
def test_a_union_of_constants_has_the_names_of_values(sql: str) -> None:
    assert [column.name for column in query(sql).columns] == UNITED[sql]
