"""What MERGE, UPDATE and DELETE say beyond Hive: clauses by source, sources of rows, moved rows."""

from __future__ import annotations

from pathlib import Path

import pytest

import hivesql

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
Rows = list[tuple[object, ...]]


@pytest.fixture
def tables(session: hivesql.Session) -> hivesql.Session:
    """The target has five rows in two partitions and two buckets; the source two of their keys."""
    session.sql(f"""
        CREATE TABLE t (k INT, v STRING) PARTITIONED BY (p STRING)
          CLUSTERED BY (k) INTO 2 BUCKETS {ACID};
        INSERT INTO t PARTITION (p) VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y'),
          (4, 'd', 'y'), (5, NULL, 'y');
        CREATE TABLE s (k INT, v STRING, p STRING) STORED AS ORC;
        INSERT INTO s VALUES (1, 'A', 'x'), (2, NULL, 'z'), (6, 'F', 'x'), (7, 'G', 'q')
    """)
    return session


def rows(session: hivesql.Session, query: str = "SELECT k, v, p FROM t") -> Rows:
    return sorted((tuple(row) for row in session.sql(query).rows), key=repr)


BEFORE: Rows = [(1, "a", "x"), (2, "b", "x"), (3, "c", "y"), (4, "d", "y"), (5, None, "y")]
CASES: dict[str, tuple[str, Rows]] = {
    "rows that no source has go": (
        "MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN DELETE",
        BEFORE[:2],
    ),
    "of those some go, some change, and columns are the table's": (
        "MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED BY SOURCE AND k = 4 THEN DELETE "
        "WHEN NOT MATCHED BY SOURCE AND v IS NOT NULL THEN UPDATE SET v = concat(v, p)",
        [*BEFORE[:2], (3, "cy", "y"), (5, None, "y")],
    ),
    "a condition on the table in ON says nothing of them": (
        "MERGE INTO t USING s ON t.k = s.k AND t.p = 'x' AND t.k = 1 "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 'none'",
        [(1, "a", "x"), *((k, "none", p) for k, _, p in BEFORE[1:])],
    ),
    "a source without rows": (
        "MERGE INTO t USING (SELECT * FROM s WHERE k > 99) s ON t.k = s.k "
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = DEFAULT",
        [(k, None, p) for k, _, p in BEFORE],
    ),
    "a source with a key twice, which matches nothing": (
        "MERGE INTO t USING (SELECT * FROM s UNION ALL SELECT * FROM s) s "
        "ON t.k = s.k AND t.v = 'zz' WHEN MATCHED THEN DELETE "
        "WHEN NOT MATCHED BY SOURCE AND k > 1 THEN DELETE",
        BEFORE[:1],
    ),
    "all kinds of clauses, after WITH": (
        "WITH few AS (SELECT * FROM s WHERE k < 7) MERGE INTO t USING few ON t.k = few.k "
        "WHEN MATCHED AND few.k = 2 THEN UPDATE SET * WHEN MATCHED THEN UPDATE SET v = few.v "
        "WHEN NOT MATCHED BY TARGET THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE",
        [(1, "A", "x"), (2, None, "z"), (6, "F", "x")],
    ),
    "the first WHEN that is true takes a row, not one that is unknown": (
        "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED AND s.v = 'A' THEN UPDATE SET v = 'first' "
        "WHEN MATCHED AND s.v = 'B' THEN UPDATE SET v = 'never' "
        "WHEN MATCHED THEN UPDATE SET v = 'second'",
        [(1, "first", "x"), (2, "second", "x"), *BEFORE[2:]],
    ),
    "of Hive's two clauses a row of which the first is unknown is in neither": (
        "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED AND s.v = 'A' THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET v = 'second'",
        BEFORE[1:],
    ),
    "several inserts": (
        "MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED AND s.k = 6 THEN INSERT * "
        "WHEN NOT MATCHED THEN INSERT (k, p) VALUES (s.k * 10, s.p)",
        [*BEFORE, (6, "F", "x"), (70, None, "q")],
    ),
    "rows move by MERGE": (
        "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET p = s.p, k = s.k + 100",
        [(101, "a", "x"), (102, "b", "z"), *BEFORE[2:]],
    ),
    "rows move by UPDATE, to where their partition is NULL": (
        "UPDATE t SET p = NULL, k = NULL WHERE k > 3",
        [*BEFORE[:3], (None, "d", "__HIVE_DEFAULT_PARTITION__"),
         (None, None, "__HIVE_DEFAULT_PARTITION__")],
    ),
    "a row is moved to where it is": ("UPDATE t SET p = p, k = k", BEFORE),
    "UPDATE … FROM": (
        "UPDATE t AS a SET v = s.v, p = concat(a.p, s.p) FROM s WHERE a.k = s.k",
        [(1, "A", "xx"), (2, None, "xz"), *BEFORE[2:]],
    ),
    "DELETE … USING, of rows that several match": (
        "DELETE FROM t USING (SELECT 1 AS one UNION ALL SELECT 1) q WHERE t.k > q.one",
        BEFORE[:1],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "expected"), CASES.values(), ids=CASES)
def test_rows_are_what_the_clauses_say(
    statement: str, expected: Rows, tables: hivesql.Session
) -> None:
    before = {row[0]: row for row in rows(tables)}

    result = tables.sql(statement)

    after = rows(tables)
    assert after == sorted(expected, key=repr)
    changed = {row[0] for row in {*before.values()} ^ {*after}}
    assert result.affected is not None
    assert result.affected >= len(changed & before.keys())


def test_files_hold_the_same_after_compactions(tables: hivesql.Session) -> None:
    tables.sql("UPDATE t SET p = 'z', k = k + 1 WHERE k < 4")
    expected = [(2, "a", "z"), (3, "b", "z"), *BEFORE[3:], (4, "c", "z")]
    for kind in ("minor", "major"):
        for name in ("x", "y", "z"):
            tables.sql(f"ALTER TABLE t PARTITION (p = '{name}') COMPACT '{kind}'")
        assert rows(tables) == sorted(expected, key=repr)


def test_a_row_that_two_rows_match_fails_and_nothing_moves(tables: hivesql.Session) -> None:
    with pytest.raises(hivesql.CardinalityViolation):
        tables.sql("UPDATE t SET p = 'z' FROM (SELECT 1 AS k UNION ALL SELECT 1) q WHERE t.k = q.k")
    assert rows(tables) == BEFORE
    assert ("p=z",) not in {tuple(row) for row in tables.sql("SHOW PARTITIONS t").rows}


def test_an_update_of_all_columns_leaves_rows_where_the_join_says_they_are(
    tables: hivesql.Session,
) -> None:
    statement = (
        "MERGE INTO t USING s ON t.k = s.k AND t.p = s.p WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET p = 'other'"
    )
    plan = [str(row[0]).strip() for row in tables.sql(f"EXPLAIN {statement}").rows]
    assert "when matched" in plan
    assert "when not matched by source, to another partition or bucket" in plan
    tables.sql(statement)
    assert rows(tables) == [(1, "A", "x"), *((k, v, "other") for k, v, _ in BEFORE[1:])]


def test_columns_are_the_tables_where_no_row_of_the_source_is(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE n (k INT, a STRUCT<f: INT>, ts ARRAY<INT>) {ACID};
        INSERT INTO n SELECT 1, named_struct('f', 7), array(1, 2);
        MERGE INTO n USING (SELECT * FROM n WHERE k > 1) other ON n.k = other.k
          WHEN NOT MATCHED BY SOURCE AND a.f = 7 AND size(ts) = 2 AND n.a.f > ts[0]
            THEN UPDATE SET ts = array(a.f, ts[1])
    """)
    assert rows(session, "SELECT k, a.f, ts FROM n") == [(1, 7, [7, 2])]


def test_the_texts_of_partitions_that_stay_are_kept(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE n (k INT) PARTITIONED BY (p INT, q STRING) {ACID};
        ALTER TABLE n ADD PARTITION (p = '01', q = 'a');
        INSERT INTO n PARTITION (p = '01', q = 'a') VALUES (1), (2);
        UPDATE n SET q = 'b' WHERE k = 1
    """)
    names = {name for (name,) in session.sql("SHOW PARTITIONS n").rows}
    found = rows(session, "SELECT k, p, q FROM n")
    assert found == [(1, 1, "b"), (2, 1, "a")]
    assert len(names) == 2


def test_times_keep_their_nanoseconds_where_rows_move(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE w (k INT, ts TIMESTAMP) PARTITIONED BY (p INT) {ACID};
        INSERT INTO w PARTITION (p = 1) VALUES (1, TIMESTAMP '2020-01-01 00:00:00.123456789');
        UPDATE w SET p = 2
    """)
    found = session.sql("SELECT ts, p FROM w").rows
    assert [(str(ts).rpartition(".")[2][:6], p) for ts, p in found] == [("123456", 2)]


def test_moves_are_part_of_a_transaction(tables: hivesql.Session, tmp_path: Path) -> None:
    tables.sql("""
        START TRANSACTION;
        UPDATE t SET p = 'new' WHERE k = 1;
        UPDATE t SET v = 'again' WHERE p = 'new';
        ROLLBACK
    """)
    assert rows(tables) == BEFORE
    tables.sql("""
        START TRANSACTION;
        UPDATE t SET p = 'new' WHERE k = 1;
        UPDATE t SET v = 'again' WHERE p = 'new';
        COMMIT
    """)
    assert rows(tables) == [(1, "again", "new"), *BEFORE[1:]]
