"""Functions from classes and macros: their kinds, their files, their errors, and how they end."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from hivesql import connect
from hivesql.dry_run import rehearse
from hivesql_planner.errors import HiveSqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    import hivesql

pytestmark = pytest.mark.spark

HIVE = "org.apache.hadoop.hive.ql.udf"
TWICE = """
    package own;
    @org.apache.hadoop.hive.ql.exec.Description(name = "twice", value = "_FUNC_(x) - twice x")
    public class Twice extends org.apache.hadoop.hive.ql.exec.UDF {
        public Integer evaluate(Integer x) { return x == null ? null : Integer.valueOf(2 * x); }
        public String evaluate(String x) { return x == null ? null : x + x; }
    }
"""


def rows(session: hivesql.Session, sql: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, session.sql(sql).rows), key=repr)


def jar_of(source: str, place: Path, name: str = "twice.jar") -> Path:
    (place / "Twice.java").write_text(source)
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    command = ["javac", "-proc:none", "-d", place, "-cp", jars, place / "Twice.java"]
    subprocess.run(command, check=True, capture_output=True)
    with zipfile.ZipFile(place / name, "w") as archive:
        archive.write(place / "own" / "Twice.class", "own/Twice.class")
    return place / name


def test_functions_and_macros(session: hivesql.Session, tmp_path: Path) -> None:
    jar = jar_of(TWICE, tmp_path)
    session.sql(f"""
        CREATE TABLE t (k int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t VALUES (1, 'a'), (2, 'b'), (2, 'c'), (NULL, NULL);
        CREATE TEMPORARY FUNCTION twice AS 'own.Twice' USING JAR '{jar}';
        CREATE TEMPORARY FUNCTION upper AS '{HIVE}.generic.GenericUDFLower';
        CREATE TEMPORARY FUNCTION total AS '{HIVE}.generic.GenericUDAFSum';
        CREATE TEMPORARY FUNCTION each AS '{HIVE}.generic.GenericUDTFExplode';
        CREATE TEMPORARY MACRO less_one(x double) x - 1;
        CREATE TEMPORARY MACRO shown(n int, s string)
          CASE WHEN n > 1 THEN concat(s, '@0') ELSE 'none' END;
        CREATE TEMPORARY MACRO nested(x int) less_one(x) * twice(x);
        CREATE TEMPORARY MACRO field(s struct<a:int,b:string>) s.b;
        CREATE TEMPORARY MACRO answer() 42
    """)
    asked = {
        "SELECT twice(k), twice(v), upper('aB') FROM t": [
            (2, "aa", "ab"), (4, "bb", "ab"), (4, "cc", "ab"), (None, None, "ab"),
        ],
        "SELECT total(k), total(DISTINCT k) FROM t": [(5, 3)],
        "SELECT k, total(k) OVER (ORDER BY k) FROM t WHERE k > 0": [(1, 1), (2, 5), (2, 5)],
        "SELECT each(array(1, 2))": [(1,), (2,)],
        "SELECT k, x FROM t LATERAL VIEW each(array(k, 5)) e AS x WHERE k = 1": [(1, 1), (1, 5)],
        "SELECT shown(k, v), shown('3', v) FROM t WHERE k < 3": [
            ("b@0", "b@0"), ("c@0", "c@0"), ("none", "a@0"),
        ],
        "SELECT nested(3), less_one('5'), answer() + 1": [(12.0, 4.0, 43)],
        "SELECT field(named_struct('a', 1, 'b', 'x'))": [("x",)],
        "SELECT v, sum(twice(k)) FROM t GROUP BY v HAVING total(k) > 1": [("b", 4), ("c", 4)],
    }  # fmt: skip
    assert {sql: rows(session, sql) for sql in asked} == asked
    (tmp_path / "words").write_text("a\nb\n")
    found = f"SELECT k FROM t WHERE in_file(v, '{tmp_path}/words')"
    assert rows(session, found) == [(1,), (2,)]
    session.sql("UPDATE t SET k = twice(k) WHERE answer() = 42 AND twice(v) = 'aa'")
    session.sql("DELETE FROM t WHERE less_one(k) = 1 AND upper(v) = 'c'")
    assert rows(session, "SELECT v FROM t WHERE k = 2") == [("a",), ("b",)]

    described = session.sql("DESCRIBE FUNCTION EXTENDED twice").rows
    assert described == [
        ("twice(x) - twice x",), ("Function class:own.Twice",), ("Function type:TEMPORARY",),
    ]  # fmt: skip
    assert ("Synonyms: lcase, lower",) in session.sql("DESCRIBE FUNCTION EXTENDED upper").rows
    shown = session.sql("SHOW FUNCTIONS LIKE 'twice|nested'").rows
    assert shown == [("nested",), ("twice",)]
    assert session.sql("LIST JARS").rows == [(str(jar),)]

    refused = {
        "SELECT v, total(k) FROM t": (10025, 8),
        "SELECT each(array(1)), 2": (10075, 24),
        "SELECT answer(1)": (10015, 8),
        "SELECT twice(k, k) FROM t": (10014, 8),
        "CREATE TEMPORARY MACRO m(x int) x + y": (None, 33),
        "CREATE TEMPORARY MACRO m(x int, y int) x": (None, 40),
        "CREATE TEMPORARY MACRO m(x int, x int) x": (None, 24),
        "CREATE TEMPORARY MACRO m(x int) sum(x)": (10128, 33),
        "CREATE TEMPORARY FUNCTION twice AS 'no.Such'": (None, 1),
        "CREATE TEMPORARY FUNCTION twice AS 'java.lang.String'": (None, 1),
        f"CREATE TEMPORARY FUNCTION f AS '{HIVE}.generic.GenericUDAFnGrams'": (None, 1),
        f"CREATE TEMPORARY FUNCTION f AS '{HIVE}.UDFAscii' USING JAR '/no/such'": (None, 1),
        f"CREATE TEMPORARY FUNCTION d.f AS '{HIVE}.UDFAscii'": (None, 27),
        "DROP TEMPORARY FUNCTION lower": (10301, 25),
    }
    told = {}
    for sql in refused:
        with pytest.raises(HiveSqlError) as caught:
            session.sql(sql)
        told[sql] = (caught.value.code, caught.value.column)
    assert told == refused
    assert rows(session, "SELECT twice(4)") == [(8,)]

    session.sql("""
        DROP TEMPORARY FUNCTION upper; DROP TEMPORARY MACRO less_one;
        DROP TEMPORARY MACRO IF EXISTS less_one
    """)
    assert rows(session, "SELECT upper('a'), nested(3)") == [("A", 12.0)]
    script = f"CREATE TEMPORARY FUNCTION f AS '{HIVE}.UDFAscii'; SELECT f('a'); SELECT less_one(1)"
    steps = [step.error and step.error.code for step in rehearse(session, script, None)]
    assert steps == [None, None, 10011]


def test_functions_of_the_catalog(session: hivesql.Session, tmp_path: Path) -> None:
    """What real Hive 4.1 answers to the same script."""
    jar = jar_of(TWICE, tmp_path, "kept.jar")
    session.sql(f"""
        CREATE DATABASE d1;
        CREATE TABLE t (a string); INSERT INTO t VALUES ('Abc');
        CREATE FUNCTION f1 AS '{HIVE}.generic.GenericUDFUpper';
        CREATE FUNCTION d1.twice AS 'own.Twice' USING JAR '{jar}';
        CREATE FUNCTION upper AS '{HIVE}.generic.GenericUDFLower';
        CREATE FUNCTION `d1.total` AS '{HIVE}.generic.GenericUDAFSum';
        CREATE FUNCTION each AS '{HIVE}.generic.GenericUDTFExplode';
        CREATE VIEW v AS SELECT f1(a) x, d1.twice(a) y FROM t WHERE default.f1(a) = 'ABC'
    """)
    asked = {
        "SELECT upper('aB'), f1('a'), default.f1('b'), DEFAULT.F1('c'), `d1`.`twice`('A')": [
            ("ab", "A", "B", "C", "AA"),
        ],
        "SELECT d1.total(x), d1.total(x) OVER (PARTITION BY x) FROM (SELECT 2 x) q GROUP BY x": [
            (2, 2),
        ],
        "SELECT b, d1.twice(x), d1.total(x) FROM (SELECT 1 x, 'b' b) q GROUP BY b, x": [
            ("b", 2, 1),
        ],
        "SELECT x FROM t LATERAL VIEW default.each(array(1, 2)) q AS x": [(1,), (2,)],
        "SELECT default.each(array(7))": [(7,)],
        "SELECT * FROM v": [("ABC", "AbcAbc")],
        "SHOW FUNCTIONS LIKE 'd1.%'": [("d1.total",), ("d1.twice",)],
        "SHOW FUNCTIONS LIKE '%f1'": [("default.f1",)],
        "DESCRIBE FUNCTION EXTENDED d1.twice": [
            ("Function class:own.Twice",), ("Function type:PERSISTENT",),
            ("d1.twice(x) - twice x",),
        ],
        "EXPLAIN LOCKS DROP FUNCTION f1": [("LOCK INFORMATION:",), ("default -> SHARED_READ",)],
    }  # fmt: skip
    assert {sql: rows(session, sql) for sql in asked} == asked
    assert ("Synonyms: ucase, upper, default.f1",) in rows(session, "DESC FUNCTION EXTENDED f1")

    refused = {
        f"CREATE FUNCTION f1 AS '{HIVE}.generic.GenericUDFLower'": (None, 17),
        "CREATE FUNCTION bad AS 'no.Such'": (None, 1),
        "CREATE FUNCTION bad AS 'java.lang.String'": (None, 1),
        f"CREATE FUNCTION bad AS '{HIVE}.UDFAscii' USING JAR '/no/such'": (None, 1),
        "SELECT twice('A')": (10011, 8),
        "SELECT d1.nosuch('A')": (10011, 8),
        "DROP DATABASE d1": (10042, 1),
        "DROP FUNCTION max": (10301, 15),
    }
    told = {}
    for sql in refused:
        with pytest.raises(HiveSqlError) as caught:
            session.sql(sql)
        told[sql] = (caught.value.code, caught.value.column)
    assert told == refused
    assert session.runtime.metastore.function("default", "bad") is None
    assert rows(session, "SELECT f1('a')") == [("A",)]

    session.sql("USE d1")
    assert rows(session, "SELECT twice('A'), upper('a')") == [("AA", "A")]
    with pytest.raises(HiveSqlError, match="Invalid function f1"):
        session.sql("SELECT * FROM default.v")
    session.sql(f"""
        USE default;
        CREATE TEMPORARY FUNCTION f1 AS '{HIVE}.generic.GenericUDFLower'
    """)
    assert rows(session, "SELECT f1('aB'), default.f1('aB')") == [("ab", "AB")]
    session.sql("DROP FUNCTION f1")
    assert rows(session, "SELECT f1('aB')") == [("ab",)]
    session.sql(
        "DROP TEMPORARY FUNCTION f1; DROP FUNCTION upper; DROP FUNCTION IF EXISTS nowhere.f"
    )
    with pytest.raises(HiveSqlError, match="Invalid function f1"):
        session.sql("SELECT f1('aB')")
    session.sql("DROP FUNCTION f1")
    with pytest.raises(HiveSqlError, match="Invalid function f1"):
        session.sql("SET hive.exec.drop.ignorenonexistent=false; DROP FUNCTION f1")
    assert rows(session, "SELECT upper('aB')") == [("AB",)]
    script = """
        DROP FUNCTION d1.twice; CREATE FUNCTION g AS 'own.Twice'; SELECT g(1), each(array(1));
        USE d1; SELECT twice(1); SELECT default.g(1)
    """
    steps = [step.error and step.error.code for step in rehearse(session, script, None)]
    assert steps == [None, None, 10075, None, 10011, None]


def test_functions_of_another_session(
    session: hivesql.Session, spark: SparkSession, tmp_path: Path
) -> None:
    """Which the catalog has is asked once and by RELOAD FUNCTIONS, as in Hive."""
    other = connect(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"), spark=spark)
    assert rows(other, "SELECT upper('a')") == [("A",)]
    session.sql(f"""
        CREATE FUNCTION lowered AS '{HIVE}.generic.GenericUDFLower';
        CREATE FUNCTION upper AS '{HIVE}.generic.GenericUDFLower'
    """)
    assert rows(other, "SELECT lowered('A'), upper('A')") == [("a", "A")]
    other.sql("RELOAD FUNCTIONS")
    assert rows(other, "SELECT lowered('A'), upper('A')") == [("a", "a")]
    session.sql("DROP FUNCTION lowered; DROP FUNCTION upper")
    other.sql("RELOAD FUNCTION")
    assert rows(other, "SELECT upper('a')") == [("A",)]
    with pytest.raises(HiveSqlError, match="Invalid function lowered"):
        other.sql("SELECT lowered('A')")
    other.close()
