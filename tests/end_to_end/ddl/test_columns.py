"""Event files read in columns: rows of every type, across batches, with rows deleted in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    import hivesql

pytestmark = pytest.mark.spark

COLUMNS = {
    "id": ("int", "i"),
    "b": ("boolean", "i % 2 = 0"),
    "t": ("tinyint", "cast(i % 100 as tinyint)"),
    "n": ("bigint", "nullif(i, i div 3 * 3) * 1000000000"),
    "f": ("float", "cast(i / 8 as float)"),
    "x": ("double", "if(i % 5 = 0, null, i / 7)"),
    "m": ("decimal(10,2)", "cast(if(i % 4 = 0, null, i / 100) as decimal(10,2))"),
    "w": ("decimal(18,6)", "cast((i - 4000) * 12345678.987654 as decimal(18,6))"),
    "l": ("decimal(38,9)", "cast(i * 1e20 as decimal(38,9))"),
    "s": ("string", "if(i % 6 = 0, null, concat('row ', i % 50))"),
    "c": ("char(4)", "cast(i % 1000 as string)"),
    "v": ("varchar(3)", "cast(i as varchar(3))"),
    "y": ("binary", "cast(cast(i as string) as binary)"),
    "d": ("date", "date_add('1400-01-01', i * 30)"),
    "ts": ("timestamp", "cast(date_add('2020-01-01', i % 9) as timestamp)"),
    "a": ("array<int>", "if(i % 9 = 0, null, array(i, null, i + 1))"),
    "p": ("map<string,int>", "map(concat('k', i % 3), i)"),
    "r": ("struct<a:int,b:array<string>>", "named_struct('a', i, 'b', array(cast(i as string)))"),
    "one": ("string", "'always'"),
}
COUNT = 9_300
DELETES = ("id % 3 = 1", "id BETWEEN 4090 AND 4100 OR id BETWEEN 5000 AND 9200", "id = 9299")
SOURCE = f"(SELECT posexplode(split(space({COUNT - 1}), ' ')) AS (i, blank)) numbers"


def rows_of(session: hivesql.Session, query: str) -> list[Any]:
    return list(session.sql(query).rows)


def test_rows_of_every_type_without_the_deleted(session: hivesql.Session) -> None:
    declared = ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
    session.sql(f"CREATE TABLE t ({declared}) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    values = ", ".join(
        f"{text} AS {name}" if "<" in kind else f"cast({text} AS {kind}) AS {name}"
        for name, (kind, text) in COLUMNS.items()
    )
    made = f"(SELECT {values} FROM {SOURCE}) made"
    session.sql(f"INSERT INTO t SELECT * FROM {made}")
    left = "true"
    for number in range(len(DELETES) + 1):
        assert rows_of(session, "SELECT * FROM t ORDER BY id") == rows_of(
            session, f"SELECT * FROM {made} WHERE {left} ORDER BY id"
        )
        for some in ("count(*)", "sum(r.a), max(r.b[0])", "count(s), sum(n), min(ts)"):
            query = f"SELECT {some} FROM {{}} WHERE {left} AND id % 2 = 0"
            assert rows_of(session, query.format("t")) == rows_of(session, query.format(made))
        if number < len(DELETES):
            session.sql(f"DELETE FROM t WHERE {DELETES[number]}")
            left += f" AND NOT ({DELETES[number]})"


def rows_read(frame: DataFrame) -> tuple[int, int]:
    """How many rows a query gives, and how many its only scan has read."""
    count = len(frame.collect())
    plan: Any = frame._jdf.queryExecution().executedPlan()
    return count, int(plan.collectLeaves().head().metrics().apply("numOutputRows").value())


def test_rows_far_from_a_looked_up_one_are_not_read(session: hivesql.Session) -> None:
    session.sql(
        "CREATE TABLE t (id INT, s STRING) STORED AS ORC "
        "TBLPROPERTIES ('transactional'='true', 'orc.row.index.stride'='1000')"
    )
    session.sql(f"INSERT INTO t SELECT i, 'x' FROM {SOURCE}")
    for query, count in (("id = 4321", 1), ("id = 4321 AND s IN ('y', NULL)", 0), ("id = -1", 0)):
        found, read = session.sql(f"SELECT * FROM t WHERE {query}", consume=rows_read).value
        assert found == count
        assert read <= 1000
    session.sql("DELETE FROM t WHERE id = 4321")
    assert session.sql("SELECT * FROM t WHERE id = 4321", consume=rows_read).value == (0, 999)


TIMES = ("2012-10-15 12:57:18.000396", "1960-01-01 00:00:00.5", "0001-01-01 00:00:00.000001",
         "1582-10-04 12:00:00")  # fmt: skip
OPERATORS = ("=", "<", "<=", ">", ">=", "<>", "<=>")
OTHERS = {
    "m": "1.50",
    "f": "cast(0.1 AS FLOAT)",
    "x": "0.1D",
    "s": "'ab'",
    "c": "'ab'",
    "v": "'ab'",
    "b": "true",
}


def test_no_file_is_skipped_that_has_a_row(session: hivesql.Session) -> None:
    """Each row has a file of its own, so that least and greatest values are the row's."""
    session.sql(
        "CREATE TABLE t (ts TIMESTAMP, d DATE, m DECIMAL(10,2), f FLOAT, x DOUBLE, s STRING, "
        "c CHAR(4), v VARCHAR(3), b BOOLEAN) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    )
    kept = "cast({0} AS DECIMAL(10,2)) m, cast({0} AS FLOAT) f, cast({0} AS DOUBLE) x"
    texts = "'ab' s, cast('ab' AS CHAR(4)) c, cast('ab' AS VARCHAR(3)) v, true b"
    rows = [
        f"SELECT TIMESTAMP '{time}' ts, DATE '{time[:10]}' d, {kept.format(number)}, {texts}"
        for time, number in zip(TIMES, ("1.5", "0.1", "-2", "0"), strict=True)
    ]
    for row in rows:
        session.sql(f"INSERT INTO t {row}")
    session.sql("INSERT INTO t VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
    made = f"({' UNION ALL '.join(rows)} UNION ALL SELECT {', '.join(['NULL'] * 9)}) made"
    literals = [("ts", f"TIMESTAMP '{one}'") for one in TIMES]
    literals += [("d", f"DATE '{one[:10]}'") for one in TIMES]
    literals += OTHERS.items()
    for operator in OPERATORS:
        conditions = [f"{column} {operator} {value}" for column, value in literals]
        answers = [
            [
                row[0]
                for row in session.sql(
                    " UNION ALL ".join(
                        f"SELECT count(*) FROM {table} WHERE {one}" for one in conditions
                    )
                ).rows
            ]
            for table in ("t", made)
        ]
        wrong = [
            one for one, ours, right in zip(conditions, *answers, strict=True) if ours != right
        ]
        assert wrong == []
        assert sum(answers[0]) > 0


TEXTS = ("a", "\uff0c", "\U0001f600")
"""An emoji comes after a wide comma, but the first of its two UTF-16 units comes before it."""


def test_no_file_is_skipped_by_texts_that_java_orders_otherwise(session: hivesql.Session) -> None:
    session.sql("CREATE TABLE t (s STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    for text in TEXTS:
        session.sql(f"INSERT INTO t VALUES ('{text}')")
    session.sql("SET hivesql.local.max.bytes=0")
    conditions = [f"s {operator} '{text}'" for operator in OPERATORS for text in TEXTS]
    conditions += [f"s IN ('b', '{text}')" for text in TEXTS]
    counts = ", ".join(f"(SELECT count(*) FROM {{0}} WHERE {one})" for one in conditions)
    made = f"(SELECT explode(array{TEXTS}) AS s) made"
    ours, right = (session.sql(f"SELECT {counts.format(one)}").rows[0] for one in ("t", made))
    assert [one for one in zip(conditions, ours, right, strict=True) if one[1] != one[2]] == []
