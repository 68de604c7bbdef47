"""A MERGE's source is computed once, and its keys tell which rows of the target are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hivesql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
# Row groups of a third of the target, and of a half of the source.
GROUPED = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'orc.row.index.stride'='1000')"
KEYS = "hivesql.merge.keys.max"
LISTED = "hivesql.merge.keys.listed.max"
FILTERED = "hivesql.scan.filter.min"
SOURCE = "hivesql.merge.source.max.bytes"
COLUMNS = """n INT, sm SMALLINT, l BIGINT, d DOUBLE, word STRING, c CHAR(8), dec DECIMAL(12,2),
  big DECIMAL(30,4), day DATE, ts TIMESTAMP, b BOOLEAN, v STRING"""


def values(number: str, v: str) -> str:
    """A row of these columns; no two numbers share a key, and some keys are NULL."""
    some = f"if({number} % 11 = 3, NULL, {number})"
    return (
        f"{number} AS n, CAST({some} AS SMALLINT) AS sm, CAST({some} AS BIGINT) * 3000000000 AS l, "
        f"{some} / 8.0D AS d, concat('w', {some}) AS word, "
        f"CAST(concat('c', {some}) AS CHAR(8)) AS c, "
        f"CAST({some} / 100.0D AS DECIMAL(12,2)) AS dec, "
        f"CAST({some} AS DECIMAL(30,4)) * 1000000000000000 AS big, "
        f"date_add(DATE '1900-01-01', {some} * 9) AS day, "
        f"CAST(date_add(DATE '1580-01-01', {some} * 31) AS TIMESTAMP) AS ts, {some} % 2 = 0 AS b, "
        f"{v} AS v"
    )


def fill(session: hivesql.Session) -> None:
    """The target ``t`` has the numbers below 3,000; ``s`` every seventh below 4,000."""
    session.sql(f"""
        CREATE TABLE t ({COLUMNS}) {GROUPED};
        CREATE TABLE s ({COLUMNS}) {ACID};
        INSERT INTO t SELECT {values("i", "'old'")}
            FROM (SELECT posexplode(split(space(2599), ' ')) AS (i, x)) q;
        INSERT INTO t SELECT {values("i + 2600", "'old'")}
            FROM (SELECT posexplode(split(space(399), ' ')) AS (i, x)) q;
        INSERT INTO s SELECT {values("i", "'new'")}
            FROM (SELECT posexplode(split(space(3999), ' ')) AS (i, x)) q WHERE i % 7 = 5;
        DELETE FROM t WHERE n % 100 = 12
    """)


def forget(session: hivesql.Session) -> None:
    """Leave the settings of the one Spark as they were."""
    session.sql(
        f"SET {KEYS}=1000000; SET {LISTED}=400; SET {FILTERED}=200000; SET {SOURCE}=67108864"
    )


@pytest.fixture
def tables(session: hivesql.Session) -> Iterator[hivesql.Session]:
    """Tables of the test's own."""
    fill(session)
    yield session
    forget(session)


@pytest.fixture(scope="module")
def unchanged(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[hivesql.Session]:
    """Tables for all tests that roll back what they do."""
    home = tmp_path_factory.mktemp("unchanged")
    url = f"sqlite:///{home}/metastore.db"
    with hivesql.connect(url, str(home / "warehouse"), spark=spark) as session:
        fill(session)
        yield session
        forget(session)


CONDITIONS = (
    "t.n = s.n", "s.n = t.n", "t.sm = s.sm", "t.sm = s.n", "t.n = s.sm AND t.b = s.b", "t.l = s.l",
    "t.l = s.n * 3000000000", "t.d = s.d", "t.word = s.word", "t.word = concat('w', s.n)",
    "upper(t.word) = upper(s.word)", "t.c = s.c", "t.c = concat('c', s.n)", "t.dec = s.dec",
    "t.dec = s.n / 100.0D", "t.big = s.big", "t.day = s.day", "t.ts = s.ts", "t.ts = s.day",
    "t.n = s.n AND t.word < 'w2'", "t.n = s.n AND s.n < 0", "t.n = s.n + 100000", "t.sm <=> s.n",
    "t.n + 1 = s.n + 1 AND t.n > s.n - 1", "t.n = s.n OR t.n = s.n + 1", "t.n > 2998 AND s.n = 5",
    "CAST(t.n AS STRING) = CAST(s.n AS STRING)", "t.word = s.n", "t.sm = nvl(s.sm, -1)",
    "t.n = nullif(s.n, 19)", "hash(t.word) = hash(s.word) AND s.word > ''",
    "t.day = date_sub(current_date, datediff(current_date, s.day))",
    "t.n = s.n + 0 * (1 div (s.n - 5))",
)  # fmt: skip


@pytest.mark.parametrize("on", CONDITIONS)
def test_rows_that_match_and_rows_that_do_not(unchanged: hivesql.Session, on: str) -> None:
    expected = unchanged.sql(f"""
        SELECT t.n, coalesce(s.v, t.v) FROM t LEFT JOIN s ON {on}
        UNION ALL SELECT s.n, s.v FROM s LEFT ANTI JOIN t ON {on}
    """).rows
    merge = f"""MERGE INTO t USING (SELECT * FROM s) s ON {on}
        WHEN MATCHED THEN UPDATE SET v = s.v
        WHEN NOT MATCHED THEN INSERT VALUES (s.n, s.sm, s.l, s.d, s.word, s.c, s.dec, s.big, s.day,
            s.ts, s.b, s.v)"""
    ways = [(1_000_000, 1000, 0), (1_000_000, 0, 200_000), (100, 1000, 0)]
    # Without the keys of the source, its conditions are all alike.
    for most, listed, filtered in ways if CONDITIONS.index(on) % 4 == 0 else ways[:2]:
        unchanged.sql(f"SET {KEYS}={most}; SET {LISTED}={listed}; SET {FILTERED}={filtered}")
        unchanged.sql(f"START TRANSACTION; {merge}")
        found = unchanged.sql("SELECT n, v FROM t").rows
        assert sorted(found) == sorted(expected), (most, listed, filtered)
        unchanged.sql("ROLLBACK")


@pytest.mark.parametrize("on", ["t.n = s.n", "t.word = s.word", "t.d = s.d"])
def test_only_matched_rows(tables: hivesql.Session, on: str) -> None:
    expected = tables.sql(f"SELECT t.n, s.v FROM t LEFT JOIN s ON {on}").rows
    tables.sql(f"MERGE INTO t USING s ON {on} WHEN MATCHED THEN UPDATE SET v = s.v")
    found = tables.sql("SELECT n, if(v = 'new', v, NULL) FROM t").rows
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_the_source_is_the_target(tables: hivesql.Session) -> None:
    tables.sql("""MERGE INTO t USING (SELECT n + 2000 AS n, word FROM t WHERE n < 2000) s
        ON t.n = s.n WHEN MATCHED THEN UPDATE SET v = 'met'
        WHEN NOT MATCHED THEN INSERT (n, v) VALUES (s.n, 'come')""")
    found = tables.sql("SELECT v, count(*), min(n), max(n) FROM t GROUP BY v").rows
    # Those with 12 at the end of their hundred are neither in the source nor in the target.
    assert sorted(found) == [("come", 990, 3000, 3999), ("met", 990, 2000, 2999),
                             ("old", 1980, 0, 1999)]  # fmt: skip


def test_a_source_without_rows(tables: hivesql.Session) -> None:
    tables.sql("""MERGE INTO t USING (SELECT * FROM s WHERE n < 0) s ON t.n = s.n
        WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (n) VALUES (s.n)""")
    assert tables.sql("SELECT count(*) FROM t").rows == [(2970,)]


def test_a_source_of_values_behind_table(tables: hivesql.Session) -> None:
    tables.sql("""MERGE INTO t USING TABLE (VALUES (2000, 'a'), (5000, 'b')) AS s (n, word)
        ON t.n = s.n WHEN MATCHED THEN UPDATE SET v = s.word
        WHEN NOT MATCHED THEN INSERT (n, v) VALUES (s.n, s.word)""")
    merged = tables.sql("SELECT n, v FROM t WHERE v IN ('a', 'b')").rows
    assert sorted(map(tuple, merged)) == [(2000, "a"), (5000, "b")]


def test_a_partition_column_as_key(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (n INT, v STRING) PARTITIONED BY (p INT) {ACID};
        INSERT INTO t PARTITION (p) SELECT i, 'old', i % 5
            FROM (SELECT posexplode(split(space(99), ' ')) AS (i, x)) q;
        MERGE INTO t USING (SELECT n, p FROM t WHERE p = 3 UNION ALL SELECT 7, 9) s
            ON t.p = s.p AND t.n = s.n
            WHEN MATCHED THEN UPDATE SET v = 'new'
            WHEN NOT MATCHED THEN INSERT VALUES (s.n, 'come', s.p)
    """)
    found = session.sql("SELECT p, v, count(*) FROM t GROUP BY p, v").rows
    assert sorted(found) == [
        (0, "old", 20), (1, "old", 20), (2, "old", 20), (3, "new", 20), (4, "old", 20),
        (9, "come", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("filtered", ["", "WHERE n > 0"])
def test_rows_in_the_text_with_the_time_of_now(session: hivesql.Session, filtered: str) -> None:
    session.sql(f"""
        CREATE TABLE t (n INT, at TIMESTAMP) {ACID}; INSERT INTO t VALUES (1, NULL), (2, NULL);
        MERGE INTO t USING (SELECT * FROM (VALUES (1, current_timestamp), (3, current_timestamp))
            AS v(n, now) {filtered}) s ON t.n = s.n
            WHEN MATCHED THEN UPDATE SET at = now WHEN NOT MATCHED THEN INSERT VALUES (s.n, now)
    """)
    asked = "SELECT count(*), count(at), count(DISTINCT at) FROM t WHERE at > '2020-01-01'"
    assert session.sql(asked).rows == [(2, 2, 1)]


def test_rows_that_are_others_each_time(session: hivesql.Session) -> None:
    # Each evaluation gives other numbers; all of them are in the table.
    session.sql(f"""
        CREATE TABLE t (n INT, v STRING) {ACID};
        INSERT INTO t SELECT i, 'old' FROM (SELECT posexplode(split(space(9999), ' ')) AS (i, x)) q;
        MERGE INTO t USING (
            SELECT CAST(CAST(reflect('java.lang.Math', 'random') AS DOUBLE) * 10000 AS INT) AS n
            FROM t WHERE n IN (1, 7)) s
        ON t.n = s.n
        WHEN MATCHED THEN UPDATE SET v = 'met' WHEN NOT MATCHED THEN INSERT VALUES (s.n, 'lost')
    """)
    found = dict(session.sql("SELECT v, count(*) FROM t GROUP BY v").rows)
    assert found == {"old": 9998, "met": 2}


def test_a_users_frame_that_is_other_each_time(
    session: hivesql.Session, spark: SparkSession
) -> None:
    session.sql(f"""
        CREATE TABLE t (n INT, v STRING) {ACID};
        INSERT INTO t SELECT i, 'old' FROM (SELECT posexplode(split(space(9999), ' ')) AS (i, x)) q
    """)
    numbers = spark.range(2).selectExpr(
        "CAST(CAST(reflect('java.lang.Math', 'random') AS DOUBLE) * 10000 AS INT) AS n"
    )
    # An RDD whose size Spark does not know.
    frame = spark.createDataFrame(numbers.rdd, "n INT")
    session.merge("t", frame, ["n"], update={"v": "'met'"}, insert={"n": "source.n", "v": "'lost'"})
    found = dict(session.sql("SELECT v, count(*) FROM t GROUP BY v").rows)
    assert found == {"old": 9998, "met": 2}


def test_a_source_is_computed_with_the_sessions_settings(session: hivesql.Session) -> None:
    """A map with a key given twice keeps the last value, as everywhere here."""
    session.sql(f"""
        CREATE TABLE raw (id INT, kv STRING) {ACID};
        INSERT INTO raw VALUES (1, 'a:1'), (1, 'a:1'), (2, 'b:2');
        CREATE TABLE t (id INT, v STRING) {ACID};
        INSERT INTO t VALUES (1, 'x');
        MERGE INTO t USING (
            SELECT id, str_to_map(concat_ws(',', collect_list(kv))) AS m FROM raw GROUP BY id) s
        ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET v = s.m['a']
        WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.m['b'])
    """)
    assert sorted(session.sql("SELECT * FROM t").rows) == [(1, "1"), (2, "2")]


def rows_read(session: hivesql.Session, spark: SparkSession, sql: str) -> int:
    """How many rows a statement's tasks get from readers of files."""
    context: Any = spark.sparkContext._jsc.sc()
    jvm: Any = spark._jvm
    none = spark.sparkContext._gateway.new_array(jvm.double, 0)

    def stages() -> dict[int, int]:
        context.listenerBus().waitUntilEmpty()
        found = context.statusStore().stageList(None, False, False, none, None)
        return {one.stageId(): one.inputRecords() for one in map(found.apply, range(found.size()))}

    # Spark forgets the oldest.
    before = max(stages(), default=-1)
    session.sql(sql)
    return sum(rows for stage, rows in stages().items() if stage > before)


def test_what_no_key_finds_is_not_read(tables: hivesql.Session, spark: SparkSession) -> None:
    merge = """MERGE INTO t USING (SELECT * FROM s WHERE n BETWEEN 100 AND 200) s ON t.n = s.n
        WHEN MATCHED THEN UPDATE SET v = 'new' WHEN NOT MATCHED THEN INSERT (n) VALUES (s.n)"""
    tables.sql(f"SET {FILTERED}=0")
    assert rows_read(tables, spark, merge) < 700
    tables.sql(f"SET {KEYS}=0")
    assert rows_read(tables, spark, merge) > 2900


@pytest.mark.parametrize("key", ["n", "l", "sm", "word", "dec", "day"])
def test_row_groups_and_files_that_hold_no_key_are_not_read(
    tables: hivesql.Session, spark: SparkSession, key: str
) -> None:
    # Texts are in another order than numbers, and so in all row groups.
    found = 571 + (3000 if key == "word" else 1000)
    merge = f"""MERGE INTO t USING (SELECT * FROM s WHERE n IN (103, 992, 4000)) s
        ON t.{key} = s.{key} WHEN MATCHED THEN UPDATE SET v = 'new'
        WHEN NOT MATCHED THEN INSERT (n) VALUES (s.n)"""
    tables.sql(f"SET {FILTERED}=-1")
    assert rows_read(tables, spark, merge) <= found
    assert tables.sql("SELECT count(*) FROM t WHERE v = 'new'").rows == [(2,)]


@pytest.mark.parametrize("key", ["n", "sm", "l", "d", "word", "c", "dec", "big", "day", "ts"])
@pytest.mark.parametrize("end", ["min", "max"])
def test_keys_that_are_an_end_of_a_row_group(tables: hivesql.Session, end: str, key: str) -> None:
    """They are found, although readers and statistics may compare values otherwise."""
    ends = [
        tables.sql(f"""SELECT {end}(named_struct('key', {key}, 'n', n)).n FROM t
            WHERE n >= {first} AND n < {last} AND {key} IS NOT NULL""").rows[0][0]
        for first, last in ((0, 1000), (1000, 2000), (2000, 2600), (2600, 3000))
    ]
    tables.sql(f"SET {FILTERED}=-1; CREATE TABLE ends ({COLUMNS}) {ACID}")
    chosen = f"(SELECT explode(array({', '.join(map(str, ends))})) AS i) q"
    tables.sql(f"INSERT INTO ends SELECT {values('i', repr('end'))} FROM {chosen}")
    tables.sql(f"""MERGE INTO t USING ends s ON t.{key} = s.{key}
        WHEN MATCHED THEN UPDATE SET v = 'met'
        WHEN NOT MATCHED THEN INSERT (v) VALUES ('missed')""")
    met = tables.sql("SELECT v, n FROM t WHERE v <> 'old'").rows
    assert sorted(met) == [("met", number) for number in sorted(ends)]


def test_files_that_are_left_out_are_closed(tables: hivesql.Session, spark: SparkSession) -> None:
    context: Any = spark.sparkContext
    for number in range(3):
        tables.sql(f"INSERT INTO t (n) VALUES ({10_000 + number})")
    home = tables.sql("DESCRIBE FORMATTED t").rows
    (place,) = [str(row[1]) for row in home if str(row[0]).startswith("Location")]
    assert tables.sql("SELECT n FROM t WHERE n = -5").rows == []
    opened = Path(f"/proc/{context._gateway.proc.pid}/fd").iterdir()
    assert [str(file) for file in map(Path.readlink, opened) if place in str(file)] == []


def test_keys_at_both_ends(tables: hivesql.Session, spark: SparkSession) -> None:
    merge = """MERGE INTO t USING (SELECT * FROM s WHERE n IN (103, 2903)) s ON t.n = s.n
        WHEN MATCHED THEN UPDATE SET v = 'new'"""
    tables.sql(f"SET {FILTERED}=-1")
    some = rows_read(tables, spark, merge)
    tables.sql(f"SET {LISTED}=0")
    # The row groups between them, but for the deleted rows.
    assert rows_read(tables, spark, merge) - some > 1500
    assert tables.sql("SELECT count(*) FROM t WHERE v = 'new'").rows == [(2,)]


def test_what_is_large_and_read_as_it_is_is_read_again(
    tables: hivesql.Session, spark: SparkSession
) -> None:
    tables.sql(f"SET {SOURCE}=1000")
    tables.sql("""MERGE INTO t USING s ON t.n = s.n WHEN MATCHED THEN DELETE
        WHEN NOT MATCHED THEN INSERT (n, v) VALUES (s.n, 'come')""")
    found = tables.sql("SELECT v, count(*) FROM t GROUP BY v").rows
    assert sorted(found) == [("come", 148), ("old", 2547)]


@pytest.mark.parametrize("most", [1_000_000, 0])
def test_two_rows_of_the_source_for_one_of_the_target(tables: hivesql.Session, most: int) -> None:
    tables.sql(f"SET {KEYS}={most}")
    with pytest.raises(hivesql.CardinalityViolation):
        tables.sql("""MERGE INTO t USING (SELECT n div 2 AS n FROM s UNION ALL SELECT 2) s
            ON t.n = s.n WHEN MATCHED THEN UPDATE SET v = 'new'
            WHEN NOT MATCHED THEN INSERT (n) VALUES (s.n)""")
    assert tables.sql("SELECT DISTINCT v FROM t").rows == [("old",)]


@pytest.mark.parametrize("layout", [
    "", "PARTITIONED BY (p STRING)",
    "PARTITIONED BY (p STRING) CLUSTERED BY (n) INTO 2 BUCKETS",
])  # fmt: skip
def test_matches_of_one_row_that_different_branches_take(
    session: hivesql.Session, layout: str
) -> None:
    p = ", p STRING" * (not layout)
    session.sql(f"""
        CREATE TABLE t (n INT, v STRING{p}) {layout} {ACID};
        INSERT INTO t VALUES (1, 'a', 'x'), (2, 'a', 'x'), (1, 'b', 'y'), (3, 'b', 'y')
    """)

    def merge(rows: str) -> None:
        session.sql(f"""
            MERGE INTO t USING (SELECT stack({rows.count(";") + 1}, {rows.replace(";", ",")})
                AS (n, op)) s
            ON t.n = s.n
            WHEN MATCHED AND s.op = 'delete' THEN DELETE
            WHEN MATCHED AND s.op = 'update' THEN UPDATE SET v = 'new'
            WHEN NOT MATCHED AND s.op = 'insert' THEN INSERT VALUES (s.n, 'come', 'z')
        """)

    for other in ("update", "delete", "nothing"):
        with pytest.raises(hivesql.CardinalityViolation, match=r"\[1, \d+, \d+"):
            merge(f"3, 'delete'; 2, 'delete'; 2, '{other}'")
    # Rows that match nothing, and rows of two partitions with one row number, are no violation.
    merge("1, 'update'; 3, 'nothing'; 7, 'insert'; 7, 'insert'; 8, 'nothing'")
    assert sorted(session.sql("SELECT n, v, p FROM t").rows) == [
        (1, "new", "x"), (1, "new", "y"), (2, "a", "x"), (3, "b", "y"), (7, "come", "z"),
        (7, "come", "z"),
    ]  # fmt: skip


@pytest.mark.parametrize(("source", "outcome"), [
    ("SELECT * FROM s", nullcontext()),
    ("SELECT n div 2 AS n FROM s UNION ALL SELECT 2", pytest.raises(hivesql.HiveSqlError)),
    ("SELECT CAST(assert_true(n < 3000) AS INT) AS n FROM s", pytest.raises(hivesql.HiveSqlError)),
])  # fmt: skip
def test_the_source_is_forgotten(
    tables: hivesql.Session, spark: SparkSession, source: str, outcome: AbstractContextManager[Any]
) -> None:
    context: Any = spark.sparkContext
    before = context._jsc.getPersistentRDDs().size()
    with outcome:
        tables.sql(f"MERGE INTO t USING ({source}) s ON t.n = s.n WHEN MATCHED THEN DELETE")
    assert context._jsc.getPersistentRDDs().size() == before


def test_an_unknown_column_of_the_condition(tables: hivesql.Session) -> None:
    with pytest.raises(hivesql.SemanticError, match="nope"):
        tables.sql("MERGE INTO t USING s ON t.n = s.nope WHEN MATCHED THEN DELETE")


@pytest.mark.parametrize("step", [1_000, 20_000], ids=["everywhere", "here and there"])
def test_few_rows_of_a_large_stripe(session: hivesql.Session, step: int) -> None:
    """Whether its rows are jumped to or read with all others, what Spark finds is found."""
    answers = []
    for name, most in (("alone", "5000"), ("by_spark", "0")):
        session.sql(f"""
            SET hivesql.local.source.max={most};
            CREATE TABLE {name} (id BIGINT, word STRING, dec DECIMAL(12,2), v STRING) {ACID};
            INSERT INTO {name} SELECT i, concat('w', i % 99), i / 100, 'old'
                FROM (SELECT posexplode(split(space(59999), ' ')) AS (i, x)) q;
            DELETE FROM {name} WHERE id % 7000 = 0
        """)
        values = ", ".join(f"({number}, 'v{number}')" for number in range(0, 70_000, step))
        session.sql(
            f"MERGE INTO {name} t USING (VALUES {values}) s (id, v) ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET v = s.v "
            "WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'new', 0, s.v)"
        )
        answers.append(session.sql(f"SELECT * FROM {name} WHERE v <> 'old' ORDER BY id").rows)
    assert answers[0] == answers[1]
    assert len(answers[0]) == len(range(0, 70_000, step))
