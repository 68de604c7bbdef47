"""LOCATION in every statement that has one: as Hive 4.1 understands it, or an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql
from end_to_end.answers import rows
from hivesql_planner.errors import HiveSqlError

FORMS = ["{top}/data", "file:{top}/data", "file://{top}/data", "FILE:{top}/x/../data/", "data"]
# Each with a place for a location.
TAKING = [
    "CREATE TABLE n (a int) LOCATION '{}'",
    "CREATE EXTERNAL TABLE n (a int) LOCATION '{}'",
    "CREATE TEMPORARY TABLE n (a int) LOCATION '{}'",
    "CREATE TABLE n LIKE t LOCATION '{}'",
    "CREATE DATABASE n LOCATION '{}'",
    "CREATE DATABASE n MANAGEDLOCATION '{}'",
    "ALTER DATABASE d SET LOCATION '{}'",
    "ALTER DATABASE d SET MANAGEDLOCATION '{}'",
    "ALTER TABLE p ADD PARTITION (k=2) LOCATION '{}'",
    "ALTER TABLE t SET LOCATION '{}'",
    "ALTER TABLE p PARTITION (k=1) SET LOCATION '{}'",
    "LOAD DATA INPATH '{}' INTO TABLE t",
    "LOAD DATA LOCAL INPATH '{}' INTO TABLE t",
    "INSERT OVERWRITE DIRECTORY '{}' SELECT 1",
    "INSERT OVERWRITE LOCAL DIRECTORY '{}' SELECT 1",
]
# Spark tells the columns before the place is looked at.
WITH_ROWS = "CREATE TABLE n LOCATION '{}' AS SELECT 1 AS a"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[hivesql.Session]:
    monkeypatch.chdir(tmp_path)
    with hivesql.connect("sqlite:///m.db", f"file:{tmp_path}/wh") as session:
        session.sql("""
            CREATE TABLE t (a int) STORED AS TEXTFILE;
            CREATE TABLE p (a int) PARTITIONED BY (k int) STORED AS TEXTFILE;
            ALTER TABLE p ADD PARTITION (k=1);
            CREATE DATABASE d;
        """)
        yield session


def told(session: hivesql.Session, sql: str) -> str:
    """The location that DESCRIBE FORMATTED tells."""
    found = [row[1] for row in session.sql(sql).rows if row[0].startswith("Location:")]
    return str(found[0]).strip()


def test_every_form_of_a_place_is_the_same_place(session: hivesql.Session, tmp_path: Path) -> None:
    top, store = str(tmp_path), session.runtime.metastore
    for form in FORMS:
        place = form.format(top=top)
        session.sql(f"""
            CREATE EXTERNAL TABLE e (a int) LOCATION '{place}';
            CREATE DATABASE x LOCATION '{place}';
        """)
        assert told(session, "DESCRIBE FORMATTED e").removeprefix("file:") == f"{top}/data"
        assert store.database("x").location.removeprefix("file:") == f"{top}/data"
        session.sql("DROP TABLE e; DROP DATABASE x")
        if form == "data":
            continue
        session.sql(f"""
            ALTER TABLE t SET LOCATION '{place}';
            ALTER TABLE p PARTITION (k=1) SET LOCATION '{place}';
            ALTER DATABASE d SET LOCATION '{place}';
        """)
        assert told(session, "DESCRIBE FORMATTED t").removeprefix("file:") == f"{top}/data"
        found = told(session, "DESCRIBE FORMATTED p PARTITION (k=1)")
        assert found.removeprefix("file:") == f"{top}/data"
        assert store.database("d").location.removeprefix("file:") == f"{top}/data"


def test_a_relative_partition_is_below_its_table(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql("""
        ALTER TABLE p ADD PARTITION (k=2) LOCATION 'A' PARTITION (k=3) LOCATION '../B/c%20d e'
    """)
    home = f"file:{tmp_path}/wh"
    assert told(session, "DESCRIBE FORMATTED p PARTITION (k=2)") == f"{home}/p/A"
    assert told(session, "DESCRIBE FORMATTED p PARTITION (k=3)") == f"{home}/B/c%20d e"
    assert (tmp_path / "wh/B/c%20d e").is_dir()


def test_files_at_the_place_of_a_new_partition_become_a_write_of_its_table(
    session: hivesql.Session, tmp_path: Path
) -> None:
    """As real Hive 4.1: it moves them into the partition's usual directory."""
    place, mm = tmp_path / "there", "('transactional'='true', 'transactional_properties'='{}')"
    place.mkdir()
    for name, kind in (("i", "TEXTFILE"), ("f", "ORC")):
        properties = mm.format("insert_only" if name == "i" else "default")
        session.sql(
            f"CREATE TABLE {name} (a int) PARTITIONED BY (k int) STORED AS {kind} "
            f"TBLPROPERTIES {properties}"
        )
    session.sql("INSERT INTO f PARTITION (k=0) VALUES (1)")
    (tmp_path / "wh/f/k=0/delta_0000001_0000001_0000").rename(tmp_path / "elsewhere")
    (place / "x").write_text("1\n2\n")
    add = f"ALTER TABLE i ADD PARTITION (k=1) LOCATION '{place}'"
    with pytest.raises(HiveSqlError, match="ADD PARTITION is not allowed in transaction") as inside:
        session.sql(f"START TRANSACTION; {add}")
    assert inside.value.code == 20007
    both = f"{add} PARTITION (k=2) LOCATION '{place}'"
    with pytest.raises(HiveSqlError, match="Add each in a statement of its own"):
        session.sql(both)
    assert rows(session, "SHOW PARTITIONS i") == []
    session.sql(add)
    assert rows(session, "SELECT a, k FROM i ORDER BY a") == [(1, 1), (2, 1)]
    assert [*place.iterdir()] == []
    assert (tmp_path / "wh/i/k=1/delta_0000001_0000001_0000/x").is_file()
    (place / "y").write_text("3\n")
    with pytest.raises(HiveSqlError, match="Partition already exists"):
        session.sql(add)
    session.sql(add.replace("PARTITION (", "IF NOT EXISTS PARTITION ("))
    assert [path.name for path in place.iterdir()] == ["y"]
    session.sql("ALTER TABLE i ADD PARTITION (k=3) LOCATION 'own'")
    assert told(session, "DESCRIBE FORMATTED i PARTITION (k=3)") == f"file:{tmp_path}/wh/i/own"
    with pytest.raises(HiveSqlError, match="created by Acid write") as acid:
        session.sql(f"ALTER TABLE f ADD PARTITION (k=1) LOCATION '{tmp_path}/elsewhere'")
    assert acid.value.code == 10413
    write = f"{tmp_path}/wh/i/k=1/delta_0000001_0000001_0000"
    with pytest.raises(HiveSqlError, match=r"LOCATION from .*wh/i"):
        session.sql(f"ALTER TABLE i ADD PARTITION (k=4) LOCATION '{write}'")


def test_what_is_no_place_changes_nothing(session: hivesql.Session, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    for sql in TAKING:
        bad = ["", " ", "file:relative", "file://host/a"]
        if "LOAD" not in sql:
            bad += ["/", "file:///"]
        if "LOCAL" in sql:
            bad.append("hdfs://host/a")
        if "SET LOCATION" in sql and "DATABASE" not in sql:
            bad.append("relative")
        for place in bad:
            with pytest.raises(HiveSqlError) as caught:
                session.sql(sql.format(place))
            assert caught.value.line == 1, (sql, place)
            if place == "relative":
                assert caught.value.code == 10244
            if place.startswith("hdfs"):
                assert caught.value.code == 10028
    assert rows(session, "SHOW TABLES") == [("p",), ("t",)]
    assert rows(session, "SHOW DATABASES") == [("d",), ("default",)]
    assert rows(session, "SHOW PARTITIONS p") == [("k=1",)]
    assert sorted(tmp_path.rglob("*")) == before


def test_managed_tables_share_no_place_with_a_transactional_one(
    session: hivesql.Session, tmp_path: Path
) -> None:
    home = f"{tmp_path}/wh"
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    session.sql(f"""
        CREATE TABLE a (a int) PARTITIONED BY (k int) {acid};
        INSERT INTO a VALUES (1, 1);
        CREATE TABLE far (a int) PARTITIONED BY (k int) LOCATION '{tmp_path}/far' {acid};
        CREATE EXTERNAL TABLE e (a int) STORED AS ORC LOCATION '{home}/a/k=1/x_y';
    """)
    overlapping = [
        f"CREATE TABLE n (a int) LOCATION '{home}/a' {acid}",
        f"CREATE TABLE n (a int) LOCATION 'file:{home}/a/' {acid}",
        f"CREATE TABLE n (a int) LOCATION 'file:///{home}/a/k=1' {acid}",
        f"CREATE TABLE n (a int) LOCATION '{home}' {acid}",
        f"CREATE TABLE n (a int) STORED AS TEXTFILE LOCATION '{home}/a/x'",
        f"CREATE TABLE n LOCATION '{home}/a' {acid} AS SELECT a FROM a",
        f"CREATE TABLE n LIKE a LOCATION '{home}/a'",
        f"CREATE TABLE n (a int) LOCATION '{home}/t' {acid}",
        f"ALTER TABLE t SET LOCATION '{home}/a'",
        f"ALTER TABLE far SET LOCATION '{home}/a'",
        f"ALTER TABLE far ADD PARTITION (k=1) LOCATION '{home}/a/k=2'",
        f"ALTER TABLE p PARTITION (k=1) SET LOCATION '{home}/a/k=1'",
        "ALTER TABLE e SET TBLPROPERTIES ('EXTERNAL'='FALSE')",
    ]
    before = sorted(tmp_path.rglob("*"))
    for sql in overlapping:
        with pytest.raises(HiveSqlError, match=r"overlaps with|holds files"):
            session.sql(sql)
        assert sorted(tmp_path.rglob("*")) == before, sql
    assert rows(session, "SHOW TABLES") == [("a",), ("e",), ("far",), ("p",), ("t",)]
    # A name that begins alike, a table's own place, and tables without rows of their own.
    session.sql(f"""
        CREATE TABLE n (a int) LOCATION '{home}/a_' {acid};
        CREATE TABLE m (a int) STORED AS TEXTFILE LOCATION '{home}/t';
        CREATE VIEW v AS SELECT * FROM a;
        ALTER TABLE far SET LOCATION '{tmp_path}/far/below';
        ALTER TABLE a RENAME TO b;
        CREATE TABLE a (a int) {acid};
        INSERT INTO n VALUES (2);
    """)
    assert rows(session, "SELECT a FROM b UNION ALL SELECT a FROM n ORDER BY a") == [(1,), (2,)]


def test_nothing_else_touches_the_files_of_a_transactional_table(
    session: hivesql.Session, tmp_path: Path
) -> None:
    home = f"{tmp_path}/wh"
    (tmp_path / "link").symlink_to(home)
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    purged = "STORED AS TEXTFILE"
    purge = "TBLPROPERTIES ('external.table.purge'='true')"
    session.sql(f"""
        CREATE TABLE a (a int) {acid};
        CREATE TABLE k (a int) PARTITIONED BY (k int) {acid};
        ALTER TABLE k ADD PARTITION (k=2) LOCATION '{tmp_path}/far/k2';
        INSERT INTO a VALUES (1);
        INSERT INTO k VALUES (1, 1), (2, 2);
        CREATE TABLE m (a int) STORED AS TEXTFILE
        TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
        INSERT INTO m VALUES (1);
        CREATE EXTERNAL TABLE ea (a int) {purged} LOCATION '{tmp_path}/link/a' {purge};
        CREATE EXTERNAL TABLE ek (a int) PARTITIONED BY (j int) {purged}
        LOCATION '{tmp_path}/ek' {purge};
        ALTER TABLE ek ADD PARTITION (j=1) LOCATION '{tmp_path}/far/k2';
        CREATE DATABASE inside LOCATION '{home}/a/d';
        CREATE EXTERNAL TABLE inside.e (a int) PARTITIONED BY (j int) {purged};
        INSERT INTO ek PARTITION (j=3) VALUES (3);
        EXPORT TABLE t TO '{tmp_path}/exported';
    """)
    (delta,) = (tmp_path / "wh/m").glob("delta_*")
    destroying = {
        f"INSERT OVERWRITE DIRECTORY '{home}/a' SELECT 9": "default.a",
        f"INSERT OVERWRITE DIRECTORY '{home}' SELECT 9": "default.a",
        f"INSERT OVERWRITE LOCAL DIRECTORY 'file://{home}/x/../k/k=1/' SELECT 9": "default.k",
        f"INSERT OVERWRITE DIRECTORY '{tmp_path}/link/a/b' SELECT 9": "default.a",
        f"INSERT OVERWRITE DIRECTORY '{tmp_path}/far' SELECT 9": "default.k",
        f"LOAD DATA INPATH '{delta}' INTO TABLE t": "default.m",
        f"LOAD DATA INPATH '{tmp_path}/link/m/{delta.name}/*' INTO TABLE t": "default.m",
        f"EXPORT TABLE t TO '{home}/a/b'": "default.a",
        "INSERT INTO ea VALUES (1)": "default.a",
        "TRUNCATE TABLE ea": "default.a",
        "INSERT INTO ek PARTITION (j=1) VALUES (1)": "default.k",
        "TRUNCATE TABLE ek": "default.k",
        f"LOAD DATA LOCAL INPATH '{delta}' OVERWRITE INTO TABLE ea": "default.a",
        f"ALTER TABLE t SET LOCATION '{tmp_path}/far/k2/x'": "default.k",
        f"IMPORT EXTERNAL TABLE i FROM '{tmp_path}/exported' LOCATION '{home}/a/i'": "default.a",
        "INSERT INTO inside.e PARTITION (j=1) VALUES (1)": "default.a",
        "ALTER TABLE inside.e EXCHANGE PARTITION (j=3) WITH TABLE ek": "default.a",
    }
    before = sorted(tmp_path.rglob("*"))
    for sql, table in destroying.items():
        with pytest.raises(HiveSqlError, match=rf"(destroy rows|/k2) of {table}\b"):
            session.sql(sql)
        assert sorted(tmp_path.rglob("*")) == before, sql
    session.sql(f"""
        INSERT INTO ek PARTITION (j=2) VALUES (1);
        LOAD DATA LOCAL INPATH '{delta}' INTO TABLE t;
        ALTER TABLE ek DROP PARTITION (j=1), PARTITION (j=3);
        DROP TABLE ek; DROP TABLE ea;
    """)
    assert not (tmp_path / "ek/j=2").exists()
    assert rows(session, "SELECT a FROM a UNION ALL SELECT a FROM m") == [(1,), (1,)]
    assert rows(session, "SELECT a FROM k ORDER BY a") == [(1,), (2,)]


@pytest.mark.spark
def test_unknown_file_systems_are_refused(spark: object, tmp_path: Path) -> None:
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db",
        str(tmp_path / "wh"),
        spark=spark,  # type: ignore[arg-type]
    ) as session:
        session.sql("""
            CREATE TABLE t (a int) STORED AS TEXTFILE;
            CREATE TABLE p (a int) PARTITIONED BY (k int) STORED AS TEXTFILE;
            ALTER TABLE p ADD PARTITION (k=1);
            CREATE DATABASE d;
        """)
        before = sorted(tmp_path.rglob("*"))
        for place in ("", "/", "file:relative", "file://host/a"):
            with pytest.raises(HiveSqlError):
                session.sql(WITH_ROWS.format(place))
        for sql in (*TAKING, WITH_ROWS):
            with pytest.raises(HiveSqlError, match=r"No FileSystem for scheme|Path is not legal"):
                session.sql(sql.format("invalidscheme://a/b"))
        with pytest.raises(HiveSqlError, match=r"Set spark.jars.packages to .*hadoop-aws:\d"):
            session.sql(WITH_ROWS.format("s3a://a/b"))
        assert rows(session, "SHOW TABLES") == [("p",), ("t",)]
        assert rows(session, "SHOW DATABASES") == [("d",), ("default",)]
        assert rows(session, "SHOW PARTITIONS p") == [("k=1",)]
        assert sorted(tmp_path.rglob("*")) == before


def test_a_temporary_table_stays_where_it_is(session: hivesql.Session, tmp_path: Path) -> None:
    """As Hive: what is in another directory would go with the session."""
    session.sql("CREATE TEMPORARY TABLE own (a int)")
    with pytest.raises(HiveSqlError, match="Temp table location cannot be changed") as caught:
        session.sql(f"ALTER TABLE own SET LOCATION '{tmp_path}/data'")
    assert caught.value.code == 40013
