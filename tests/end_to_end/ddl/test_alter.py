"""ALTER on a real warehouse: catalog, directories and rows together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hivesql
from end_to_end.answers import rows, table_of
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError, StaleSnapshot
from hivesql_planner.model.table import TableName

pytestmark = pytest.mark.spark

PLAIN = "STORED AS ORC TBLPROPERTIES ('transactional'='false')"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def partition_names(session: hivesql.Session, table: str) -> list[str]:
    return [row[0] for row in session.sql(f"SHOW PARTITIONS {table}").rows]


def test_a_table_changes_its_columns_its_name_and_becomes_acid(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE DATABASE d;
        CREATE TABLE t (a int COMMENT 'first', b string) {PLAIN};
        INSERT INTO t VALUES (1, 'x'), (2, 'y');
        ALTER TABLE t ADD COLUMNS (c int);
        ALTER TABLE t CHANGE COLUMN a k bigint;
        ALTER TABLE t SET TBLPROPERTIES ('owner.team'='core');
        ALTER TABLE t SET OWNER ROLE adm;
        ALTER TABLE t RENAME TO d.t2;
    """)
    home = Path(table_of(session, "d.t2").location)
    assert (home.parent.name, home.name, home.is_dir()) == ("d.db", "t2", True)
    assert not (home.parent.parent / "t").exists()
    with pytest.raises(SemanticError, match="Table not found"):
        session.sql("SELECT * FROM t")
    session.sql("ALTER TABLE d.t2 SET TBLPROPERTIES ('transactional'='true')")
    session.sql("UPDATE d.t2 SET c = 7 WHERE k = 1")
    assert rows(session, "SELECT k, b, c FROM d.t2") == [(1, "x", 7), (2, "y", None)]
    found = {path.name for path in home.iterdir() if path.is_dir()}
    assert found == {
        "delta_10000001_10000001_0001", "delete_delta_10000001_10000001_0000",
    }  # fmt: skip
    described = table_of(session, "d.t2")
    assert described.properties["owner.team"] == "core"
    assert (described.owner, described.owner_type) == ("adm", "ROLE")
    assert described.columns[0].comment == "first"


def test_a_rename_that_cannot_be_finished_leaves_everything(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE t (a int) {PLAIN}; INSERT INTO t VALUES (1);")
    home = Path(table_of(session, "t").location)
    (home.parent / "taken").mkdir()
    with pytest.raises(SemanticError, match="already exists"):
        session.sql("ALTER TABLE t RENAME TO taken")
    session.sql(f"CREATE TABLE other (a int) {PLAIN}")
    with pytest.raises(SemanticError, match="already exists"):
        session.sql("ALTER TABLE t RENAME TO other")
    assert rows(session, "SELECT a FROM t") == [(1,)]
    assert home.is_dir()


def test_partitions_are_renamed_moved_exchanged_and_dropped(
    session: hivesql.Session, tmp_path: Path
) -> None:
    session.sql(f"""
        CREATE TABLE p (a int) PARTITIONED BY (ds string, hr int) {ACID};
        INSERT INTO p PARTITION (ds, hr) VALUES (1, '1', 2), (2, '1', 3), (3, '2', 2);
        ALTER TABLE p PARTITION (ds='1', hr=2) RENAME TO PARTITION (ds='9', hr=2);
        DELETE FROM p WHERE a = 1;
        INSERT INTO p PARTITION (ds='9', hr=2) VALUES (10);
        ALTER TABLE p DROP PARTITION (ds < '3', hr > 2);
    """)
    assert rows(session, "SELECT * FROM p") == [(3, "2", 2), (10, "9", 2)]
    assert partition_names(session, "p") == ["ds=2/hr=2", "ds=9/hr=2"]
    home = Path(table_of(session, "p").location)
    assert sorted(path.name for path in home.iterdir() if any(path.iterdir())) == ["ds=2", "ds=9"]
    with pytest.raises(SemanticError, match="Partition already exists"):
        session.sql("ALTER TABLE p PARTITION (ds='9', hr=2) RENAME TO PARTITION (ds='2', hr=2)")

    session.sql(f"""
        CREATE TABLE e1 (a int) PARTITIONED BY (ds string) {PLAIN};
        CREATE TABLE e2 (a int) PARTITIONED BY (ds string) {PLAIN};
        INSERT INTO e1 PARTITION (ds) VALUES (1, 'x'), (2, 'y');
        ALTER TABLE e2 EXCHANGE PARTITION (ds='x') WITH TABLE e1;
    """)
    assert rows(session, "SELECT * FROM e1 UNION ALL SELECT * FROM e2") == [(1, "x"), (2, "y")]
    assert (partition_names(session, "e1"), partition_names(session, "e2")) == (["ds=y"], ["ds=x"])
    elsewhere = tmp_path / "elsewhere"
    session.sql(f"""
        ALTER TABLE e1 PARTITION (ds='y') SET LOCATION '{elsewhere}';
        ALTER TABLE e1 ADD IF NOT EXISTS PARTITION (ds='y') PARTITION (ds='z')
            LOCATION '{tmp_path}/z';
        INSERT INTO e1 PARTITION (ds) VALUES (5, 'y'), (6, 'z');
    """)
    assert rows(session, "SELECT * FROM e1") == [(5, "y"), (6, "z")]
    assert list(elsewhere.glob("*0_0"))


def test_location_format_and_buckets_of_a_table(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql("""
        CREATE TABLE t (a int, b string) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','
            STORED AS TEXTFILE TBLPROPERTIES ('transactional'='false');
        INSERT INTO t VALUES (1, 'x;y');
        ALTER TABLE t SET SERDEPROPERTIES ('field.delim'=';');
    """)
    assert rows(session, "SELECT b FROM t") == [("y",)]
    session.sql(f"""
        ALTER TABLE t SET LOCATION '{tmp_path}/new';
        ALTER TABLE t SET FILEFORMAT PARQUET;
        ALTER TABLE t REPLACE COLUMNS (z bigint);
        INSERT INTO t VALUES (9);
        ALTER TABLE t CLUSTERED BY (z) SORTED BY (z) INTO 3 BUCKETS;
        ALTER TABLE t INTO 5 BUCKETS;
        ALTER TABLE t NOT SORTED;
    """)
    assert rows(session, "SELECT * FROM t") == [(9,)]
    assert list((tmp_path / "new").glob("*.parquet")) or list((tmp_path / "new").iterdir())
    found = table_of(session, "t")
    assert (found.bucket_count, found.bucket_columns, found.sort_columns) == (5, ("z",), ())


def test_partitions_of_text_keep_their_columns(session: hivesql.Session) -> None:
    """As real Hive: without CASCADE a partition is read with the columns it had, by position."""
    session.sql("""
        CREATE TABLE px (a int, b string) PARTITIONED BY (p int) STORED AS TEXTFILE;
        INSERT INTO px PARTITION (p=1) VALUES (1, 'x');
        ALTER TABLE px ADD COLUMNS (c int);
        INSERT INTO px PARTITION (p) VALUES (2, 'y', 7, 1), (3, 'z', 8, 2);
    """)
    every = "SELECT * FROM px ORDER BY a"
    assert rows(session, every) == [(1, "x", None, 1), (2, "y", None, 1), (3, "z", 8, 2)]
    session.sql("INSERT OVERWRITE TABLE px PARTITION (p=1) VALUES (2, 'w', 9)")
    assert rows(session, every) == [(2, "w", None, 1), (3, "z", 8, 2)]
    session.sql("ALTER TABLE px PARTITION (p=1) ADD COLUMNS (c bigint)")
    assert rows(session, every) == [(2, "w", 9, 1), (3, "z", 8, 2)]
    session.sql("""
        ALTER TABLE px CHANGE c cc string CASCADE;
        ALTER TABLE px PARTITION (p=2) CLUSTERED BY (a) SORTED BY (b) INTO 4 BUCKETS;
        ALTER TABLE px PARTITION (p=2) INTO 6 BUCKETS;
        ALTER TABLE px PARTITION (p=2) NOT SORTED;
    """)
    assert rows(session, every) == [(2, "w", "9", 1), (3, "z", "8", 2)]
    told = {tuple(row)[:2] for row in session.sql("DESCRIBE FORMATTED px PARTITION (p=2)").rows}
    assert told >= {("Num Buckets:", "6"), ("Bucket Columns:", "[a]"), ("Sort Columns:", "[]")}
    told = {tuple(row)[:2] for row in session.sql("DESCRIBE FORMATTED px PARTITION (p=1)").rows}
    assert told >= {("cc", "string"), ("Num Buckets:", "-1")}


def test_partitions_keep_how_they_are_stored(session: hivesql.Session) -> None:
    """As real Hive: a table's change leaves its partitions, and an overwritten one follows it."""
    csv = "'org.apache.hadoop.hive.serde2.OpenCSVSerde'"
    session.sql("""
        CREATE TABLE pu (a int, b string) PARTITIONED BY (p int)
            ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE
            TBLPROPERTIES ('transactional'='false');
        INSERT INTO pu PARTITION (p=1) VALUES (1, 'x');
        INSERT INTO pu PARTITION (p=2) VALUES (2, 'y');
        ALTER TABLE pu SET SERDEPROPERTIES ('field.delim'='|');
        INSERT INTO pu PARTITION (p=3) VALUES (6, 'z');
        ALTER TABLE pu SET FILEFORMAT PARQUET;
        INSERT INTO pu PARTITION (p=4) VALUES (8, 'q');
    """)
    every = "SELECT * FROM pu"
    assert rows(session, every) == [(1, "x", 1), (2, "y", 2), (6, "z", 3), (8, "q", 4)]
    for statement in (
        "INSERT INTO pu PARTITION (p=1) VALUES (3, 'z')",
        "INSERT INTO pu PARTITION (p) VALUES (3, 'z', 4), (3, 'z', 2)",
    ):
        with pytest.raises(NotSupported, match=r"p=[12] is stored otherwise"):
            session.sql(statement)
    assert rows(session, every) == [(1, "x", 1), (2, "y", 2), (6, "z", 3), (8, "q", 4)]
    session.sql("INSERT OVERWRITE TABLE pu PARTITION (p) VALUES (4, 'w', 2), (9, 'v', 4)")
    assert rows(session, every) == [(1, "x", 1), (4, "w", 2), (6, "z", 3), (9, "v", 4)]
    told = session.sql("DESCRIBE FORMATTED pu PARTITION (p=1)").rows
    assert ("", "field.delim", ",") in [tuple(row) for row in told]
    assert any("LazySimpleSerDe" in str(row) for row in told)
    session.sql("INSERT INTO pu PARTITION (p=2) VALUES (5, 'also')")
    session.sql(f"""
        ALTER TABLE pu PARTITION (p=1) SET SERDE {csv} WITH SERDEPROPERTIES ('separatorChar'=',');
        ALTER TABLE pu PARTITION (p=3) SET SERDEPROPERTIES ('field.delim'=';');
    """)
    assert rows(session, "SELECT * FROM pu WHERE p = 3") == [(None, None, 3)]
    assert rows(session, "SELECT * FROM pu WHERE p <> 3") == [
        (1, "x", 1), (4, "w", 2), (5, "also", 2), (9, "v", 4),
    ]  # fmt: skip
    session.sql("ALTER TABLE pu PARTITION (p) SET FILEFORMAT PARQUET")
    with pytest.raises(HiveSqlError):
        session.sql("SELECT * FROM pu WHERE p = 3")
    session.sql("INSERT OVERWRITE TABLE pu PARTITION (p=3) VALUES (7, 'new')")
    assert rows(session, "SELECT * FROM pu WHERE p > 1") == [
        (4, "w", 2), (5, "also", 2), (7, "new", 3), (9, "v", 4),
    ]  # fmt: skip
    session.sql("""
        ALTER TABLE pu ADD PARTITION (p=5);
        ALTER TABLE pu PARTITION (p=5) SET FILEFORMAT RCFILE;
        INSERT INTO pu PARTITION (p=5) VALUES (1, 'first');
        INSERT INTO pu PARTITION (p) VALUES (2, 'next', 5);
    """)
    assert rows(session, "SELECT * FROM pu WHERE p = 5") == [(1, "first", 5), (2, "next", 5)]


def test_views_and_databases(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql(f"""
        CREATE DATABASE d LOCATION '{tmp_path}/d' MANAGEDLOCATION '{tmp_path}/m'
            WITH DBPROPERTIES ('a'='b');
        CREATE TABLE d.t (a int, b string) {ACID};
        INSERT INTO d.t VALUES (1, 'x');
        CREATE VIEW v COMMENT 'kept' AS SELECT a FROM d.t;
        USE d;
        CREATE VIEW w AS SELECT * FROM default.v;
        ALTER VIEW default.v AS SELECT b AS a FROM t;
        ALTER VIEW default.v SET TBLPROPERTIES ('k'='w');
        USE default;
        ALTER DATABASE d SET DBPROPERTIES ('c'='d', 'a'='z');
        ALTER DATABASE d SET OWNER USER bob;
        ALTER DATABASE d SET LOCATION '{tmp_path}/d2';
    """)
    assert table_of(session, "d.t").location == f"{tmp_path}/m/t"
    assert rows(session, "SELECT * FROM d.w") == [("x",)]
    assert (table_of(session, "v").comment, table_of(session, "v").properties) == (
        "kept", {"bucketing_version": "2", "k": "w"},
    )  # fmt: skip
    session.sql("ALTER VIEW v RENAME TO d.v2")
    assert rows(session, "SELECT * FROM d.v2") == [("x",)]
    database = session.runtime.metastore.database("d")
    assert (database.location, database.owner) == (f"{tmp_path}/d2", "bob")
    assert database.properties == {"a": "z", "c": "d"}


def test_nobodys_change_is_lost(session: hivesql.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody alters the table between binding and the lock: the statement is bound anew."""
    session.sql(f"CREATE TABLE t (a int) {PLAIN}")
    store, other = session.runtime.metastore, []
    together = store.run_in_transaction

    def meddle(work: Any, *, durable: bool = True, early: bool = False) -> Any:
        # The transaction is open, and asks for its write id and locks.
        if durable and not other:
            other.append(1)
            session.sql("ALTER TABLE t ADD COLUMNS (theirs int)")
        return together(work, durable=durable, early=early)

    monkeypatch.setattr(store, "run_in_transaction", meddle)
    session.sql("ALTER TABLE t ADD COLUMNS (ours int)")
    assert table_of(session, "t").column_names == ("a", "theirs", "ours")
    with pytest.raises(HiveSqlError, match="Duplicate column name"):
        session.sql("ALTER TABLE t ADD COLUMNS (ours int)")


def test_insert_only_tables_become_full_acid(session: hivesql.Session) -> None:
    """As real Hive: their files stay as they are, and rows get ids from their places."""
    only = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
    session.sql(f"""
        CREATE TABLE oa (a int, b string) STORED AS ORC {only};
        INSERT INTO oa VALUES (1, 'x'), (2, 'y');
        INSERT INTO oa VALUES (3, 'z');
        CREATE TABLE ob (a int) PARTITIONED BY (p int) CLUSTERED BY (a) INTO 2 BUCKETS
            STORED AS ORC {only};
        INSERT INTO ob PARTITION (p) VALUES (1, 1), (2, 1), (3, 2);
        INSERT OVERWRITE TABLE ob PARTITION (p=2) VALUES (5), (6);
        ALTER TABLE oa CONVERT TO ACID;
        ALTER TABLE ob SET TBLPROPERTIES ('transactional_properties'='default');
        UPDATE oa SET b = 'u' WHERE a <> 2;
        DELETE FROM ob WHERE a IN (2, 5);
    """)
    for compact in ("", "minor", "major"):
        if compact:
            session.sql(f"ALTER TABLE oa COMPACT '{compact}'")
            session.sql(f"ALTER TABLE ob PARTITION (p=2) COMPACT '{compact}'")
        assert rows(session, "SELECT * FROM oa ORDER BY a") == [(1, "u"), (2, "y"), (3, "u")]
        assert rows(session, "SELECT * FROM ob ORDER BY a") == [(1, 1), (6, 2)]
    with pytest.raises(SemanticError, match="ACID compliant format"):
        session.sql("CREATE TABLE ot (a int) STORED AS TEXTFILE; ALTER TABLE ot CONVERT TO ACID")


@pytest.mark.parametrize("storage", ["PARQUET", "TEXTFILE", "ORC"])
def test_plain_tables_become_insert_only(session: hivesql.Session, storage: str) -> None:
    """As real Hive: their files move into the directory of a first write."""
    only = "'transactional'='true', 'transactional_properties'='insert_only'"
    session.sql(f"""
        CREATE TABLE one (a int) STORED AS {storage};
        INSERT INTO one VALUES (1), (2); INSERT INTO one VALUES (3);
        CREATE TABLE parts (a int) PARTITIONED BY (`p-q` string) STORED AS {storage};
        INSERT INTO parts VALUES (1, 'x'), (2, 'y/z');
        ALTER TABLE parts ADD PARTITION (`p-q` = 'empty');
    """)
    plan = [row[0].strip() for row in session.sql(
        f"EXPLAIN ALTER TABLE one SET TBLPROPERTIES ({only})").rows]  # fmt: skip
    assert "to delta_0000001_0000001_0000 of each directory" in plan
    home = Path(table_of(session, "one").location.removeprefix("file:"))
    before = sorted(path.name for path in home.iterdir())
    session.sql(f"ALTER TABLE one SET TBLPROPERTIES ({only})")
    assert sorted(path.name for path in home.iterdir()) == ["delta_0000001_0000001_0000"]
    moved = [path.name for path in (home / "delta_0000001_0000001_0000").iterdir()]
    assert sorted(moved) == before
    session.sql(f"""
        ALTER TABLE parts SET TBLPROPERTIES ({only});
        INSERT INTO one VALUES (4); INSERT INTO parts VALUES (3, 'x');
    """)
    assert rows(session, "SELECT * FROM one") == [(1,), (2,), (3,), (4,)]
    assert rows(session, "SELECT * FROM one FOR SYSTEM_VERSION AS OF 1") == [(1,), (2,), (3,)]
    assert rows(session, "SELECT * FROM parts") == [(1, "x"), (2, "y/z"), (3, "x")]
    session.sql("ALTER TABLE parts PARTITION (`p-q` = 'x') COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT * FROM parts") == [(1, "x"), (2, "y/z"), (3, "x")]
    session.sql("DROP TABLE one; DROP TABLE parts")
    assert not home.exists()


def test_columns_come_go_and_change_their_names(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE acid (a INT, b STRING) PARTITIONED BY (p INT) STORED AS ORC
          TBLPROPERTIES ('transactional'='true');
        INSERT INTO acid PARTITION (p) VALUES (1, 'x', 1), (2, 'y', 2);
        ALTER TABLE acid RENAME COLUMN b TO c;
        ALTER TABLE acid ADD COLUMN d DATE COMMENT 'when';
        UPDATE acid SET c = concat(c, '!'), d = DATE '2026-01-01' WHERE a = 1;
        CREATE TABLE named (a INT, b STRING, c INT) PARTITIONED BY (p INT) STORED AS PARQUET;
        INSERT INTO named PARTITION (p) VALUES (1, 'x', 3, 1);
        ALTER TABLE named DROP COLUMN b;
        INSERT INTO named PARTITION (p) VALUES (2, 4, 1)
    """)
    assert rows(session, "SELECT a, c, CAST(d AS STRING), p FROM acid") == [
        (1, "x!", "2026-01-01", 1), (2, "y", None, 2),
    ]  # fmt: skip
    assert rows(session, "SELECT * FROM named") == [(1, 3, 1), (2, 4, 1)]
    for sql, column in (
        ("ALTER TABLE acid DROP COLUMN c", 18),
        ("ALTER TABLE named RENAME COLUMN a TO z", 19),
    ):
        with pytest.raises(hivesql.NotSupported) as refused:
            session.sql(sql)
        assert refused.value.column == column


def test_a_writer_that_was_late_does_not_keep_a_name_from_its_table(alone: hivesql.Session) -> None:
    """It had bound the table before a rename, and took a write id under the old name."""
    alone.sql("CREATE TRANSACTIONAL TABLE u (k INT) STORED AS ORC; INSERT INTO u VALUES (1)")
    alone.sql("ALTER TABLE u RENAME TO u2")
    store = alone.runtime.metastore
    (late,) = store.open_txns(1, "a writer", "a host")
    store.allocate_write_id(late, TableName("default", "u"))
    with pytest.raises(StaleSnapshot, match=f"transaction {late} began to write"):
        alone.sql("ALTER TABLE u2 RENAME TO u")
    store.abort_txns([late], "it was late")
    alone.sql("ALTER TABLE u2 RENAME TO u; INSERT INTO u VALUES (2)")
    found = alone.sql("SELECT row__id.writeid, k FROM u ORDER BY k").rows
    assert [tuple(row) for row in found] == [(1, 1), (found[1][0], 2)]
    assert found[1][0] > 1
    assert alone.check("u") == ()
