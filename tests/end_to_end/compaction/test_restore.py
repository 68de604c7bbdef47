"""RESTORE TABLE brings back the rows of an earlier state, and can itself be undone."""

from __future__ import annotations

import re
from random import Random

import pytest

import hivesql
from adoption import adopt
from end_to_end.answers import rows
from golden_tables import golden_tables
from hivesql_planner.model.table import TableName

pytestmark = pytest.mark.spark

DEFAULT = "__HIVE_DEFAULT_PARTITION__"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
STEPS = (
    "INSERT INTO t PARTITION (p) SELECT id + {n}, v, p FROM t WHERE id < 4",
    "INSERT INTO t PARTITION (p) VALUES ({n}, 'same', 'x'), ({n}, 'same', NULL), ({n}, NULL, 'y')",
    "UPDATE t SET v = concat(v, '{n}') WHERE id % 3 = {n} % 3",
    "UPDATE t SET p = 'moved' WHERE id = {n} % 7",
    "DELETE FROM t WHERE id % 5 = {n} % 5",
    "INSERT OVERWRITE TABLE t PARTITION (p = 'x') SELECT id, 'over' FROM t WHERE p = 'y'",
    "TRUNCATE TABLE t PARTITION (p = 'y')",
    "DELETE FROM t",
    "ALTER TABLE t PARTITION (p = 'x') COMPACT 'minor'",
    "MERGE INTO t USING (SELECT {n} % 4 AS id) s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'i', 'z')",
)


States = dict[int, list[tuple[object, ...]]]


def note_state(session: hivesql.Session, states: States) -> int:
    """Note what is there now, under the last write's number."""
    version = int(session.sql("DESCRIBE HISTORY t LIMIT 1").rows[0][0])
    states[version] = sorted(map(tuple, session.sql("SELECT * FROM t").rows), key=repr)
    return version


@pytest.mark.parametrize("seed", range(4))
def test_any_state_comes_back(session: hivesql.Session, seed: int) -> None:
    """A walk of changes, with restores of what was before, and of what those have undone."""
    chance = Random(seed)
    session.sql(f"""
        SET hivesql.retention=1d;
        CREATE TABLE t (id INT, v STRING) PARTITIONED BY (p STRING)
          CLUSTERED BY (id) INTO 2 BUCKETS {ACID};
        INSERT INTO t PARTITION (p) VALUES (1, 'a', 'x'), (1, 'a', 'x'), (2, NULL, 'y'),
          (3, 'c', NULL)
    """)
    if seed % 2:
        session.sql("SET hivesql.local.max.bytes=0")
    states: States = {}
    note_state(session, states)
    for number in range(7):
        step = chance.choice(STEPS) if number % 3 else STEPS[chance.choice((2, 4, 5))]
        session.sql(step.format(n=number))
        last = note_state(session, states)
        if number % 3 == 2:
            wanted = chance.choice(sorted(states))
            session.sql(f"RESTORE TABLE t TO VERSION AS OF {wanted}")
            assert note_state(session, states) > last
            assert states[max(states)] == states[wanted], (step, wanted)
            assert session.check("t") == ()


def test_what_did_not_change_is_not_written(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT, v STRING) {ACID};
        INSERT INTO t SELECT i, 'v' FROM (SELECT posexplode(split(space(999), ' ')) AS (i, x)) q;
        UPDATE t SET v = 'w' WHERE id < 10;
        DELETE FROM t WHERE id = 500
    """)
    assert session.sql("RESTORE TABLE t TO VERSION AS OF 1").affected == 10 + 10 + 1
    # What came back came by inserts, so that it is not the same rows.
    assert session.sql("RESTORE TABLE t TO VERSION AS OF 1").affected == 2 * (10 + 1)
    assert session.sql("RESTORE TABLE t TO VERSION AS OF 5").affected == 0
    assert rows(session, "SELECT count(*), count(DISTINCT id), min(v), max(v) FROM t") == [
        (1000, 1000, "v", "v")
    ]


def test_only_files_that_differ_are_read(session: hivesql.Session) -> None:
    """Of six files with a thousand rows each, those of other partitions and writes stay shut."""
    session.sql(f"CREATE TABLE t (id INT, v STRING) PARTITIONED BY (p INT) {ACID}")
    for first in (0, 1000):
        session.sql(f"""
            INSERT INTO t PARTITION (p) SELECT {first} + i, 'v', p
              FROM (SELECT posexplode(split(space(999), ' ')) AS (i, x)) q
              LATERAL VIEW explode(array(1, 2, 3)) r AS p DISTRIBUTE BY p
        """)
    session.sql("""
        UPDATE t SET v = 'w' WHERE p = 1 AND id < 10;
        INSERT INTO t VALUES (-1, 'new', 2)
    """)
    lines = [row[0] for row in session.sql(
        "EXPLAIN ANALYZE RESTORE TABLE t TO VERSION AS OF 2").rows]  # fmt: skip
    # The file in which ten rows were updated, and the two that came since (looked at twice).
    read = [re.search(r"(\d+) files read, .* (\d+) rows decoded", line) for line in lines]
    assert sorted(match.groups() for match in read if match) == [
        ("1", "1000"), ("2", "11"), ("2", "11"),
    ]  # fmt: skip
    assert session.sql("RESTORE TABLE t TO VERSION AS OF 2").affected == 10 + 10 + 1
    assert session.sql("RESTORE TABLE t TO VERSION AS OF 6").affected == 0
    session.sql("INSERT OVERWRITE TABLE t PARTITION (p = 3) VALUES (1, 'over')")
    session.sql("SET hivesql.retention=1d; DELETE FROM t WHERE p = 2 AND id > 1500")
    session.sql("ALTER TABLE t PARTITION (p = 2) COMPACT 'major'")
    assert session.sql("RESTORE TABLE t TO VERSION AS OF 2").affected == (
        10 + 10 + 1 + 2000 + 499  # what came back before has other ids
    )
    assert session.sql("SELECT p, count(*), count(DISTINCT id), max(v) FROM t GROUP BY p").rows == [
        (1, 2000, 2000, "v"), (2, 2000, 2000, "v"), (3, 2000, 2000, "v"),
    ]  # fmt: skip


def test_one_partition(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT) PARTITIONED BY (p INT, q STRING) {ACID};
        INSERT INTO t PARTITION (p, q) VALUES (1, 1, 'a'), (2, 2, 'a'), (3, 1, 'b'),
          (4, NULL, NULL), (5, 3, NULL);
        DELETE FROM t;
        RESTORE TABLE t PARTITION (p = 1) TO VERSION AS OF 1
    """)
    assert rows(session, "SELECT * FROM t") == [(1, 1, "a"), (3, 1, "b")]
    session.sql("RESTORE t PARTITION (p = 2, q = 'a') TO VERSION AS OF 1")
    session.sql("RESTORE t PARTITION (q = 'a') TO VERSION AS OF 2")
    assert rows(session, "SELECT * FROM t") == [(3, 1, "b")]
    session.sql(f"RESTORE t PARTITION (p = '{DEFAULT}', q = '{DEFAULT}') TO VERSION AS OF 1")
    assert rows(session, "SELECT * FROM t") == [(3, 1, "b"), (4, None, DEFAULT)]
    session.sql(f"RESTORE t PARTITION (q = '{DEFAULT}') TO VERSION AS OF 1")
    assert rows(session, "SELECT id FROM t") == [(3,), (4,), (5,)]


def test_times_keep_their_nanoseconds(session: hivesql.Session) -> None:
    golden = {str(table): table for table in golden_tables()}["c_types/final/c"]
    adopt(session, golden.table, "t")
    before = session.sql("SELECT * FROM t").rows
    version = session.runtime.metastore.valid_write_ids(
        session.runtime.metastore.valid_txns(), [TableName("default", "t")]
    )[TableName("default", "t")].high_watermark
    session.sql(f"DELETE FROM t; RESTORE TABLE t TO VERSION AS OF {version}")
    after = session.sql("SELECT * FROM t").rows
    assert sorted(map(str, after)) == sorted(map(str, before))


def test_a_name_with_back_quotes(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE `a``b` (id INT) PARTITIONED BY (`p q` INT) {ACID};
        INSERT INTO `a``b` VALUES (1, 2);
        DELETE FROM `a``b`;
        RESTORE TABLE `a``b` PARTITION (`p q` = 2) TO VERSION AS OF 1
    """)
    assert rows(session, "SELECT * FROM `a``b`") == [(1, 2)]
    session.sql("DROP TABLE `a``b`")


def test_a_time(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT) {ACID};
        INSERT INTO t VALUES (1);
        INSERT INTO t VALUES (2)
    """)
    history = session.sql("DESCRIBE HISTORY t")
    moment = history.rows[1][history.columns.index("timestamp")]
    session.sql(f"RESTORE TABLE t TO TIMESTAMP AS OF '{moment}'")
    assert rows(session, "SELECT * FROM t") == [(1,)]
    session.sql("RESTORE TABLE t TO TIMESTAMP AS OF current_timestamp - interval '1' hours")
    assert rows(session, "SELECT * FROM t") == []


def test_inside_a_transaction_and_planned(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT) {ACID};
        INSERT INTO t VALUES (1);
        DELETE FROM t;
        START TRANSACTION;
        INSERT INTO t VALUES (2);
        RESTORE TABLE t TO VERSION AS OF 1
    """)
    assert rows(session, "SELECT * FROM t") == [(1,)]
    session.sql("ROLLBACK")
    assert rows(session, "SELECT * FROM t") == []
    plan = [row[0] for row in session.sql("EXPLAIN RESTORE TABLE t TO VERSION AS OF 1").rows]
    assert any("as of write 1" in line for line in plan)
    assert "    delete_delta_W_W_0000 of default.t" in plan


REFUSED = {
    "RESTORE TABLE t TO VERSION AS OF 99": (hivesql.SemanticError, "no write 99", None),
    "RESTORE TABLE t TO VERSION AS OF x": (hivesql.ParseError, "the number of a version", 34),
    "RESTORE TABLE t TO VERSION AS OF 1 2": (hivesql.ParseError, "found '2'", 36),
    "RESTORE TABLE t TO TIMESTAMP AS OF 'now'": (hivesql.SemanticError, "not a timestamp", 36),
    "RESTORE TABLE t TO VERSION AS OF": (hivesql.ParseError, "the number of a version", None),
    "RESTORE TABLE t VERSION AS OF 1": (hivesql.ParseError, "expected TO", 17),
    "RESTORE TABLE plain TO VERSION AS OF 1": (hivesql.SemanticError, "not transactional", 15),
    "RESTORE TABLE only TO VERSION AS OF 99": (hivesql.SemanticError, "no write 99", None),
    "RESTORE TABLE v TO VERSION AS OF 1": (hivesql.SemanticError, "not transactional", 15),
    "RESTORE TABLE nowhere TO VERSION AS OF 1": (hivesql.NoSuchObject, "nowhere", 15),
    "RESTORE TABLE t PARTITION (p = 1) TO VERSION AS OF 1": (hivesql.SemanticError, "p", 28),
}


@pytest.fixture
def tables(session: hivesql.Session) -> hivesql.Session:
    session.sql(f"""
        CREATE TABLE t (id INT) {ACID}; INSERT INTO t VALUES (1);
        CREATE TABLE plain (id INT);
        CREATE TABLE only (id INT)
          TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
        CREATE VIEW v AS SELECT * FROM t
    """)
    return session


def test_what_cannot_be_restored(tables: hivesql.Session) -> None:
    for sql, (kind, text, column) in REFUSED.items():
        with pytest.raises(kind, match=text) as refused:
            tables.sql(sql)
        assert column in (None, refused.value.column), sql
    assert rows(tables, "SELECT * FROM t") == [(1,)]


def test_what_was_cleaned_is_told(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT) {ACID}; INSERT INTO t VALUES (1); DELETE FROM t;
        ALTER TABLE t COMPACT 'major'
    """)
    with pytest.raises(hivesql.DataError) as cleaned:
        session.sql("RESTORE TABLE t TO VERSION AS OF 1")
    assert cleaned.value.code == 10327


def test_a_rebalance_gives_rows_the_ids_of_others(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT) {ACID} ;
        INSERT INTO t SELECT i FROM (SELECT posexplode(split(space(9), ' ')) AS (i, x)) q;
        DELETE FROM t WHERE id < 5;
        SET hivesql.retention=1d;
        ALTER TABLE t COMPACT 'rebalance' ORDER BY id DESC
    """)
    assert len(rows(session, "SELECT * FROM t FOR SYSTEM_VERSION AS OF 1")) == 10
    with pytest.raises(hivesql.NotSupported, match="a rebalance of its writes up to 2"):
        session.sql("RESTORE TABLE t TO VERSION AS OF 1")
    session.sql("INSERT INTO t VALUES (100); RESTORE TABLE t TO VERSION AS OF 2")
    assert rows(session, "SELECT * FROM t") == [(number,) for number in range(5, 10)]


def test_versions_are_kept_as_long_as_the_table_says(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT) {ACID[:-1]}, 'hivesql.retention'='3 versions');
        INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); DELETE FROM t WHERE id = 1;
        ALTER TABLE t COMPACT 'major'
    """)
    states = {1: [(1,)], 2: [(1,), (2,)], 3: [(2,)]}
    for version, state in states.items():
        assert rows(session, f"SELECT * FROM t FOR SYSTEM_VERSION AS OF {version}") == state
    session.sql("RESTORE TABLE t TO VERSION AS OF 1; INSERT INTO t VALUES (5)")
    # The latest three versions no longer need what the compaction has replaced.
    session.sql("INSERT INTO t VALUES (6); ALTER TABLE t COMPACT 'minor'")
    for version in states:
        if version < 3:
            with pytest.raises(hivesql.DataError) as gone:
                session.sql(f"SELECT * FROM t FOR SYSTEM_VERSION AS OF {version}")
            assert gone.value.code == 10327
    assert rows(session, "SELECT * FROM t FOR SYSTEM_VERSION AS OF 3") == states[3]
    assert rows(session, "SELECT * FROM t") == [(1,), (5,), (6,)]


def test_a_time_keeps_versions_until_it_is_taken_away(session: hivesql.Session) -> None:
    session.sql(f"""
        SET hivesql.retention=1d;
        CREATE TABLE t (id INT) {ACID};
        INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); DELETE FROM t WHERE id = 1;
        ALTER TABLE t COMPACT 'major'; INSERT INTO t VALUES (3); ALTER TABLE t COMPACT 'major'
    """)
    for version, state in {1: [(1,)], 3: [(2,)], 4: [(2,), (3,)]}.items():
        assert rows(session, f"SELECT * FROM t FOR SYSTEM_VERSION AS OF {version}") == state
    session.sql("""
        ALTER TABLE t SET TBLPROPERTIES ('hivesql.retention'='');
        INSERT INTO t VALUES (4); ALTER TABLE t COMPACT 'minor'
    """)
    with pytest.raises(hivesql.DataError):
        session.sql("SELECT * FROM t FOR SYSTEM_VERSION AS OF 1")
    assert rows(session, "SELECT * FROM t") == [(2,), (3,), (4,)]
    for value in ("'soon'", "'3 weeks'"):
        with pytest.raises(hivesql.SemanticError, match="retention must be"):
            session.sql(f"ALTER TABLE t SET TBLPROPERTIES ('hivesql.retention'={value})")


def test_without_a_retention_what_waits_for_the_cleaner_is_not_trusted(
    session: hivesql.Session,
) -> None:
    session.sql(f"""
        SET hive.compactor.delayed.cleanup.enabled=true;
        CREATE TABLE t (id INT) {ACID};
        INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);
        ALTER TABLE t COMPACT 'major'
    """)
    with pytest.raises(hivesql.DataError, match=r"hivesql\.retention keeps"):
        session.sql("SELECT * FROM t FOR SYSTEM_VERSION AS OF 1")


INSERT_ONLY_STEPS = (
    "INSERT INTO t PARTITION (p) SELECT id + {n}, v, p FROM t WHERE id < 4",
    "INSERT INTO t PARTITION (p) VALUES ({n}, 'same', 'x'), ({n}, 'same', NULL), ({n}, NULL, 'y')",
    "INSERT OVERWRITE TABLE t PARTITION (p = 'x') SELECT id, 'over' FROM t WHERE p = 'y'",
    "INSERT OVERWRITE TABLE t PARTITION (p) SELECT id, 'all', p FROM t",
    "TRUNCATE TABLE t PARTITION (p = 'y')",
    "TRUNCATE TABLE t",
    "ALTER TABLE t PARTITION (p = 'x') COMPACT 'major'",
)


@pytest.mark.parametrize("seed", range(2))
def test_any_state_of_insert_only_tables_comes_back(session: hivesql.Session, seed: int) -> None:
    chance = Random(seed)
    session.sql(f"""
        SET hivesql.retention=1d;
        CREATE TABLE t (id INT, v STRING) PARTITIONED BY (p STRING)
          STORED AS {("ORC", "PARQUET")[seed]} TBLPROPERTIES (
          'transactional'='true', 'transactional_properties'='insert_only');
        INSERT INTO t PARTITION (p) VALUES (1, 'a', 'x'), (1, 'a', 'x'), (2, NULL, 'y'),
          (3, 'c', NULL)
    """)
    states: States = {}
    for number in range(8):
        step = chance.choice(INSERT_ONLY_STEPS)
        session.sql(step.format(n=number))
        note_state(session, states)
        if number % 2:
            wanted = chance.choice(sorted(states))
            before = states[wanted]
            session.sql(f"RESTORE TABLE t TO VERSION AS OF {wanted}")
            assert states[note_state(session, states)] == before, (step, wanted)
            assert session.check("t") == ()


def test_insert_only_partitions_that_did_not_change_stay(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE t (id INT) PARTITIONED BY (p INT) STORED AS PARQUET TBLPROPERTIES (
          'transactional'='true', 'transactional_properties'='insert_only');
        INSERT INTO t PARTITION (p) VALUES (1, 1), (2, 2), (3, 3);
        INSERT INTO t PARTITION (p) VALUES (4, 1), (5, 5);
        INSERT OVERWRITE TABLE t PARTITION (p = 3) SELECT 6
    """)
    files = "SELECT DISTINCT p, INPUT__FILE__NAME FROM t WHERE p = 2"
    before = session.sql(files).rows
    assert session.sql("RESTORE TABLE t PARTITION (p = 1) TO VERSION AS OF 1").affected == 1
    assert rows(session, "SELECT id, p FROM t ORDER BY id") == [(1, 1), (2, 2), (5, 5), (6, 3)]
    assert session.sql("RESTORE TABLE t TO VERSION AS OF 1").affected == 1 + 1
    assert rows(session, "SELECT id, p FROM t ORDER BY id") == [(1, 1), (2, 2), (3, 3)]
    assert session.sql(files).rows == before
    version = session.sql("DESCRIBE HISTORY t LIMIT 1").rows[0]
    assert session.sql(f"RESTORE TABLE t TO VERSION AS OF {version[0]}").affected == 0
    assert "RESTORE" in version
