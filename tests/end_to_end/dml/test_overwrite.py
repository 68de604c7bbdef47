"""INSERT OVERWRITE: where nothing is to be written, and where nothing was to be overwritten."""

from __future__ import annotations

import pytest

import hivesql

pytestmark = pytest.mark.spark

ACID = "ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


def rows(session: hivesql.Session, table: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, session.sql(f"SELECT * FROM {table}").rows))


@pytest.mark.parametrize("stored", ["TEXTFILE", ACID])
def test_if_not_exists_leaves_a_partition_alone(session: hivesql.Session, stored: str) -> None:
    session.sql(f"""
        CREATE TABLE t (a INT) PARTITIONED BY (p INT, q STRING) STORED AS {stored};
        ALTER TABLE t ADD PARTITION (p = 1, q = 'empty');
        INSERT INTO t PARTITION (p = 1, q = 'x') VALUES (1);
        CREATE TABLE u (a INT) STORED AS {stored}; INSERT INTO u VALUES (1);
    """)
    for q in ("x", "empty", "new"):
        session.sql(f"INSERT OVERWRITE TABLE t PARTITION (p = 1, q = '{q}') IF NOT EXISTS SELECT 2")
    assert rows(session, "t") == [(1, 1, "x"), (2, 1, "new")]
    # Without a partition the words mean nothing, as in Hive 4.1.
    session.sql("INSERT OVERWRITE TABLE u IF NOT EXISTS SELECT 3")
    assert rows(session, "u") == [(3,)]
    with pytest.raises(hivesql.SemanticError, match="do not support IF NOT EXISTS") as raised:
        session.sql("INSERT OVERWRITE TABLE t PARTITION (p = 1, q) IF NOT EXISTS SELECT 2, 'x'")
    assert raised.value.code == 10127
    with pytest.raises(hivesql.ParseError, match="needs OVERWRITE"):
        session.sql("INSERT INTO t PARTITION (p = 1, q = 'x') IF NOT EXISTS SELECT 2")


@pytest.mark.parametrize("stored", ["TEXTFILE", ACID, INSERT_ONLY])
def test_no_rows_take_the_place_of_rows(session: hivesql.Session, stored: str) -> None:
    session.sql(f"""
        CREATE TABLE k (c STRING) CLUSTERED BY (c) INTO 4 BUCKETS STORED AS {stored};
        INSERT INTO k VALUES ('x'), ('y');
        CREATE TABLE p (c STRING) PARTITIONED BY (p INT) CLUSTERED BY (c) INTO 4 BUCKETS
        STORED AS {stored};
        INSERT INTO p VALUES ('x', 1), ('y', 1), ('z', 2);
        INSERT OVERWRITE TABLE p PARTITION (p) SELECT c, 2 FROM k WHERE c = 'none';
    """)
    # Hive too: rows that do not come have no partition that could be emptied.
    assert rows(session, "p") == [("x", 1), ("y", 1), ("z", 2)]
    session.sql("""
        INSERT OVERWRITE TABLE p PARTITION (p = 1) SELECT c FROM k WHERE c = 'none';
        INSERT OVERWRITE TABLE k SELECT c FROM k WHERE c = 'none';
    """)
    assert rows(session, "p") == [("z", 2)]
    assert rows(session, "k") == []


@pytest.mark.parametrize("stored", ["TEXTFILE", INSERT_ONLY])
def test_branches_of_a_union_overwrite_together(session: hivesql.Session, stored: str) -> None:
    session.sql(f"""
        CREATE TABLE t (a INT, b STRING) STORED AS {stored};
        CREATE TABLE p (b STRING) PARTITIONED BY (a INT) STORED AS {stored};
        INSERT INTO t VALUES (1, 'x');
        INSERT INTO p VALUES ('old', 2), ('old', 3), ('stays', 4);
        INSERT OVERWRITE TABLE t SELECT a + 1, 'a' FROM t UNION ALL SELECT a + 2, b FROM t;
        INSERT OVERWRITE TABLE p PARTITION (a) SELECT b, a FROM t UNION ALL SELECT b, a FROM t;
    """)
    assert rows(session, "t") == [(2, "a"), (3, "x")]
    assert rows(session, "p") == [("a", 2), ("a", 2), ("stays", 4), ("x", 3), ("x", 3)]


@pytest.mark.parametrize("stored", ["ORC", ACID])
def test_one_table_takes_several_branches_that_tell_partitions_apart(
    session: hivesql.Session, stored: str
) -> None:
    session.sql(f"""
        CREATE TABLE s (a INT, p INT) STORED AS ORC; INSERT INTO s VALUES (1, 1), (2, 2), (3, 3);
        CREATE TABLE t (a INT) PARTITIONED BY (p INT) STORED AS {stored};
        FROM s INSERT INTO t SELECT a, p INSERT INTO t PARTITION (p) SELECT a + 10, p WHERE p < 2;
    """)
    before = [(1, 1), (2, 2), (3, 3), (11, 1)]
    assert rows(session, "t") == before
    with pytest.raises(hivesql.SemanticError, match="two branches of the statement write p=1"):
        session.sql("""
            FROM s INSERT OVERWRITE TABLE t PARTITION (p) SELECT 7, p WHERE p = 1
            INSERT OVERWRITE TABLE t PARTITION (p) SELECT 8, p WHERE p < 3
        """)
    assert rows(session, "t") == before
    session.sql("""
        FROM s INSERT OVERWRITE TABLE t PARTITION (p) SELECT 7, p WHERE p = 1
        INSERT OVERWRITE TABLE t PARTITION (p) SELECT 8, p WHERE p = 2
    """)
    assert rows(session, "t") == [(3, 3), (7, 1), (8, 2)]
    session.sql("INSERT INTO t PARTITION (p = 1) VALUES (9)")
    session.sql("ALTER TABLE t PARTITION (p = 1) CONCATENATE")
    assert rows(session, "t") == [(3, 3), (7, 1), (8, 2), (9, 1)]
    listed = [one[0] for one in session.sql("SHOW TABLE EXTENDED LIKE t PARTITION (p = 1)").rows]
    assert "totalNumberFiles:1" in listed


ONLY = "'transactional'='true', 'transactional_properties'='insert_only'"
EMPTIED = {
    # Seen in Hive 4.1, whose DELETE without WHERE is TRUNCATE.
    "insert-only": ("TABLE", ONLY, None),
    "plain": ("TABLE", "'transactional'='false'", None),
    "external and purged": ("EXTERNAL TABLE", "'external.table.purge'='true'", None),
    "external": ("EXTERNAL TABLE", "'a'='b'", 10146),
    "full ACID": ("TABLE", "'transactional'='true'", None),
}


@pytest.mark.parametrize(("kind", "properties", "code"), EMPTIED.values(), ids=EMPTIED)
def test_deletes_of_all_rows(
    session: hivesql.Session, kind: str, properties: str, code: int | None
) -> None:
    session.sql(f"CREATE {kind} t (a int) STORED AS ORC TBLPROPERTIES ({properties})")
    session.sql(
        f"CREATE {kind} p (a int) PARTITIONED BY (k int) STORED AS ORC TBLPROPERTIES ({properties})"
    )
    session.sql("INSERT INTO t VALUES (1); INSERT INTO p VALUES (1, 1), (2, 2)")
    for table, before in (("t", [(1,)]), ("p", [(1, 1), (2, 2)])):
        if code is None:
            session.sql(f"DELETE FROM {table}")
            assert session.sql(f"SELECT * FROM {table}").rows == []
            continue
        with pytest.raises(hivesql.SemanticError) as raised:
            session.sql(f"DELETE FROM {table}")
        assert raised.value.code == code
        assert sorted(session.sql(f"SELECT * FROM {table}").rows) == before
    assert session.sql("SHOW PARTITIONS p").rows == [("k=1",), ("k=2",)]
    session.sql("INSERT INTO t VALUES (3)")
    assert (3,) in session.sql("SELECT * FROM t").rows


def test_a_condition_that_is_always_true_empties_nothing(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE t (a int) STORED AS ORC TBLPROPERTIES ({ONLY})")
    session.sql("INSERT INTO t VALUES (1)")
    with pytest.raises(hivesql.SemanticError) as raised:
        session.sql("DELETE FROM t WHERE true")
    assert raised.value.code == 10414
    session.sql("START TRANSACTION; INSERT INTO t VALUES (2)")
    with pytest.raises(hivesql.HiveSqlError) as raised:
        session.sql("DELETE FROM t")
    assert raised.value.code == 20007
    assert session.sql("SELECT * FROM t").rows == [(1,)]
