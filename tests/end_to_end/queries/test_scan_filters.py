"""Tasks that apply a filter before they decode other columns read and change the same rows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

import hivesql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROWS = 45_000
SETTING = "hivesql.scan.filter.min"
COLUMNS = """
  n INT, b BOOLEAN, ty TINYINT, sm SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, word STRING,
  text STRING, c CHAR(6), vc VARCHAR(9), dec DECIMAL(10,2), big DECIMAL(30,6), day DATE,
  ts TIMESTAMP, bin BINARY, a ARRAY<INT>, m MAP<STRING,BIGINT>, st STRUCT<x:INT,y:STRING,z:DOUBLE>
"""


def any_of(number: str, salt: int, most: int) -> str:
    """One of so many numbers, always the same for one number."""
    return f"CAST(pmod(crc32(concat(CAST({number} AS STRING), ':{salt}')), {most}) AS INT)"


def some(value: str, salt: int) -> str:
    """A value with NULLs: scattered ones, runs of them, whole row groups."""
    nulls = (any_of("n", salt, 9), any_of("n div 700", salt, 6), any_of("n div 5000", salt, 5))
    return f"if({' OR '.join(f'{one} = 0' for one in nulls)}, NULL, {value})"


VALUES = (
    "n",
    some(f"{any_of('n', 1, 3)} = 0", 1),
    some(f"CAST({any_of('n', 2, 256)} - 128 AS TINYINT)", 2),
    some("CAST(n div 300 AS SMALLINT)", 3),
    some(f"{any_of('n', 4, 1000)}", 4),
    some("CAST(n AS BIGINT) * 7919 * 104729 - 5000000000", 5),
    some(f"CAST({any_of('n', 6, 50)} / 4.0D AS FLOAT)", 6),
    some("n / 7.0D", 7),
    some(f"concat('word ', {any_of('n', 8, 40)})", 8),
    some("concat(md5(CAST(n AS STRING)), repeat('ü', pmod(n, 5)))", 9),
    some(f"concat('c', {any_of('n', 10, 900)})", 10),
    some(f"concat('v', {any_of('n', 11, 7)})", 11),
    some(f"CAST({any_of('n', 12, 200000)} / 100.0D AS DECIMAL(10,2))", 12),
    some("CAST(n AS DECIMAL(30,6)) * CAST(12345678901234567.25 AS DECIMAL(30,2)) / 1000", 13),
    some(f"date_add(DATE '1500-01-01', {any_of('n', 14, 200000)})", 14),
    some(f"CAST(concat(CAST(date_add(DATE '1570-01-01', {any_of('n', 15, 6250)}) AS STRING), "
         "' ', lpad(CAST(pmod(n, 24) AS STRING), 2, '0'), ':00:00.123456') AS TIMESTAMP)", 15),
    some("CAST(sha1(CAST(n AS STRING)) AS BINARY)", 16),
    some(f"array(n, {any_of('n', 17, 9)}, CAST(NULL AS INT))", 17),
    some(f"map('k', CAST(n AS BIGINT), 'j', CAST({any_of('n', 18, 9)} AS BIGINT))", 18),
    some(f"named_struct('x', {some('n', 19)}, 'y', {some('md5(CAST(n AS STRING))', 20)}, "
         "'z', n / 3.0D)", 21),
)  # fmt: skip
CONDITIONS = (
    "pmod(n, 100) = 7", "pmod(n, 10) = 3", "pmod(n, 2) = 1", "n >= 0", "n < 0",
    "abs(n - 44000) < 3", "abs(n - 20000) < 3 OR pmod(n, 9001) = 5", "n BETWEEN 12345 AND 12360",
    "b", "NOT b AND pmod(n, 37) = 1", "ty = 5", "sm = 77", "i = 500", "i IS NULL AND ty < -100",
    "i NOT IN (1, 2, 3) AND pmod(n, 50) = 0", "l % 97 = 5", "f = 3.25", "d > 6000 AND d < 6010",
    "word = 'word 7'", "word LIKE '%9' AND n % 5 = 0", "length(text) = 34", "text < '02'",
    "c = 'c77'", "vc = 'v3' AND c LIKE 'c1%'", "dec = 12.34", "dec > 1990", "big < 2000000000",
    "day < DATE '1503-01-01'", "year(day) = 1582", "ts < TIMESTAMP '1570-03-01 00:00:00'",
    "hour(ts) = 3 AND pmod(n, 11) = 4", "bin > CAST('f9' AS BINARY)", "a[1] = 3 AND pmod(n, 7) = 0",
    "m['j'] = 4 AND i < 100", "st.x % 301 = 4", "st.y LIKE 'ab%'", "st IS NULL AND ty > 120",
    "size(a) = 3 AND st.z < 50", "coalesce(i, 3) = 3", "row__id.rowid % 501 = 6",
    "row__id.writeid = 2 AND pmod(n, 91) = 0", "added IS NULL AND pmod(n, 203) = 3",
    "added = 1 OR i = 11", "1 / (i - 500) > 0.3", "CAST(word AS INT) IS NULL AND i = 77",
)  # fmt: skip


@pytest.fixture(scope="module")
def session(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[hivesql.Session]:
    """Tables v (as it was inserted) and w (with rows changed since), both in many row groups."""
    place = tmp_path_factory.mktemp("filters")
    with hivesql.connect(
        f"sqlite:///{place}/metastore.db",
        f"{place}/warehouse",
        spark=spark,
        settings={"hivesql.local.max.bytes": "0"},
    ) as session:
        make(session, "v", ROWS)
        create(session, "w")
        session.sql("INSERT INTO w SELECT * FROM v")
        session.sql(f"INSERT INTO w SELECT {', '.join(VALUES)} FROM "
                    f"(SELECT n + {ROWS} AS n FROM v WHERE n < 20000) x")  # fmt: skip
        session.sql("DELETE FROM w WHERE pmod(n, 10) = 4 OR n BETWEEN 30000 AND 34999")
        session.sql("UPDATE w SET word = 'changed', d = NULL WHERE pmod(n, 40) = 9")
        for name in ("v", "w"):
            session.sql(f"ALTER TABLE {name} ADD COLUMNS (added INT)")
        session.sql("UPDATE w SET added = 1 WHERE pmod(n, 400) = 11")
        yield session


def create(session: hivesql.Session, name: str) -> None:
    session.sql(f"CREATE TABLE {name} ({COLUMNS}) STORED AS ORC TBLPROPERTIES "
                "('transactional'='true', 'orc.stripe.size'='400000', "
                "'orc.row.index.stride'='1000')")  # fmt: skip


def make(session: hivesql.Session, name: str, rows: int) -> None:
    create(session, name)
    numbers = f"SELECT posexplode(split(space({rows - 1}), ' ')) AS (n, nothing)"
    session.sql(f"INSERT INTO {name} SELECT {', '.join(VALUES)} FROM ({numbers}) x")


def found(session: hivesql.Session, least: int, query: str) -> list[str]:
    """Rows as texts that Spark makes of them: values of Python take longer than the scan."""
    session.sql(f"SET {SETTING}={least}")
    rows = session.frame(query).selectExpr("CAST(struct(*) AS STRING)").collect()
    return sorted(str(row[0]) for row in rows)


def same(session: hivesql.Session, query: str) -> int:
    """How many rows a query gives, of tasks that filter and of others."""
    expected = found(session, -1, query)
    assert found(session, 0, query) == expected, query
    return len(expected)


def sums(session: hivesql.Session, table: str, conditions: Sequence[str]) -> list[tuple[int, int]]:
    """How many rows each condition holds for, and the sum of their hashes: all from one scan."""
    session.sql(f"SET {SETTING}=-1")
    frame = session.frame(
        f"SELECT row__id, *, array({', '.join(conditions)}) AS holds FROM {table}"
    )
    hashed = frame.selectExpr("holds", f"{hash_of(frame.columns[:-1])} AS hash")
    columns = [f"struct(count_if(holds[{i}]), coalesce(sum(if(holds[{i}], hash, 0)), 0))"
               for i in range(len(conditions))]  # fmt: skip
    (row,) = hashed.selectExpr(*columns).collect()
    return [tuple(one) for one in row]


def hash_of(columns: Sequence[str]) -> str:
    return f"xxhash64(CAST(struct({', '.join(columns)}) AS STRING))"


@pytest.mark.parametrize("table", ["v", "w"])
def test_all_columns_of_rows_that_pass(session: hivesql.Session, table: str) -> None:
    conditions = CONDITIONS if table == "w" else CONDITIONS[::3]
    expected = sums(session, table, conditions)
    session.sql(f"SET {SETTING}=0")
    for condition, wanted in zip(conditions, expected, strict=True):
        query = f"SELECT row__id, * FROM {table} WHERE {condition}"
        hashes = session.frame(query).selectExpr(f"{hash_of('*')} AS hash")
        (row,) = hashes.selectExpr("count(*)", "coalesce(sum(hash), 0)").collect()
        assert tuple(row) == wanted, (query, same(session, query))
    assert sum(count > 0 for count, _ in expected) >= len(conditions) - 6


def test_some_columns_under_any_conditions(session: hivesql.Session) -> None:
    chance = random.Random(20261122)
    names = [line.split()[0] for line in COLUMNS.replace("<", " ").split(",") if line.strip()]
    names = [name for name in names if name in COLUMNS.split()]
    for _ in range(15):
        conditions = chance.sample(CONDITIONS, chance.randint(1, 3))
        where = chance.choice((" AND ", " OR ")).join(f"({one})" for one in conditions)
        columns = ", ".join(chance.sample(names, chance.randint(1, 5)))
        same(session, f"SELECT {columns} FROM {chance.choice('vw')} WHERE {where}")


def test_scans_of_one_table_under_different_conditions(session: hivesql.Session) -> None:
    same(
        session,
        "SELECT (SELECT sum(i) FROM w WHERE l % 97 = 5), "
        "(SELECT sum(i) FROM w WHERE l % 89 = 5), (SELECT max(text) FROM w WHERE l % 97 = 5)",
    )
    same(session, "SELECT x.n, y.word FROM w x JOIN v y ON x.n = y.n "
                  "WHERE x.l % 97 = 5 AND y.st.x % 3 = 1")  # fmt: skip
    same(
        session, "SELECT n, d FROM w WHERE l % 97 = 5 UNION ALL SELECT n, d FROM w WHERE l % 89 = 5"
    )


def test_what_raises_raises_where_spark_comes_to_it(session: hivesql.Session) -> None:
    for least in (-1, 0):
        # Rows that are deleted, and those that what stands before leaves out, are not asked.
        fine = "pmod(n, 10) <> 4 OR assert_true(pmod(n, 10) <> 4) IS NULL"
        rows = found(session, least, f"SELECT text FROM w WHERE ({fine}) AND pmod(n, 100) = 15")
        assert rows
        alive = "assert_true(pmod(n, 10) <> 4) IS NULL AND pmod(n, 100) = 15"
        assert found(session, least, f"SELECT text FROM w WHERE {alive}") == rows
        with pytest.raises(hivesql.HiveSqlError, match="is not true"):
            session.sql("SELECT text FROM v WHERE assert_true(n < 44000) IS NULL")


def test_changes(session: hivesql.Session) -> None:
    for least in (-1, 0):
        session.sql(f"SET {SETTING}=-1")
        name = f"changed{'' if least else '0'}"
        make(session, name, ROWS // 3)
        session.sql(f"SET {SETTING}={least}")
        session.sql(f"UPDATE {name} SET i = i + 1 WHERE pmod(n, 100) = 7")
        session.sql(f"DELETE FROM {name} WHERE pmod(n, 100) = 8 OR text < '02'")
        session.sql(f"UPDATE {name} SET word = text, st = NULL WHERE dec < 30 OR word = 'word 3'")
        session.sql(f"MERGE INTO {name} t USING (SELECT n, d FROM v WHERE pmod(n, 50) = 1) s "
                    "ON t.n = s.n AND t.ty > 0 WHEN MATCHED AND t.i < 300 THEN DELETE "
                    "WHEN MATCHED THEN UPDATE SET d = s.d + 1 "
                    "WHEN NOT MATCHED THEN INSERT (n, d) VALUES (s.n, s.d)")  # fmt: skip
    # Where rows are shuffled, which of the new ones comes first is left to chance.
    columns = "n, i, text, word, st, d, ty, dec, ts, c"
    expected = found(session, -1, f"SELECT {columns} FROM changed")
    for least in (-1, 0):
        assert found(session, least, f"SELECT {columns} FROM changed0") == expected
