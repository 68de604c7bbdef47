"""EXPORT and IMPORT: the files of an export, and what tables make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from acid_files import tree
from end_to_end.answers import rows
from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PLAIN = "TBLPROPERTIES ('transactional'='false')"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = (
    "STORED AS TEXTFILE "
    "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
)


def error(session: hivesql.Session, statement: str) -> tuple[int | None, str]:
    with pytest.raises(hivesql.HiveSqlError) as caught:
        session.sql(statement)
    return caught.value.code, str(caught.value)


def test_plain_tables(session: hivesql.Session, tmp_path: Path) -> None:
    out = tmp_path / "out"
    session.sql(f"""
        CREATE TABLE t (a INT COMMENT 'one', b STRING) COMMENT 'ä "t"'
            ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'
            STORED AS TEXTFILE TBLPROPERTIES ('transactional'='false', 'k'='v');
        INSERT INTO t VALUES (1, 'x'), (2, NULL);
        INSERT INTO t VALUES (3, 'z');
        EXPORT TABLE t TO '{out}';
    """)
    assert tree(out) == ["_metadata", "data/000000_0", "data/000000_0_copy_1"]
    described = json.loads((out / "_metadata").read_text())
    assert (described["version"], described["partitions"]) == ("0.2", [])
    assert json.loads(described["table"])["1"] == {"str": "t"}
    session.sql(f"CREATE DATABASE d; USE d; IMPORT FROM '{out}'")
    assert rows(session, "SELECT * FROM d.t ORDER BY a") == [(1, "x"), (2, None), (3, "z")]
    shown = "\n".join(row[0] for row in rows(session, "SHOW CREATE TABLE d.t"))
    assert "CREATE TABLE" in shown and "'k'='v'" in shown and "'field.delim'='|'" in shown
    assert 'ä "t"' in shown and "COMMENT 'one'" in shown
    # What is there already is neither added to nor taken away.
    assert error(session, f"IMPORT TABLE d.t FROM '{out}'")[0] == 10119
    code, text = error(session, f"EXPORT TABLE d.t TO '{out}'")
    assert code == 10027 and "Target is not an empty directory" in text
    session.sql(f"""
        CREATE TABLE e LIKE t;
        IMPORT TABLE e FROM '{out}';
        IMPORT EXTERNAL TABLE x FROM '{out}' LOCATION '{tmp_path}/x';
    """)
    assert rows(session, "SELECT * FROM e EXCEPT SELECT * FROM x") == []
    assert tree(tmp_path / "x") == ["000000_0", "000000_0_copy_1"]
    assert error(session, f"IMPORT EXTERNAL TABLE x FROM '{out}'")[0] == 10120


def test_exported_partitions_are_imported(session: hivesql.Session, tmp_path: Path) -> None:
    out = tmp_path / "out"
    session.sql(f"""
        CREATE EXTERNAL TABLE t (a INT) PARTITIONED BY (p STRING, q INT) STORED AS PARQUET;
        INSERT INTO t VALUES (1, 'a', 1), (2, 'b b', 2);
        ALTER TABLE t ADD PARTITION (p='e', q=3) LOCATION '{tmp_path}/elsewhere';
        EXPORT TABLE t TO '{out}';
        EXPORT TABLE t PARTITION (p='a') TO '{tmp_path}/some';
        IMPORT TABLE u PARTITION (p='a', q=1) FROM '{out}';
    """)
    assert tree(out) == ["_metadata", "p=a/q=1/000000_0", "p=b b/q=2/000000_0"]
    assert (out / "p=e" / "q=3").is_dir()
    assert tree(tmp_path / "some") == ["_metadata", "p=a/q=1/000000_0"]
    assert rows(session, "SELECT * FROM u") == [(1, "a", 1)]
    assert error(session, f"IMPORT TABLE u FROM '{out}'") == (
        10118, "<input>:1:1: [Error 10118] Partition already exists p=a,q=1",
    )  # fmt: skip
    session.sql(f"""
        IMPORT TABLE u PARTITION (p='b b', q=2) FROM '{out}' LOCATION '{tmp_path}/place';
        IMPORT TABLE w FROM '{out}';
    """)
    assert tree(tmp_path / "place") == ["p=b b/q=2/000000_0"]
    assert rows(session, "SELECT * FROM u ORDER BY a") == rows(session, "SELECT * FROM w")
    assert rows(session, "SHOW PARTITIONS w") == [("p=a/q=1",), ("p=b b/q=2",), ("p=e/q=3",)]
    for spec in ("p='a'", "p='n', q=1"):
        assert error(session, f"IMPORT TABLE w PARTITION ({spec}) FROM '{out}'")[0] == 10006


def test_full_acid_tables_give_rows(session: hivesql.Session, tmp_path: Path) -> None:
    out = tmp_path / "out"
    session.sql(f"""
        CREATE TABLE t (a INT, b STRING) PARTITIONED BY (p INT) CLUSTERED BY (a) INTO 2 BUCKETS
            {ACID};
        INSERT INTO t VALUES (1, 'x', 1), (2, 'y', 1), (3, 'z', 2);
        UPDATE t SET b = 'Y' WHERE a = 2;
        DELETE FROM t WHERE a = 1;
        EXPORT TABLE t TO '{out}';
        IMPORT TABLE u FROM '{out}';
    """)
    assert not [name for name in tree(out) if "delta" in name or "bucket" in name]
    expected = [(2, "Y", 1), (3, "z", 2)]
    assert rows(session, "SELECT * FROM u ORDER BY a") == expected
    ids = rows(session, "SELECT row__id.writeid, row__id.rowid FROM u")
    assert ids == [(1, 0), (1, 0)]
    session.sql("UPDATE u SET b = 'U' WHERE a = 3; DELETE FROM u WHERE a = 2")
    assert rows(session, "SELECT * FROM u") == [(3, "U", 2)]
    session.sql(
        f"CREATE TABLE w LIKE t; INSERT INTO w VALUES (7, 'w', 7); IMPORT TABLE w FROM '{out}'"
    )
    assert rows(session, "SELECT * FROM w ORDER BY a") == [*expected, (7, "w", 7)]
    session.sql(f"IMPORT EXTERNAL TABLE x FROM '{out}'")
    assert rows(session, "SELECT * FROM x ORDER BY a") == expected


def test_insert_only_tables(session: hivesql.Session, spark: SparkSession, tmp_path: Path) -> None:
    """Only what is committed and not replaced goes out: nothing that is open, or rolled back."""
    out = tmp_path / "out"
    session.sql(f"""
        CREATE TABLE t (a INT) PARTITIONED BY (p INT) {INSERT_ONLY};
        INSERT INTO t VALUES (1, 1), (2, 2);
        INSERT INTO t VALUES (3, 1);
        INSERT OVERWRITE TABLE t PARTITION (p=2) VALUES (9);
        START TRANSACTION;
        INSERT INTO t VALUES (100, 1);
        ROLLBACK;
        START TRANSACTION;
        INSERT INTO t VALUES (101, 1);
    """)
    with hivesql.connect(
        f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"), spark=spark
    ) as other:
        other.sql(f"EXPORT TABLE t TO '{out}'")
    session.sql(f"""
        COMMIT;
        IMPORT TABLE u FROM '{out}';
        CREATE TABLE w (a INT) PARTITIONED BY (p INT) STORED AS TEXTFILE {PLAIN};
        IMPORT TABLE w FROM '{out}';
    """)
    assert tree(out) == [
        "_metadata",
        "p=1/export_old_delta_0000001_0000001_0000/000000_0",
        "p=1/export_old_delta_0000002_0000002_0000/000000_0",
        "p=2/export_old_base_0000003/000000_0",
    ]
    for name in ("u", "w"):
        assert rows(session, f"SELECT * FROM {name} ORDER BY a") == [(1, 1), (3, 1), (9, 2)]
    assert session.runtime.metastore.table(TableName("default", "u")).is_insert_only


REFUSED = [
    # statement, code, what is said
    ("EXPORT TABLE v TO '{}/n'", 40000, "Views and Materialized Views can not be exported."),
    ("EXPORT TABLE t PARTITION (p=1) TO '{}/n'", 10006, "not partitioned"),
    ("EXPORT TABLE t TO '{}/n' FOR REPLICATION('1')", None, "FOR REPLICATION"),
    ("EXPORT TABLE t TO '{}/out/_metadata'", 10027, "Target is not a directory"),
    ("IMPORT TABLE n FROM '{}/none'", 10027, "there is no"),
    ("IMPORT TABLE n FROM '{}/broken'", 10027, "no metadata of an export"),
    ("IMPORT TABLE n FROM '{}/half'", 10027, "the export is not whole"),
    ("IMPORT TABLE none.n FROM '{}/out'", 10072, "Database does not exist: none"),
    ("IMPORT TABLE t PARTITION (p=1) FROM '{}/out'", 10006, "Partition not found"),
    ("IMPORT TABLE other FROM '{}/out'", 10120, "Column Schema does not match"),
    ("IMPORT TABLE bucketed FROM '{}/out'", 10120, "Table bucketing spec does not match"),
    ("IMPORT TABLE text FROM '{}/out'", 10120, "Table inputformat/outputformats do not match"),
    ("IMPORT TABLE v FROM '{}/out'", 10120, "Table inputformat/outputformats do not match"),
    ("IMPORT TABLE empty FROM '{}/out' LOCATION '{}/l'", 10120, "Location does not match"),
]


def test_what_is_refused(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql(f"""
        CREATE TABLE t (a INT, b STRING) STORED AS ORC {PLAIN};
        CREATE VIEW v AS SELECT * FROM t;
        CREATE TABLE other (a INT, c STRING) STORED AS ORC {PLAIN};
        CREATE TABLE bucketed (a INT, b STRING) CLUSTERED BY (a) INTO 2 BUCKETS STORED AS ORC
            {PLAIN};
        CREATE TABLE text (a INT, b STRING) STORED AS TEXTFILE {PLAIN};
        CREATE TABLE empty LIKE t;
        EXPORT TABLE t TO '{tmp_path}/out';
        EXPORT TABLE t TO '{tmp_path}/half';
    """)
    (tmp_path / "half" / "data").rmdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "_metadata").write_text("{")
    for statement, code, text in REFUSED:
        answer = error(session, statement.replace("{}", str(tmp_path)))
        assert answer[0] == code and text in answer[1], statement
    assert not (tmp_path / "n").exists() and not (tmp_path / "l").exists()
    assert ("n",) not in rows(session, "SHOW TABLES")


@pytest.mark.parametrize("kind", [PLAIN, ACID], ids=["plain", "acid"])
def test_an_export_without_partitions_makes_a_table_without_any(
    session: hivesql.Session, tmp_path: Path, kind: str
) -> None:
    session.sql(f"""
        CREATE TABLE t (a INT) PARTITIONED BY (p STRING) {kind};
        EXPORT TABLE t TO '{tmp_path}/out'; IMPORT TABLE u FROM '{tmp_path}/out';
        IMPORT TABLE t FROM '{tmp_path}/out'""")
    assert rows(session, "SHOW PARTITIONS u") == [] == rows(session, "SELECT a, p FROM u")
    session.sql("INSERT INTO u PARTITION (p = 'x') VALUES (1)")
    assert rows(session, "SELECT a, p FROM u") == [(1, "x")]
