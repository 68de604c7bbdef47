"""LOAD DATA and MSCK: files that were there before the statement."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyorc
import pytest

import hivesql
from end_to_end.answers import rows
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.table import TableName
from tables import property_of

pytestmark = pytest.mark.spark

PLAIN = "TBLPROPERTIES ('transactional'='false')"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
TEXT = f"ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE {PLAIN}"
TEXT_ONLY = (
    "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE TBLPROPERTIES "
    "('transactional'='true', 'transactional_properties'='insert_only')"
)


def home(session: hivesql.Session, name: str) -> Path:
    return Path(session.runtime.metastore.table(TableName("default", name)).location)


def files(session: hivesql.Session, name: str) -> list[str]:
    root = home(session, name)
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if not path.name.startswith("."))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    home = tmp_path / "source"
    home.mkdir()
    (home / "x.txt").write_text("1,a\n2,b\n", encoding="utf-8")
    (home / "dir").mkdir()
    (home / "dir" / "y.txt").write_text("3,c\n", encoding="utf-8")
    return home


def test_text_files_are_copied_or_moved(session: hivesql.Session, source: Path) -> None:
    session.sql(f"""
        CREATE TABLE t (a int, b string) {TEXT};
        LOAD DATA LOCAL INPATH '{source}/x.txt' INTO TABLE t;
        LOAD DATA LOCAL INPATH '{source}/x.txt' INTO TABLE t;
    """)
    assert files(session, "t") == ["x.txt", "x_copy_1.txt"]
    assert (source / "x.txt").exists()
    session.sql(f"LOAD DATA INPATH '{source}/dir' OVERWRITE INTO TABLE t")
    assert (files(session, "t"), list((source / "dir").iterdir())) == (["y.txt"], [])
    assert rows(session, "SELECT * FROM t") == [(3, "c")]
    session.sql(f"""
        CREATE TABLE p (a int, b string) PARTITIONED BY (ds string) {TEXT};
        LOAD DATA LOCAL INPATH '{source}/x.txt' INTO TABLE p PARTITION (ds='1');
    """)
    assert rows(session, "SELECT * FROM p") == [(1, "a", "1"), (2, "b", "1")]


def test_files_are_read_where_their_rows_are_to_be_distributed(
    session: hivesql.Session, source: Path
) -> None:
    """As real Hive: LOAD DATA becomes an INSERT; the last columns of the files are partitions."""
    for name in ("k1.txt", "k2.txt", "other.txt"):
        (source / name).write_text("1,a,x\n2,b,y\n3,c\n", encoding="utf-8")
    commas = "INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' SERDE"
    session.sql(f"""
        CREATE TABLE lb (a int, b string) CLUSTERED BY (a) INTO 2 BUCKETS {TEXT};
        LOAD DATA LOCAL INPATH '{source}/k*.txt' INTO TABLE lb;
        CREATE TABLE lp (a int, b string) PARTITIONED BY (hr int, ds string) {TEXT};
        LOAD DATA LOCAL INPATH '{source}/k1.txt' INTO TABLE lp PARTITION (ds, hr='07');
        CREATE TABLE lc (a int, b string) CLUSTERED BY (a) INTO 2 BUCKETS {ACID};
        LOAD DATA LOCAL INPATH '{source}/k{{1,3}}.t?t' INTO TABLE lc {commas}
            'org.apache.hadoop.hive.serde2.OpenCSVSerde';
        CREATE TABLE lt (a int, b string) {TEXT};
        LOAD DATA LOCAL INPATH '{source}/k[2-9].txt' INTO TABLE lt;
    """)
    twice = [(1, "a"), (1, "a"), (2, "b"), (2, "b"), (3, "c"), (3, "c")]
    assert rows(session, "SELECT * FROM lb ORDER BY a") == twice
    assert len(files(session, "lb")) == 2
    assert rows(session, "SELECT * FROM lp ORDER BY a") == [
        (1, "a", 7, "x"), (2, "b", 7, "y"), (3, "c", 7, "__HIVE_DEFAULT_PARTITION__"),
    ]  # fmt: skip
    assert rows(session, "SELECT * FROM lc ORDER BY a") == [(1, "a"), (2, "b"), (3, "c")]
    assert files(session, "lt") == ["k2.txt"]
    for statement in (
        f"LOAD DATA LOCAL INPATH '{source}/z*.txt' INTO TABLE lt",
        f"LOAD DATA LOCAL INPATH '{source}/*/z.txt' INTO TABLE lt",
        f"LOAD DATA LOCAL INPATH '{source}/k1.txt' INTO TABLE lp PARTITION (hr, ds='1')",
        f"LOAD DATA LOCAL INPATH '{source}/nosuch' INTO TABLE lb",
    ):
        with pytest.raises(HiveSqlError):
            session.sql(statement)
    assert (source / "k1.txt").exists()


def test_tables_like_a_file_have_its_columns(session: hivesql.Session, source: Path) -> None:
    kinds = "i tinyint, s string, d decimal(5,2), t timestamp, n struct<x:int,y:array<double>>"
    texts = "v varchar(7), c char(3), w array<varchar(2)>"
    session.sql(f"""
        CREATE TABLE fo ({kinds}, m map<string,date>) STORED AS ORC {PLAIN};
        INSERT INTO fo SELECT 1, 'a', 2.5, null, null, null;
        CREATE TABLE ft ({texts}) STORED AS ORC {PLAIN};
        INSERT INTO ft SELECT 'longer than that', 'x', null;
        CREATE TABLE fp STORED AS PARQUET {PLAIN} AS SELECT * FROM fo;
    """)
    for name, kind in (("fo", "ORC"), ("fp", "Parquet")):
        (file,) = files(session, name)
        session.sql(f"""
            CREATE TABLE l{name} LIKE FILE {kind} '{home(session, name)}/{file}' STORED AS ORC;
            INSERT INTO l{name} SELECT * FROM fo;
        """)
        told = [tuple(row) for row in session.sql(f"DESCRIBE l{name}").rows]
        inferred = f"Inferred from {kind.capitalize()} file."
        assert told[:3] == [
            ("i", "tinyint", inferred), ("s", "string", inferred), ("d", "decimal(5,2)", inferred),
        ]  # fmt: skip
        assert [row[1] for row in told[3:]] == [
            "timestamp", "struct<x:int,y:array<double>>", "map<string,date>",
        ]  # fmt: skip
    (file,) = files(session, "ft")
    session.sql(f"CREATE TABLE lt LIKE FILE ORC '{home(session, 'ft')}/{file}'")
    told = [f"{row[0]} {row[1]}" for row in session.sql("DESCRIBE lt").rows]
    assert ", ".join(told) == texts
    assert rows(session, "SELECT * FROM ft") == [("longer ", "x  ", None)]
    for statement in (
        f"CREATE TABLE no LIKE FILE ORC '{source}/x.txt'",
        f"CREATE TABLE no LIKE FILE PARQUET '{source}/x.txt'",
        f"CREATE TABLE no LIKE FILE ORC '{source}/nosuch'",
        f"CREATE TABLE no LIKE FILE TEXTFILE '{source}/x.txt'",
    ):
        with pytest.raises(HiveSqlError):
            session.sql(statement)
    assert rows(session, "SHOW TABLES LIKE 'no'") == []


def test_acid_tables_get_a_directory_that_the_commit_shows(
    session: hivesql.Session, source: Path
) -> None:
    session.sql(f"""
        CREATE TABLE staged (id int, v string) STORED AS ORC {PLAIN};
        INSERT INTO staged VALUES (1, 'a'), (2, 'b'), (3, 'c');
        CREATE TABLE g (id int, v string) {ACID};
        INSERT INTO g VALUES (100, 'pre');
    """)
    staged = home(session, "staged")
    (one,) = [path for path in staged.iterdir() if path.suffix != ".crc"]
    (staged / "foo.orc").write_bytes(one.read_bytes())
    session.sql(f"""
        LOAD DATA LOCAL INPATH '{staged}' INTO TABLE g;
        UPDATE g SET v = 'B' WHERE id = 2;
        DELETE FROM g WHERE id = 3;
    """)
    assert {"delta_0000002_0000002_0000/000000_0", "delta_0000002_0000002_0000/000001_0"} <= set(
        files(session, "g")
    )
    assert rows(session, "SELECT id, v FROM g") == [
        (1, "a"), (1, "a"), (2, "B"), (2, "B"), (100, "pre"),
    ]  # fmt: skip
    session.sql(f"LOAD DATA INPATH '{one}' OVERWRITE INTO TABLE g")
    assert "base_0000005/000000_0" in files(session, "g")
    session.sql("DELETE FROM g WHERE id = 1")
    assert rows(session, "SELECT id, v FROM g") == [(2, "b"), (3, "c")]
    delta = home(session, "g") / "delta_0000001_0000001_0000"
    for path, code in ((delta, 10413), (source / "x.txt", 30019), (source / "nosuch", 10028),
                       (source, 10028)):  # fmt: skip
        before = files(session, "g")
        with pytest.raises(HiveSqlError) as caught:
            session.sql(f"LOAD DATA LOCAL INPATH '{path}' INTO TABLE g")
        assert (caught.value.code, files(session, "g")) == (code, before)


def test_a_load_is_one_write_of_a_transaction(session: hivesql.Session, source: Path) -> None:
    """Its files wait for the commit, get the statement's id, and go back when all is undone."""
    file = source / "rows.orc"
    with file.open("wb") as out, pyorc.Writer(out, "struct<id:int,v:string>") as writer:
        writer.write((7, "file"))
    session.sql(f"""
        CREATE TABLE k (id int, v string) {ACID};
        CREATE TABLE kp (id int, v string) PARTITIONED BY (d int) {ACID};
        CREATE TABLE only (id int, v string) {TEXT_ONLY};
        CREATE TABLE plain (id int, v string) {TEXT};
        START TRANSACTION;
        INSERT INTO k VALUES (1, 'a');
        LOAD DATA INPATH '{file}' INTO TABLE k;
    """)
    assert not file.exists()
    assert rows(session, "SELECT id FROM k") == [(1,), (7,)]
    session.sql("ROLLBACK")
    assert file.exists()
    assert rows(session, "SELECT id FROM k") == []
    session.sql(f"""
        START TRANSACTION;
        INSERT INTO k VALUES (1, 'a');
        LOAD DATA LOCAL INPATH '{file}' INTO TABLE k;
        LOAD DATA LOCAL INPATH '{file}' INTO TABLE kp PARTITION (d = 3);
        LOAD DATA LOCAL INPATH '{source}/x.txt' INTO TABLE only;
        UPDATE k SET v = 'changed' WHERE id = 7;
        LOAD DATA INPATH '{file}' INTO TABLE k;
        COMMIT;
    """)
    written = {
        path.rpartition("/")[0] for name in ("k", "kp", "only") for path in files(session, name)
    }
    of_k = {f"delta_0000002_0000002_000{statement}" for statement in (0, 1, 5, 6)}
    assert written - {"delta_0000001_0000001_0000"} == {  # what was rolled back waits for a cleaner
        *of_k, "delete_delta_0000002_0000002_0004",
        "d=3/delta_0000001_0000001_0002", "delta_0000001_0000001_0003",
    }  # fmt: skip
    assert rows(session, "SELECT row__id.bucketid, id, v FROM k") == [
        (property_of(0), 1, "a"),
        (property_of(0, 5), 7, "changed"),
        (property_of(0, 6), 7, "file"),
    ]
    assert rows(session, "SELECT * FROM kp") == [(7, "file", 3)]
    assert rows(session, "SELECT * FROM only") == [(1, "a"), (2, "b")]
    for statement in (
        f"LOAD DATA LOCAL INPATH '{source}/x.txt' OVERWRITE INTO TABLE only",
        f"LOAD DATA LOCAL INPATH '{source}/x.txt' INTO TABLE plain",
    ):
        with pytest.raises(HiveSqlError) as caught:
            session.sql(f"START TRANSACTION; {statement}")
        assert caught.value.code == 20007


def test_a_sequence_file_is_no_rcfile(session: hivesql.Session, tmp_path: Path) -> None:
    keys = b"org.apache.hadoop.hive.ql.exec.ByteWritable"
    (tmp_path / "kv1.seq").write_bytes(b"SEQ\x06" + bytes([len(keys)]) + keys + bytes(40))
    session.sql("CREATE TABLE rc (a int, b string) STORED AS RCFILE")
    with pytest.raises(HiveSqlError, match="is no rcfile file") as caught:
        session.sql(f"LOAD DATA LOCAL INPATH '{tmp_path}/kv1.seq' INTO TABLE rc")
    assert (caught.value.code, files(session, "rc")) == (30019, [])


def test_partitions_follow_their_directories(session: hivesql.Session, source: Path) -> None:
    session.sql(f"CREATE TABLE m (a int, b string) PARTITIONED BY (ds string, hr int) {TEXT}")
    root = home(session, "m")
    for place in ("ds=1/hr=1", "ds=a%2Fb/hr=2"):
        (root / place).mkdir(parents=True)
        (root / place / "x.txt").write_text("7,z\n", encoding="utf-8")
    session.sql("ALTER TABLE m ADD PARTITION (ds='gone', hr=9)")
    (root / "ds=gone" / "hr=9").rmdir()
    assert len(session.sql("MSCK TABLE m").rows) == 3
    assert rows(session, "SELECT * FROM m") == []
    session.sql("MSCK REPAIR TABLE m")
    assert rows(session, "SHOW PARTITIONS m") == [
        ("ds=1/hr=1",),
        ("ds=a%2Fb/hr=2",),
        ("ds=gone/hr=9",),
    ]
    session.sql("MSCK REPAIR TABLE m SYNC PARTITIONS")
    assert rows(session, "SELECT * FROM m") == [(7, "z", "1", 1), (7, "z", "a/b", 2)]
    assert session.sql("MSCK REPAIR TABLE m DROP PARTITIONS").rows == []
    (root / "hr=1").mkdir()
    with pytest.raises(HiveSqlError, match="Unexpected partition key hr"):
        session.sql("MSCK REPAIR TABLE m")

    session.sql(f"""
        CREATE TABLE one (a int) PARTITIONED BY (ds string) {ACID};
        INSERT INTO one PARTITION (ds) VALUES (1, 'x'), (2, 'y');
        DELETE FROM one WHERE a = 2;
        INSERT INTO one PARTITION (ds) VALUES (3, 'y');
        CREATE TABLE two (a int) PARTITIONED BY (ds string) {ACID};
    """)
    for place in home(session, "one").iterdir():
        place.rename(home(session, "two") / place.name)
    session.sql("MSCK REPAIR TABLE two; INSERT INTO two PARTITION (ds='x') VALUES (4)")
    assert rows(session, "SELECT * FROM two") == [(1, "x"), (3, "y"), (4, "x")]
    assert (home(session, "two") / "ds=x" / "delta_0000004_0000004_0000").is_dir()


def test_a_partition_elsewhere_stays_while_its_first_directory_is_there(
    session: hivesql.Session, tmp_path: Path
) -> None:
    """As in Hive 4.1; dropped, its old rows would be there again after the next INSERT."""
    for stored in (ACID, TEXT):
        session.sql(f"""
            CREATE TABLE m (a int) PARTITIONED BY (p int) {stored};
            INSERT INTO m PARTITION (p=7) VALUES (1);
            ALTER TABLE m PARTITION (p=7) SET LOCATION '{tmp_path}/elsewhere';
            MSCK REPAIR TABLE m SYNC PARTITIONS;
        """)
        assert rows(session, "SHOW PARTITIONS m") == [("p=7",)]
        session.sql("INSERT INTO m PARTITION (p=7) VALUES (2)")
        assert rows(session, "SELECT a FROM m") == [(2,)]
        shutil.rmtree(tmp_path / "elsewhere")
        shutil.rmtree(home(session, "m") / "p=7")
        session.sql("MSCK REPAIR TABLE m SYNC PARTITIONS")
        assert rows(session, "SHOW PARTITIONS m") == []
        session.sql("DROP TABLE m")
