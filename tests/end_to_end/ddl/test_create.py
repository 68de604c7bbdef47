"""CREATE in its forms: temporary tables, AS SELECT, LIKE."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import hivesql
from end_to_end.answers import rows, table_of
from hivesql.services import run_services
from hivesql_executor.files.api import Files
from hivesql_planner.errors import HiveSqlError, SemanticError

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.mark.spark
@pytest.mark.parametrize("format_", [ACID, "STORED AS ORC"])
def test_if_not_exists_does_nothing_where_others_were_first(
    session: hivesql.Session, tmp_path: Path, format_: str
) -> None:
    """Though its table was not there when names were bound, and is perhaps filled now."""
    fills = format_ == ACID  # The lock of a plain table's rows keeps others from writing.
    url, home = f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse")
    plain = session.runtime
    with hivesql.connect(url, home) as other:

        def first(place: str) -> Files:
            if place.endswith("/t") and rows(other, "SHOW TABLES") == []:
                other.sql(f"CREATE TABLE t (a INT) {ACID}")
                if fills:
                    other.sql("INSERT INTO t VALUES (7)")
            return plain.files(place)

        session.runtime = replace(plain, files=first)
        session.sql(f"CREATE TABLE IF NOT EXISTS t {format_} AS SELECT 8 AS a")
        session.runtime = plain
        assert rows(session, "SELECT a FROM t") == ([(7,)] if fills else [])
        assert session.check("t") == ()
        with pytest.raises(SemanticError, match="already exists"):
            session.sql(f"CREATE TABLE t {format_} AS SELECT 8 AS a")
        assert rows(session, "SHOW LOCKS") == []
        assert {path.name for path in (tmp_path / "warehouse").iterdir()} == {"t"}


@pytest.mark.spark
def test_temporary_tables_shadow_others_until_the_session_ends(
    session: hivesql.Session, tmp_path: Path
) -> None:
    session.sql(f"""
        CREATE TABLE t (a int) {ACID};
        INSERT INTO t VALUES (1);
        CREATE TEMPORARY TABLE IF NOT EXISTS t AS SELECT 99 AS zz;
        CREATE TEMPORARY TABLE IF NOT EXISTS t AS SELECT 7 AS yy;
        CREATE TEMPORARY TABLE IF NOT EXISTS tac (a int, v string) {ACID};
        INSERT INTO tac VALUES (5, 'x'), (6, 'y');
        UPDATE tac SET v = 'z' WHERE tac.a = 5;
    """)
    assert rows(session, "SELECT t.zz, tac.v FROM t JOIN tac ON tac.a < t.zz") == [
        (99, "y"), (99, "z"),
    ]  # fmt: skip
    with hivesql.connect(
        f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse")
    ) as other:
        assert rows(other, "SHOW TABLES") == [("t",)]
        assert rows(other, "SHOW DATABASES") == [("default",)]
        assert [row[0] for row in other.sql("DESCRIBE t").rows] == ["a"]
        with pytest.raises(SemanticError, match="Table not found"):
            other.sql("DESCRIBE tac")
    assert rows(session, "SHOW TABLES") == [("t",), ("tac",)]
    assert ("Database:", "default") in [
        tuple(row)[:2] for row in session.sql("DESCRIBE FORMATTED tac").rows
    ]
    with pytest.raises(SemanticError, match="references temporary table"):
        session.sql("CREATE VIEW v AS SELECT * FROM tac")
    # Errors and plans name tables as their user does, not by the database behind them.
    plan = [row[0] for row in session.sql("EXPLAIN INSERT INTO tac SELECT zz, 'x' FROM t").rows]
    assert "  lock default.tac -> SHARED_READ" in plan
    assert not [line for line in plan if "hivesql_tmp" in line]
    with pytest.raises(SemanticError, match=r"(?m)Table already exists: default\.tac$"):
        session.sql("CREATE TEMPORARY TABLE tac (a int)")
    session.sql("DROP TABLE t")
    assert rows(session, "SELECT a FROM t") == [(1,)]
    session.temporary.drop_all()
    with pytest.raises(SemanticError, match="Table not found"):
        session.sql("SELECT * FROM tac")
    assert session.runtime.metastore.databases() == ("default",)
    assert sorted(path.name for path in (tmp_path / "warehouse").iterdir()) == ["t"]


def test_temporary_tables_are_renamed_and_listed_as_others(tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        session.sql("""
            CREATE DATABASE other;
            CREATE TABLE lasting (b string);
            CREATE TEMPORARY TABLE t (a int) PARTITIONED BY (p int);
            ALTER TABLE t ADD PARTITION (p=1);
            ALTER TABLE t RENAME TO lasting;
            CREATE TEMPORARY TABLE t (z int);
        """)
        assert rows(session, "SHOW PARTITIONS lasting") == [("p=1",)]
        assert rows(session, "SHOW TABLES") == [("lasting",), ("t",)]
        assert rows(session, "SHOW EXTENDED TABLES") == [
            ("# Table Name", "Table Type"), ("lasting", "MANAGED_TABLE"), ("t", "MANAGED_TABLE"),
        ]  # fmt: skip
        told = [row[0] for row in session.sql("SHOW TABLE EXTENDED LIKE 'las%'").rows]
        assert told[0] == "tableName:lasting"
        assert "partitionColumns:struct partition_columns { i32 p}" in told
        with pytest.raises(SemanticError, match="temporary table already exists") as caught:
            session.sql("ALTER TABLE t RENAME TO lasting")
        assert caught.value.code == 40013
        session.sql("ALTER TABLE t RENAME TO other.t")
        assert rows(session, "SHOW TABLES") == [("lasting",)]
        assert rows(session, "SHOW TABLES IN other") == [("t",)]
        assert [row[0] for row in session.sql("DESCRIBE other.t").rows] == ["z"]
        with pytest.raises(SemanticError, match="Table not found"):
            session.sql("DESCRIBE t")
        session.sql("DROP TABLE lasting")
        assert [row[0] for row in session.sql("DESCRIBE lasting").rows] == ["b"]
        store = session.runtime.metastore
        session.temporary.drop_all()
        assert store.databases() == ("default", "other")
        assert not list((tmp_path / "wh").rglob("*temporary*"))


KILLED = """
import os, signal, sys, hivesql
session = hivesql.connect(sys.argv[1], sys.argv[2])
session.sql("CREATE TEMPORARY TABLE t (a int); CREATE TEMPORARY TABLE u (a int)")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_temporary_tables_of_a_killed_session_go(tmp_path: Path) -> None:
    places = f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, *places], env=environment, check=False)
    with hivesql.connect(*places) as session:
        store = session.runtime.metastore
        (left,) = set(store.databases()) - {"default"}
        session.sql("CREATE TEMPORARY TABLE own (a int)")
        (own,) = set(store.databases()) - {"default"}
        assert own != left
        with hivesql.connect(*places) as other:
            run_services(other, threading.Event(), once=True)
        assert set(store.databases()) == {"default", own}
    with hivesql.connect(*places) as session:
        assert session.runtime.metastore.databases() == ("default",)
    assert not list((tmp_path / "warehouse").glob(".hivesql-*"))


@pytest.mark.spark
def test_tables_made_of_queries(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE ctp PARTITIONED BY (ds) STORED AS ORC AS
            SELECT 'x' AS ds, 1 AS a, 1.5 AS n UNION ALL SELECT 'y', 2, 2.5;
        CREATE TABLE IF NOT EXISTS ctp AS SELECT 7 AS other;
        CREATE TABLE acid PARTITIONED BY (ds) STORED AS ORC
            TBLPROPERTIES ('transactional'='true') AS SELECT a, ds FROM ctp;
        DELETE FROM acid WHERE a = 1;
    """)
    assert rows(session, "SHOW PARTITIONS ctp") == [("ds=x",), ("ds=y",)]
    assert rows(session, "SELECT a, ds FROM ctp") == [(1, "x"), (2, "y")]
    assert rows(session, "SELECT * FROM acid") == [(2, "y")]
    made = table_of(session, "ctp")
    assert (made.column_names, made.partition_names) == (("a", "n"), ("ds",))
    assert [str(column.type) for column in made.all_columns] == ["int", "decimal(2,1)", "string"]
    for sql, code in (
        ("CREATE TABLE x PARTITIONED BY (zz) AS SELECT 1 AS a", 10002),
        ("CREATE TABLE x PARTITIONED BY (a) AS SELECT 1 AS a", None),
        ("CREATE TABLE x CLUSTERED BY (a) INTO 2 BUCKETS AS SELECT 1 AS a", 10068),
        ("CREATE TABLE x PARTITIONED BY (a INT) AS SELECT 1 AS a", 10068),
        ("CREATE TABLE x AS SELECT 1 AS a, NULL AS b", 10305),
        ("CREATE TABLE x AS SELECT INTERVAL '1' DAY AS a", 40000),
        ("CREATE TABLE x AS SELECT array(INTERVAL '1' MONTH) AS a", 40000),
    ):
        with pytest.raises(HiveSqlError) as caught:
            session.sql(sql)
        assert caught.value.code == code
    assert rows(session, "SHOW TABLES") == [("acid",), ("ctp",)]


def test_tables_like_others(tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        session.sql(f"""
            CREATE TABLE p (a int COMMENT 'c', b string NOT NULL) COMMENT 'of p'
                PARTITIONED BY (ds string) CLUSTERED BY (a) INTO 4 BUCKETS {ACID};
            CREATE TABLE c (a int) COMMENT 'of c' ROW FORMAT DELIMITED FIELDS TERMINATED BY ',';
            CREATE TABLE lc LIKE c;
            CREATE TABLE lt LIKE c STORED AS TEXTFILE;
            SET hive.ddl.createtablelike.properties.whitelist=comment;
            CREATE TABLE lw LIKE c;
            RESET hive.ddl.createtablelike.properties.whitelist;
            ALTER TABLE p ADD PARTITION (ds='1');
            CREATE TABLE q LIKE p TBLPROPERTIES ('x'='y');
            CREATE EXTERNAL TABLE e LIKE p STORED AS PARQUET LOCATION '{tmp_path}/e';
            CREATE VIEW v AS SELECT a FROM p;
            CREATE TABLE w LIKE v;
        """)
        like = table_of(session, "q")
        assert like.columns == table_of(session, "p").columns
        assert (like.bucket_count, like.partition_names, like.constraints) == (4, ("ds",), ())
        assert like.properties["x"] == "y"
        copies = [table_of(session, name) for name in ("q", "lc", "lt", "lw")]
        assert [copy.comment for copy in copies] == [None, None, None, "of c"]
        delimiters = [copy.serde_properties.get("field.delim") for copy in copies[1:]]
        assert delimiters == [",", None, ","]
        assert like.location.endswith("/q")
        assert session.runtime.metastore.partitions(like.name) == ()
        outside = table_of(session, "e")
        assert (outside.type, outside.format) == ("EXTERNAL_TABLE", "parquet")
        assert not outside.is_transactional
        assert (table_of(session, "w").is_view, table_of(session, "w").column_names) == (
            False, ("a",),
        )  # fmt: skip


def test_dropping_and_emptying_what_is_something_else(tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        session.sql(f"""
            CREATE TABLE t (a int);
            CREATE VIEW v AS SELECT a FROM t;
            CREATE EXTERNAL TABLE e (a int) LOCATION '{tmp_path}/e';
            DROP VIEW IF EXISTS t;
            DROP TABLE IF EXISTS v;
        """)
        (tmp_path / "e" / "f").write_text("1", encoding="utf-8")
        assert rows(session, "SHOW TABLES") == [("e",), ("t",), ("v",)]
        for sql, code, text in (
            ("DROP TABLE v", 40000, "Cannot drop a view with DROP TABLE"),
            ("DROP VIEW t", 40000, "Cannot drop a base table with DROP VIEW"),
            ("TRUNCATE TABLE e", 10146, "Cannot truncate non-managed table"),
        ):
            with pytest.raises(HiveSqlError, match=text) as refusal:
                session.sql(sql)
            assert refusal.value.code == code
        session.sql("TRUNCATE TABLE e FORCE")
        assert not (tmp_path / "e" / "f").exists()
        session.sql("DROP TABLE e PURGE; DROP VIEW v; DROP TABLE t")
        assert (rows(session, "SHOW TABLES"), (tmp_path / "e").is_dir()) == ([], True)


def test_the_files_of_a_purged_external_table_go_with_it(tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        session.sql(f"""
            CREATE EXTERNAL TABLE e (a int) PARTITIONED BY (p int) LOCATION '{tmp_path}/e'
            TBLPROPERTIES ('external.table.purge'='TRUE');
            ALTER TABLE e ADD PARTITION (p=1) PARTITION (p=2);
            ALTER TABLE e DROP PARTITION (p=1);
        """)
        assert [place.name for place in (tmp_path / "e").iterdir()] == ["p=2"]
        session.sql("DROP TABLE e")
        assert not (tmp_path / "e").exists()


@pytest.mark.spark
def test_a_materialized_view_has_the_rows_of_its_last_rebuild(
    session: hivesql.Session, tmp_path: Path
) -> None:
    session.sql(f"""
        CREATE TABLE t (k int, v string) {ACID};
        INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'b');
        CREATE MATERIALIZED VIEW m AS SELECT k + 1 AS k FROM t WHERE k > 1;
        CREATE MATERIALIZED VIEW p PARTITIONED ON (v) {ACID} AS SELECT v, k FROM t;
        CREATE MATERIALIZED VIEW q PARTITIONED ON (v) AS SELECT v, k FROM t;
    """)

    def told(view: str, key: str) -> str:
        found = session.sql(f"DESCRIBE FORMATTED {view}").rows
        return next(str(row[1]) for row in found if row[0] == key)

    before = [(1, "a"), (2, "b"), (3, "b")]
    assert rows(session, "SELECT * FROM m ORDER BY k") == [(3,), (4,)]
    assert rows(session, "SELECT k, v FROM p ORDER BY k") == before
    assert told("p", "Expanded Query:").endswith(
        "`v` FROM (SELECT `t`.`v`, `t`.`k` FROM `default`.`t`) `p`"
    )
    assert [told("m", "Outdated for Rewriting:"), told("m", "default.t")] == [
        "No", ":1:9223372036854775807::",
    ]  # fmt: skip
    session.sql("DELETE FROM t WHERE v = 'a'")
    session.sql("INSERT INTO t VALUES (7, 'c')")
    assert rows(session, "SELECT k, v FROM p ORDER BY k") == before
    assert [told(view, "Outdated for Rewriting:") for view in "mp"] == ["Yes", "Yes"]
    with pytest.raises(HiveSqlError, match="not allowed in transaction"):
        session.sql("START TRANSACTION; ALTER MATERIALIZED VIEW p REBUILD")
    for view in "mpq":
        session.sql(f"ALTER MATERIALIZED VIEW {view} REBUILD")
    assert rows(session, "SELECT * FROM m ORDER BY k") == [(3,), (4,), (8,)]
    for view in "pq":
        found = rows(session, f"SELECT k, v FROM {view} ORDER BY k")
        assert found == [(2, "b"), (3, "b"), (7, "c")]
    assert [told(view, "default.t") for view in "mp"] == [":3:9223372036854775807::"] * 2
    assert rows(session, "SHOW MATERIALIZED VIEWS") == [
        ("# MV Name", "Rewriting Enabled", "Mode", "Incremental rebuild"),
        ("m", "Yes", "Manual refresh", "Available for insert operations only"),
        ("p", "Yes", "Manual refresh", "Available for insert operations only"),
        ("q", "Yes", "Manual refresh", "Available for insert operations only"),
    ]
    session.sql("ALTER TABLE t CHANGE v w string")
    with pytest.raises(SemanticError, match="v"):
        session.sql("ALTER MATERIALIZED VIEW p REBUILD")
    assert rows(session, "SELECT count(*) FROM p") == [(3,)]
    for sql, problem in (
        ("DROP TABLE t", "used in the following materialized views"),
        ("DROP TABLE m", "Cannot drop a materialized view with DROP TABLE"),
        ("DROP VIEW m", "Cannot drop a materialized view with DROP VIEW"),
        ("DROP MATERIALIZED VIEW t", "Cannot drop a base table with DROP MATERIALIZED VIEW"),
    ):
        with pytest.raises(SemanticError, match=problem):
            session.sql(sql)
    for view in "mpq":
        session.sql(f"DROP MATERIALIZED VIEW {view}")
    session.sql("DROP TABLE t")
    assert not list((tmp_path / "warehouse").iterdir())
