"""Names of what is made, and paths: nothing leads out of the warehouse but a LOCATION."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

import hivesql
from end_to_end.answers import rows
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.schema import sds
from hivesql_planner.errors import HiveSqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[hivesql.Session]:
    """A session whose statements start no Spark."""
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        session.sql("CREATE TABLE plain (a int, b int) STORED AS TEXTFILE")
        yield session


# Each with a place for the name of what it makes.
MAKING = [
    "CREATE TABLE {} (a int)",
    "CREATE TABLE IF NOT EXISTS default.{} (a int)",
    f"CREATE TABLE {{}} (a int) {ACID}",
    "CREATE EXTERNAL TABLE {} (a int)",
    "CREATE TEMPORARY TABLE {} (a int)",
    "CREATE TABLE {} AS SELECT 1 AS a",
    "CREATE TABLE {} LIKE plain",
    "CREATE VIEW {} AS SELECT 1 AS a",
    "ALTER TABLE plain RENAME TO {}",
    "CREATE DATABASE {}",
]


def test_no_statement_makes_a_name_that_leads_elsewhere(
    alone: hivesql.Session, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    names = ("../secret", "../../evil", "..", ".", "a/../../b", "t.db", " ", "a\\b", "tä")
    for sql, name in product(MAKING, names):
        with pytest.raises(HiveSqlError, match=r"may not contain dot|is not a valid") as caught:
            alone.sql(sql.format(f"`{name}`"))
        assert caught.value.code == 40000
        assert caught.value.line == 1
    assert rows(alone, "SHOW TABLES") == [("plain",)]
    assert rows(alone, "SHOW DATABASES") == [("default",)]
    assert sorted(tmp_path.rglob("*")) == before


BAD = [
    ("CREATE TABLE n (row__id int)", 10328),
    (f"CREATE TABLE n (a int, ROW__ID int) {ACID}", 10328),
    ("CREATE TABLE n (a int) PARTITIONED BY (input__file__name string)", 10328),
    ("CREATE TABLE n AS SELECT 1 AS row__id", 10328),
    ("CREATE VIEW n (row__id) AS SELECT 1", 10328),
    ("ALTER TABLE plain ADD COLUMNS (row__is__deleted int)", 10328),
    ("ALTER TABLE plain REPLACE COLUMNS (a int, row__id int)", 10328),
    ("ALTER TABLE plain CHANGE a row__id int", 10328),
    (f"CREATE TABLE n (`a``b` int) {ACID}", None),
    ("CREATE TABLE n STORED AS ORC AS SELECT 1 AS `a``b`", None),
    ("CREATE TABLE n (`a.b` int)", None),
    ("CREATE TABLE n (a int) PARTITIONED BY (`a:b` int)", None),
    ("ALTER TABLE plain CHANGE a `..` int", None),
    ("CREATE TABLE n (`` int)", None),
    (f"CREATE TABLE n ({'c' * 768} int)", 40000),
    (f"CREATE TABLE n (a int) PARTITIONED BY ({'c' * 129} int)", 40000),
    (f"CREATE TABLE {'t' * 257} (a int)", 40000),
    (f"CREATE TABLE {'t' * 256} (a int)", None),
    (f"CREATE TABLE n (a int COMMENT '{'x' * 4001}')", 40000),
    (f"CREATE TABLE n (a int, CONSTRAINT {'c' * 256} UNIQUE (a) DISABLE NOVALIDATE)", 10326),
    (f"CREATE TABLE n (a int) TBLPROPERTIES ('{'k' * 257}'='')", 40000),
    ("CREATE TABLE n (a int) PARTITIONED BY (p int, p int)", 10036),
    ("CREATE TABLE n (a int) PARTITIONED BY (m map<int,int>)", 10126),
    ("CREATE TABLE n (a int) PARTITIONED BY (m struct<x:int>)", 10126),
]


def test_bad_columns_and_long_names_are_refused(alone: hivesql.Session) -> None:
    for sql, code in BAD:
        with pytest.raises(HiveSqlError) as caught:
            alone.sql(sql)
        assert (sql, caught.value.code) == (sql, code)
    assert rows(alone, "SHOW TABLES") == [("plain",)]
    assert [row[0] for row in alone.sql("DESCRIBE plain").rows] == ["a", "b"]


def test_special_characters_live_in_directories_as_hive_names_them(
    alone: hivesql.Session, tmp_path: Path
) -> None:
    name = "`x'; DROP TABLE TBLS; --`"
    alone.sql(f"""
        CREATE TABLE {name} (`a b` int, `c/d` int, `e'f` int, `g,h` int, `i"j` int) {ACID};
        INSERT INTO {name} VALUES (1, 2, 3, 4, 5), (11, 12, 13, 14, 15);
        UPDATE {name} SET `g,h` = 0 WHERE `e'f` = 3;
        DELETE FROM {name} WHERE `c/d` = 12;
        CREATE DATABASE `d b`;
        CREATE TABLE `d b`.`a/b` (a int) {ACID};
        INSERT INTO `d b`.`a/b` VALUES (1);
    """)
    assert rows(alone, f"SELECT * FROM {name}") == [(1, 2, 3, 0, 5)]
    assert rows(alone, "SELECT * FROM `d b`.`a/b`") == [(1,)]
    assert {one.name for one in (tmp_path / "wh").iterdir()} == {
        "plain", "x-39--59--32-drop-32-table-32-tbls-59--32--45--45-", "d b.db",
    }  # fmt: skip
    alone.sql(f"ALTER TABLE {name} RENAME TO `new/name`; DROP DATABASE `d b` CASCADE")
    assert {one.name for one in (tmp_path / "wh").iterdir()} == {"plain", "new-47-name"}
    alone.sql("DROP TABLE `new/name`; SET hive.support.special.characters.tablename=false")
    with pytest.raises(HiveSqlError, match="is not a valid table name"):
        alone.sql("CREATE TABLE `a-b` (a int)")
    assert {one.name for one in (tmp_path / "wh").iterdir()} == {"plain"}


def test_a_catalog_of_other_origin_deletes_nothing_outside(
    alone: hivesql.Session, tmp_path: Path
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "f").write_text("mine")
    told: list[str] = []
    for place in ("{wh}/../secret", "file:{wh}/../secret", "{wh}", "/", "{top}"):
        alone.sql(
            "CREATE TABLE p (a int) PARTITIONED BY (k int); ALTER TABLE p ADD PARTITION (k=1)"
        )
        location = place.format(wh=tmp_path / "wh", top=tmp_path)
        Rdbms(f"sqlite:///{tmp_path}/m.db").write(
            lambda db, location=location: db.execute(update(sds).values(location=location))
        )
        with hivesql.connect(
            f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh"), notify=told.append
        ) as session:
            session.sql("ALTER TABLE p DROP PARTITION (k=1); DROP TABLE p")
            assert rows(session, "SHOW TABLES") == [("plain",)]
    assert (tmp_path / "secret" / "f").read_text() == "mine"
    assert (tmp_path / "wh" / "plain").is_dir()
    assert len([line for line in told if "its files were left" in line]) == 10


def test_a_table_with_the_longest_name_comes_and_goes(
    alone: hivesql.Session, tmp_path: Path
) -> None:
    name = "t" * 255
    alone.sql(f"CREATE TABLE {name} (a int) {ACID}; INSERT INTO {name} VALUES (1)")
    assert rows(alone, f"SELECT * FROM {name}") == [(1,)]
    alone.sql(f"DROP TABLE {name}")
    assert [one.name for one in (tmp_path / "wh").iterdir()] == ["plain"]


@pytest.mark.spark
def test_a_warehouse_may_lie_anywhere(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = tmp_path / "a\"b\\c d%20e#f?g'éh{x}[y];z"
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", str(warehouse), spark=spark,
        settings={"hivesql.local.max.bytes": "0"},
    ) as session:  # fmt: skip
        session.sql(f"""
            CREATE TABLE t (a int, b string) PARTITIONED BY (p string) {ACID};
            INSERT INTO t PARTITION (p) VALUES (1, 'x', 'p 1'), (2, 'y', 'p%2"'), (3, 'z', '#?');
            INSERT INTO t PARTITION (p='p 1') VALUES (4, 'x');
            UPDATE t SET b = 'u' WHERE a = 1;
            DELETE FROM t WHERE a = 2;
            MERGE INTO t USING (SELECT 3 AS k) s ON t.a = s.k WHEN MATCHED THEN UPDATE SET b = 'm';
            ALTER TABLE t PARTITION (p='p 1') COMPACT 'major' AND WAIT;
            ALTER TABLE t PARTITION (p='#?') COMPACT 'minor' AND WAIT;
            CREATE TABLE x STORED AS TEXTFILE AS SELECT a, b FROM t;
            INSERT OVERWRITE TABLE x SELECT a, b FROM t WHERE a > 1;
        """)
        assert rows(session, "SELECT a, b FROM t ORDER BY a") == [(1, "u"), (3, "m"), (4, "x")]
        assert rows(session, "SELECT a FROM x ORDER BY a") == [(3,), (4,)]


@pytest.mark.spark
def test_back_quotes_in_names_of_tables_and_in_aliases(spark: SparkSession, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/m.db"
    with hivesql.connect(url, str(tmp_path / "wh"), spark=spark) as session:
        session.sql("CREATE TABLE `t``1` (a INT, b STRING) STORED AS TEXTFILE")
        session.sql("INSERT INTO `t``1` VALUES (1, 'x'), (2, 'y')")
        session.sql(f"CREATE TABLE `ac``t` (k INT, v STRING) {ACID}")
        session.sql("INSERT INTO `ac``t` VALUES (2, 'old'), (3, 'c')")
        session.sql("CREATE VIEW `v``w` AS SELECT max(a) AS `M``N` FROM `t``1`")
        joined = "SELECT `t``1`.b AS `X``Y` FROM `t``1` JOIN `v``w` ON `t``1`.a = `v``w`.`m``n`"
        assert rows(session, joined) == [("y",)]
        starred = "SELECT q.* FROM (SELECT 1 AS `A``B`, 2 AS c GROUP BY 1) q"
        assert rows(session, starred) == [(1, 2)]
        session.sql("UPDATE `ac``t` SET v = concat(v, '!') WHERE `ac``t`.k = 3")
        session.sql(
            "MERGE INTO `ac``t` USING `t``1` ON `ac``t`.k = `t``1`.a WHEN MATCHED THEN UPDATE "
            "SET v = b WHEN NOT MATCHED THEN INSERT VALUES (a, b)"
        )
        merged = rows(session, "SELECT * FROM `ac``t` ORDER BY k")
        assert merged == [(1, "x"), (2, "y"), (3, "c!")]
        session.sql("ANALYZE TABLE `t``1` COMPUTE STATISTICS FOR COLUMNS")
        assert ("CREATE TABLE `t``1`(",) in rows(session, "SHOW CREATE TABLE `t``1`")
        session.sql("CREATE TABLE c (`x+1``` STRING, `a``b` INT) PARTITIONED BY (`p``q` STRING)")
        session.sql("INSERT INTO c VALUES ('u', 1, 'm'), ('v', 2, 'n')")
        asked = "SELECT `x+1```, count(*) FROM c WHERE `a``b` > 1 AND `p``q` = 'n' GROUP BY `x+1```"
        assert rows(session, asked) == [("v", 1)]
        for format_ in ("PARQUET", "JSONFILE", "TEXTFILE"):
            session.sql(f"CREATE TABLE d STORED AS {format_} AS SELECT `x+1```, `a``b` FROM c")
            assert rows(session, "SELECT `a``b` FROM d WHERE `x+1``` = 'v'") == [(2,)]
            session.sql("ANALYZE TABLE d COMPUTE STATISTICS FOR COLUMNS; DROP TABLE d")
        with pytest.raises(HiveSqlError, match="'`' is found") as caught:
            session.sql("CREATE TABLE s (s ARRAY<STRUCT<`a``b`:INT>>)")
        assert caught.value.code == 40000


@pytest.mark.spark
def test_blanks_around_names_of_tables_do_not_count(spark: SparkSession, tmp_path: Path) -> None:
    """Hive's metastore stores them without; aliases and columns keep theirs."""
    url = f"sqlite:///{tmp_path}/m.db"
    with hivesql.connect(url, str(tmp_path / "wh"), spark=spark) as session:
        session.sql(f"CREATE TABLE ` lead` (a INT) {ACID}; INSERT INTO `lead ` VALUES (1)")
        session.sql("UPDATE ` lead` SET a = a + 1; DELETE FROM default.`lead ` WHERE a > 2")
        session.sql(
            "MERGE INTO `lead ` t USING (SELECT 2 AS b) s ON t.a = s.b "
            "WHEN MATCHED THEN UPDATE SET a = 3"
        )
        assert rows(session, "SELECT ` lead`.a, ` t`.a FROM ` lead` JOIN lead ` t`") == [(3, 3)]
        assert ("CREATE TABLE `lead`(",) in rows(session, "SHOW CREATE TABLE ` lead`")
        session.sql("ALTER TABLE ` lead` RENAME TO ` trail `")
        assert rows(session, "SHOW TABLES") == [("trail",)]
        session.sql("CREATE VIEW ` v ` AS SELECT ` trail`.a AS ` b` FROM ` trail`")
        assert rows(session, "SELECT ` b` FROM v") == [(3,)]
        session.sql("CREATE TABLE `like ` LIKE `trail `; CREATE TABLE ` c` AS SELECT * FROM `like`")
        session.sql("ALTER TABLE `c ` ADD COLUMNS (z INT); DROP TABLE ` like`; DROP VIEW `v `")
        assert rows(session, "DESCRIBE ` c`") == [("a", "int", ""), ("z", "int", "")]
        assert rows(session, "SHOW TABLES") == [("c",), ("trail",)]
        with pytest.raises(HiveSqlError, match="already exists"):
            session.sql("CREATE TABLE `c ` (a INT)")
        assert rows(session, "WITH ` c` AS (SELECT 7 AS a) SELECT * FROM ` c`") == [(7,)]


@pytest.mark.parametrize(
    ("properties", "names"),
    [
        ("'transational'='true', 'by'='me', 'EXTERNAl'='x'", ["transational"]),
        ("'orc.compres'='NONE', 'Created.By'='me'", ["orc.compres"]),
        ("'skip.header.lines.count'='1'", ["skip.header.lines.count"]),
        ("'orc.compress'='NONE', 'NO_AUTO_COMPACTION'='true'", []),
    ],
)
@pytest.mark.parametrize("begin", ["CREATE TABLE t (a INT)", "ALTER TABLE known SET"])
def test_a_property_that_is_nearly_one_with_a_meaning_is_pointed_at(
    begin: str, properties: str, names: list[str], tmp_path: Path
) -> None:
    notices: list[str] = []
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh"), notify=notices.append
    ) as session:
        session.sql("CREATE TABLE known (a INT) TBLPROPERTIES ('immutabel'='true')")
        notices.clear()
        session.sql(f"{begin} TBLPROPERTIES ({properties})")
        session.sql("ALTER TABLE known UNSET TBLPROPERTIES ('immutabel')")
    assert [notice.split("'")[1] for notice in notices] == names
    assert all("did you mean" in notice for notice in notices)
