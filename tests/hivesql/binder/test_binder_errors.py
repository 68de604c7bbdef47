"""Errors of binding: Hive's codes, and the places they point at."""

from __future__ import annotations

from typing import Any

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import InsertRows
from memory_catalog import warehouse


def bound(sql: str, **settings: str) -> Any:
    given = Settings(values={key.replace("__", "."): value for key, value in settings.items()})
    return bind(parse(StatementText(sql, "f.hql")), warehouse(), settings=given)


@pytest.mark.parametrize(
    ("sql", "code", "place"),
    [
        # names
        ("SELECT * FROM nosuch", 10001, (1, 15)),
        ("SELECT * FROM nosuch.t", 10001, (1, 15)),
        ("INSERT INTO nosuch VALUES (1)", 10001, (1, 13)),
        ("SELECT id,\n nosuch FROM t", 10004, (2, 2)),
        ("SELECT u.id FROM t", 10004, (1, 8)),
        ("SELECT t.nosuch FROM t", 10002, (1, 8)),
        ("SELECT id FROM t WHERE nosuch = 1", 10004, (1, 24)),
        ("SELECT id FROM t JOIN s ON t.id = s.nosuch", 10002, (1, 35)),
        ("SELECT id FROM t WHERE id IN (SELECT id FROM s WHERE x = 1)", 10004, (1, 54)),
        ("SELECT q.name FROM (SELECT id FROM t) q", 10002, (1, 8)),
        ("WITH q AS (SELECT id FROM t) SELECT name FROM q", 10004, (1, 37)),
        ("SELECT u.* FROM t", 10009, (1, 8)),
        ("SELECT TRANSFORM (id) USING 'cat' AS (a, b string, A) FROM t", 10074, (1, 52)),
        ("SELECT row__id FROM t, s", 10007, (1, 8)),
        ("ALTER TABLE p ADD PARTITION (ds='1', hr='x')", 10248, (1, 38)),
        ("INSERT INTO p PARTITION (ds='1', hr=' 2 ') SELECT 1, 'a', null", 10248, (1, 34)),
        ("SELECT id FROM t WHERE id = ALL (SELECT id FROM s)", 10250, (1, 24)),
        ("SELECT * FROM (VALUES (1 x, 'a' x), (2, 'b')) q", 10083, (1, 24)),
        ("SELECT * FROM (VALUES (1, 'a'), (2 z, 'b')) q", None, (1, 34)),
        ("SELECT x.id FROM t x SEMI JOIN s ON x.id = s.id", None, (1, 32)),
        ("SELECT t.id FROM t ANTI JOIN (SELECT 1 id) q ON t.id = q.id", None, (1, 30)),
        ("SELECT sum(id) OVER (ORDER BY d RANGE INTERVAL '3' DAY PRECEDING) FROM t", None, (1, 39)),
        ("SELECT id LIKE ANY ('1') FROM t", 10016, (1, 8)),
        ("SELECT 1 FROM t WHERE id NOT LIKE ALL ('1', name)", 10016, (1, 23)),
        ("SELECT name LIKE ANY ('1', id) FROM t", 10016, (1, 8)),
        ("SELECT name LIKE ALL (DATE '2020-01-01') FROM t", 10016, (1, 8)),
        ("SELECT regexp_extract('abc', '(b)', 2)", 10014, (1, 8)),
        ("SELECT regexp_extract('abc', 'b')", 10014, (1, 8)),
        ("SELECT lag() OVER (ORDER BY id) FROM t", None, (1, 8)),
        ("SELECT lead(id, 1, 2, 3) OVER (ORDER BY id) FROM t", None, (1, 8)),
        ("SELECT lag(id, -1) OVER (ORDER BY id) FROM t", None, (1, 16)),
        ("SELECT lag(id, id) OVER (ORDER BY id) FROM t", None, (1, 16)),
        ("SELECT lag(id, NULL) OVER (ORDER BY id) FROM t", None, (1, 16)),
        ("SELECT lag(id, '1') OVER (ORDER BY id) FROM t", None, (1, 16)),
        ("SELECT rank(id) OVER (ORDER BY id) FROM t", None, (1, 8)),
        ("SELECT row_number(id) OVER (ORDER BY id) FROM t", None, (1, 8)),
        ("SELECT percent_rank(id, id) OVER (ORDER BY id) FROM t", None, (1, 8)),
        ("SELECT ntile() OVER (ORDER BY id) FROM t", None, (1, 8)),
        ("SELECT ntile('a') OVER (ORDER BY id) FROM t", None, (1, 14)),
        ("SELECT first_value(id, 'true') OVER (ORDER BY id) FROM t", None, (1, 24)),
        ("SELECT last_value(id, id) OVER (ORDER BY id) FROM t", None, (1, 23)),
        ("SELECT count() FROM t", None, (1, 8)),
        ("SELECT count(DISTINCT) FROM t", None, (1, 8)),
        ("SELECT count(DISTINCT *) FROM t", None, (1, 8)),
        ("ANALYZE TABLE p PARTITION (nosuch) COMPUTE STATISTICS", 10006, (1, 28)),
        (
            "CREATE TABLE n (a int, s struct<a: int, b: array<struct<x: int, X: int>>>)",
            10423,
            (1, 65),
        ),
        ("ALTER TABLE t CHANGE id id struct<a: int, a: string>", 10423, (1, 43)),
        # aggregates, in every statement that has a query or a condition
        ("SELECT id, count(1) FROM t", 10025, (1, 8)),
        ("SELECT t.id FROM t GROUP BY name", 10025, (1, 8)),
        ("SELECT *, count(1) FROM t GROUP BY id", 10025, (1, 8)),
        ("SELECT id + 1 FROM t GROUP BY id + 2", 10025, (1, 8)),
        ("SELECT id FROM t GROUP BY id HAVING name = 'a'", 10025, (1, 37)),
        ("SELECT a.id, b.id FROM t a JOIN t b ON a.id = b.id GROUP BY a.id", 10025, (1, 14)),
        ("SELECT CASE WHEN name = 'a' THEN 1 ELSE count(1) END FROM t", 10025, (1, 18)),
        ("SELECT row_number() OVER (ORDER BY name) FROM t GROUP BY id", 10025, (1, 36)),
        ("SELECT id, grouping(name) FROM t GROUP BY id WITH ROLLUP", 10409, (1, 21)),
        ("SELECT grouping(id) FROM t GROUP BY 'x' WITH CUBE", 10409, (1, 17)),
        ("SELECT id + date_add(NULL, 1) FROM t", 10014, (1, 13)),
        ("SELECT size(map_values(NULL)) FROM t", 10016, (1, 13)),
        ("SELECT sum(NULL) FROM t", None, (1, 8)),
        ("SELECT id, conv('ff', 16) FROM t", 10014, (1, 12)),
        ("SELECT 1 + sign(id, id) FROM t", 10014, (1, 12)),
        ("SELECT field('a') FROM t", 10014, (1, 8)),
        ("SELECT length(map('a', 1)) FROM t", 10014, (1, 8)),
        ("SELECT hour('12:00:00', 1) FROM t", 10015, (1, 8)),
        ("SELECT sha2('a') FROM t", 10015, (1, 8)),
        ("SELECT id, id = array(1) FROM t", 10014, (1, 12)),
        ("SELECT array(1) = struct(1) FROM t", 10014, (1, 8)),
        ("SELECT a.x FROM (SELECT array(1) a) q", 10042, (1, 8)),
        ("EXPLAIN SELECT id, count(1) FROM t", 10025, (1, 16)),
        ("CREATE VIEW w AS SELECT id, count(1) FROM t", 10025, (1, 25)),
        ("CREATE TABLE w AS SELECT id, count(1) FROM t", 10025, (1, 26)),
        ("EXPLAIN INSERT INTO t SELECT 1, count(1), name FROM t", 10025, (1, 43)),
        (
            "MERGE INTO t USING (SELECT id, max(name) FROM t) s ON t.id = s.id "
            "WHEN MATCHED THEN DELETE",
            10025,
            (1, 28),
        ),
        ("SELECT sum(count(id)) FROM t", 10128, (1, 12)),
        ("SELECT -128Y", 10029, (1, 9)),
        ("SELECT -32768S", 10029, (1, 9)),
        ("SELECT 9223372036854775808L", 10029, (1, 8)),
        ("SELECT sha2('x', 128 + 128)", 10016, (1, 8)),
        ("SELECT round(1.25, 1 + 0)", 10016, (1, 8)),
        ("SELECT add_months('2020-01-01', 1, concat('yy', 'yy'))", 10016, (1, 8)),
        ("SELECT percentile(name, 0.5) FROM t", 10014, (1, 8)),
        ("SELECT percentile(id, 0.5, 2) FROM t", 10015, (1, 8)),
        ("SELECT id FROM t GROUP BY max(id)", 10128, (1, 27)),
        ("SELECT t.id FROM t JOIN s ON max(t.id) = s.id", 10128, (1, 30)),
        ("SELECT id FROM t WHERE count(1) > 1", 10128, (1, 24)),
        ("EXPLAIN UPDATE t SET id = 1 WHERE count(1) > 1", 10128, (1, 35)),
        ("UPDATE t SET id = max(id)", 10128, (1, 19)),
        ("DELETE FROM t WHERE max(id) = 1", 10128, (1, 21)),
        ("MERGE INTO t USING s ON t.id = max(s.id) WHEN MATCHED THEN DELETE", 10128, (1, 32)),
        ("SELECT * FROM (VALUES (1), (true)) q", None, (1, 29)),
        ("EXPLAIN SELECT * FROM t WHERE id IN (SELECT id, name FROM t)", 10250, (1, 38)),
        ("SELECT (SELECT id, name FROM t LIMIT 1) FROM t", 10250, (1, 8)),
        ("SELECT CASE WHEN id = 1 THEN 1 WHEN name THEN 2 END FROM t", 10016, (1, 37)),
        # the must-pass cases of UPDATE, DELETE and MERGE
        ("UPDATE plain SET v = 'x'", 10297, (1, 8)),
        ("DELETE FROM plain WHERE true", 10297, (1, 13)),
        ("DELETE FROM plain WHERE id = 1", 10297, (1, 13)),
        ("DELETE FROM only WHERE id = 1", 10414, (1, 13)),
        ("UPDATE only SET v = 'x'", 10414, (1, 8)),
        ("UPDATE v SET id = 1", 10402, (1, 8)),
        ("DELETE FROM v", 10402, (1, 13)),
        ("UPDATE t SET nosuch = 1", 10408, (1, 14)),
        ("UPDATE plain SET nosuch = 1", 10408, (1, 18)),
        (
            "MERGE INTO plain USING s ON plain.id = s.id WHEN MATCHED THEN UPDATE SET nosuch = 1",
            10408,
            (1, 74),
        ),
        ("UPDATE t SET id = nosuch", 10004, (1, 19)),
        ("DELETE FROM t WHERE s.id = 1", 10004, (1, 21)),
        (
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET nosuch = 1",
            10408,
            (1, 66),
        ),
        (
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET name = 'x'",
            10404,
            (1, 37),
        ),
        (
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE "
            "SET name = 'x' WHEN MATCHED THEN UPDATE SET name = 'y'",
            10406,
            (1, 77),
        ),
        (
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN MATCHED THEN DELETE",
            10405,
            (1, 62),
        ),
        (
            "MERGE INTO t USING s ON s.id = 1 WHEN NOT MATCHED THEN INSERT VALUES (1, 'x', 2)",
            10149,
            (1, 25),
        ),
        ("MERGE INTO plain USING s ON plain.id = s.id WHEN MATCHED THEN DELETE", 10297, (1, 12)),
        ("MERGE INTO only USING s ON only.id = s.id WHEN MATCHED THEN DELETE", 10414, (1, 12)),
        ("MERGE INTO v USING s ON v.id = s.id WHEN MATCHED THEN DELETE", 10402, (1, 12)),
        (
            "MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (1)",
            10044,
            (1, 74),
        ),
        (
            "MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (k) VALUES (1)",
            10004,
            (1, 67),
        ),
        # INSERT
        ("INSERT INTO v VALUES (1, 'x')", 10090, (1, 13)),
        ("INSERT INTO t VALUES (1, 'x')", 10044, (1, 15)),
        ("INSERT INTO t SELECT * FROM s, s z", 10044, (1, 15)),
        ("INSERT INTO t (id, id) VALUES (1, 2)", 10036, (1, 20)),
        ("INSERT INTO t (id, k) VALUES (1, 2)", 10004, (1, 20)),
        ("INSERT INTO t (id, name) VALUES (1)", 10044, (1, 26)),
        ("INSERT INTO p PARTITION (ds, hr=1) SELECT 1, 'x', null, 'd'", 10094, (1, 26)),
        ("INSERT INTO p PARTITION (ds='x') SELECT 1, 'x', null", 10006, (1, 26)),
        ("INSERT INTO p PARTITION (ds) SELECT 1, 'x', null", 10094, (1, 26)),
        ("INSERT INTO p PARTITION (hr) SELECT 1, 'x', null", 10094, (1, 26)),
        ("INSERT INTO p PARTITION (k=1) SELECT 1, 'x', null", 10006, (1, 26)),
        (
            "FROM s INSERT INTO t SELECT id, name, 1 INSERT INTO t SELECT id, name, 2",
            10087,
            (1, 53),
        ),
        (
            "FROM s INSERT INTO p PARTITION (ds='x', hr) SELECT id, name, null, 1 "
            "INSERT OVERWRITE TABLE p PARTITION (ds='x', hr) SELECT id, name, null, 2",
            10087,
            (1, 93),
        ),
        # tables
        ("CREATE TABLE nosuch.x (a int)", 10072, (1, 14)),
        ("CREATE TABLE x (a int, A string)", 10036, (1, 24)),
        ("CREATE TABLE x (a int) PARTITIONED BY (a string)", 10035, (1, 40)),
        ("CREATE TABLE x (a int) PARTITIONED BY (`p` map<int, int>)", 10126, (1, 40)),
        ("CREATE TABLE x (a int,\n b int DEFAULT 'x')", 10326, (2, 2)),
        ("CREATE TABLE x (a int, PRIMARY KEY (b) DISABLE)", 40000, (1, 37)),
        ("CREATE TABLE x (a int) SKEWED BY (b) ON (1)", 10203, (1, 35)),
        ("CREATE TABLE x (row__id int)", 10328, (1, 17)),
        ("ALTER TABLE t CHANGE x y int", 10002, (1, 22)),
        ("CREATE TABLE x (a int) CLUSTERED BY (b) INTO 2 BUCKETS", 10002, (1, 38)),
        ("CREATE TABLE x AS SELECT *, id FROM t", 10036, (1, 29)),
        ("CREATE VIEW w (a) AS SELECT id, name FROM t", 10089, (1, 16)),
        ("USE nosuch", 10072, (1, 5)),
        ("DROP DATABASE nosuch", 10072, (1, 15)),
        ("TRUNCATE TABLE v", 10146, (1, 16)),
        ("TRUNCATE TABLE p PARTITION (ds='nosuch', hr=1)", 10006, (1, 29)),
        ("ALTER TABLE t ADD COLUMNS (ID int)", 10036, (1, 28)),
        ("ALTER TABLE v ADD COLUMNS (z int)", 10131, (1, 13)),
        ("ALTER VIEW t SET TBLPROPERTIES ('a'='b')", 10132, (1, 12)),
        ("ALTER TABLE t ADD COLUMNS (z int) CASCADE", 10410, (1, 15)),
        ("ALTER TABLE t UNSET TBLPROPERTIES ('x')", 10215, (1, 15)),
        ("ALTER TABLE t RENAME TO nosuch.t", 10072, (1, 25)),
        ("ALTER DATABASE nosuch SET LOCATION '/x'", 10072, (1, 16)),
        ("ALTER TABLE p PARTITION (ds='2024-01-01') RENAME TO PARTITION (ds='x')", 10006, (1, 26)),
        (
            "ALTER TABLE p PARTITION (ds='2024-01-01', hr=1) RENAME TO PARTITION "
            "(ds='2024-01-01', hr=12)",
            10118,
            (1, 70),
        ),
        ("ALTER TABLE p PARTITION (ds='7', hr=1) SET LOCATION '/x'", 10006, (1, 26)),
        ("ALTER TABLE p TOUCH PARTITION (ds='7', hr=1)", 10006, (1, 32)),
        ("ALTER TABLE p EXCHANGE PARTITION (ds='1') WITH TABLE p", 10236, (1, 13)),
        ("ALTER TABLE p1 EXCHANGE PARTITION (ds='1') WITH TABLE p1", 10118, (1, 36)),
        ("ALTER TABLE p1 EXCHANGE PARTITION (ds='9') WITH TABLE p2", 10006, (1, 36)),
        ("ALTER TABLE p1 EXCHANGE PARTITION (ds='1') WITH TABLE p3", 10235, (1, 55)),
        ("ALTER TABLE t ADD PARTITION (ds='x')", 10241, (1, 13)),
        ("ALTER TABLE p ADD PARTITION (ds='x')", 10006, (1, 30)),
        ("ALTER TABLE t COMPACT 'foo'", 10282, (1, 23)),
        ("ALTER TABLE plain COMPACT 'major'", 10286, (1, 13)),
        ("ALTER TABLE p PARTITION (ds='2024-01-01') COMPACT 'major'", 10299, (1, 26)),
        ("LOAD DATA INPATH '/x' INTO TABLE v", 10090, (1, 34)),
        ("LOAD DATA INPATH '/x' INTO TABLE t PARTITION (ds='1')", 10006, (1, 47)),
        ("LOAD DATA INPATH '/x' INTO TABLE p PARTITION (ds, hr=1)", 10094, (1, 47)),
        ("MSCK REPAIR TABLE v", 10131, (1, 19)),
        ("MSCK REPAIR TABLE p SYNC PARTITIONS (nosuch = 1)", 10006, (1, 38)),
        ("DESCRIBE nosuch", 10001, (1, 10)),
        ("EXPLAIN LOCKS UPDATE t SET nosuch = 1", 10408, (1, 28)),
    ],
)
def test_errors_have_hives_code_and_the_place(
    sql: str, code: int | None, place: tuple[int, int]
) -> None:
    with pytest.raises(HiveSqlError) as caught:
        bound(sql)
    assert (caught.value.code, caught.value.file) == (code, "f.hql")
    assert (caught.value.line, caught.value.column) == place


def test_no_pattern_that_can_take_for_ever_is_tried() -> None:
    bound(f"SELECT regexp_extract('{'a' * 60}!', '(a+)+$', 2)")
    bound(f"SELECT regexp_extract('{'a' * 60}!', '{'(a|a)' * 60}$', 99)")


@pytest.mark.parametrize(
    ("setting", "value", "sql", "code"),
    [
        ("hive__exec__dynamic__partition__mode", "strict", "INSERT INTO p PARTITION (ds, hr) "
         "SELECT 1, 'x', null, 'd', 1", 10096),
        ("hive__exec__dynamic__partition__mode", "strict", "INSERT INTO p SELECT 1, 'x', null, "
         "'d', 1", 10096),
        ("hive__exec__dynamic__partition", "false", "INSERT INTO p PARTITION (ds='d', hr) "
         "SELECT 1, 'x', null, 1", 10095),
    ],
)  # fmt: skip
def test_dynamic_partitions_can_be_forbidden(setting: str, value: str, sql: str, code: int) -> None:
    assert isinstance(bound(sql), InsertRows)
    with pytest.raises(HiveSqlError) as caught:
        bound(sql, **{setting: value})
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("EXTERNAL TABLE x (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
         "cannot be declared transactional because it's an external table"),
        ("TABLE x (a int) STORED AS PARQUET TBLPROPERTIES ('Transactional'='TRUE')",
         "ACID compliant format"),
        ("TABLE x (a int) TBLPROPERTIES ('transactional'='true')", "ACID compliant format"),
        ("TABLE x (a int) CLUSTERED BY (a) SORTED BY (a) INTO 2 BUCKETS STORED AS ORC "
         "TBLPROPERTIES ('transactional'='true')", "since it is sorted"),
        ("TABLE x (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true', "
         "'transactional_properties'='foo')", "Invalid value 'foo'"),
        ("TABLE x (a int) STORED AS ORC TBLPROPERTIES ('transactional'='maybe')",
         "may only have value 'true'"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_transactional(clauses: str, message: str) -> None:
    with pytest.raises(HiveSqlError, match=message) as caught:
        bound(f"CREATE {clauses}")
    assert caught.value.code == 40000


@pytest.mark.parametrize(
    ("setting", "value", "sql", "code"),
    [
        ("hive.map.aggr", "false", "SELECT count(*) FROM t GROUP BY id WITH CUBE", 10209),
        ("hive.map.aggr", "false", "SELECT count(*) FROM t GROUP BY id, name WITH ROLLUP", 10209),
        ("hive.groupby.skewindata", "true",
         "SELECT count(DISTINCT id), sum(DISTINCT amount) FROM t", 10022),
        ("hive.new.job.grouping.set.cardinality", "2",
         "SELECT count(DISTINCT amount) FROM t GROUP BY id, name WITH CUBE", 10226),
        ("hive.groupby.position.alias", "true", "SELECT id, name FROM t GROUP BY 3", 10220),
        ("hive.groupby.orderby.position.alias", "true",
         "SELECT id, name FROM t GROUP BY 3", 10220),
        ("hive.archive.enabled", "true", "ALTER TABLE p ARCHIVE", 10110),
        ("hive.archive.enabled", "true", "ALTER TABLE p ARCHIVE PARTITION (hr=1)", 10125),
        ("hive.archive.enabled", "true", "ALTER TABLE v ARCHIVE", 10131),
        ("hive.archive.enabled", "true",
         "ALTER TABLE p ARCHIVE PARTITION (ds='2024-01-01') PARTITION (ds='2024-01-02')", 10109),
        ("hive.archive.enabled", "true", "ALTER TABLE p UNARCHIVE PARTITION (ds='x')", 40000),
        ("hive.strict.managed.tables", "true", "CREATE TABLE x (a int)", 40000),
        ("metastore.strict.managed.tables", "true",
         "ALTER TABLE plain SET TBLPROPERTIES ('a'='b')", 40000),
    ],
)  # fmt: skip
def test_what_a_setting_forbids(setting: str, value: str, sql: str, code: int) -> None:
    bound_or_refused(sql)
    with pytest.raises(HiveSqlError) as caught:
        bound(sql, **{setting.replace(".", "__"): value})
    assert caught.value.code == code


def bound_or_refused(sql: str) -> None:
    """Without the setting it is well, or refused for another reason."""
    try:
        bound(sql)
    except HiveSqlError as error:
        assert error.code in (None, 10025, 10107), error


def test_an_error_inside_a_view_names_the_view() -> None:
    with pytest.raises(HiveSqlError, match="Recursive view") as caught:
        bound("SELECT * FROM ring")
    assert caught.value.file == "view default.ring"


@pytest.mark.parametrize(
    ("sql", "through"),
    [
        ("CREATE OR REPLACE VIEW v AS SELECT * FROM v", ["v", "v"]),
        ("ALTER VIEW v AS SELECT id FROM t WHERE id IN (SELECT id FROM v)", ["v", "v"]),
        ("CREATE OR REPLACE VIEW t2 AS SELECT 1", []),
    ],
)
def test_a_view_does_not_come_to_read_itself(sql: str, through: list[str]) -> None:
    if not through:
        bound(sql)
        return
    cycle = " -> ".join(f"default.{name}" for name in through)
    with pytest.raises(HiveSqlError, match=f"Recursive view default.v detected .cycle: {cycle}"):
        bound(sql)


def test_dropping_needs_a_comparison_that_can_be_decided() -> None:
    with pytest.raises(HiveSqlError, match="cannot compare"):
        bound("ALTER TABLE p DROP PARTITION (hr > 'x')")


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("DROP TABLE nosuch", 10001),
        ("DROP VIEW nosuch", 10001),
        ("DROP TABLE nosuch.t", 10001),
        ("ALTER TABLE p DROP PARTITION (ds='nosuch')", 10006),
    ],
)
def test_dropping_what_is_not_there(sql: str, code: int) -> None:
    bound(sql)
    with pytest.raises(HiveSqlError) as caught:
        bound(sql, hive__exec__drop__ignorenonexistent="false")
    assert caught.value.code == code


def test_without_if_exists_a_view_is_still_no_table() -> None:
    assert not bound("DROP TABLE v").if_exists
