"""Bytes that are no UTF-8: kept wherever real Hive 4.1 keeps them, replaced where it does."""

from __future__ import annotations

from pathlib import Path

import pytest

import hivesql
from end_to_end.answers import rows, table_of

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
LINES = b"a\xffb|1\n\xe9t\xe9|2\nok|3\n\xc3|4\na\xed\xa0\x80z|5\n"
KEPT = [("61ED A080 7A", 5), ("61FF62", 1), ("6F6B", 3), ("C3", 4), ("E974E9", 2)]
KEPT = [(text.replace(" ", ""), n) for text, n in KEPT]
BAD = "EFBFBD"
REPLACED = [(f"61{BAD}62", 1), (f"61{BAD}7A", 5), ("6F6B", 3), (BAD, 4), (f"{BAD}74{BAD}", 2)]


def lines_of(session: hivesql.Session, table: str) -> bytes:
    home = Path(table_of(session, table).location)
    found = sorted(path for path in home.rglob("*") if path.is_file() and path.name[0] in "0p")
    return b"".join(path.read_bytes() for path in found)


def test_bytes_that_are_no_text(session: hivesql.Session) -> None:
    pipes = "ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'"
    session.sql(f"CREATE TABLE t (s string, n int) {pipes} STORED AS TEXTFILE")
    (Path(table_of(session, "t").location) / "000000_0").write_bytes(LINES)
    assert rows(session, "SELECT hex(s), n FROM t") == KEPT
    assert rows(session, "SELECT hex(s) FROM t WHERE s LIKE '%b%'") == [("61FF62",)]
    session.sql(f"""
        CREATE TABLE o {ACID} AS SELECT s, n FROM t;
        CREATE TABLE again (s string, n int) {pipes} STORED AS TEXTFILE;
        INSERT INTO again SELECT s, n FROM o;
        CREATE TABLE sized (v varchar(10), c char(5), n int) {ACID};
        INSERT INTO sized SELECT s, s, n FROM t;
        CREATE TABLE p STORED AS PARQUET AS SELECT s, n FROM t;
        CREATE TABLE a STORED AS AVRO AS SELECT s, n FROM t;
    """)
    assert sorted(lines_of(session, "again").splitlines()) == sorted(LINES.splitlines())
    assert rows(session, "SELECT hex(v), n FROM sized") == REPLACED
    assert rows(session, "SELECT hex(c), n FROM sized") == REPLACED
    assert rows(session, "SELECT hex(s), n FROM p") == REPLACED
    assert rows(session, "SELECT hex(s), n FROM a") == REPLACED
    # With Spark and without it, and through a compaction.
    session.sql("UPDATE o SET n = n + 1 WHERE n % 2 = 0; UPDATE o SET n = 9 WHERE n = 3")
    session.sql("DELETE FROM o WHERE n = 1; ALTER TABLE o COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT hex(s), n FROM o") == [
        ("61EDA0807A", 5), ("6F6B", 9), ("C3", 5), ("E974E9", 9),
    ]  # fmt: skip
    assert rows(session, "SELECT s FROM o WHERE n = 5") == [("a\ufffdz",), ("\ufffd",)]
    assert rows(session, "SELECT count(*), count(DISTINCT s) FROM o") == [(4, 4)]


def test_bytes_in_nested_and_escaped_text(session: hivesql.Session) -> None:
    ends = r"FIELDS TERMINATED BY '|' ESCAPED BY '\\' COLLECTION ITEMS TERMINATED BY ':'"
    session.sql(f"""
        CREATE TABLE t (a array<string>, s string, n int)
          ROW FORMAT DELIMITED {ends} MAP KEYS TERMINATED BY '=' STORED AS TEXTFILE;
        CREATE TABLE again LIKE t;
    """)
    line = b"x\xff:\xc3|a\\|\xe9|12\n"
    (Path(table_of(session, "t").location) / "000000_0").write_bytes(line)
    assert rows(session, "SELECT hex(a[0]), hex(a[1]), hex(s), n FROM t") == [
        ("78FF", "C3", "617CE9", 12)
    ]
    session.sql("INSERT INTO again SELECT * FROM t")
    assert lines_of(session, "again") == line
