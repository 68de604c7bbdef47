"""Statements that differ in numbers alone run the same generated code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    import hivesql

pytestmark = pytest.mark.spark

VALUES = {
    "i int": ("-2147483647", "2147483647", "0"),
    "l bigint": ("-9223372036854775807L", "9223372036854775807L", "-1L"),
    "d date": ("date '0001-01-01'", "date '9999-12-31'", "date '1969-12-31'"),
    "t timestamp": (
        "timestamp '0001-01-01 00:00:00.000001'",
        "timestamp '9999-12-31 23:59:59.999999'",
        "timestamp '1969-06-01 12:00:00.5'",
    ),
}
ROWS = list(zip(*VALUES.values(), strict=True))
MOST = tuple(values[1] for values in VALUES.values())
CONDITIONS = (
    "i = {0} AND l = {1} AND d = {2} AND t = {3}",
    "i < {0} OR l < {1}",
    "d >= {2} AND t >= {3}",
    "{0} <=> i AND NOT t > {3}",
)


def compiled(spark: SparkSession) -> int:
    """How many classes Spark has generated so far."""
    metrics: Any = getattr(spark._jvm, "org.apache.spark.metrics.source.CodegenMetrics")
    return int(metrics.METRIC_COMPILATION_TIME().getCount())


def test_other_numbers_need_no_other_code(session: hivesql.Session, spark: SparkSession) -> None:
    # What is done without Spark generates nothing.
    session.sql("SET hivesql.local.max.bytes=0")
    session.sql(f"CREATE TABLE s ({', '.join(VALUES)}, n int) STORED AS ORC "
                "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
    rows = ", ".join(f"({', '.join(row)}, {n})" for n, row in enumerate(ROWS))
    session.sql(f"INSERT INTO s VALUES {rows}")
    session.sql("INSERT INTO s VALUES (null, null, null, null, null)")
    for condition in CONDITIONS:
        codes = []
        for row in ROWS:
            before = compiled(spark)
            wanted = condition.format(*row)
            found = [one.n for one in session.sql(f"SELECT n FROM s WHERE {wanted}").rows]
            codes.append(compiled(spark) - before)
            # What is read through an aggregate is compared with literals as they are.
            others = f"SELECT n FROM (SELECT DISTINCT * FROM s) x WHERE rand() >= 0 AND {wanted}"
            assert sorted(found) == sorted(one.n for one in session.sql(others).rows), wanted
        assert codes[1:] == [0, 0], condition
    codes = []
    for n, row in enumerate(ROWS):
        before = compiled(spark)
        session.sql(f"UPDATE s SET i = {row[0]}, l = {row[1]}, d = {row[2]}, t = {row[3]} "
                    f"WHERE n = {n} AND i <= {MOST[0]}")  # fmt: skip
        codes.append(compiled(spark) - before)
        equal = CONDITIONS[0].format(*row)
        assert [one.n for one in session.sql(f"SELECT n FROM s WHERE {equal}").rows] == [n]
    assert codes[1:] == [0, 0]
