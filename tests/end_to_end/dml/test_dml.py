"""Statements in, rows and files out."""

from __future__ import annotations

import time
from datetime import datetime as dt
from pathlib import Path
from typing import Any

import pyorc
import pytest

import hivesql
from end_to_end.answers import rows
from hivesql_executor.jvm import spark_line

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def directories(session: hivesql.Session, table: str) -> list[str]:
    home = Path(session.runtime.metastore.table(_name(table)).location)
    return sorted(str(p.relative_to(home)) for p in home.rglob("*") if p.is_dir())


def _name(table: str) -> Any:
    from hivesql_planner.model.table import TableName

    return TableName("default", table)


def table(session: hivesql.Session, values: str = "(1,'a'),(2,'b'),(3,'c'),(4,'d')") -> None:
    session.sql(f"CREATE TABLE t (id int, v string) {ACID}; INSERT INTO t VALUES {values}")


def test_insert_and_select(session: hivesql.Session) -> None:
    table(session)
    assert session.sql("INSERT INTO t (v) VALUES ('e')").affected == 1
    assert rows(session, "SELECT id, v FROM t WHERE id IS NOT NULL") == [
        (1, "a"), (2, "b"), (3, "c"), (4, "d"),
    ]  # fmt: skip
    assert session.sql("SELECT count(*) FROM t").rows[0][0] == 5
    assert directories(session, "t") == ["delta_0000001_0000001_0000", "delta_0000002_0000002_0000"]


def test_update_is_a_split_update(session: hivesql.Session) -> None:
    table(session)
    assert session.sql("UPDATE t SET v = upper(v) WHERE id IN (2, 4)").affected == 2
    assert rows(session, "SELECT * FROM t") == [(1, "a"), (2, "B"), (3, "c"), (4, "D")]
    assert directories(session, "t") == [
        "delete_delta_0000002_0000002_0000",
        "delta_0000001_0000001_0000",
        "delta_0000002_0000002_0001",
    ]


def test_delete_writes_only_delete_events(session: hivesql.Session) -> None:
    table(session)
    assert session.sql("DELETE FROM t WHERE id > 2").affected == 2
    assert rows(session, "SELECT * FROM t") == [(1, "a"), (2, "b")]
    assert directories(session, "t") == [
        "delete_delta_0000002_0000002_0000",
        "delta_0000001_0000001_0000",
    ]
    assert session.sql("DELETE FROM t").affected == 2
    assert rows(session, "SELECT * FROM t") == []


def test_change_that_matches_nothing_writes_nothing(session: hivesql.Session) -> None:
    table(session)
    assert session.sql("UPDATE t SET v = 'x' WHERE id = 77").affected == 0
    assert session.sql("DELETE FROM t WHERE id = 77").affected == 0
    assert directories(session, "t") == ["delta_0000001_0000001_0000"]


def test_row_ids(session: hivesql.Session) -> None:
    table(session)
    session.sql("UPDATE t SET v = 'B' WHERE id = 2")
    found = {
        row["id"]: tuple(row["row__id"]) for row in session.sql("SELECT ROW__ID, * FROM t").rows
    }
    assert found[1] == (1, 536870912, 0)
    assert found[2] == (2, 536870913, 0)
    assert session.sql("SELECT * FROM t WHERE row__id.writeid = 2").columns == ("id", "v")


def test_merge_with_all_clauses(session: hivesql.Session) -> None:
    table(session)
    session.sql(f"""
        CREATE TABLE s (id int, v string) {ACID};
        INSERT INTO s VALUES (1,'one'),(2,'del'),(9,'nine');
    """)
    merged = session.sql("""
        MERGE INTO t USING s ON t.id = s.id
        WHEN MATCHED AND s.v <> 'del' THEN UPDATE SET v = s.v
        WHEN MATCHED THEN DELETE
        WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)""")
    assert merged.affected == 3
    assert rows(session, "SELECT * FROM t") == [(1, "one"), (3, "c"), (4, "d"), (9, "nine")]
    assert directories(session, "t") == [
        "delete_delta_0000002_0000002_0000",
        "delete_delta_0000002_0000002_0001",
        "delta_0000001_0000001_0000",
        "delta_0000002_0000002_0002",
        "delta_0000002_0000002_0003",
    ]


def test_merge_leaves_rows_whose_first_condition_is_unknown(session: hivesql.Session) -> None:
    table(session, "(1,'a')")
    session.sql("""
        MERGE INTO t USING (SELECT 1 AS id, CAST(NULL AS string) AS v) s ON t.id = s.id
        WHEN MATCHED AND s.v <> 'x' THEN UPDATE SET v = 'updated'
        WHEN MATCHED THEN DELETE""")
    assert rows(session, "SELECT * FROM t") == [(1, "a")]


def test_merge_refuses_double_matches_and_changes_nothing(session: hivesql.Session) -> None:
    table(session)
    before = directories(session, "t")
    with pytest.raises(hivesql.CardinalityViolation, match=r"\[1, 536870912, 1\]"):
        session.sql("""
            MERGE INTO t USING (SELECT 2 AS id UNION ALL SELECT 2) s ON t.id = s.id
            WHEN MATCHED AND t.v = 'nosuch' THEN DELETE""")
    assert len(rows(session, "SELECT * FROM t")) == 4
    assert directories(session, "t") == before
    session.sql("SET hive.merge.cardinality.check=false")
    assert (
        session.sql("""
        MERGE INTO t USING (SELECT 2 AS id UNION ALL SELECT 2) s ON t.id = s.id
        WHEN MATCHED AND t.v = 'nosuch' THEN DELETE""").affected
        == 0
    )


def test_same_row_id_in_two_partitions_is_two_rows(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE p (id int) PARTITIONED BY (ds string, hr int) {ACID}")
    session.sql("INSERT INTO p PARTITION (ds='a', hr=1) VALUES (1),(2)")
    session.sql("INSERT INTO p PARTITION (ds='a', hr) VALUES (3, 2),(4, 3)")
    session.sql("INSERT INTO p PARTITION (ds, hr) VALUES (5, 'b/c=d%', 7),(6, NULL, NULL)")
    session.sql("DELETE FROM p WHERE id = 3")
    session.sql("UPDATE p SET id = 60 WHERE hr IS NULL AND ds = '__HIVE_DEFAULT_PARTITION__'")
    rows = session.sql("SELECT id, ds, hr FROM p").rows
    assert sorted((r[0], r[1], r[2] or 0) for r in rows) == [
        (1, "a", 1),
        (2, "a", 1),
        (4, "a", 3),
        (5, "b/c=d%", 7),
        (60, "__HIVE_DEFAULT_PARTITION__", 0),
    ]
    assert [row[0] for row in session.sql("SHOW PARTITIONS p").rows] == [
        "ds=__HIVE_DEFAULT_PARTITION__/hr=__HIVE_DEFAULT_PARTITION__",
        "ds=a/hr=1",
        "ds=a/hr=2",
        "ds=a/hr=3",
        "ds=b%2Fc%3Dd%25/hr=7",
    ]


def test_many_partitions_in_one_read(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE p (id bigint, v string) PARTITIONED BY (k string) {ACID}")
    session.sql(
        "INSERT INTO p PARTITION (k) SELECT id, 'x', concat('k ', id % 40, ':') FROM "
        "(SELECT posexplode(split(space(399), ' ')) AS (id, x)) s"
    )
    session.sql("DELETE FROM p WHERE id % 4 = 0")
    session.sql("UPDATE p SET v = k WHERE id % 5 = 0")
    found = session.sql("SELECT count(*), sum(id), count(DISTINCT k) FROM p").rows[0]
    assert tuple(found) == (300, sum(i for i in range(400) if i % 4), 30)
    assert session.sql("SELECT count(*) FROM p WHERE v = k").rows[0][0] == 60
    assert session.sql("SELECT sum(id) FROM p WHERE k = 'k 7:'").rows[0][0] == sum(
        range(7, 400, 40)
    )


def test_bucketed_table(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE b (id int, v string) CLUSTERED BY (id) INTO 4 BUCKETS {ACID}")
    session.sql(
        "INSERT INTO b SELECT id, 'x' FROM (SELECT posexplode(split(space(99), ' ')) AS (id, x)) s"
    )
    session.sql("UPDATE b SET v = 'y' WHERE id % 10 = 0")
    session.sql("DELETE FROM b WHERE id % 10 = 1")
    assert session.sql("SELECT count(*) FROM b WHERE v = 'y'").rows[0][0] == 10
    ids = session.sql("SELECT ROW__ID, id FROM b").rows
    assert len({tuple(row[0]) for row in ids}) == 90
    # Hive's Murmur3: int 0 -> bucket 1, int 42 -> bucket 3 of 4.
    bucket = {row[1]: row[0]["bucketid"] >> 16 & 0xFFF for row in ids}
    assert (bucket[0], bucket[42]) == (1, 3)


def test_multi_insert_numbers_its_branches(session: hivesql.Session) -> None:
    table(session)
    session.sql(f"""
        CREATE TABLE h1 (id int, v string) {ACID};
        CREATE TABLE h2 (id int, v string) PARTITIONED BY (p int) {ACID};
        FROM t INSERT INTO h1 SELECT id, v WHERE id < 3
               INSERT INTO h2 PARTITION (p) SELECT id, v, id % 2;
        INSERT INTO h1 SELECT id + 10, v FROM t UNION ALL SELECT id + 20, v FROM t;
    """)
    assert directories(session, "h1") == [
        "delta_0000001_0000001_0000",
        "delta_0000002_0000002_0001",
        "delta_0000002_0000002_0002",
    ]
    assert "p=0/delta_0000001_0000001_0001" in directories(session, "h2")
    assert session.sql("SELECT count(*) FROM h1").rows[0][0] == 10


def test_no_branch_of_a_multi_insert_reads_what_another_one_writes(
    session: hivesql.Session,
) -> None:
    session.sql(f"""
        CREATE TABLE plain (id int) STORED AS PARQUET;
        CREATE TABLE copy (id int) STORED AS ORC;
        CREATE TABLE acid (id int) {ACID};
        CREATE TRANSACTIONAL TABLE moved (id int) STORED AS TEXTFILE;
        INSERT INTO plain VALUES (1), (2);
        FROM plain INSERT INTO plain SELECT id + 10 INSERT INTO acid SELECT id
                   INSERT INTO copy SELECT id;
        FROM acid INSERT INTO acid SELECT id + 50 INSERT INTO moved SELECT id;
        FROM moved INSERT INTO moved SELECT id + 50 INSERT INTO acid SELECT id + 200;
        FROM copy INSERT OVERWRITE TABLE copy SELECT id + 1 WHERE id = 1
                  INSERT INTO acid SELECT id + 100;
        INSERT INTO acid SELECT id + 1000 FROM acid WHERE id < 3
        UNION ALL SELECT id + 2000 FROM acid WHERE id < 3 OR id > 1000;
    """)
    assert rows(session, "SELECT id FROM plain") == [(1,), (2,), (11,), (12,)]
    ids = [1, 2, 51, 52, 101, 102, 201, 202, 1001, 1002, 2001, 2002]
    assert sorted(rows(session, "SELECT id FROM acid")) == [(n,) for n in ids]
    assert sorted(rows(session, "SELECT id FROM moved")) == [(1,), (2,), (51,), (52,)]
    assert rows(session, "SELECT id FROM copy") == [(2,)]


def test_overwrite(session: hivesql.Session) -> None:
    table(session)
    session.sql("INSERT OVERWRITE TABLE t SELECT id * 10, v FROM t WHERE id < 3")
    assert rows(session, "SELECT * FROM t") == [(10, "a"), (20, "b")]
    assert "base_0000002" in directories(session, "t")
    session.sql("INSERT OVERWRITE TABLE t SELECT * FROM t WHERE id < 0")
    assert rows(session, "SELECT * FROM t") == []
    session.sql("INSERT INTO t VALUES (1, 'z'); TRUNCATE TABLE t")
    assert rows(session, "SELECT * FROM t") == []


def test_create_table_as_select_and_views(session: hivesql.Session) -> None:
    table(session)
    session.sql(f"CREATE TABLE c {ACID} AS SELECT id, v, id / 2 AS half FROM t WHERE id > 2")
    assert rows(session, "SELECT * FROM c") == [(3, "c", 1.5), (4, "d", 2.0)]
    session.sql("CREATE VIEW big AS SELECT id, upper(v) AS v FROM t WHERE id > 3")
    assert rows(session, "SELECT b.v FROM big b JOIN t ON b.id = t.id") == [("D",)]
    assert rows(session, "WITH big AS (SELECT 7 AS x) SELECT x FROM big") == [(7,)]


def test_compaction_keeps_rows_and_ids(session: hivesql.Session) -> None:
    table(session)
    session.sql("UPDATE t SET v = 'B' WHERE id = 2; DELETE FROM t WHERE id = 3")
    before = rows(session, "SELECT ROW__ID, * FROM t")
    session.sql("ALTER TABLE t COMPACT 'minor'")
    assert rows(session, "SELECT ROW__ID, * FROM t") == before
    assert directories(session, "t") == [
        "delete_delta_0000001_0000003_v0000006",
        "delta_0000001_0000003_v0000006",
    ]
    session.sql("INSERT INTO t VALUES (9, 'i')")
    before = rows(session, "SELECT ROW__ID, * FROM t")
    session.sql("ALTER TABLE t COMPACT 'major'")
    assert rows(session, "SELECT ROW__ID, * FROM t") == before
    assert [d.partition("_v")[0] for d in directories(session, "t")] == ["base_0000004"]
    session.sql("DELETE FROM t")
    session.sql("ALTER TABLE t COMPACT 'major'")
    assert rows(session, "SELECT * FROM t") == []


def test_plain_tables(session: hivesql.Session, tmp_path: Path) -> None:
    for kind in ("ORC", "PARQUET", "TEXTFILE", "JSONFILE"):
        session.sql(f"CREATE TABLE x_{kind} (id int, v string) STORED AS {kind}")
        session.sql(f"INSERT INTO x_{kind} VALUES (1, 'a'), (2, NULL)")
        session.sql(f"INSERT INTO x_{kind} VALUES (3, 'c')")
        assert session.sql(f"SELECT count(v), sum(id) FROM x_{kind}").rows[0] == (2, 6)
        session.sql(f"INSERT OVERWRITE TABLE x_{kind} SELECT id + 1, v FROM x_{kind} WHERE id > 2")
        assert rows(session, f"SELECT * FROM x_{kind}") == [(4, "c")]


def test_insert_only_table(session: hivesql.Session) -> None:
    session.sql(
        "CREATE TABLE m (id int) STORED AS PARQUET TBLPROPERTIES "
        "('transactional'='true', 'transactional_properties'='insert_only')"
    )
    session.sql("INSERT INTO m VALUES (1); INSERT INTO m VALUES (2)")
    assert rows(session, "SELECT * FROM m") == [(1,), (2,)]
    session.sql("INSERT OVERWRITE TABLE m VALUES (5)")
    assert rows(session, "SELECT * FROM m") == [(5,)]


def test_types_survive(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE k (a tinyint, b smallint, c int, d bigint, e float, f double, g decimal(20,4),
          h string, i char(5), j varchar(3), k boolean, l date, m timestamp, n binary,
          o array<int>, p map<string,int>, q struct<x:int,y:string>) {ACID};
        INSERT INTO k SELECT 1, 2, 3, 4, 1.5, 2.5, 3.14159, 'é', 'ab', 'abcdef', true,
          DATE '2020-02-29', TIMESTAMP '2020-01-01 10:20:30.123456', unhex('00ff'),
          array(1, NULL), map('k', 7), named_struct('x', 1, 'y', 'z');
        UPDATE k SET c = 33;
    """)
    (row,) = session.sql("SELECT * FROM k").rows
    assert (row["a"], row["b"], row["c"], row["d"], row["e"], row["f"]) == (1, 2, 33, 4, 1.5, 2.5)
    assert (str(row["g"]), row["h"], row["i"], row["j"]) == ("3.1416", "é", "ab   ", "abc")
    assert (str(row["l"]), str(row["m"])) == ("2020-02-29", "2020-01-01 10:20:30.123456")
    assert (bytes(row["n"]), row["o"], row["p"]) == (b"\x00\xff", [1, None], {"k": 7})
    assert tuple(row["q"]) == (1, "z")
    # One nested column of many: pruning must not shift values.
    assert [tuple(r) for r in session.sql("SELECT q.y, f FROM k").rows] == [("z", 2.5)]


def test_instants_are_instants_in_orc(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id int, ts timestamp with local time zone,
          s struct<a:timestamp,b:array<timestamp with local time zone>>) {ACID};
        INSERT INTO t SELECT 1, timestamp '2024-02-29 11:34:56.5',
          named_struct('a', timestamp '1500-01-01 00:00:00',
                       'b', array(timestamp '1899-12-31 23:59:59.999999'));
    """)
    if spark_line() < (4, 2):
        for sql in ("SELECT * FROM t", "UPDATE t SET id = 2 WHERE id * id = 1"):
            with pytest.raises(hivesql.NotSupported, match=r"of default\.t by Spark \d\.\d: ORC"):
                session.sql(sql)
        return
    session.sql("UPDATE t SET id = 2")
    expected = [(
        2, dt(2024, 2, 29, 11, 34, 56, 500000),
        (dt(1500, 1, 1), [dt(1899, 12, 31, 23, 59, 59, 999999)]),
    )]  # fmt: skip
    assert rows(session, "SELECT * FROM t") == expected
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT * FROM t") == expected
    home = Path(session.runtime.metastore.table(_name("t")).location)
    for path in (*home.rglob("delta_*/bucket_*"), *home.rglob("base_*/bucket_*")):
        if "delete_delta" in str(path):
            continue
        with path.open("rb") as file:
            assert str(pyorc.Reader(file).schema).endswith(
                "row:struct<id:int,ts:timestamp with local time zone,"
                "s:struct<a:timestamp,b:array<timestamp with local time zone>>>>"
            )


def test_times_are_those_of_the_table_in_every_zone(
    session: hivesql.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        result = session.sql(
            "SELECT timestamp '0001-01-01 00:00:00' a, timestamp '9999-12-31 23:59:59.999999' a, "
            "array(named_struct('t', map('k', timestamp '2024-03-10 02:30:00'))) b, 1 c"
        )
    finally:
        monkeypatch.undo()
        time.tzset()
    ((first, last, nested, one),) = result.rows
    assert (first, last) == (dt(1, 1, 1), dt(9999, 12, 31, 23, 59, 59, 999999))
    assert nested[0].t == {"k": dt(2024, 3, 10, 2, 30)}
    assert one == 1
    assert result.columns == ("a", "a_1", "b", "c")
    assert result.types[:3] == (
        "timestamp", "timestamp", "array<struct<t:map<string,timestamp>>>",
    )  # fmt: skip


def test_added_column_is_null_in_old_rows(session: hivesql.Session) -> None:
    table(session, "(1,'a')")
    session.sql("ALTER TABLE t ADD COLUMNS (w int)")
    session.sql("INSERT INTO t VALUES (2, 'b', 3)")
    assert sorted(map(tuple, session.sql("SELECT id, w FROM t").rows)) == [(1, None), (2, 3)]
    session.sql("UPDATE t SET w = 9 WHERE id = 1")
    assert rows(session, "SELECT id, v, w FROM t") == [(1, "a", 9), (2, "b", 3)]


def test_subqueries_in_conditions(session: hivesql.Session) -> None:
    table(session)
    session.sql(f"CREATE TABLE s (id int) {ACID}; INSERT INTO s VALUES (2), (3)")
    session.sql("DELETE FROM t WHERE id IN (SELECT id FROM s WHERE s.id > 2)")
    session.sql("UPDATE t SET v = 'in' WHERE EXISTS (SELECT 1 FROM s WHERE s.id = t.id)")
    assert rows(session, "SELECT * FROM t") == [(1, "a"), (2, "in"), (4, "d")]


@pytest.mark.parametrize("most_bytes", ["0", "16777216"])
def test_rows_that_a_null_leaves_unknown_are_not_deleted(
    session: hivesql.Session, most_bytes: str
) -> None:
    session.sql(f"SET hivesql.local.max.bytes={most_bytes}")
    session.execute("""
        CREATE TABLE pairs (a INT, b INT) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO pairs VALUES (1, 1), (2, NULL), (3, 3), (4, 4);
        DELETE FROM pairs WHERE (a, b) NOT IN ((1, 1), (2, 5), (3, NULL))""")
    assert [tuple(row) for row in session.sql("SELECT * FROM pairs ORDER BY a").rows] == [
        (1, 1), (2, None), (3, 3),
    ]  # fmt: skip
    session.sql("UPDATE pairs SET b = 0 WHERE (a, b) IN ((1, 1), (2, NULL))")
    assert [row[1] for row in session.sql("SELECT * FROM pairs ORDER BY a").rows] == [0, None, 3]
