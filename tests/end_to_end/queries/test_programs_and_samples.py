"""TRANSFORM and TABLESAMPLE (BUCKET …): the rows that real Hive 4.1 gives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivesql_planner.errors import HiveSqlError

if TYPE_CHECKING:
    import hivesql

pytestmark = pytest.mark.spark

LAZY = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe'"


def rows(session: hivesql.Session, sql: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, session.sql(sql).rows), key=repr)


def test_programs(session: hivesql.Session, tmp_path: Path) -> None:
    (tmp_path / "up.py").write_text("import sys\nfor a in sys.stdin: print(a.strip().upper())")
    session.sql(f"ADD FILE {tmp_path}/up.py")
    session.sql("""
        CREATE TABLE t (k int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t VALUES (1, 'a'), (2, ''), (NULL, NULL), (3, 'tab\tx'), (4, 'back\\\\slash');
        CREATE TABLE x (map int, reduce string)
    """)
    plain = [
        ("1", "a"), ("2", ""), ("3", "tab"), ("4", "back\\slash"), (None, None),
    ]  # fmt: skip
    by = "ROW FORMAT DELIMITED FIELDS TERMINATED BY"
    asked = {
        "SELECT TRANSFORM(k, v) USING 'cat' AS (a, b) FROM t": plain,
        f"SELECT TRANSFORM(*) {LAZY} USING 'cat' AS a, b {LAZY} RECORDREADER "
        "'org.apache.hadoop.hive.ql.exec.TextRecordReader' FROM t": plain,
        "SELECT TRANSFORM(v, k) USING 'cat' AS (a string, b int, c string) FROM t": [
            ("", 2, None), ("a", 1, None), ("back\\slash", 4, None), ("tab", None, "3"),
            (None, None, None),
        ],
        f"SELECT TRANSFORM(k, v) {by} '|' USING 'cat' AS (a, b) {by} '|' NULL DEFINED AS '2' "
        "FROM t": [
            ("1", "a"), ("3", "tab\tx"), ("4", "back\\slash"), ("\\N", "\\N"), (None, ""),
        ],
        "SELECT sum(hash(c)), max(c) FROM (SELECT TRANSFORM(k, 'x') USING 'tr \\t _' AS (c) FROM t "
        "WHERE k < 3) q": [(101269, "2_x")],
        "SELECT TRANSFORM(count(*), max(k)) USING \"sed 's/5/five of/'\" AS (a, b) FROM t": [
            ("five of", "4"),
        ],
        "SELECT x + 1, count(*) FROM (FROM t SELECT TRANSFORM(k) USING 'cat' AS (x int) "
        "WHERE k IS NOT NULL CLUSTER BY x) q WHERE q.x > 2 GROUP BY x": [(4, 1), (5, 1)],
        "FROM t MAP k, v USING 'cat' AS a, b": plain,
        "FROM (FROM t MAP t.k, concat(v, '!'), k USING 'cat' CLUSTER BY key) m "
        "REDUCE m.key, m.value USING 'cat' WHERE key < 3": [("1", "a!\t1"), ("2", "!\t2")],
        f"FROM t MAP k, v {by} '|' USING 'cat' {by} '|' WHERE k = 1": [("1", "a")],
        "SELECT TRANSFORM(v) USING 'python3 up.py' AS a FROM t WHERE k = 1": [("A",)],
        "SELECT TRANSFORM(array(1, 2), named_struct('x', 1), true, 1.5D, date '2020-01-01', "
        "timestamp '2020-01-01 01:02:03.5') USING 'cat' AS (a, b, c, d, e, f)": [
            ("[1,2]", '{"x":1}', "true", "1.5", "2020-01-01", "2020-01-01 01:02:03.5"),
        ],
    }  # fmt: skip
    assert {sql: rows(session, sql) for sql in asked} == asked
    session.sql("FROM t INSERT INTO x MAP k, v USING 'cat' AS a, b WHERE k = 1")
    assert rows(session, "SELECT map, reduce FROM x('insertonly.fetch.bucketid'='true') q") == [
        (1, "a")]  # fmt: skip
    session.sql("CREATE TABLE u AS SELECT TRANSFORM(k, v) USING 'cat' AS (a int, b string) FROM t")
    assert [row[:2] for row in session.sql("DESCRIBE u").rows] == [("a", "int"), ("b", "string")]
    session.sql("INSERT INTO t SELECT TRANSFORM(a, b) USING 'cat' AS (a, b) FROM u WHERE a = 1")
    assert rows(session, "SELECT * FROM t WHERE k = 1") == [(1, "a"), (1, "a")]
    for sql, problem, column in (
        ("SELECT TRANSFORM(k) USING 'cat' AS (a array<int>) FROM t", "array<int>", 37),
        ("SELECT TRANSFORM(k) ROW FORMAT SERDE 'a.B' USING 'cat' AS (a) FROM t", "a.B", 38),
        ("SELECT TRANSFORM(nosuch) USING 'cat' AS (a) FROM t", "nosuch", 18),
    ):
        with pytest.raises(HiveSqlError, match=problem) as caught:
            session.sql(sql)
        assert caught.value.column == column


def test_samples_of_buckets(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE b (k int, v string) CLUSTERED BY (k) INTO 4 BUCKETS STORED AS ORC
          TBLPROPERTIES ('transactional'='true');
        INSERT INTO b SELECT pos, cast(pos AS string)
          FROM (SELECT posexplode(split(space(19), ' ')) AS (pos, x)) q;
        CREATE TABLE p (k int, v string) STORED AS ORC;
        INSERT INTO p SELECT * FROM b
    """)
    asked = {
        "b TABLESAMPLE (BUCKET 1 OUT OF 4) s": [2, 6, 7, 10, 17],
        "b TABLESAMPLE (BUCKET 1 OUT OF 2 ON k) s": [2, 3, 6, 7, 10, 17, 19],
        "p TABLESAMPLE (BUCKET 1 OUT OF 2 ON s.k) AS s": [2, 3, 6, 7, 10, 17, 19],
        "b TABLESAMPLE(BUCKET 3 OUT OF 8 ON k)": [19],
        "b TABLESAMPLE (BUCKET 1 OUT OF 2 ON v) s": [1, 3, 7, 8, 9, 10, 14, 15, 17, 18],
        "b TABLESAMPLE (BUCKET 1 OUT OF 3 ON k, v) s": [0, 4, 5, 9],
        "b TABLESAMPLE (BUCKET 2 OUT OF 5) s": [0, 4, 5, 11, 19],
        "b TABLESAMPLE (BUCKET 2 OUT OF 5 ON (k + 1)) s": [3, 4, 10, 18],
    }
    found = {part: session.sql(f"SELECT k FROM {part}").rows for part in asked}
    assert {part: sorted(row[0] for row in all_) for part, all_ in found.items()} == asked
    joined = (
        "SELECT s.k, r.v, s.row__id.bucketid FROM b TABLESAMPLE (BUCKET 3 OUT OF 8 ON k) s "
        "JOIN p TABLESAMPLE (BUCKET 1 OUT OF 1 ON v) r ON s.k = r.k"
    )
    assert rows(session, joined) == [(19, "19", 537001984)]
    for part, code in (
        ("b TABLESAMPLE (BUCKET 5 OUT OF 4) s", 10061),
        ("p TABLESAMPLE (BUCKET 1 OUT OF 4) s", 10060),
        ("b TABLESAMPLE (BUCKET 1 OUT OF 4 ON nosuch) s", 10004),
    ):
        with pytest.raises(HiveSqlError) as caught:
            session.sql(f"SELECT k FROM {part}")
        assert (caught.value.code, caught.value.line) == (code, 1)


def test_what_only_some_of_hives_words_ask_for(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql("""
        CREATE TABLE io (k int, v array<string>, m map<int,double>) TBLPROPERTIES (
          'transactional'='true', 'transactional_properties'='insert_only');
        INSERT INTO io SELECT 1, array('a"b', NULL), map(1, 2.0D);
        INSERT INTO io SELECT 2, NULL, NULL
    """)
    ids = "SELECT k, row__id.writeid, q.row__id.bucketid FROM io({}) AS q"
    assert rows(session, ids.format("'insertonly.fetch.bucketid'='true'")) == [(1, 1, 0), (2, 2, 0)]
    assert rows(session, ids.format("'a'='b'")) == [(1, None, None), (2, None, None)]
    session.sql(f"""
        INSERT OVERWRITE DIRECTORY '{tmp_path}/json'
        ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.DelimitedJSONSerDe'
        WITH SERDEPROPERTIES ('field.delim'='|', 'quote.delim'='x') SELECT * FROM io ORDER BY k
    """)
    lines = "".join(file.read_text() for file in sorted((tmp_path / "json").glob("0*")))
    assert lines == '1|["a\\"b",null]|{1:2.0}\n2|\\N|\\N\n'
    with pytest.raises(HiveSqlError, match="DelimitedJSONSerDe"):  # nothing could be read of it
        session.sql(
            "CREATE TABLE j (v array<string>) ROW FORMAT SERDE "
            "'org.apache.hadoop.hive.serde2.DelimitedJSONSerDe'"
        )
    session.sql("INSERT INTO io SELECT 3, NULL, map(0, 9.0D)")
    by_maps = session.sql("SELECT k, m FROM io WHERE k <> 2 ORDER BY m").rows
    assert [row[0] for row in by_maps] == [3, 1]
    session.sql("CREATE TABLE cc AS SELECT k, k + 1 AS k, k FROM io WHERE k = 2")
    assert rows(session, "SELECT k, k_1, k_2 FROM cc") == [(2, 3, 2)]
    bytes_ = "SELECT _UTF-8 0xC3A9, _latin1 0xe9, _UTF-16 0x0041, concat(_utf-8 0x27, k) FROM cc"
    assert rows(session, bytes_) == [("é", "é", "A", "'2")]


def test_a_seed_gives_the_numbers_that_hive_gives(session: hivesql.Session) -> None:
    """Each call counts for itself; of one task, as real Hive 4.1 has them."""
    session.sql("CREATE TABLE few (x INT) STORED AS ORC")
    session.sql("INSERT INTO few VALUES (1), (2), (3), (4), (5), (6)")
    rows = session.sql("SELECT x, rand(5) FROM few ORDER BY x").rows
    assert rows == [
        (1, 0.730519863614471),
        (2, 0.08825840967622589),
        (3, 0.4889045498516358),
        (4, 0.461837214623537),
        (5, 0.4485983912283127),
        (6, 0.6977123432245299),
    ]
    few = session.sql("SELECT x, rand(5) FROM few WHERE rand(5) < 0.47 ORDER BY x").rows
    assert few == [(2, 0.730519863614471), (4, 0.08825840967622589), (5, 0.4889045498516358)]
    session.sql("CREATE TABLE made AS SELECT x, rand(5) AS r FROM few")
    assert session.sql("SELECT * FROM made ORDER BY x").rows == rows
