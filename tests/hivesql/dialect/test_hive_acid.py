"""The dialect ``hive_acid``: what other users of sqlglot read and print with it."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError

from hivesql.dialect.hive_acid import NAME, Statement

HERE = Path(__file__).parent
TEXT = (HERE / "corpus.sql").read_text(encoding="utf-8")
CORPUS = re.split(r"^--@ .*\n", TEXT, flags=re.MULTILINE)[1:]
OUTCOMES = (HERE / "corpus_outcomes.txt").read_text(encoding="utf-8").splitlines()
REFUSED = [line.partition("\t")[2]
           for line in (HERE / "refused.txt").read_text(encoding="utf-8").splitlines()
           if line.startswith("parse\t")]  # fmt: skip
_REFUSALS = ("refused: ", "no statement")
OTHERS = [
    "INSERT INTO t VALUES (1, default), (2, 'a' 'b'), (3, N'x')",
    "SELECT d + 1 DAY, INTERVAL '2' MONTH, TIMESTAMPLOCALTZ '2020-01-01 00:00:00 UTC' FROM t",
    "SELECT '1-2' YEAR TO MONTH, d + '1 2:3:4.5' DAY TO SECOND, '1' DAY, 'a', \"2\" MONTHS FROM t",
    "SELECT ('1-2') YEAR TO MONTH, DATE '2020-01-01' AS day, 'a' AS month, 1 AS second FROM t",
    "SELECT date '2020-01-01', cast('2020-01-01' AS DATE), 1L, 1.5BD, `a``b`, current_timestamp",
    "SELECT /*+ MAPJOIN(b) */ 1 FROM a JOIN b ON a.x = b.x WHERE y > ANY (SELECT z FROM c)",
    "SELECT a FROM t FOR SYSTEM_VERSION AS OF 3 u LATERAL VIEW explode(u.m) x AS k, v",
    "SELECT a, b FROM t DISTRIBUTE BY a SORT BY (a DESC, b)",
    "SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY b) DISTRIBUTE BY a SORT BY a",
    "SELECT i FROM (WITH c AS (SELECT i FROM b) SELECT i FROM c) x",
    "FROM s INSERT INTO t SELECT a INSERT OVERWRITE TABLE u PARTITION (p='x') SELECT b",
    "INSERT INTO t SELECT a FROM s UNION ALL SELECT b FROM u UNION ALL SELECT 1",
    "MERGE INTO d.t AS a USING (SELECT * FROM s) b ON a.id = b.id AND a.p > 1 WHEN MATCHED AND "
    "b.n IS NULL THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (b.id, DEFAULT)",
    "WITH c AS (SELECT 1 AS id) MERGE WITH SCHEMA EVOLUTION INTO t USING c ON t.id = c.id "
    "WHEN NOT MATCHED THEN INSERT *",
    "ALTER TABLE t PARTITION (p='x') COMPACT 'major' AND WAIT",
    "CREATE TABLE t (a INT COMMENT 'x; y', b map<string,array<int>> DEFAULT map()) "
    "PARTITIONED BY (c DATE) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "ALTER TABLE t COMPACT 'rebalance' CLUSTERED INTO 4 BUCKETS AND WAIT POOL 'p' WITH OVERWRITE "
    "TBLPROPERTIES ('compactor.x'='1') ORDER BY a DESC NULLS FIRST, b NULLS LAST, c",
    "ALTER TABLE t COMPACT 'rebalance' ORDER BY ZORDER(a, `b c`)",
    "TRUNCATE d.t PARTITION (p=-1L) COLUMNS (a, `b c`) FORCE",
    "MSCK REPAIR TABLE d.t SYNC PARTITIONS",
    "MSCK REPAIR TABLE d.t ADD PARTITIONS (p >= 'a', q = 1)",
    "ANALYZE TABLE t PARTITION (p=DATE '2020-01-01', q) COMPUTE STATISTICS FOR COLUMNS a, b",
    "ANALYZE TABLE t COMPUTE STATISTICS NOSCAN",
    "LOAD DATA LOCAL INPATH '/x' OVERWRITE INTO TABLE t PARTITION (p='a' 'b', q=NULL, r=TRUE) "
    "INPUTFORMAT 'org.apache.hadoop.hive.ql.io.orc.OrcInputFormat' "
    "SERDE 'org.apache.hadoop.hive.ql.io.orc.OrcSerde'",
    "ALTER TABLE d.t RENAME TO u",
    "ALTER VIEW v RENAME TO d.w",
    "ALTER TABLE t PARTITION (p=1, q='x') RENAME TO PARTITION (p=2, q='y')",
    "ALTER TABLE t PARTITION (p=1) SET LOCATION '/x'",
    "ALTER TABLE t TOUCH PARTITION (p=1)",
    "ALTER TABLE t EXCHANGE PARTITION (p=1) WITH TABLE d.u",
    "ALTER TABLE t TOUCH",
    "ALTER TABLE t ADD IF NOT EXISTS PARTITION (p=1) LOCATION '/a' PARTITION (p=2)",
    "ALTER TABLE t DROP IF EXISTS PARTITION (p>=1, q!='x'), PARTITION (p<>-3) PURGE",
    "ALTER VIEW v ADD PARTITION (p=1)",
    "ALTER TABLE t PARTITION (p=1) CONCATENATE",
    "ALTER MATERIALIZED VIEW v REBUILD",
    "ALTER VIEW v AS SELECT a FROM t",
    "CREATE VIEW IF NOT EXISTS d.v (a COMMENT 'x', `b c`) COMMENT 'it\\'s' PARTITIONED ON (`b c`) "
    "TBLPROPERTIES ('k'='v', 'l'='w') AS SELECT a, b FROM t",
    "CREATE OR REPLACE VIEW v AS WITH q AS (SELECT 1) SELECT * FROM q",
    "CREATE DATABASE IF NOT EXISTS d COMMENT 'x' LOCATION '/d' MANAGEDLOCATION '/m' "
    "WITH DBPROPERTIES ('a'='b')",
    "ALTER DATABASE d SET OWNER ROLE `r s`",
    "ALTER DATABASE d SET LOCATION '/x'",
    "ALTER DATABASE d SET DBPROPERTIES ('a'='b')",
    "ALTER TABLE t PARTITION (p=1) UPDATE STATISTICS FOR COLUMN c SET ('numDVs'='3')",
    r"SET hive.x=it's a, b\; c",
    "DFS -ls 'a b'",
    "INSERT INTO t VALUES " + ", ".join(f"({i}, 'x')" for i in range(50)),
]


def read(sql: str) -> exp.Expr:
    return sqlglot.parse_one(sql, read=NAME)


def told(tree: exp.Expr) -> str:
    return tree.sql(dialect=NAME)


UNDERSTOOD = [
    sql.rstrip("\n")
    for sql, outcome in zip(CORPUS, OUTCOMES, strict=True)
    if not outcome.startswith(_REFUSALS) and "; c" not in sql
]


def test_what_is_printed_is_read_as_the_same_tree() -> None:
    assert len(UNDERSTOOD) > 250
    for sql in [*UNDERSTOOD, *OTHERS]:
        tree = read(sql)
        assert not list(tree.find_all(exp.Command)), sql
        again = read(told(tree))
        if "SUBSTRING(a FROM" not in sql and "UNBOUNDED PRECEDING" not in sql.upper():
            assert again == tree, sql
        assert told(again) == told(tree), sql


@pytest.mark.parametrize(
    "sql", [*REFUSED, *(sql for sql, told in zip(CORPUS, OUTCOMES, strict=True)
                        if told.startswith(_REFUSALS))]
)  # fmt: skip
def test_what_is_refused_is_an_error_with_its_place(sql: str) -> None:
    with pytest.raises(ParseError) as error:
        read(sql)
    assert error.value.errors[0]["line"]
    assert error.value.errors[0]["col"]


def test_tables_are_found_where_they_are_written_and_may_be_exchanged() -> None:
    sql = "UPDATE d.t /* all */ SET a = 1 WHERE b IN (SELECT c FROM s)"
    tree = read(sql)
    assert isinstance(tree, exp.Update)
    tables = list(tree.find_all(exp.Table))
    assert [told(table) for table in tables] == ["d.t", "s"]
    assert sql[slice(*tables[0].meta["range"])] == "d.t"
    for table in tables:
        table.replace(exp.to_table(f"x.{table.name}"))
    assert told(tree) == "UPDATE x.t SET a = 1 WHERE b IN (SELECT c FROM x.s)"


def test_what_several_inserts_share_is_one_node() -> None:
    tree = read(
        "WITH c AS (SELECT x FROM b) FROM c JOIN d ON c.x = d.x "
        "INSERT INTO t SELECT c.x WHERE x > 1 INSERT INTO u SELECT d.x"
    )
    assert [told(table) for table in tree.find_all(exp.Table, bfs=False)] == [
        "b", "c JOIN d ON c.x = d.x", "d", "t", "u",
    ]  # fmt: skip
    next(table for table in tree.find_all(exp.Table) if table.name == "d").set("db", "z")
    assert told(tree) == (
        "WITH c AS (SELECT x FROM b) FROM c JOIN z.d ON c.x = d.x "
        "INSERT INTO t SELECT c.x WHERE x > 1 INSERT INTO u SELECT d.x"
    )


def test_hives_own_constants_stay() -> None:
    tree = read("INSERT INTO t VALUES (1, DEFAULT, d + 1 day, timestamplocaltz '2020-01-01')")
    assert told(tree) == (
        "INSERT INTO t VALUES (1, DEFAULT, d + 1 DAY, TIMESTAMPLOCALTZ '2020-01-01')"
    )


def test_several_statements_are_several_trees() -> None:
    trees = sqlglot.parse("USE d; SET a=b; -- nothing\nSELECT 1;\n", read=NAME)
    kinds = [one.kind if isinstance(one, Statement) else type(one).__name__ for one in trees]
    assert kinds == ["use", "set setting", "Select"]


def test_a_query_may_be_printed_for_spark() -> None:
    tree = read("SELECT a, upper(b) FROM t WHERE a = 1")
    assert tree.sql(dialect="spark") == "SELECT a, UPPER(b) FROM t WHERE a = 1"


def test_sqlglot_finds_the_dialect_by_its_name() -> None:
    (point,) = entry_points(group="sqlglot.dialects", name=NAME)
    assert Dialect.get_or_raise(NAME).__class__ is point.load()
    assert [one.text for one in sqlglot.tokenize("SELECT t.2b", read=NAME)] == [
        "SELECT", "t", ".", "2b",
    ]  # fmt: skip
    with pytest.raises(sqlglot.errors.TokenError, match="never closed"):
        sqlglot.tokenize("SELECT 'x", read=NAME)


def test_a_view_may_be_printed_for_spark() -> None:
    tree = read("CREATE OR REPLACE VIEW v (a COMMENT 'x') COMMENT 'y' AS SELECT b FROM t")
    assert isinstance(tree, exp.Create)
    assert tree.sql(dialect="spark") == (
        "CREATE OR REPLACE VIEW v (a COMMENT 'x') COMMENT 'y' AS SELECT b FROM t"
    )
