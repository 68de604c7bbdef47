"""Partitions whose values are written in other forms are the same, and what new ones take over."""

from __future__ import annotations

from datetime import date
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from end_to_end.answers import rows
from hivesql_planner.errors import NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.table import DEFAULT_PARTITION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
KEY = "hive.metastore.partition.inherit.table.properties"
PROPERTIES = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'a'='1', 'b'='2', 'c'='3')"


def partitions(session: hivesql.Session, table: str) -> list[str]:
    return [row[0] for row in session.sql(f"SHOW PARTITIONS {table}").rows]


def test_inserted_shown_and_dropped(alone: hivesql.Session, tmp_path: Path) -> None:
    alone.sql(f"""
        CREATE TABLE b (a int) PARTITIONED BY (k boolean) {ACID};
        INSERT INTO b PARTITION (k='no') VALUES (1);
        INSERT INTO b PARTITION (k='1') VALUES (2);
        INSERT INTO b PARTITION (k='on') VALUES (3);
        INSERT INTO b PARTITION (k=false) VALUES (4);
        ALTER TABLE b ADD IF NOT EXISTS PARTITION (k='off');
    """)
    assert partitions(alone, "b") == ["k=false", "k=true"]
    assert {one.name for one in (tmp_path / "wh/b").iterdir()} == {"k=false", "k=true"}
    with pytest.raises(SemanticError) as caught:
        alone.sql("ALTER TABLE b ADD PARTITION (k='yes')")
    assert "exist" in str(caught.value)
    assert len(alone.sql("DESCRIBE b PARTITION (k='0')").rows) > 0
    assert len(alone.sql("SHOW PARTITIONS b PARTITION (k='On')").rows) == 1
    alone.sql("TRUNCATE TABLE b PARTITION (k='0')")
    alone.sql("ALTER TABLE b DROP PARTITION (k='F')")
    assert partitions(alone, "b") == ["k=false"]
    alone.sql("ALTER TABLE b DROP PARTITION (k != 'true')")
    assert partitions(alone, "b") == []


def test_truncate_of_a_part_of_the_columns_that_nothing_matches(alone: hivesql.Session) -> None:
    for properties in ("", ACID):
        alone.sql(f"""
            CREATE TABLE two (a int) PARTITIONED BY (p int, q int) {properties};
            INSERT INTO two PARTITION (p=1, q=1) VALUES (7);
            TRUNCATE TABLE two PARTITION (p=2);
        """)
        assert rows(alone, "SELECT a FROM two") == [(7,)]
        for named in ("p=2, q=1", "p=1, q=2"):
            with pytest.raises(NoSuchObject) as caught:
                alone.sql(f"TRUNCATE TABLE two PARTITION ({named})")
            assert caught.value.code == 10006
        alone.sql("TRUNCATE TABLE two PARTITION (p=1)")
        assert rows(alone, "SELECT a FROM two") == []
        alone.sql("DROP TABLE two")


def test_other_types(alone: hivesql.Session) -> None:
    for type_, given, kept, dropped in [
        ("int", "'007'", "7", "'0007'"),
        ("tinyint", "300", "44", "44"),
        ("double", "'3.10'", "3.1", "3.1"),
        ("double", "'NaN'", "NaN", "'NaN'"),
        ("float", "0.1", "0.1", "0.1"),
        ("float", "'0.30'", "0.3", "'0.3'"),
        ("float", "16777217", "1.6777216E7", "16777216"),
        ("char(4)", "'xy'", "xy  ", "'xy '"),
        ("char(4)", "''", "    ", "''"),
        ("char(2)", "'abcd'", "ab", "'ab'"),
        ("boolean", "''", "false", "'no'"),
        ("decimal(5,2)", "'4.000'", "4", "4.0"),
        ("date", "'2020-1-5'", "2020-01-05", "'2020-1-5'"),
        ("timestamp", "'2020-01-06 1:2:3'", "2020-01-06 01%3A02%3A03", "'2020-01-06 01:02:03'"),
        ("timestamp", "timestamp '2020-01-06 01:02:03'", "2020-01-06 01%3A02%3A03",
         "timestamp '2020-01-06 1:2:3.0'"),
        ("varchar(2)", "'yyyy'", "yy", "'yy'"),
        ("string", "1.50", "1.5", "'1.5'"),
        ("string", "02", "2", "2"),
    ]:  # fmt: skip
        alone.sql(f"""
            CREATE TABLE t (a int) PARTITIONED BY (k {type_});
            ALTER TABLE t ADD PARTITION (k={given})
        """)
        assert partitions(alone, "t") == [f"k={kept}"]
        alone.sql(f"DESCRIBE t PARTITION (k={given}); ALTER TABLE t DROP PARTITION (k={dropped})")
        assert (type_, partitions(alone, "t")) == (type_, [])
        alone.sql("DROP TABLE t")


def test_values_that_are_none(alone: hivesql.Session) -> None:
    alone.sql(
        "CREATE TABLE s (a int) PARTITIONED BY (k string); ALTER TABLE s ADD PARTITION (k='a')"
    )
    for type_, text, code in [
        ("date", "'x'", 10248), ("date", "''", 10248), ("int", "''", 10248), ("float", "''", 10248),
        ("decimal(5,2)", "''", 10248), ("timestamp", "''", 10248), ("string", "''", 10006),
        ("varchar(5)", "''", 10006), ("string", "null", 10248), ("char(4)", "null", 10248),
        ("boolean", "null", 10248), ("int", "null", 10248),
    ]:  # fmt: skip
        alone.sql(f"CREATE TABLE t (a int) PARTITIONED BY (k {type_}) {ACID}")
        for sql in (
            f"ALTER TABLE t ADD PARTITION (k={text})",
            f"INSERT INTO t PARTITION (k={text}) VALUES (1)",
            f"INSERT OVERWRITE TABLE t PARTITION (k={text}) VALUES (1)",
        ):
            with pytest.raises(SemanticError) as caught:
                alone.sql(sql)
            assert (type_, sql, caught.value.code) == (type_, sql, code)
        alone.sql("DROP TABLE t")
    for value, code in [("''", 10006), ("null", 10248)]:
        with pytest.raises(SemanticError) as caught:
            alone.sql(f"ALTER TABLE s PARTITION (k='a') RENAME TO PARTITION (k={value})")
        assert caught.value.code == code
    for value, what in product(("''", "null"), (
        "TRUNCATE TABLE s PARTITION (k={})", "DESCRIBE s PARTITION (k={})",
        "ANALYZE TABLE s PARTITION (k={}) COMPUTE STATISTICS",
        "ALTER TABLE s TOUCH PARTITION (k={})",
    )):  # fmt: skip
        with pytest.raises(NoSuchObject) as missing:
            alone.sql(what.format(value))
        assert missing.value.code == 10006
    for value in ("''", "null"):
        with pytest.raises(SemanticError, match="compared with nothing"):
            alone.sql(f"ALTER TABLE s DROP PARTITION (k={value})")
    assert partitions(alone, "s") == ["k=a"]


def test_partitions_of_char_have_their_blanks(alone: hivesql.Session, tmp_path: Path) -> None:
    alone.sql(f"""
        CREATE TABLE c (a int) PARTITIONED BY (k char(4)) {ACID};
        INSERT INTO c PARTITION (k='xy') VALUES (1);
        INSERT INTO c PARTITION (k='xy  ') VALUES (2);
        INSERT INTO c PARTITION (k) VALUES (3, 'xy'), (4, ''), (5, null);
        INSERT INTO c PARTITION (k='') VALUES (6);
    """)
    names = ["k=    ", f"k={DEFAULT_PARTITION}", "k=xy  "]
    assert partitions(alone, "c") == names
    assert sorted(one.name for one in (tmp_path / "wh/c").iterdir()) == names
    assert rows(alone, "SELECT a FROM c WHERE k = 'xy' ORDER BY a") == [(1,), (2,), (3,)]
    assert rows(alone, "SELECT a FROM c WHERE k = '' ORDER BY a") == [(4,), (6,)]
    alone.sql("UPDATE c SET a = a + 10 WHERE k = 'xy'; DELETE FROM c WHERE k = ''")
    assert rows(alone, "SELECT a FROM c ORDER BY a") == [(5,), (11,), (12,), (13,)]
    with pytest.raises(SemanticError, match="exist"):
        alone.sql("ALTER TABLE c ADD PARTITION (k='xy ')")
    alone.sql("TRUNCATE TABLE c PARTITION (k='xy'); ALTER TABLE c DROP PARTITION (k='xy')")
    assert rows(alone, "SELECT a FROM c") == [(5,)]


@pytest.mark.spark
def test_what_other_programs_left(spark: SparkSession, tmp_path: Path) -> None:
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh"), spark=spark
    ) as session:
        session.sql("CREATE TABLE m (a int) PARTITIONED BY (p int, b boolean) STORED AS TEXTFILE")
        for place, number in [("p=01/b=on", 1), ("p=2/b=NO", 2), ("p=3/b=true", 3)]:
            (tmp_path / "wh/m" / place).mkdir(parents=True)
            (tmp_path / "wh/m" / place / "f").write_text(f"{number}\n")
        session.sql("MSCK REPAIR TABLE m")
        assert partitions(session, "m") == ["p=1/b=on", "p=2/b=NO", "p=3/b=true"]
        assert rows(session, "SELECT * FROM m ORDER BY a") == [
            (1, 1, True), (2, 2, False), (3, 3, True),
        ]  # fmt: skip
        assert rows(session, "SELECT a FROM m WHERE b AND p < 3") == [(1,)]
        # Values that only Spark knows, in files of its own and of ours.
        for stored in ("TEXTFILE", "ORC TBLPROPERTIES ('transactional'='true')"):
            session.sql(
                f"CREATE TABLE l (a INT) PARTITIONED BY (k STRING) STORED AS {stored};"
                "INSERT INTO l PARTITION (k) SELECT a, repeat('v', 240 + a) FROM m WHERE a = 1"
            )
            for much in ("'v', 300", "'é', 127", "':', 85"):
                with pytest.raises(SemanticError, match="directory"):
                    session.sql(f"INSERT INTO l PARTITION (k) SELECT a, repeat({much}) FROM m")
            assert rows(session, "SELECT a, length(k) FROM l") == [(1, 241)]
            assert len(partitions(session, "l")) == 1
            session.sql("DROP TABLE l")
        assert rows(session, "SELECT a FROM m WHERE b = false") == [(2,)]


def taken(alone: hivesql.Session, partition: str) -> dict[str, str]:
    """The parameters of a partition of t that a user may have chosen."""
    rows = alone.sql(f"DESCRIBE FORMATTED t PARTITION ({partition})").rows
    return {row[1]: row[2] for row in rows if not row[0] and row[1] in ("a", "b", "c")}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("", {}),
        ("a,b", {"a": "1", "b": "2"}),
        ("x,c", {"c": "3"}),
        ("x,*", {"a": "1", "b": "2", "c": "3"}),
        ('""', {}),
    ],
)
def test_partitions_take_over_properties_however_they_come(
    alone: hivesql.Session, tmp_path: Path, setting: str, expected: dict[str, str]
) -> None:
    alone.sql(f"CREATE TABLE t (i int) PARTITIONED BY (k string) {PROPERTIES}; SET {KEY}={setting}")
    alone.sql("ALTER TABLE t ADD PARTITION (k='added')")
    alone.sql("INSERT INTO t PARTITION (k='written') VALUES (1)")
    alone.sql("INSERT INTO t PARTITION (k) VALUES (1, 'dynamic')")
    (tmp_path / "wh" / "t" / "k=found").mkdir()
    alone.sql("MSCK REPAIR TABLE t")
    for name in ("added", "written", "dynamic", "found"):
        assert taken(alone, f"k='{name}'") == expected, name
    # What is there already stays as it is, also under a new name.
    alone.sql(f"SET {KEY}=*; INSERT INTO t PARTITION (k='added') VALUES (2)")
    assert taken(alone, "k='added'") == expected
    alone.sql("ALTER TABLE t PARTITION (k='added') RENAME TO PARTITION (k='renamed')")
    assert taken(alone, "k='renamed'") == expected


def test_msck_of_some_partitions(alone: hivesql.Session, tmp_path: Path) -> None:
    """Real Hive 4.1 adds these, given a metastore that can evaluate expressions."""
    alone.sql("CREATE TABLE t (x int) PARTITIONED BY (ds int, hr string)")
    for ds in (1, 2, 3, 11):
        (tmp_path / f"wh/t/ds={ds}/hr=1").mkdir(parents=True)
    assert alone.sql("MSCK TABLE t ADD PARTITIONS (ds = '1')").rows == [
        ("Partitions not in metastore:\tt:ds=1/hr=1",)
    ]
    alone.sql("MSCK REPAIR TABLE t ADD PARTITIONS (ds = '1')")
    assert partitions(alone, "t") == ["ds=1/hr=1"]
    alone.sql("MSCK REPAIR TABLE t ADD PARTITIONS (ds > 2, hr = '1')")
    assert partitions(alone, "t") == ["ds=1/hr=1", "ds=11/hr=1", "ds=3/hr=1"]
    for ds in (1, 3):
        (tmp_path / f"wh/t/ds={ds}/hr=1").rmdir()
    alone.sql("MSCK REPAIR TABLE t SYNC PARTITIONS (ds <> 1)")
    assert partitions(alone, "t") == ["ds=1/hr=1", "ds=11/hr=1", "ds=2/hr=1"]
    with pytest.raises(NotSupported, match="LIKE"):
        alone.sql("MSCK REPAIR TABLE t SYNC PARTITIONS (hr LIKE '1%')")


def test_names_of_partitions_as_they_are(alone: hivesql.Session) -> None:
    alone.sql("CREATE TABLE t (i int) PARTITIONED BY (ts string, n int)")
    alone.sql("ALTER TABLE t ADD PARTITION (ts='14:18', n=1) PARTITION (ts='a/b%', n=2)")
    for setting, names in (
        ("false", ["ts=14%3A18/n=1", "ts=a%2Fb%25/n=2"]),
        ("true", ["ts=14:18/n=1", "ts=a/b%/n=2"]),
    ):
        alone.sql(f"SET hive.decode.partition.name={setting}")
        assert [row[0] for row in alone.sql("SHOW PARTITIONS t").rows] == names
        told = alone.sql("SHOW PARTITIONS t WHERE n > 0 ORDER BY n").rows
        assert [row[0] for row in told] == names


def test_a_column_gets_a_type_that_its_values_convert_to(alone: hivesql.Session) -> None:
    alone.sql(f"""
        CREATE TABLE c (a int) PARTITIONED BY (d string, h string) {ACID};
        INSERT INTO c PARTITION (d='2020-01-01', h='1') VALUES (1);
        INSERT INTO c PARTITION (d, h) SELECT 2, CAST(NULL AS string), '2';
        INSERT INTO c PARTITION (d='2020-01-02', h='x') VALUES (3);
        ALTER TABLE c PARTITION COLUMN (d date);
    """)
    for type_ in ("int", "double", "decimal(5,2)", "date", "timestamp"):
        with pytest.raises(SemanticError, match=r"<input>:1:15: .*d=2020-01-0\d/h=") as caught:
            alone.sql(f"ALTER TABLE c PARTITION COLUMN (h {type_})")
        assert caught.value.code == 40000
    for nested in ("struct<x:int>", "array<int>", "map<string,int>", "uniontype<int,string>"):
        with pytest.raises(SemanticError, match="no primitive type"):
            alone.sql(f"""
                SET hive.typecheck.on.insert=false;
                ALTER TABLE c PARTITION COLUMN (h {nested});
            """)
        alone.sql("SET hive.typecheck.on.insert=true")
    alone.sql("ALTER TABLE c DROP PARTITION (h='x'); ALTER TABLE c PARTITION COLUMN (h int)")
    assert [(row[1], row[2]) for row in rows(alone, "SELECT * FROM c WHERE h < 2")] == [
        (date(2020, 1, 1), 1)
    ]


def test_concatenate_of_all_partitions_compacts_those_that_need_it(alone: hivesql.Session) -> None:
    alone.sql("""
        CREATE TABLE c (a int) PARTITIONED BY (p int)
        STORED AS ORC TBLPROPERTIES ('transactional'='true',
            'compactorthreshold.hive.compactor.delta.num.threshold'='1');
        INSERT INTO c PARTITION (p=1) VALUES (1);
        INSERT INTO c PARTITION (p=1) VALUES (2);
        INSERT INTO c PARTITION (p=2) VALUES (3);
        ALTER TABLE c CONCATENATE;
    """)
    compactions = alone.sql("SHOW COMPACTIONS").rows
    assert {(row[3], row[4]) for row in compactions} == {("p=1", "MAJOR")}
    assert sorted(rows(alone, "SELECT a FROM c")) == [(1,), (2,), (3,)]
