"""Dynamic partitions: that of rows without a value, and how many a statement may write in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from end_to_end.answers import rows
from hivesql_planner.errors import SemanticError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "__HIVE_DEFAULT_PARTITION__"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
# A condition, and who satisfies it: k1 is in the default partition, k2 in 'a'.
WHO = [
    ("v <> 'a'", ["k1"]),
    ("v = 'a'", ["k2"]),
    ("v IS NULL", []),
    ("v IS NOT NULL", ["k1", "k2"]),
    (f"v = '{NAME}'", ["k1"]),
    (f"v IN ('a', '{NAME}')", ["k1", "k2"]),
    ("v > 'a'", []),
    ("v < 'a'", ["k1"]),
    ("NOT v = 'a'", ["k1"]),
    ("v <=> NULL", []),
    ("v LIKE '__HIVE%'", ["k1"]),
    ("length(v) = 26", ["k1"]),
    ("coalesce(v, 'N') = 'N'", []),
]


def check_changes(session: hivesql.Session) -> None:
    """UPDATE and DELETE of a full ACID table find the rows that SELECT finds."""
    session.sql("""
        INSERT INTO t PARTITION (v) VALUES ('k1', 1, null), ('k2', 2, 'a'), ('k3', 3, '');
        UPDATE t SET n = 10 WHERE v IS NULL;
        UPDATE t SET n = n + 20 WHERE v <> 'a'
    """)
    everybody = "SELECT k, n, v FROM t ORDER BY k"
    assert rows(session, everybody) == [("k1", 21, NAME), ("k2", 2, "a"), ("k3", 23, NAME)]
    session.sql(f"DELETE FROM t WHERE v = '{NAME}' AND k = 'k3'; DELETE FROM t WHERE v IS NULL")
    assert rows(session, everybody) == [("k1", 21, NAME), ("k2", 2, "a")]
    assert rows(session, "SHOW PARTITIONS t") == [(f"v={NAME}",), ("v=a",)]


def test_changes_without_spark(alone: hivesql.Session) -> None:
    alone.sql(f"CREATE TABLE t (k string, n int) PARTITIONED BY (v string) {ACID}")
    check_changes(alone)


UNLISTED = [
    # Partition columns that an INSERT's list of columns leaves out have no value.
    ("(a) VALUES (0)", (0, None, NAME)),
    ("(c, a) VALUES (4, 1)", (1, 4, NAME)),
    ("PARTITION (c=1, d) (a) VALUES (2)", (2, 1, NAME)),
    ("PARTITION (c, d) (d, a) VALUES ('x', 3)", (3, None, "x")),
]


def test_partition_columns_that_are_not_listed(alone: hivesql.Session) -> None:
    alone.sql(f"CREATE TABLE e (a int) PARTITIONED BY (c int, d string) {ACID}")
    for rest, _ in UNLISTED:
        alone.sql(f"INSERT INTO e {rest}")
    assert rows(alone, "SELECT * FROM e ORDER BY a") == [row for _, row in UNLISTED]
    with pytest.raises(SemanticError) as caught:
        alone.sql("INSERT INTO e PARTITION (c=1) (a) VALUES (9)")
    assert caught.value.code == 10006


def test_partitions_that_are_shown_and_dropped(alone: hivesql.Session) -> None:
    alone.sql(f"CREATE TABLE e (a int) PARTITIONED BY (c int, d string) {ACID}")

    def fill() -> None:
        alone.sql("""
            INSERT INTO e PARTITION (c, d) VALUES
            (1, 1, 'x'), (2, 2, 'y'), (3, null, null), (4, 1, null), (5, null, 'x')
        """)

    def names(sql: str) -> list[str]:
        return sorted(row[0].replace(NAME, "*") for row in alone.sql(sql).rows)

    def left() -> list[str]:
        return names("SHOW PARTITIONS e")

    def shown(where: str) -> list[str]:
        return names(f"SHOW PARTITIONS e WHERE {where}")

    fill()
    for column, operator in (("c", ">"), ("d", ">"), ("d", "<"), ("d", ">=")):
        with pytest.raises(SemanticError, match="only '=' and '!=' are allowed"):
            alone.sql(f"ALTER TABLE e DROP PARTITION ({column} {operator} '{NAME}')")
    assert shown("d != 'x'") == ["c=*/d=*", "c=1/d=*", "c=2/d=y"]
    assert shown(f"d = '{NAME}'") == ["c=*/d=*", "c=1/d=*"]
    assert shown("c != 1") == ["c=2/d=y"]
    assert shown("d IS NULL") == ["c=*/d=*", "c=1/d=*"]
    assert shown("d IS NOT NULL") == shown("NOT d IS NULL") == ["c=*/d=x", "c=1/d=x", "c=2/d=y"]
    assert shown("c IS NULL AND d IS NULL OR c = 2") == ["c=*/d=*", "c=2/d=y"]
    assert shown("d IS NULL ORDER BY c LIMIT 1") == ["c=1/d=*"]
    for condition, rest in [
        (f"d != '{NAME}', c != '{NAME}'", ["c=*/d=*", "c=*/d=x", "c=1/d=*"]),
        ("c != 1", ["c=*/d=*", "c=*/d=x", "c=1/d=*"]),
        (f"d = '{NAME}'", ["c=*/d=x"]),
    ]:
        alone.sql(f"ALTER TABLE e DROP PARTITION ({condition})")
        assert left() == rest
    for condition, rest in [
        ("d != 'x'", ["c=*/d=x", "c=1/d=x"]),
        ("c > 1", ["c=*/d=*", "c=*/d=x", "c=1/d=*", "c=1/d=x"]),
        ("c < 2", ["c=*/d=*", "c=*/d=x", "c=2/d=y"]),
    ]:
        fill()
        alone.sql(f"ALTER TABLE e DROP PARTITION ({condition})")
        assert left() == rest
    for condition, rest in [
        ("d LIKE 'x%'", ["c=*/d=*", "c=1/d=*", "c=2/d=y"]),
        ("d LIKE '_'", ["c=*/d=*", "c=1/d=*"]),
        ("d LIKE '__HIVE%', c != 1", ["c=*/d=*", "c=*/d=x", "c=1/d=*", "c=1/d=x", "c=2/d=y"]),
        ("d LIKE '__HIVE%', c = 1", ["c=*/d=*", "c=*/d=x", "c=1/d=x", "c=2/d=y"]),
    ]:
        alone.sql("ALTER TABLE e DROP PARTITION (d = 'x'), PARTITION (d != 'x')")
        fill()
        alone.sql(f"ALTER TABLE e DROP PARTITION ({condition})")
        assert left() == rest
    alone.sql("ALTER TABLE e DROP PARTITION (d = 'y'), PARTITION (c = 1)")
    alone.sql("ALTER TABLE e DROP PARTITION (d > 'a')")
    assert left() == ["c=*/d=*"]
    alone.sql("ALTER TABLE e DROP PARTITION (d > 'A')")
    assert left() == []
    with pytest.raises(SemanticError, match="reserved substring") as caught:
        alone.sql(f"ALTER TABLE e ADD PARTITION (c=1, d='{NAME}')")
    assert caught.value.code == 10111


@pytest.mark.spark
def test_every_query_reads_it_as_hive(spark: SparkSession, tmp_path: Path) -> None:
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh"), spark=spark,
        settings={"hivesql.local.max.bytes": "0"},
    ) as session:  # fmt: skip
        session.sql(f"""
            CREATE TABLE text (k string) PARTITIONED BY (v string) STORED AS TEXTFILE;
            CREATE TABLE orc (k string) PARTITIONED BY (v string) STORED AS ORC;
            CREATE TABLE acid (k string) PARTITIONED BY (v string) {ACID};
            CREATE VIEW seen AS SELECT * FROM acid;
        """)
        for table in ("text", "orc", "acid"):
            session.sql(f"""
                INSERT INTO {table} (k) SELECT 'k1';
                INSERT INTO {table} VALUES ('k2', 'a')
            """)
        for table in ("text", "orc", "acid", "seen"):
            found = {
                condition: [row[0] for row in session.sql(f"""
                    SELECT k FROM {table} WHERE {condition} ORDER BY k
                """).rows]
                for condition, _ in WHO
            }  # fmt: skip
            assert (table, found) == (table, dict(WHO))
        session.sql(f"""
            CREATE TABLE sized (k string) PARTITIONED BY (c char(5), w varchar(10), u char(30));
            INSERT INTO sized SELECT 'k', cast(null AS char(5)), null, null;
            CREATE TABLE others (k int) PARTITIONED BY (i int, d date, n decimal(5,1), f double)
            STORED AS TEXTFILE;
            INSERT INTO others PARTITION (i, d, n, f) SELECT 1, null, null, null, null;
            CREATE TABLE t (k string, n int) PARTITIONED BY (v string) {ACID};
        """)
        assert rows(session, "SELECT concat(c, '|'), w, length(u) FROM sized") == [
            ("__HIV|", "__HIVE_DEF", 26)
        ]
        assert rows(session, "SELECT k FROM sized WHERE w = '__HIVE_DEF'") == [("k",)]
        assert rows(session, "SELECT i, d, n, f FROM others WHERE i IS NULL") == [(None,) * 4]
        check_changes(session)
        session.sql(f"""
            MERGE INTO t USING (SELECT '{NAME}' AS v) s ON t.v = s.v
            WHEN MATCHED THEN UPDATE SET n = 0
        """)
        assert rows(session, "SELECT k, n FROM t ORDER BY k") == [("k1", 0), ("k2", 2)]


@pytest.mark.spark
@pytest.mark.parametrize("layout", ["", "CLUSTERED BY (a) INTO 2 BUCKETS STORED AS PARQUET"])
def test_controls_and_noncharacters_are_values_too(session: hivesql.Session, layout: str) -> None:
    odd = ["\0", "a\0\uffff0", "\uffff", "\uffff0", "\x7f", "%00", "a=b/c", " "]
    values = ", ".join(f"({i}, '{text}')" for i, text in enumerate(odd))
    session.sql(f"""
        CREATE TABLE odd (a INT) PARTITIONED BY (v STRING) {layout};
        SET hive.exec.dynamic.partition.mode = nonstrict;
        INSERT INTO odd PARTITION (v) SELECT * FROM VALUES {values} AS s (n, text)
    """)
    assert rows(session, "SELECT a, v FROM odd") == list(enumerate(odd))
    assert ("v=%00",) in rows(session, "SHOW PARTITIONS odd")


NONE = "SET hive.exec.default.partition.name=none"


def check_own_name(session: hivesql.Session, kind: str, new_rows: str) -> None:
    """Rows without a value go where the session says; all statements find them as it is read."""
    session.sql(f"""
        CREATE TABLE t (k string) PARTITIONED BY (s string, i int) {kind};
        INSERT INTO t PARTITION (s, i) VALUES ('before', null, null);
        {NONE}
    """)
    session.sql(f"INSERT INTO t PARTITION (s, i) {new_rows}")
    builtin = f"s={NAME}/i={NAME}"
    named = ["s=none/i=3", "s=none/i=none", "s=x/i=none"]
    assert rows(session, "SHOW PARTITIONS t") == [(name,) for name in (builtin, *named)]
    everybody = [("a", "none", None), ("b", "none", 3), ("before", NAME, None), ("c", "x", None)]
    assert rows(session, "SELECT * FROM t ORDER BY k") == everybody
    nulls = [("a",), ("before",), ("c",)]
    assert rows(session, "SELECT k FROM t WHERE i IS NULL ORDER BY k") == nulls
    assert rows(session, "SELECT k FROM t WHERE s = 'none' ORDER BY k") == [("a",), ("b",)]
    for values in ("s='none', i=9", "s='w', i='none'", "s='xnoney', i=9"):
        with pytest.raises(SemanticError, match="reserved substring") as caught:
            session.sql(f"ALTER TABLE t ADD PARTITION ({values})")
        assert caught.value.code == 10111
    session.sql(f"ALTER TABLE t ADD PARTITION (s='{NAME}', i=7)")
    session.sql("ALTER TABLE t DROP PARTITION (s='x', i='none')")
    left = [*named[:2], f"s={NAME}/i=7", builtin]
    assert sorted(rows(session, "SHOW PARTITIONS t")) == sorted((name,) for name in left)
    session.sql("ALTER TABLE t DROP PARTITION (i!='none', s='none')")
    assert rows(session, "SELECT k FROM t ORDER BY k") == [("a",), ("before",)]
    session.sql("RESET hive.exec.default.partition.name")
    assert rows(session, "SELECT k FROM t WHERE i IS NULL ORDER BY k") == [("a",), ("before",)]


def test_a_name_of_ones_own_without_spark(alone: hivesql.Session) -> None:
    values = "VALUES ('a', null, null), ('b', '', 3), ('c', 'x', null)"
    check_own_name(alone, ACID, values)


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["STORED AS TEXTFILE", "STORED AS ORC", ACID])
def test_a_name_of_ones_own(tmp_path: Path, spark: SparkSession, kind: str) -> None:
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh"), spark=spark
    ) as session:
        values = "(VALUES ('a', null, null), ('b', '', 3), ('c', 'x', null)) v (k, s, i)"
        check_own_name(session, kind, f"SELECT k, s, i FROM {values} WHERE k > ' '")


@pytest.mark.spark
def test_changes_under_a_name_of_ones_own(tmp_path: Path, spark: SparkSession) -> None:
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh"), spark=spark
    ) as session:
        session.sql(f"CREATE TABLE t (k string, n int) PARTITIONED BY (i int) {ACID}; {NONE}")
        session.sql("""
            MERGE INTO t USING (SELECT 'z' k, cast(null AS int) i) s ON t.k = s.k
              WHEN NOT MATCHED THEN INSERT VALUES (s.k, 1, s.i);
            INSERT INTO t PARTITION (i) VALUES ('y', 1, 5), ('x', 1, null);
            UPDATE t SET n = 2 WHERE i IS NULL;
            UPDATE t SET i = NULL WHERE k = 'y'
        """)
        names = rows(session, "SHOW PARTITIONS t")
        assert names == [("i=5",), ("i=none",)]
        everybody = [("x", 2, None), ("y", 1, None), ("z", 2, None)]
        assert rows(session, "SELECT k, n, i FROM t ORDER BY k") == everybody
        session.sql("DELETE FROM t WHERE i IS NULL AND n = 2")
        assert rows(session, "SELECT k FROM t") == [("y",)]


TOO_MANY = (
    "INSERT INTO d VALUES (1, 1), (2, 2), (3, 3)",
    "INSERT INTO d PARTITION (p) SELECT a, a FROM s",
    "INSERT OVERWRITE TABLE plain PARTITION (p) SELECT a, a FROM s",
    "UPDATE c SET a = a + 1",
    "DELETE FROM c WHERE a > 0",
    "MERGE INTO c USING s ON c.a = s.a WHEN MATCHED THEN DELETE",
)


@pytest.mark.spark
def test_no_statement_writes_in_more_partitions_than_a_site_allows(
    session: hivesql.Session,
) -> None:
    """As real Hive 4.1; without Spark and by it, and nothing is left."""
    session.sql(f"""
        CREATE TABLE s (a INT) {ACID};
        INSERT INTO s VALUES (1), (2), (3);
        CREATE TABLE d (a INT) PARTITIONED BY (p INT) {ACID};
        CREATE TABLE c (a INT) PARTITIONED BY (p INT) {ACID};
        INSERT INTO c VALUES (1, 1), (2, 2), (3, 3);
        CREATE TABLE plain (a INT) PARTITIONED BY (p INT) STORED AS TEXTFILE;
        SET hive.exec.max.dynamic.partitions=2
    """)
    for most_bytes in ("16777216", "0"):
        session.set("hivesql.local.max.bytes", most_bytes)
        for statement in TOO_MANY:
            with pytest.raises(hivesql.ExecutionError, match="more than 2") as error:
                session.sql(statement)
            assert "created is 3, which is more than 2" in str(error.value), statement
            assert error.value.code == 40000
        assert rows(session, "SHOW PARTITIONS d") == rows(session, "SHOW PARTITIONS plain") == []
        assert rows(session, "SELECT a FROM c ORDER BY a") == [(1,), (2,), (3,)]
    session.sql("UPDATE c SET a = 7 WHERE p < 3; INSERT INTO d PARTITION (p=1) VALUES (1)")
    session.sql("SET hive.exec.max.dynamic.partitions=3")
    for statement in TOO_MANY:
        session.sql(statement)
