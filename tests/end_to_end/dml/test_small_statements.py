"""Small statements without Spark write what Spark writes: names, row ids, values, footers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyorc
import pytest

import hivesql
from acid_files import bucket_files, check_file, events, tree
from hivesql.dialect.structure import read_expression
from hivesql.dialect.tokens import tokenize
from hivesql.query.meaning.constants import constant_of
from hivesql.script import StatementText
from hivesql_executor.jvm import spark_line
from hivesql_planner.local.values import stored
from hivesql_planner.model.hive_type import HiveType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE kinds (i int, l bigint, s smallint, y tinyint, b boolean, f float, d double,
    n decimal(10,2), w decimal(38,10), t string, c char(4), v varchar(3), day date, ts timestamp,
    raw binary, tz timestamp with local time zone, many array<int>, named struct<x:int,y:string>,
    pairs map<string,int>) STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE acid (i int, n decimal(10,2), t string, c char(4), v varchar(3), day date,
    ts timestamp, b boolean, f double, many array<int>, named struct<x:int,y:string>,
    pairs map<string,int>)
    STORED AS ORC TBLPROPERTIES ('transactional'='true', 'orc.compress'='SNAPPY');
CREATE TABLE parts (a int, b string) PARTITIONED BY (k int, l string)
    STORED AS ORC TBLPROPERTIES ('transactional'='true', 'orc.compress'='NONE');
CREATE TABLE buckets (a int, t string, v varchar(5)) PARTITIONED BY (day date)
    CLUSTERED BY (a, v) INTO 4 BUCKETS STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE old (c char(5), n decimal(12,3), ts timestamp) CLUSTERED BY (c, n, ts) INTO 3 BUCKETS
    STORED AS ORC TBLPROPERTIES ('transactional'='true', 'bucketing_version'='1');
CREATE TABLE ruled (a int NOT NULL, b string DEFAULT 'x', c int CHECK (c > 5 AND c <> 7),
    d char(3) CHECK (d IN ('ab', 'ab ', 'abc')))
    STORED AS ORC TBLPROPERTIES ('transactional'='true');
"""
# Before Spark 4.2 columns of instants in ORC are refused.
WITHOUT_INSTANTS = TABLES.replace("tz timestamp with local time zone", "tz timestamp")
# Statements that run without Spark, in order.
SMALL = r"""
INSERT INTO kinds VALUES
    (1, 2, 3, 4, true, 1.5, 2.5, 3.455, 1.5, 'a\'\\\n"b', 'ab', 'abcdef', '2020-02-29', '2020-02-29 23:59:59.123456', 'raw', null, null, null, null),
    (-1, -2, -3, -4, false, 0.1, -0.1, -3.455, -99, 'é€𝄞', 'é€𝄞xy', '𝄞𝄞𝄞𝄞', '1969-12-31', '1969-12-31 23:59:58', '', null, null, null, null),
    (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
INSERT INTO kinds VALUES (2147483647, -9223372036854775808, -32768, 127, null, 1e10, 1.7976931348623157e308, 99999999.99, 1234567890123456789012345678, '', '', '', date '9999-12-31', timestamp '1900-01-01 00:00:00', 'x', null, null, null, null);
INSERT INTO kinds VALUES (-2147483648, 9223372036854775807, 1S, 1Y, true, 3, 4L, 5, 6, 7, 8, 90, '1582-10-15', date '2020-01-01', 'x', null, null, null, null);
INSERT INTO kinds VALUES ('12', '13', '14', '15', 'Off', '1.25', '-0.0', '1.005', '0', date '2020-01-01', 1234567, -12, '1582-10-16', '2014-12-31 23:59:59', 'x', null, null, null, null);
INSERT INTO kinds (t, i) VALUES ('only', 5), ("two", 6);
INSERT INTO acid SELECT 1, 1.5, 'a', 'ab', 'abc', date '2020-01-01', timestamp '2020-01-01 00:00:00', true, 1.0, null, null, null;
INSERT INTO acid VALUES (2, 2, 'b', 'b', 'b', '2020-01-02', '2020-01-02 00:00:00.25', false, 2.0, null, null, null), (3, 3.25, 'c', null, '', null, '1930-01-02 03:04:05', null, 3.0, null, null, null), (4, -1, 'd', 'd', 'd', '1999-12-31', null, true, null, null, null, null);
UPDATE acid SET t = 'B', n = 7.005, c = 'x', v = 'abcd', day = '2021-01-01', ts = '2021-01-01 00:00:00', b = null, f = 0.1 WHERE i = 2;
UPDATE acid SET t = acid.t, b = B WHERE i = 2 AND t = 'B';
UPDATE acid SET b = true WHERE c = 'x' OR c = 'ab';
UPDATE acid SET b = false WHERE NOT (b AND i <> 2) AND n >= -1;
UPDATE acid SET t = 'in' WHERE i IN (1, 3, null) AND day IS NULL;
UPDATE acid SET t = 'not in' WHERE i NOT IN (1, 2) AND ts IS NOT NULL;
UPDATE acid SET t = 'never' WHERE i NOT IN (1, null);
UPDATE acid SET t = 'day' WHERE day = '2020-01-01' AND ts BETWEEN '2019-12-31 00:00:00' AND timestamp '2020-01-01 00:00:00' AND v > 'abb';
UPDATE acid SET t = 'left' WHERE 3 < i AND -1.00 = n AND 'a' < acid.t AND b = true;
UPDATE acid SET n = n + 1, f = f * 1.1 WHERE i = 2;
UPDATE acid SET n = n * 0.1, f = 2 * f WHERE i = 3;
UPDATE acid SET n = acid.n * -0.005, f = f - 0.1 WHERE i >= 3;
UPDATE acid SET n = 1.123456 + n, f = f + 1e-3;
UPDATE acid SET n = n - 0.005, f = f + 1 WHERE i = 4;
UPDATE acid SET n = n + 1 WHERE i % 2 = 1 AND 0 <= i % 3;
UPDATE acid SET n = 5, n = n + 2 WHERE i = 4;
DELETE FROM acid WHERE i = 1 OR i = 77;
DELETE FROM acid WHERE i = 1;
INSERT INTO parts PARTITION (k = 1, l = 'x') VALUES (1, 'a'), (2, 'b');
INSERT INTO parts PARTITION (k = 1, l) VALUES (1, 'a', 'z'), (2, 'b', 'y'), (3, 'c', 'z'), (4, 'd', null), (5, 'e', ''), (6, 'f', 'é/=x y');
INSERT INTO parts VALUES (7, 'g', 1, 'x'), (8, 'h', null, 'x'), (9, 'i', -5, '1');
INSERT INTO parts (l, k, a) VALUES ('x', 1, 10);
UPDATE parts SET b = 'new' WHERE k = 1 AND a >= 2;
UPDATE parts SET b = null WHERE l = 'x' OR k IS NULL;
DELETE FROM parts WHERE l IN ('z', 'é/=x y') OR a = 9;
INSERT INTO buckets PARTITION (day = '2020-01-01') VALUES (1, 'a', 'x'), (2, 'b', null), (3, 'c', 'y'), (4, 'd', 'z'), (5, 'e', 'w'), (6, 'f', 'v');
INSERT INTO buckets VALUES (1, 'a', 'x', '2020-01-01'), (2, 'b', 'abcdefg', '2020-01-02'), (null, 'c', '', '2020-01-02'), (9, 'c', '', null);
UPDATE buckets SET t = 'T' WHERE a > 1 AND day >= '2020-01-01';
DELETE FROM buckets WHERE a = 2 OR a IS NULL;
DELETE FROM buckets;
INSERT INTO old VALUES ('a', 1.5, '2020-01-01 00:00:00'), ('b', -2.25, '1960-01-01 00:00:00'), (null, null, null), ('ccccc', 100, '2020-06-01 12:00:00');
UPDATE parts SET a = 11;
INSERT INTO ruled VALUES (1, default, 6, 'abcd'), (2, 'b', null, 'abc');
INSERT INTO ruled (a) VALUES (3);
UPDATE ruled SET b = default, c = 8, d = 'ab' WHERE a = 2;
MERGE INTO acid t USING (VALUES (2, 'm', 'cc', date '2022-02-02'), (3, 'n', null, null), (50, 'o', 'dd', date '2022-02-03'), (null, 'p', null, null)) AS s (i, t, c, day) ON t.i = s.i WHEN MATCHED AND t.i = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET t = s.t, n = t.n + 1, v = 'mv', day = s.day WHEN NOT MATCHED THEN INSERT (i, t, c, day, f) VALUES (s.i, s.t, 'new', s.day, 1.5);
MERGE INTO parts t USING (VALUES (11, 'up', 1, 'x'), (12, 'new', 1, 'x'), (13, 'far', 7, 'w'), (14, 'nowhere', null, '')) AS s (a, b, k, l) ON t.a = s.a AND s.l = t.l AND t.k = s.k WHEN MATCHED THEN UPDATE SET b = s.b WHEN NOT MATCHED THEN INSERT VALUES (s.a, s.b, s.k, s.l);
MERGE INTO buckets t USING (VALUES (1, 'z'), (30, 'y'), (31, 'x')) AS s (a, t) ON t.a = s.a WHEN NOT MATCHED THEN INSERT VALUES (s.a, s.t, 'v', '2020-01-03');
MERGE INTO ruled t USING (SELECT a FROM parts WHERE k = 7) s ON t.a = s.a WHEN NOT MATCHED THEN INSERT (a, c) VALUES (s.a, 9);
MERGE INTO ruled t USING (SELECT a AS x, l FROM parts WHERE k = 1) s ON t.a = s.x AND t.c > 8 WHEN MATCHED THEN UPDATE SET b = s.l, d = null;
DELETE FROM ruled USING parts s WHERE ruled.a = s.a AND ruled.c = 9;
UPDATE parts SET b = s.b FROM ruled s WHERE parts.k = s.c AND parts.l = 'x';
UPDATE acid SET t = 'member', n = n + 1 WHERE i IN (SELECT r.a FROM ruled r) AND i > 0;
DELETE FROM parts WHERE k = 1 AND a IN (SELECT a FROM parts WHERE l = 'x' AND a % 2 = 1);
DELETE FROM parts WHERE k = 1 AND a IN (SELECT a FROM parts WHERE l = 'x');
"""  # noqa: E501
# Statements of the same kind that Spark carries out: values or files are not that simple.
FOR_SPARK = """
INSERT INTO kinds (i) VALUES (2147483648);
INSERT INTO kinds (t) VALUES (1.50);
INSERT INTO kinds (i) VALUES ('x');
INSERT INTO kinds (day) VALUES ('1500-01-01');
INSERT INTO kinds (ts) VALUES ('1969-12-31 23:59:58.5');
INSERT INTO kinds (t) VALUES (upper('a'));
UPDATE acid SET n = n + 99999999 WHERE i = 4;
MERGE INTO acid t USING (SELECT a + 0 AS i, concat(b, '!') AS b, l FROM parts) s ON t.i = s.i AND s.l <> 'y' WHEN MATCHED AND s.b > 'a' THEN DELETE WHEN MATCHED THEN UPDATE SET t = concat(s.b, s.l), c = 'made', ts = '2001-02-03 04:05:06' WHEN NOT MATCHED AND s.i < 10 THEN INSERT (i, t, v, ts) VALUES (s.i * 100, upper(s.b), s.l, timestamp '2001-02-03 04:05:06.5');
MERGE INTO parts t USING (SELECT a + 20 AS a, cast(a + 1 AS string) AS l FROM ruled) s ON t.a = s.a WHEN NOT MATCHED THEN INSERT VALUES (s.a, 'made', s.a * 2, s.l);
MERGE INTO acid t USING (VALUES (2, timestamp '1969-12-31 23:59:58.5')) AS s (i, ts) ON t.i = s.i WHEN MATCHED THEN UPDATE SET ts = s.ts;
DELETE FROM acid WHERE i IN (SELECT a + 1 FROM parts);
INSERT INTO acid VALUES (20, 1, 'x', 'x', 'x', '1500-01-01', '1500-01-01 00:00:00', true, 1.0, array(1, null), named_struct('x', 1, 'y', 'a'), map('k', 1));
"""  # noqa: E501
# … and these run without it again, over files that Spark wrote; the last one meets old days.
AFTER_SPARK = """
UPDATE acid SET t = 'over' WHERE i = 3;
DELETE FROM kinds WHERE i = 5;
"""
LITERALS = (
    ("127", "tinyint"), ("'12'", "int"), ("-9223372036854775808", "bigint"), ("5S", "string"),
    ("1.005", "decimal(5,2)"), ("-1.005", "decimal(5,2)"), ("'2.675'", "decimal(4,2)"),
    ("'-0'", "decimal"), ("7L", "decimal(38,10)"), ("1e3", "float"), ("0.1", "float"),
    ("16777216", "float"), ("3.4028235e38", "float"), ("1.17e-38", "float"), ("'0.1'", "double"),
    ("9007199254740992", "double"), ("0.30000000000000004", "double"), ("-007", "string"),
    ("date '2020-01-01'", "varchar(4)"), ("date '2020-01-01'", "string"), ("'é𝄞xyz'", "char(3)"),
    ("'é'", "char(3)"), ("'é'", "binary"), ("date '2020-01-01'", "timestamp"),
    ("'2020-01-01 00:00:00.1'", "timestamp"), ("'1969-12-31'", "date"), ("true", "boolean"),
    ("null", "array<int>"),
)  # fmt: skip
BROKEN = (
    "INSERT INTO ruled VALUES (null, 'a', 6, 'ab')",
    "INSERT INTO ruled VALUES (1, 'a', 7, 'ab')",
    "INSERT INTO ruled VALUES (1, 'a', 6, 'b')",
    "UPDATE ruled SET c = 7",
    "UPDATE ruled SET a = null WHERE a = 1",
    "MERGE INTO ruled t USING (VALUES (1, 7)) AS s (a, c) ON t.a = s.a "
    "WHEN MATCHED THEN UPDATE SET c = s.c",
)


def statements(text: str) -> list[str]:
    return [one.strip() for one in text.split(";\n") if one.strip()]


@pytest.fixture
def warehouses(spark: SparkSession, tmp_path: Path) -> Iterator[dict[str, hivesql.Session]]:
    """The same tables twice: one session does what it can without Spark, one nothing."""
    found = {}
    for name, most in (("local", "16777216"), ("spark", "0")):
        found[name] = hivesql.connect(
            f"sqlite:///{tmp_path}/{name}.db",
            str(tmp_path / name),
            spark=spark,
            settings={"hivesql.local.max.bytes": most},
        )
        found[name].sql(TABLES if spark_line() >= (4, 2) else WITHOUT_INSTANTS)
    yield found
    for session in found.values():
        session.close()


def footer(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        reader = pyorc.Reader(file)
        metadata = {k: v for k, v in reader.user_metadata.items() if k.startswith("hive.acid")}
        return {"schema": str(reader.schema), "codec": reader.compression, **metadata}


def compare(one: Path, other: Path) -> None:
    assert tree(one) == tree(other)
    for path in bucket_files(one):
        twin = other / path.relative_to(one)
        assert check_file(path) == check_file(twin), path
        assert footer(path) == footer(twin), path


def has_started(session: hivesql.Session) -> bool:
    return session._spark.started


@pytest.mark.spark
def test_both_ways_write_the_same(warehouses: dict[str, hivesql.Session], tmp_path: Path) -> None:
    local, by_spark = warehouses["local"], warehouses["spark"]
    for statement in statements(SMALL):
        assert local.sql(statement).affected == by_spark.sql(statement).affected, statement
        assert not has_started(local), statement
    compare(tmp_path / "local", tmp_path / "spark")
    for statement in BROKEN:
        for session in warehouses.values():
            with pytest.raises(hivesql.ConstraintViolation):
                session.sql(statement)
        assert not has_started(local), statement
    for statement in statements(FOR_SPARK + AFTER_SPARK):
        assert local.sql(statement).affected == by_spark.sql(statement).affected, statement
    compare(tmp_path / "local", tmp_path / "spark")
    for table in ("kinds", "acid", "parts", "buckets", "old", "ruled"):
        query = f"SELECT * FROM {table} ORDER BY row__id.writeid, row__id.bucketid, row__id.rowid"
        rows = [session.sql(query).rows for session in warehouses.values()]
        assert rows[0] == rows[1]
        assert all(session.check(table) == () for session in warehouses.values())
    assert events(bucket_files(tmp_path / "local" / "acid")[0])


# Bytes of values beside a text: eight of an int, three of a char(3), and a varchar's two.
_BESIDE = 8 + 3 + 2
TINY = {
    "INSERT INTO t VALUES (1, 'a', 'b', 'cd', 'e'), (2, null, null, null, null)": "NONE",
    f"INSERT INTO t VALUES (3, '{'x' * (16_384 - _BESIDE)}', 'b', 'cdef', null)": "NONE",
    f"INSERT INTO t VALUES (4, '{'é' * 8_186}', 'b', 'cd', null)": "ZSTD",
    f"INSERT INTO t VALUES (5, null, null, 'cd', unhex('{'00' * 16_372}'))": "ZSTD",
    f"INSERT INTO t (k) VALUES {', '.join(f'({i})' for i in range(1023))}": "NONE",
    f"INSERT INTO n VALUES {', '.join(f'({i})' for i in range(1024))}": "ZSTD",
    "UPDATE n SET k = k + 1 WHERE k % 2 = 0": "NONE",
    "DELETE FROM n": "ZSTD",
    "INSERT INTO named VALUES (1)": "SNAPPY",
    "INSERT INTO nested VALUES (1, null)": "ZSTD",
    "SET hivesql.orc.uncompressed.max=0; INSERT INTO n VALUES (1)": "ZSTD",
    "RESET hivesql.orc.uncompressed.max; SET orc.compress=ZLIB; INSERT INTO n VALUES (1)": "ZLIB",
    "RESET orc.compress; DELETE FROM n WHERE k = 1": "NONE",
}


@pytest.mark.spark
def test_both_ways_leave_tiny_files_uncompressed(
    warehouses: dict[str, hivesql.Session], tmp_path: Path
) -> None:
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true'"
    known: dict[str, set[Path]] = {}
    for name, session in warehouses.items():
        session.sql(f"""
            CREATE TABLE t (k int, t string, c char(3), v varchar(2), raw binary) {acid});
            CREATE TABLE n (k int) {acid}); CREATE TABLE nested (k int, m array<int>) {acid});
            CREATE TABLE named (k int) {acid}, 'orc.compress'='SNAPPY')
        """)
        known[name] = set()
    for statement, codec in TINY.items():
        for name, session in warehouses.items():
            session.sql(statement)
            files = set(bucket_files(tmp_path / name))
            codecs = {
                pyorc.CompressionKind(footer(path)["codec"]).name for path in files - known[name]
            }
            assert codecs == {codec}, (statement[:80], name)
            known[name] = files
    compare(tmp_path / "local", tmp_path / "spark")
    queries = ("SELECT * FROM t ORDER BY k, t", "SELECT * FROM n", "SELECT k, m FROM nested")
    for query in queries:
        assert warehouses["local"].sql(query).rows == warehouses["spark"].sql(query).rows
    for session in warehouses.values():
        for table in ("t", "n", "nested", "named"):
            assert session.check(table) == ()


@pytest.mark.spark
def test_literals_are_cast_as_spark_casts_them(spark: SparkSession) -> None:
    from pyspark.sql import functions as f

    from hivesql_executor.spark.values import as_wall_clock, stored_value

    columns = [
        stored_value(f.expr(text), HiveType.parse(kind)).alias(f"c{number}")
        for number, (text, kind) in enumerate(LITERALS)
    ]
    (row,) = as_wall_clock(spark.range(1).select(*columns)).collect()
    for (text, kind), value in zip(LITERALS, row, strict=True):
        written = StatementText(f"       {text}")
        part = read_expression(written, tokenize(written), (7, len(written.text)))
        given = constant_of(part.tree, written.text)
        assert given is not None, text
        assert stored(given.value, HiveType.parse(kind)) == value, (text, kind)


@pytest.mark.spark
@pytest.mark.parametrize(
    "size",
    [
        "orc.compress.size=1024", "orc.compress.size=32768", "orc.compress.size=100000",
        "orc.compress.size=8388608", "orc.compress.size=0", "orc.row.index.stride=0",
        "orc.stripe.size=0",
    ],
)  # fmt: skip
def test_sizes_that_only_the_writer_in_java_knows(session: hivesql.Session, size: str) -> None:
    """Arrow refuses some of them, and ends the process at one."""
    key, _, value = size.partition("=")
    session.sql(f"""
        CREATE TABLE t (a INT) STORED AS ORC
            TBLPROPERTIES ('transactional'='true', '{key}'='{value}');
        INSERT INTO t VALUES (1), (2), (3);
        DELETE FROM t WHERE a = 2""")
    assert session.sql("SELECT sum(a), count(DISTINCT a) FROM t").rows == [(4, 2)]


@pytest.mark.spark
def test_values_behind_names_of_queries(session: hivesql.Session) -> None:
    session.sql("CREATE TABLE t (a INT, b STRING)")
    session.sql("WITH q AS (SELECT 1 AS x) INSERT INTO t VALUES (1, 'r'), (2, 's')")
    session.sql("WITH q AS (SELECT 3 AS x), r AS (SELECT x FROM q) INSERT INTO TABLE t (a) "
                "VALUES (3)")  # fmt: skip
    assert sorted(session.sql("SELECT a, b FROM t").rows) == [(1, "r"), (2, "s"), (3, None)]
    with pytest.raises(hivesql.ParseError):
        session.sql("WITH q AS (SELECT) INSERT INTO t VALUES (4, 't')")
