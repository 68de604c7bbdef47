"""CHAR as real Hive 4.1 shows, keeps and compares it: padded in what a query gives, else not."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import hivesql

pytestmark = pytest.mark.spark

ROWS = """
    CREATE TABLE c (i INT, c CHAR(5), v VARCHAR(5), a ARRAY<CHAR(4)>, s STRUCT<x:CHAR(3),y:INT>,
      m MAP<CHAR(2),CHAR(3)>) STORED AS ORC TBLPROPERTIES ('transactional'='true');
    INSERT INTO c SELECT 1, 'ab', 'ab ', array('x', null), named_struct('x', 'y', 'y', 1),
      map('k', 'v');
    INSERT INTO c SELECT 2, 'é', '', array(''), named_struct('x', '', 'y', 2),
      cast(map() AS MAP<STRING,STRING>);
    INSERT INTO c (i) VALUES (3);
"""
# Each with what real Hive printed, NULLs as such.
QUERIES = {
    "concat('[', c, ']'), length(c), cast(c AS STRING)": ("[ab]", 2, "ab"),
    "c, v, a, s, m": ("ab   ", "ab ", ["x   ", None], ("y  ", 1), {"k ": "v  "}),
    "a[0], s.x, m['k'], length(s.x)": ("x   ", "y  ", "v  ", 1),
    "upper(c), trim(c), lower(c), substr(c, 1, 2), c || 'z'": ("AB   ", "ab", "ab   ", "ab", "abz"),
    "coalesce(c, 'x'), if(i=1, c, 'q'), nvl(c, 'x'), rpad(c, 7, '*')": (
        "ab", "ab", "ab", "ab*****",
    ),
    "coalesce(c, c), if(i=1, c, c), if(i=1, c, v), nullif(c, 'q')": ("ab   ", "ab   ", "ab",
                                                                      "ab   "),
    "max(c) OVER (PARTITION BY i), greatest(c, c)": ("ab   ", "ab   "),
    "array(c), named_struct('q', c), map('k', c)": (["ab   "], ("ab   ",), {"k": "ab   "}),
    "cast('ab' AS CHAR(5)), cast('abcdefgh' AS CHAR(3)), cast(c AS VARCHAR(5))": ("ab   ", "abc",
                                                                                 "ab"),
    "c = 'ab   ', c = 'ab', c LIKE 'ab', c LIKE 'ab   ', c IN ('ab '), c = v": (
        True, True, True, False, True, False,
    ),
    "(SELECT max(c) FROM c WHERE i = 1), split(c, '')[0]": ("ab   ", "a"),
}  # fmt: skip
WHOLE = {
    "SELECT c, count(*) FROM c WHERE i < 3 GROUP BY c ORDER BY c": [("ab   ", 1), ("é    ", 1)],
    "SELECT c FROM c WHERE i = 1 UNION ALL SELECT cast('abc' AS CHAR(3))": [("ab   ",), ("abc  ",)],
    "SELECT c FROM c WHERE i = 1 UNION ALL SELECT 'abc'": [("ab",), ("abc",)],
    "SELECT * FROM (SELECT c cc FROM c) q WHERE cc = 'ab'": [("ab   ",)],
    "WITH q AS (SELECT c FROM c) SELECT * FROM q WHERE c IS NOT NULL ORDER BY c DESC": [
        ("é    ",), ("ab   ",),
    ],
    "SELECT i, x, k, y FROM c LATERAL VIEW explode(a) q AS x LATERAL VIEW explode(m) r AS k, y "
    "WHERE x IS NOT NULL": [(1, "x   ", "k ", "v  ")],
    "SELECT * FROM (SELECT p, x FROM c LATERAL VIEW OUTER posexplode(a) q AS p, x WHERE i = 1) q "
    "ORDER BY p": [(0, "x   "), (1, None)],
    "SELECT t1.c, t2.i FROM c t1 JOIN c t2 ON t1.c = t2.c WHERE t1.i = 1": [("ab   ", 1)],
}  # fmt: skip


def plain(value: object) -> object:
    """Rows of structs as tuples."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return value


def test_what_queries_show(session: hivesql.Session) -> None:
    session.sql(ROWS)
    columns = ", ".join(QUERIES)
    (row,) = session.sql(f"SELECT {columns} FROM c WHERE i = 1").rows
    found = list(map(plain, row))
    for query, expected in QUERIES.items():
        assert found[: len(expected)] == list(expected), query
        del found[: len(expected)]
    for query, rows in WHOLE.items():
        assert [tuple(one) for one in session.sql(query).rows] == rows, query


def test_what_is_kept(session: hivesql.Session) -> None:
    session.sql(ROWS)
    session.sql("""
        CREATE TABLE x AS SELECT c, v, a, s, upper(c) u, concat(c, 'x') k, coalesce(c, 'x') co
          FROM c WHERE i = 1;
        CREATE TABLE tx (c CHAR(5), a ARRAY<CHAR(4)>, str STRING) STORED AS TEXTFILE;
        INSERT INTO tx SELECT c, a, c FROM c WHERE i = 1;
        CREATE TABLE pq (c CHAR(5), a ARRAY<CHAR(4)>, str STRING) STORED AS PARQUET;
        INSERT INTO pq SELECT c, a, c FROM c WHERE i = 1;
        CREATE TABLE pc (i INT) PARTITIONED BY (p CHAR(5)) STORED AS ORC;
        INSERT INTO pc PARTITION (p) SELECT i, c FROM c WHERE i = 2;
        UPDATE c SET v = 'w' WHERE i = 1;
    """)
    assert [tuple(row)[:2] for row in session.sql("DESCRIBE x").rows] == [
        ("c", "char(5)"), ("v", "varchar(5)"), ("a", "array<char(4)>"),
        ("s", "struct<x:char(3),y:int>"), ("u", "char(5)"), ("k", "string"), ("co", "string"),
    ]  # fmt: skip
    assert list(map(plain, session.sql("SELECT * FROM x").rows[0])) == [
        "ab   ", "ab ", ["x   ", None], ("y  ", 1), "AB   ", "abx", "ab",
    ]  # fmt: skip
    for table in ("tx", "pq"):
        assert session.sql(f"SELECT * FROM {table}").rows[0][:] == (
            "ab   ", ["x   ", None], "ab",
        )  # fmt: skip
    home = Path(session.runtime.metastore.database("default").location)
    (file,) = (path for path in (home / "tx").iterdir() if path.name[0] not in "._")
    assert file.read_bytes() == b"ab   \x01x   \x02\\N\x01ab\n"
    # As Hive writes it, which looks for it in Parquet without blanks, too.
    (file,) = (path for path in (home / "pq").iterdir() if path.name[0] not in "._")
    assert pq.read_table(file).to_pylist() == [{"c": "ab", "a": ["x", None], "str": "ab"}]
    session.sql("ALTER TABLE pq CHANGE c c STRING")
    assert [tuple(row) for row in session.sql("SELECT str FROM pq WHERE c = 'ab'").rows] == [
        ("ab",)
    ]
    (row,) = session.sql("SELECT i, p, concat('[', p, ']'), length(p) FROM pc").rows
    assert row[:] == (2, "é    ", "[é]", 1)
    (row,) = session.sql("SELECT c, a, s, m, v FROM c WHERE i = 1").rows
    assert list(map(plain, row)) == ["ab   ", ["x   ", None], ("y  ", 1), {"k ": "v  "}, "w"]
