"""Kinds of tables that CREATE makes, and what an immutable one takes."""

from __future__ import annotations

from pathlib import Path

import pytest

import hivesql
from end_to_end.answers import rows, table_of
from hivesql_planner.errors import HiveSqlError, SemanticError

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'immutable'='true')"


def refused(session: hivesql.Session, sql: str) -> None:
    with pytest.raises(SemanticError, match="non-empty immutable table") as caught:
        session.sql(sql)
    assert caught.value.code == 10256


def test_an_immutable_table_takes_one_insert(alone: hivesql.Session) -> None:
    alone.sql(f"""
        CREATE TABLE t (a int) {ACID};
        INSERT INTO t VALUES (1);
    """)
    for sql in ("INSERT INTO t VALUES (2)", "UPDATE t SET a = 2", "DELETE FROM t WHERE a = 1"):
        refused(alone, sql)
    assert rows(alone, "SELECT a FROM t") == [(1,)]
    alone.sql("ALTER TABLE t UNSET TBLPROPERTIES ('immutable'); INSERT INTO t VALUES (2)")
    assert rows(alone, "SELECT count(*) FROM t") == [(2,)]
    alone.sql(f"""
        CREATE TABLE p (a int) PARTITIONED BY (k int) {ACID};
        INSERT INTO p PARTITION (k=1) VALUES (1);
        INSERT INTO p PARTITION (k=2) VALUES (2);
    """)
    refused(alone, "INSERT INTO p PARTITION (k=1) VALUES (3)")
    refused(alone, "INSERT INTO p PARTITION (k) VALUES (3, 3)")
    assert rows(alone, "SELECT a, k FROM p ORDER BY a") == [(1, 1), (2, 2)]
    assert rows(alone, "SHOW PARTITIONS p") == [("k=1",), ("k=2",)]


def test_a_kind_of_transactions_needs_transactions(alone: hivesql.Session) -> None:
    for made in ("TRANSACTIONAL TABLE", "TABLE", "MANAGED TABLE"):
        for kind in ("insert_only", "default"):
            with pytest.raises(SemanticError, match="transactional_properties without transac"):
                alone.sql(f"""
                    CREATE {made} n (a int) STORED AS ORC
                    TBLPROPERTIES ('transactional_properties'='{kind}')
                """)
    assert rows(alone, "SHOW TABLES") == []


def test_exchange_names_partitions_from_the_first_column_on(alone: hivesql.Session) -> None:
    alone.sql("""
        CREATE TABLE a (x int) PARTITIONED BY (ds string, hr string);
        CREATE TABLE b (x int) PARTITIONED BY (ds string, hr string);
        ALTER TABLE a ADD PARTITION (ds='1', hr='1') PARTITION (ds='1', hr='2');
        ALTER TABLE b ADD PARTITION (ds='1', hr='3');
    """)
    for spec, code in [("ds='1'", 10118), ("hr='1'", 10234), ("ds='9'", 10006), ("x='1'", 10006)]:
        with pytest.raises(HiveSqlError) as caught:
            alone.sql(f"ALTER TABLE b EXCHANGE PARTITION ({spec}) WITH TABLE a")
        assert (spec, caught.value.code) == (spec, code)
    alone.sql("ALTER TABLE b EXCHANGE PARTITION (ds='1', hr='1') WITH TABLE a")
    assert rows(alone, "SHOW PARTITIONS b") == [("ds=1/hr=1",), ("ds=1/hr=3",)]


def test_patterns_and_parts_of_show(alone: hivesql.Session) -> None:
    alone.sql("""
        CREATE TABLE a_b (x int); CREATE TABLE axb (x int); CREATE TABLE abc (x int);
        CREATE VIEW v_b AS SELECT 1 AS a; CREATE VIEW vxb AS SELECT 1 AS a;
        CREATE DATABASE d_b; CREATE DATABASE dxb;
        CREATE TABLE mp (a int) PARTITIONED BY (ds string, rs string);
        ALTER TABLE mp ADD PARTITION (ds='d1', rs='AS') PARTITION (ds='d2', rs='AS')
            PARTITION (ds='d2', rs='EU') PARTITION (ds='d10', rs='US');
    """)
    for sql, names in [
        ("SHOW TABLES 'a_b'", ["a_b", "axb"]),
        ("SHOW TABLES LIKE 'A_B|abc'", ["a_b", "abc", "axb"]),
        ("SHOW TABLES LIKE 'a\\_b'", ["a_b"]),
        ("SHOW TABLES LIKE 'a\\\\_b'", ["a_b"]),
        ("SHOW TABLES LIKE 'a__'", ["a_b", "abc", "axb"]),
        ("SHOW TABLES LIKE 'ab%'", ["abc"]),
        ("SHOW TABLES LIKE 'ab*'", ["abc"]),
        ("SHOW TABLES abc", ["abc"]),
        ("SHOW TABLES IN default LIKE abc", ["abc"]),
        ("SHOW VIEWS LIKE 'v_b'", ["v_b", "vxb"]),
        ("SHOW VIEWS LIKE `vxb`", ["vxb"]),
        ("SHOW DATABASES LIKE 'd_b'", ["d_b", "dxb"]),
        ("SHOW DATABASES LIKE 'd\\_b'", ["d_b"]),
        ("SHOW DATABASES LIKE 'd*'", []),
        ("SHOW DATABASES LIKE 'd_b|dxb'", []),
        ("SHOW DATABASES LIKE 'dx%'", ["dxb"]),
        ("SHOW TABLE EXTENDED LIKE 'a*'", []),
        ("SHOW TABLE EXTENDED LIKE 'a_b|abc'", []),
        ("SHOW COLUMNS IN mp LIKE 'd_'", []),
        ("SHOW PARTITIONS mp WHERE ds LIKE 'd1%'", ["ds=d1/rs=AS", "ds=d10/rs=US"]),
        ("SHOW PARTITIONS mp WHERE ds LIKE 'd_' AND rs != 'AS'", ["ds=d2/rs=EU"]),
        ("SHOW COLUMNS IN mp LIKE 'd*'", ["ds"]),
        ("SHOW PARTITIONS mp PARTITION (rs='AS') WHERE ds='d2'", ["ds=d2/rs=AS"]),
        ("SHOW PARTITIONS mp PARTITION (ds='d2') LIMIT 1", ["ds=d2/rs=AS"]),
        ("SHOW PARTITIONS mp PARTITION (ds='d2') ORDER BY rs DESC", ["ds=d2/rs=EU", "ds=d2/rs=AS"]),
        ("SHOW PARTITIONS mp PARTITION (ds='d2') ORDER BY rs DESC LIMIT 1", ["ds=d2/rs=EU"]),
        ("SHOW PARTITIONS mp PARTITION (ds='d2') WHERE rs > 'AS' LIMIT 5", ["ds=d2/rs=EU"]),
        ("SHOW PARTITIONS mp ORDER BY ds DESC LIMIT 1", ["ds=d2/rs=AS"]),
        ("SHOW PARTITIONS mp PARTITION (ds='nosuch')", []),
        ("SHOW PARTITIONS mp PARTITION (ds='nosuch') LIMIT 1", []),
    ]:
        assert (sql, [row[0] for row in alone.sql(sql).rows]) == (sql, names)
    told = [row[0] for row in alone.sql("SHOW TABLE EXTENDED LIKE axb").rows]
    assert told[0] == "tableName:axb"
    told = [row[0] for row in alone.sql("SHOW TABLE EXTENDED LIKE 'a_b'").rows]
    assert [line for line in told if line.startswith("tableName")] == [
        "tableName:a_b", "tableName:axb",
    ]  # fmt: skip


def test_views_have_partitions_that_are_names_alone(alone: hivesql.Session) -> None:
    alone.sql("""
        CREATE TABLE vt (k int, v string) PARTITIONED BY (p string);
        CREATE VIEW vp (a, b) PARTITIONED ON (b) AS SELECT k, p FROM vt;
        ALTER VIEW vp ADD PARTITION (b='x') PARTITION (b='y');
        ALTER VIEW vp ADD IF NOT EXISTS PARTITION (b='y');
        ALTER VIEW vp DROP IF EXISTS PARTITION (b='z'), PARTITION (b='x');
    """)
    assert rows(alone, "SHOW PARTITIONS vp") == [("b=y",)]
    assert rows(alone, "SHOW CREATE TABLE vp") == [
        ("CREATE VIEW `vp` PARTITIONED ON (`b`) AS SELECT `k` AS `a`, `p` AS `b` FROM "
         "(SELECT `vt`.`k`, `vt`.`p` FROM `default`.`vt`) `vp`",),
    ]  # fmt: skip
    told = [line for (line,) in rows(alone, "SHOW TABLE EXTENDED LIKE vp PARTITION (b='y')")]
    assert {"location:null", "partitionColumns:struct partition_columns { string b}"} <= set(told)
    for statement, code in [
        ("CREATE VIEW vq PARTITIONED ON (k) AS SELECT k, p FROM vt", 10093),
        ("CREATE VIEW vq PARTITIONED ON (k, p) AS SELECT k, p FROM vt", 10092),
        ("ALTER TABLE vp ADD PARTITION (b='w')", 10131),
        ("ALTER VIEW vt ADD PARTITION (p='w')", 10132),
        ("ALTER VIEW vp ADD PARTITION (b='y')", 10073),
        ("CREATE OR REPLACE VIEW vp AS SELECT k FROM vt", 10217),
        ("ALTER VIEW vp AS SELECT k FROM vt", None),
    ]:
        with pytest.raises(HiveSqlError) as caught:
            alone.sql(statement)
        assert (statement, caught.value.code) == (statement, code)
    alone.sql("DROP VIEW vp")
    assert rows(alone, "SHOW VIEWS") == []


def test_what_a_table_is_skewed_by_is_kept_and_told(alone: hivesql.Session) -> None:
    alone.sql("""
        CREATE TABLE s (k int, v string) SKEWED BY (k, v) ON ((1, 'a'), (2, 'b;c'))
        STORED AS DIRECTORIES STORED AS ORC;
        CREATE TABLE l LIKE s;
    """)

    def told(name: str) -> dict[str, str]:
        found = alone.sql(f"DESCRIBE FORMATTED {name}").rows
        words = ("Skewed", "Stored As")
        return {row[0]: row[1] for row in found if str(row[0]).startswith(words)}

    both = {
        "Stored As SubDirectories:": "Yes",
        "Skewed Columns:": "[k, v]",
        "Skewed Values:": "[[1, a], [2, b;c]]",
    }
    assert told("s") == told("l") == both
    lines = [row[0] for row in alone.sql("SHOW CREATE TABLE s").rows]
    assert lines[3:6] == [
        "SKEWED BY (`k`,`v`)", "  ON (('1','a'),('2','b\\;c'))", "  STORED AS DIRECTORIES",
    ]  # fmt: skip
    alone.sql("\n".join(lines).replace("`s`", "`again`").replace("/s'", "/again'"))
    assert told("again") == both
    extended = str(alone.sql("DESCRIBE EXTENDED s").rows[-1][1])
    assert (
        "skewedInfo:SkewedInfo(skewedColNames:[k, v], skewedColValues:[[1, a], [2, b;c]], "
        "skewedColValueLocationMaps:{}), storedAsSubDirectories:true"
    ) in extended
    alone.sql("ALTER TABLE s NOT STORED AS DIRECTORIES; ALTER TABLE s CHANGE k key int")
    assert told("s") == {"Skewed Columns:": "[key, v]", "Skewed Values:": "[[1, a], [2, b;c]]"}
    alone.sql("ALTER TABLE s SKEWED BY (v) ON ('x', 1.50)")
    assert told("s") == {"Skewed Columns:": "[v]", "Skewed Values:": "[[1.5], [x]]"}
    alone.sql("ALTER TABLE s NOT SKEWED")
    assert told("s") == {}


def test_who_owns_the_files_of_a_table_can_be_altered(
    alone: hivesql.Session, tmp_path: Path
) -> None:
    alone.sql("CREATE TABLE m (a int); CREATE TABLE k (a int)")
    for name in ("m", "k"):
        (tmp_path / "wh" / name / "000000_0").write_text("1\n")
    alone.sql("""
        ALTER TABLE m SET TBLPROPERTIES ('EXTERNAL'='TRUE');
        ALTER TABLE k SET TBLPROPERTIES ('EXTERNAL'='TRUE');
        ALTER TABLE k SET TBLPROPERTIES ('EXTERNAL'='FALSE');
    """)
    assert rows(alone, "SHOW EXTENDED TABLES")[1:] == [
        ("k", "MANAGED_TABLE"), ("m", "EXTERNAL_TABLE"),
    ]  # fmt: skip
    with pytest.raises(SemanticError, match="non-managed"):
        alone.sql("TRUNCATE TABLE m")
    alone.sql("DROP TABLE m; DROP TABLE k")
    assert [one.name for one in (tmp_path / "wh").iterdir()] == ["m"]
    assert (tmp_path / "wh" / "m" / "000000_0").exists()


def test_what_rcfiles_of_new_tables_hold(alone: hivesql.Session) -> None:
    serdes = "org.apache.hadoop.hive.serde2.columnar."
    lazy = "org.apache.hadoop.hive.serde2.lazybinary.LazyBinarySerDe"

    def serde_of(table: str) -> str:
        told = {
            row[0].strip(): row[1].strip() for row in rows(alone, f"DESCRIBE FORMATTED {table}")
        }
        return told["SerDe Library:"].removeprefix(serdes)

    binary, texts = "LazyBinaryColumnarSerDe", "ColumnarSerDe"
    alone.sql(f"""
        CREATE TABLE a (i int) STORED AS RCFILE;
        SET hive.default.rcfile.serde={serdes}{texts};
        CREATE TABLE b (i int) STORED AS RCFILE;
        CREATE TABLE c (i int) ROW FORMAT SERDE '{serdes}{binary}' STORED AS RCFILE;
        SET hive.default.fileformat=rcfile;
        CREATE TABLE d (i int);
        CREATE TABLE e LIKE a;
        CREATE TABLE j LIKE a STORED AS RCFILE;
        CREATE TABLE k (i int) PARTITIONED BY (p int) STORED AS TEXTFILE;
        ALTER TABLE k ADD PARTITION (p=1);
        ALTER TABLE k PARTITION (p=1) SET FILEFORMAT RCFILE;
        CREATE TABLE l (i int) STORED AS TEXTFILE;
        ALTER TABLE l SET FILEFORMAT RCFILE;
        CREATE TABLE m (i int) STORED AS TEXTFILE;
        ALTER TABLE m SET FILEFORMAT INPUTFORMAT 'org.apache.hadoop.hive.ql.io.RCFileInputFormat'
            OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.RCFileOutputFormat' SERDE '{serdes}{binary}';
    """)
    found = {name: serde_of(name) for name in ("a", "b", "c", "d", "e", "j", "l", "m")}
    assert found == {
        "a": binary, "b": texts, "c": binary, "d": texts, "e": binary, "j": texts, "l": texts,
        "m": binary,
    }  # fmt: skip
    assert serde_of("k PARTITION (p=1)") == texts
    alone.sql(f"""
        CREATE TABLE g (i int) ROW FORMAT SERDE '{lazy}' STORED AS SEQUENCEFILE;
        CREATE TABLE h (i int) STORED AS SEQUENCEFILE;
        CREATE TABLE t (i int) STORED AS TEXTFILE;
        ALTER TABLE h SET SERDE '{lazy}';
        ALTER TABLE t SET SERDE '{lazy}';
    """)
    formats = {"g": "sequencebinary", "h": "sequencebinary", "t": "lazybinary"}
    assert {name: table_of(alone, name).format for name in "ght"} == formats
    alone.sql("ALTER TABLE h SET SERDE 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe'")
    assert table_of(alone, "h").format == "sequencefile"
    with pytest.raises(SemanticError, match="no SerDe of RCFile"):
        alone.sql("SET hive.default.rcfile.serde=x; CREATE TABLE f (i int) STORED AS RCFILE")
    with pytest.raises(SemanticError, match="no SerDe of RCFile"):
        alone.sql("ALTER TABLE t SET FILEFORMAT RCFILE")
