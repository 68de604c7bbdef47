"""Nanoseconds that Hive wrote: through changes, compactions, queries that pass them on."""

from __future__ import annotations

import pickle
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyorc
import pytest

import hivesql
from acid_files import EVENT, ExactTimes
from adoption import adopt
from golden_tables import golden_tables
from hivesql.rendering.hive_text import hive_text
from hivesql_executor.outcome import NanosecondTime, OutsideTime
from hivesql_executor.spark.lines import collect_arrow
from hivesql_planner.errors import DataError
from hivesql_planner.model.table import TableName
from tables import make_table

pytestmark = pytest.mark.spark

GOLDEN = {str(one): one for one in golden_tables()}
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def whole_rows(home: Path, pattern: str) -> dict[tuple[Any, ...], Any]:
    """Rows of insert events by their ids, which start anew in each partition."""
    found = {}
    for path in home.glob(pattern):
        with path.open("rb") as file:
            kinds = {pyorc.TypeKind.TIMESTAMP: ExactTimes, pyorc.TypeKind.DATE: ExactTimes}
            for event in pyorc.Reader(file, converters=kinds):
                found[(path.parent.parent, *event[1:4])] = event[5]
    return found


def test_compaction_never_cuts_nanoseconds(session: hivesql.Session) -> None:
    for number, name in enumerate(("c_types/final/c", "m_layouts/final/ty")):
        table = adopt(session, GOLDEN[name].table, f"t{number}")
        home = Path(table.location)
        before = whole_rows(home, "delta_*/bucket_*")
        values = [value for row in before.values() for value in row if isinstance(value, tuple)]
        assert any(isinstance(value[-1], int) and value[-1] % 1000 for value in values), name
        kept = session.sql(f"SELECT count(*) FROM t{number}").rows[0][0]
        session.sql(f"ALTER TABLE t{number} COMPACT 'major'")
        after = whole_rows(home, "base_*/bucket_*")
        assert len(after) == kept > 0, name
        # As text, in which NaN equals itself.
        assert all(str(before[key]) == str(row) for key, row in after.items()), name


def times_in(value: Any) -> list[tuple[int, int]]:
    """Every timestamp in a row, as it stands in the file."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], int):
        return [value]
    inside = value.values() if isinstance(value, dict) else value
    return [time for one in inside or () for time in times_in(one)] if is_nest(value) else []


def is_nest(value: Any) -> bool:
    return isinstance(value, (tuple, list, dict))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("c_types/final/c", "UPDATE t SET c_str = 'x'"),
        ("m_layouts/final/ty", "UPDATE t SET v = 'x'"),
        ("m_layouts/final/ty", "MERGE INTO t USING (SELECT 1 one) s ON t.k > s.one "
         "WHEN MATCHED THEN UPDATE SET v = 'x'"),
    ],
)  # fmt: skip
def test_changes_keep_nanoseconds(session: hivesql.Session, name: str, change: str) -> None:
    table = adopt(session, GOLDEN[name].table, "t")
    home = Path(table.location)
    before = whole_rows(home, "delta_*/bucket_*")
    old = {str(path) for path in home.glob("*")}
    changed = session.sql(change).affected
    assert changed
    # Twice: the files that we write must be known for what they hold.
    assert session.sql(change).affected == changed
    assert session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    (base,) = (path for path in home.glob("base_*") if str(path) not in old)
    after = whole_rows(home, f"{base.name}/bucket_*")
    times = {str(times_in(row)) for row in before.values()}
    assert any(nanos % 1000 for row in after.values() for _, nanos in times_in(row)), name
    assert {str(times_in(row)) for row in after.values()} <= times


FINE, WHOLE = "2024-02-29 12:34:56.789012345", "2020-01-01 00:00:00"
PASSED = {
    # query: what real Hive shows of its first column, in any order
    "SELECT ts FROM t": (FINE, WHOLE, "NULL"),
    "SELECT x.ts FROM t x JOIN t y ON x.id = y.id WHERE y.id = 1": (FINE,),
    "SELECT y.ts FROM t x LEFT JOIN t y ON x.id = y.id AND y.id = 1": (FINE, "NULL", "NULL"),
    "SELECT later FROM (SELECT ts AS later, id FROM t WHERE id < 3) s ORDER BY id LIMIT 1": (FINE,),
    "WITH s AS (SELECT * FROM t) SELECT ts FROM s WHERE id = 1": (FINE,),
    "WITH s AS (SELECT * FROM t) SELECT a.ts FROM s a, s b WHERE a.id = 1 AND b.id = 1": (FINE,),
    "SELECT ts, ts AS again, id FROM seen": (FINE, WHOLE, "NULL"),
    "SELECT ts, row_number() OVER (ORDER BY id) FROM t": (FINE, WHOLE, "NULL"),
    "SELECT ts, one FROM t LATERAL VIEW explode(array(1, 2)) e AS one WHERE id = 1": (FINE, FINE),
    "SELECT ts FROM t WHERE ts IN (SELECT ts FROM t WHERE id = 1)": (FINE,),
    "SELECT ts FROM t WHERE id = 1 UNION ALL SELECT TIMESTAMP '2020-01-01 00:00:00.123' "
    "UNION ALL SELECT NULL": (FINE, "2020-01-01 00:00:00.123", "NULL"),
    "SELECT TIMESTAMP '2020-01-01 00:00:00.5' UNION ALL SELECT ts FROM (SELECT * FROM t) s "
    "WHERE id = 1": (FINE, "2020-01-01 00:00:00.5"),
    # Computed: microseconds, unlike real Hive.
    "SELECT max(ts) FROM t": (FINE[:-3],),
    "SELECT DISTINCT ts FROM t": (FINE[:-3], WHOLE, "NULL"),
    "SELECT coalesce(ts, ts) FROM t WHERE id = 1": (FINE[:-3],),
}  # fmt: skip


def fine_table(session: hivesql.Session) -> None:
    """Rows 1 to 3 of table t; the first has nanoseconds. Row 4 is deleted."""
    time = {pyorc.TypeKind.TIMESTAMP: ExactTimes}
    home = Path(session.runtime.metastore.database("default").location)
    made = home.parent / "made"
    (made / "delta_0000001_0000001_0000").mkdir(parents=True)
    at = (1709210096, 789012345)
    rows = [(1, at, [at]), (2, (1577836800, 0), None), (3, None, []), (4, at, None)]
    schema = EVENT.format("id:int,ts:timestamp,l:array<timestamp>")
    path = made / "delta_0000001_0000001_0000" / "bucket_00000"
    with path.open("wb") as file, pyorc.Writer(file, schema, converters=time) as writer:
        writer.writerows([(0, 1, 536870912, i, 1, row) for i, row in enumerate(rows)])
    adopt(session, make_table(made, "id int, ts timestamp, l array<timestamp>"), "t")
    session.sql("DELETE FROM t WHERE id = 4; CREATE VIEW seen AS SELECT id, ts FROM t")


def test_queries_pass_them_on(session: hivesql.Session) -> None:
    fine_table(session)
    for query, expected in PASSED.items():
        found = session.sql(query).rows
        assert sorted(hive_text(row[0]) for row in found) == sorted(expected), query
    rows = session.sql("SELECT ts, id, ts again FROM t WHERE id = 1").rows
    assert [tuple(row.asDict()) for row in rows] == [("ts", "id", "again")]
    assert [str(time) for time in (rows[0].ts, rows[0].again)] == [FINE, FINE]
    frame = session.sql("SELECT ts FROM t WHERE id = 1", consume=collect_arrow)
    assert str(frame.value.column("ts")[0]) == FINE[:-3]


def test_times_are_those_that_hive_shows(session: hivesql.Session) -> None:
    golden = GOLDEN["c_types/final/c"]
    adopt(session, golden.table, "t")
    found = session.sql("SELECT c_ts FROM t").rows
    expected = [row["c_ts"] for row in golden.rows or ()]
    assert any(len(text.partition(".")[2]) == 9 for text in expected)
    assert sorted(hive_text(row[0]) for row in found) == sorted(expected)


def test_inserts_pass_them_on(session: hivesql.Session) -> None:
    fine_table(session)
    session.sql(f"""
        CREATE TABLE c {ACID} AS SELECT * FROM t;
        CREATE TABLE p (id bigint, ts timestamp, l array<timestamp>, s string)
          PARTITIONED BY (p int) {ACID};
        INSERT INTO p SELECT t.id, ts, l, 'x', t.id FROM t;
        INSERT INTO p PARTITION (p = 1) SELECT id, ts, l, 'x' FROM t WHERE id = 1
          UNION ALL SELECT 9, TIMESTAMP '2020-01-01 00:00:00', CAST(NULL AS array<timestamp>), 'y';
        CREATE TABLE b (ts timestamp, id int, other timestamp) CLUSTERED BY (id) INTO 2 BUCKETS
          {ACID};
        INSERT OVERWRITE TABLE b SELECT ts, id, ts FROM t;
    """)
    for table, count in (("c", 2), ("p", 4), ("b", 2)):
        home = Path(session.runtime.metastore.table(TableName("default", table)).location)
        rows = list(session.sql(f"SELECT * FROM {table}").rows)
        assert sum(str(row.ts) == FINE for row in rows) == count // 2, table
        stored = [
            time
            for pattern in ("**/delta_*/bucket_*", "**/base_*/bucket_*")
            for row in whole_rows(home, pattern).values()
            for time in times_in(row)
        ]
        assert sum(nanos == 789012345 for _, nanos in stored) == count, table


LINES = {
    # a line of a text file: what Hive shows
    "2024-02-29 12:34:56.789012345": FINE,
    "2024-02-29 12:34:56.789012300": "2024-02-29 12:34:56.7890123",
    "1960-02-09T01:02:03.000000001": "1960-02-09 01:02:03.000000001",
    "2024-2-9 1:2:3.1234567 ": "2024-02-09 01:02:03.1234567",
    "2024-02-29 12:34:56.123456": "2024-02-29 12:34:56.123456",
    "2024-02-29 12:34:56.1234560": "2024-02-29 12:34:56.123456",
    "2024-02-29 12:34:56.1234567890": "NULL",
    "2024-02-30 x:34:56.1234567": "NULL",
    "\\N": "NULL",
}


def test_text_has_them(session: hivesql.Session, tmp_path: Path) -> None:
    home, parts = tmp_path / "lines", tmp_path / "parts"
    home.mkdir()
    (home / "file").write_text("".join(f"{i},{line}\n" for i, line in enumerate(LINES)))
    comma = "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE"
    session.sql(f"""
        CREATE EXTERNAL TABLE x (id int, ts timestamp) {comma} LOCATION '{home}';
        CREATE TABLE c {ACID} AS SELECT * FROM x;
        CREATE TABLE i (id int, ts timestamp) STORED AS TEXTFILE TBLPROPERTIES
          ('transactional'='true', 'transactional_properties'='insert_only');
        INSERT INTO i SELECT * FROM c;
        CREATE EXTERNAL TABLE p (id int, ts timestamp) PARTITIONED BY (p int) {comma}
          LOCATION '{parts}';
        INSERT OVERWRITE TABLE p PARTITION (p) SELECT i.id, x.ts, 1 FROM i JOIN x ON i.id = x.id;
        ALTER TABLE p ADD PARTITION (p=2)
    """)
    for table in "xcip":
        found = session.sql(f"SELECT ts, id FROM {table} ORDER BY id").rows
        assert [hive_text(row.ts) for row in found] == [*LINES.values()], table
    # The partition keeps its columns; its times become texts of all digits, cut to fit.
    session.sql(
        "ALTER TABLE p REPLACE COLUMNS (id int, ts varchar(28)); ALTER TABLE p ADD COLUMNS (z int)"
    )
    found = session.sql("SELECT ts FROM p WHERE z IS NULL ORDER BY id").rows
    assert [hive_text(row.ts) for row in found] == [text[:28] for text in LINES.values()]


def test_orc_without_row_ids_has_them(session: hivesql.Session, tmp_path: Path) -> None:
    time = {pyorc.TypeKind.TIMESTAMP: ExactTimes}
    (tmp_path / "o").mkdir()
    schema = "struct<id:int,ts:timestamp,l:array<timestamp>>"
    at = (1709210096, 789012345)
    with (
        (tmp_path / "o/file").open("wb") as file,
        pyorc.Writer(file, schema, converters=time) as writer,
    ):
        writer.writerows([(1, at, [at, None]), (2, None, None)])
    session.sql(f"""
        CREATE EXTERNAL TABLE o (id int, ts timestamp, l array<timestamp>) STORED AS ORC
          LOCATION '{tmp_path}/o';
        CREATE TABLE c {ACID} AS SELECT * FROM o
    """)
    for table in "oc":
        rows = session.sql(f"SELECT ts, id FROM {table} ORDER BY id").rows
        assert [hive_text(row.ts) for row in rows] == [FINE, "NULL"], table
    # Rows whose maps come in their order come with nanoseconds too.
    (row, _) = session.sql("SELECT ts, map('zz', unhex('00'), 'b', NULL) m FROM o ORDER BY id").rows
    assert (hive_text(row.ts), list(row.m.items())) == (FINE, [("zz", b"\0"), ("b", None)])
    home = Path(session.runtime.metastore.table(TableName("default", "c")).location)
    (first, _) = whole_rows(home, "delta_*/bucket_*").values()
    assert [nanos for _, nanos in times_in(first)] == [789012345] * 2


def test_partitions_of_several_formats(session: hivesql.Session, tmp_path: Path) -> None:
    fine_table(session)
    session.sql("CREATE EXTERNAL TABLE p (ts timestamp, n int) PARTITIONED BY (p string)")
    for kind in ("sequencefile", "rcfile", "avro", "jsonfile", "textfile"):
        session.sql(f"""
            ALTER TABLE p SET FILEFORMAT {kind};
            INSERT INTO p PARTITION (p='{kind}') SELECT ts, id FROM t WHERE id = 1
        """)
    for kind in ("orc", "parquet"):
        home = tmp_path / kind
        session.sql(f"""
            CREATE EXTERNAL TABLE {kind}s STORED AS {kind} LOCATION '{home}'
              AS SELECT ts, id FROM t WHERE id = 1;
            ALTER TABLE p ADD PARTITION (p='{kind}') LOCATION '{home}';
            ALTER TABLE p PARTITION (p='{kind}') SET FILEFORMAT {kind}
        """)
    found = {row.p: hive_text(row.ts) for row in session.sql("SELECT ts, p FROM p").rows}
    cut = FINE[:-3]
    assert found == {
        "textfile": FINE, "orc": cut, "parquet": cut, "avro": FINE[:-6], "jsonfile": cut,
        "sequencefile": cut, "rcfile": cut,
    }  # fmt: skip


def test_changes_pass_them_on(session: hivesql.Session) -> None:
    fine_table(session)
    session.sql(f"CREATE TABLE c (id int, a timestamp, b timestamp, l array<timestamp>) {ACID}")
    session.sql("""
        MERGE INTO c USING t s ON c.id = s.id WHEN NOT MATCHED THEN INSERT VALUES
          (s.id, s.ts, TIMESTAMP '2020-01-01 00:00:00', s.l)
    """)
    first = "SELECT a, b FROM c WHERE id = 1"
    assert [str(one) for one in session.sql(first).rows[0]] == [FINE, WHOLE]
    session.sql("UPDATE c SET b = a, a = b WHERE id = 1")
    assert [str(one) for one in session.sql(first).rows[0]] == [WHOLE, FINE]
    session.sql("""
        MERGE INTO c x USING (SELECT id, ts AS later, date_add(ts, 1) AS day FROM t) s
          ON x.id = s.id
          WHEN MATCHED AND x.id = 1 THEN UPDATE SET a = later, b = day
          WHEN MATCHED THEN DELETE
    """)
    assert [str(one) for one in session.sql(first).rows[0]] == [FINE, "2024-03-01 00:00:00"]
    (path,) = Path(session.runtime.metastore.table(TableName("default", "c")).location).glob(
        "delta_0000003_0000003_*"
    )
    (row,) = (
        row for row in whole_rows(path.parent, f"{path.name}/bucket_*").values() if row[0] == 1
    )
    assert [nanos for _, nanos in times_in(row)] == [789012345, 0, 789012345]


def test_a_time_of_the_julian_calendar_alone(session: hivesql.Session) -> None:
    """Hive takes the day after: its own calendar has none of this."""
    fine_table(session)
    session.sql(f"CREATE TABLE j (id int, ts timestamp) {ACID}; INSERT INTO j VALUES (1, NULL)")
    (path,) = Path(session.runtime.metastore.table(TableName("default", "j")).location).rglob(
        "delta_*/bucket_*"
    )
    with (
        path.open("wb") as file,
        pyorc.Writer(
            file,
            EVENT.format("id:int,ts:timestamp"),
            converters={pyorc.TypeKind.TIMESTAMP: ExactTimes},
        ) as writer,
    ):
        # Day -171,596 of the Julian calendar's count is its 1500-02-29.
        writer.write((0, 1, 536870912, 0, 1, (1, (-171_596 * 86_400, 1))))
    assert str(session.sql("SELECT ts FROM j").rows[0][0]) == "1500-03-01 00:00:00.000000001"
    session.sql("UPDATE j SET id = 2")
    assert str(session.sql("SELECT ts FROM j").rows[0][0]) == "1500-03-01 00:00:00.000000001"


def test_years_that_python_does_not_have(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE far (i int, d date, t timestamp) STORED AS ORC;
        INSERT INTO far VALUES (1, '2020-02-03', '2020-02-03 04:05:06.789'), (2, NULL, NULL),
            (3, '0000-01-01', '0000-12-31 23:59:59.5');
    """)
    result = session.sql("SELECT i, d, t, date_add(d, 3652059) e FROM far ORDER BY i")
    time = datetime(2020, 2, 3, 4, 5, 6, 789000)
    assert [tuple(row) for row in result.rows] == [
        (1, time.date(), time, "+12019-02-02"), (2, None, None, None),
        (3, "0000-01-01", "0000-12-31 23:59:59.5", date(9998, 12, 31)),
    ]  # fmt: skip
    assert isinstance(result.rows[2][1], OutsideTime)
    assert repr(result.rows[2][2]) == "OutsideTime('0000-12-31 23:59:59.5')"
    days = result.to_arrow().column("d").cast("int32").to_pylist()
    assert days == [18295, None, -719528]
    with pytest.raises(DataError, match="in a is outside of the years 1 to 9999"):
        session.sql("SELECT array(d) a FROM far")


def test_a_time_with_nanoseconds() -> None:
    time = NanosecondTime.of(datetime(2024, 2, 29, 12, 34, 56, 789012), 345)
    assert (str(time), time.nanosecond) == (FINE, 345)
    assert time == datetime(2024, 2, 29, 12, 34, 56, 789012)
    again = pickle.loads(pickle.dumps(time))
    assert (repr(again), again.nanosecond) == (f"NanosecondTime('{FINE}')", 345)
    assert time.isoformat(timespec="seconds") == "2024-02-29T12:34:56"


def test_times_inside_of_lines_have_them(session: hivesql.Session) -> None:
    kind = "s struct<t:timestamp,n:int>, l array<timestamp>, m map<string,timestamp>"
    session.sql(f"""
        CREATE TABLE t (id int, {kind}) ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'
          COLLECTION ITEMS TERMINATED BY ',' MAP KEYS TERMINATED BY '=';
        CREATE TABLE c (id int, {kind}) {ACID}
    """)
    home = session.runtime.metastore.table(TableName("default", "t")).location
    Path(home, "rows").write_text(
        f"1|{FINE},7|{FINE},none,2024-02-29 12:34:56.5|a={FINE}\n2|\\N||\\N\n"
    )
    session.sql(
        "INSERT INTO c SELECT * FROM t; CREATE TABLE w LIKE t; INSERT INTO w SELECT * FROM c"
    )
    for table in "tcw":
        full, empty = session.sql(f"SELECT s, l, m FROM {table} ORDER BY id").rows
        assert hive_text(full.s) == f'{{"t":"{FINE}","n":7}}', table
        assert hive_text(full.l) == f'["{FINE}",null,"2024-02-29 12:34:56.5"]', table
        assert hive_text(full.m) == f'{{"a":"{FINE}"}}', table
        assert [hive_text(value) for value in empty] == ["NULL", "[]", "NULL"], table


def test_times_inside_of_a_partition_become_texts(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE p (id int, s struct<t:timestamp,n:int>) PARTITIONED BY (d int)
          ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' COLLECTION ITEMS TERMINATED BY ',';
        ALTER TABLE p ADD PARTITION (d = 1);
    """)
    home = session.runtime.metastore.table(TableName("default", "p")).location
    Path(home, "d=1", "rows").write_text(f"1|{FINE},7\n2|none,8\n")
    session.sql("ALTER TABLE p CHANGE s s struct<t:string,n:string>")
    rows = session.sql("SELECT s FROM p ORDER BY id").rows
    assert [hive_text(row.s) for row in rows] == [
        f'{{"t":"{FINE}","n":"7"}}', '{"t":null,"n":"8"}'
    ]  # fmt: skip
