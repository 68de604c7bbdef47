"""Functions from classes and macros: their kinds, their files, their errors, and how they end."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from hivesql.dry_run import rehearse
from hivesql_planner.errors import HiveSqlError

if TYPE_CHECKING:
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


def jar_of(source: str, place: Path) -> Path:
    (place / "Twice.java").write_text(source)
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    command = ["javac", "-proc:none", "-d", place, "-cp", jars, place / "Twice.java"]
    subprocess.run(command, check=True, capture_output=True)
    with zipfile.ZipFile(place / "twice.jar", "w") as archive:
        archive.write(place / "own" / "Twice.class", "own/Twice.class")
    return place / "twice.jar"


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
    assert ("Synonyms: lower, lcase",) in session.sql("DESCRIBE FUNCTION EXTENDED upper").rows
    shown = session.sql("SHOW FUNCTIONS LIKE 'twice|nested'").rows
    assert shown == [("nested",), ("twice",)]
    assert session.sql("LIST JARS").rows == [(str(jar),)]

    refused = {
        "SELECT v, total(k) FROM t": (10025, 8),
        "SELECT each(array(1)), 2": (10075, 24),
        "SELECT answer(1)": (10015, 8),
        "SELECT twice(k, k) FROM t": (10014, 1),
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
