"""SELECT as of a write or a time, while the files are there, and after they were cleaned."""

from __future__ import annotations

import time
from datetime import datetime, timezone

import pytest

import hivesql
from end_to_end.answers import rows

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def now() -> str:
    """A time between two statements: the catalog knows commits to the second."""
    time.sleep(1.1)
    text = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    time.sleep(1.1)
    return text


def test_earlier_states(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id int, v string) {ACID};
        INSERT INTO t VALUES (1, 'a'), (2, 'b');
    """)
    inserted = now()
    session.sql("UPDATE t SET v = 'B' WHERE id = 2; DELETE FROM t WHERE id = 1")
    states = {
        0: [], 1: [(1, "a"), (2, "b")], 2: [(1, "a"), (2, "B")], 3: [(2, "B")],
    }  # fmt: skip
    for write_id, expected in states.items():
        found = rows(session, f"SELECT * FROM t FOR SYSTEM_VERSION AS OF {write_id}")
        assert found == expected, write_id
    assert rows(session, f"SELECT * FROM t FOR SYSTEM_TIME AS OF '{inserted}'") == states[1]
    long_ago = "SELECT * FROM t FOR SYSTEM_TIME AS OF timestamp '2001-01-01 00:00:00'"
    assert rows(session, long_ago) == []
    for clause, expected in (
        ("current_timestamp", states[3]),
        ("current_timestamp() - interval '10' hours x", []),
        ("CURRENT_TIMESTAMP - INTERVAL 2 DAY AS x", []),
    ):
        assert rows(session, f"SELECT * FROM t FOR SYSTEM_TIME AS OF {clause}") == expected
    # Two states of one table side by side: who was deleted?
    assert rows(session, """
        SELECT old.id, old.v FROM t FOR SYSTEM_VERSION AS OF 1 AS old
        LEFT ANTI JOIN t ON old.id = t.id
    """) == [(1, "a")]  # fmt: skip
    assert rows(session, "SELECT t.v FROM t FOR SYSTEM_VERSION AS OF 1 WHERE t.id = 2") == [("b",)]
    session.sql("INSERT INTO t SELECT * FROM t FOR SYSTEM_VERSION AS OF 1 WHERE id = 1")
    assert rows(session, "SELECT * FROM t") == [(1, "a"), (2, "B")]
    (line,) = [
        row[0]
        for row in session.sql("EXPLAIN SELECT * FROM t FOR SYSTEM_VERSION AS OF 2").rows
        if "scan" in row[0]
    ]
    assert "as of write 2" in line

    session.sql("ALTER TABLE t COMPACT 'minor' AND WAIT")
    assert rows(session, "SELECT * FROM t FOR SYSTEM_VERSION AS OF 2") == states[2]
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    for clause in ("SYSTEM_VERSION AS OF 2", f"SYSTEM_TIME AS OF '{inserted}'"):
        with pytest.raises(hivesql.DataError) as raised:
            session.sql(f"SELECT * FROM t FOR {clause}")
        assert raised.value.code == 10327
    assert rows(session, "SELECT * FROM t FOR SYSTEM_VERSION AS OF 4") == [(1, "a"), (2, "B")]
    session.sql("INSERT INTO t VALUES (5, 'e')")
    assert len(rows(session, f"SELECT * FROM t FOR SYSTEM_TIME AS OF '{now()}'")) == 3


REFUSED = {
    "FOR SYSTEM_VERSION AS OF 99": (hivesql.SemanticError, "writes go from 1 to 1"),
    "FOR SYSTEM_VERSION AS OF 'x'": (hivesql.NotSupported, "anything but a write id"),
    "FOR SYSTEM_TIME AS OF 'yesterday'": (hivesql.SemanticError, "not a timestamp"),
    "FOR SYSTEM_TIME AS OF 5": (hivesql.NotSupported, "a constant"),
    "FOR SYSTEM_TIME AS OF current_timestamp - 5": (hivesql.NotSupported, "INTERVAL 'n' unit"),
    "FOR SYSTEM_TIME AS OF current_timestamp - interval '1' year": (
        hivesql.NotSupported, "INTERVAL 'n' unit"),
}  # fmt: skip


def test_what_is_no_earlier_state(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id int) {ACID}; INSERT INTO t VALUES (1);
        CREATE TABLE plain (id int) STORED AS ORC;
        INSERT OVERWRITE TABLE t VALUES (2);
    """)
    for clause, (kind, text) in REFUSED.items():
        with pytest.raises(kind, match=text.replace("1 to 1", "1 to 2")):
            session.sql(f"SELECT * FROM t {clause}")
    with pytest.raises(hivesql.SemanticError, match="plain is not transactional"):
        session.sql("SELECT * FROM plain FOR SYSTEM_VERSION AS OF 1")
    assert rows(session, "SELECT * FROM t FOR SYSTEM_VERSION AS OF 1") == [(1,)]
    session.sql("INSERT INTO t VALUES (3); ALTER TABLE t COMPACT 'minor' AND WAIT")
    session.sql("INSERT INTO t VALUES (4); ALTER TABLE t COMPACT 'minor' AND WAIT")
    with pytest.raises(hivesql.DataError, match="base_0000002 has replaced"):
        session.sql("SELECT * FROM t FOR SYSTEM_VERSION AS OF 1")


def test_states_by_turns_after_a_compaction(session: hivesql.Session) -> None:
    """One file has the deletes of several writes, of which each state sees some."""
    session.sql(f"""
        CREATE TABLE t (n INT) {ACID};
        INSERT INTO t SELECT i FROM (SELECT posexplode(split(space(99), ' ')) AS (i, x)) q;
        DELETE FROM t WHERE n < 10;
        DELETE FROM t WHERE n < 30;
        DELETE FROM t WHERE n < 60
    """)
    session.sql("SET hivesql.local.max.bytes=0; ALTER TABLE t COMPACT 'minor'")
    for _ in range(2):
        for write_id, left in ((1, 100), (3, 70), (2, 90), (4, 40)):
            (found,) = rows(session, f"SELECT count(n) FROM t FOR SYSTEM_VERSION AS OF {write_id}")
            assert found == (left,), write_id


def test_a_table_that_takes_the_place_of_another(session: hivesql.Session) -> None:
    """Its files have the names, but not the deletes, of those that were read before."""
    session.sql("SET hivesql.local.max.bytes=0")
    for gone in (10, 20, 30):
        session.sql(f"""
            CREATE TABLE t (n INT) {ACID};
            INSERT INTO t SELECT i FROM (SELECT posexplode(split(space(99), ' ')) AS (i, x)) q;
            DELETE FROM t WHERE n BETWEEN {gone} AND {gone + 9}
        """)
        left = [n for n in range(100) if not gone <= n <= gone + 9]
        for _ in range(2):
            assert rows(session, "SELECT n FROM t") == [(n,) for n in left]
        session.sql("DROP TABLE t PURGE")
