"""Plain Spark's UPDATE, DELETE and MERGE: Hive's events of the rows that Spark has found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyorc
import pytest

import hivesql
from acid_files import EVENT, ExactTimes
from adoption import adopt
from plain_spark import rows_of_both
from tables import make_table, parsed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

_FIRST = 1 << 29
"""Of the bucket numbers that row ids have: the version; the statement id is in the last bits."""


def test_an_update_is_a_split_update(plain: SparkSession, empty: hivesql.Session) -> None:
    empty.sql(
        "CREATE TRANSACTIONAL TABLE t (id INT, n STRING, c CHAR(3)) PARTITIONED BY (p INT) "
        "STORED AS ORC; INSERT INTO t VALUES (1, 'a', 'x', 1), (2, 'b', 'y', 1), (3, 'c', 'z', 2);"
        "SET hive.typecheck.on.insert=false;"
        "INSERT INTO t PARTITION (p = '02') SELECT 4, 'd', 'w'"
    )
    plain.sql(
        "UPDATE acid.default.t SET n = (SELECT max(n) FROM acid.default.t), c = 'long', p = p "
        "WHERE upper(n) IN ('B', 'D')"
    )
    assert rows_of_both(plain, empty, "SELECT * FROM {} ORDER BY id", "t") == [
        (1, "a", "x  ", 1), (2, "d", "lon", 1), (3, "c", "z  ", 2), (4, "d", "lon", 2),
    ]  # fmt: skip
    found = empty.sql("SELECT id, ROW__ID.writeid, ROW__ID.bucketid FROM t ORDER BY id").rows
    assert [tuple(row) for row in found] == [
        (1, 1, _FIRST), (2, 3, _FIRST + 1), (3, 1, _FIRST), (4, 3, _FIRST + 1),
    ]  # fmt: skip
    assert empty.check("t") == ()


def test_times_that_nobody_assigns_to_keep_their_nanoseconds(
    plain: SparkSession, empty: hivesql.Session, tmp_path: Path
) -> None:
    exact = "2024-02-29 13:14:56.789012345"
    delta = tmp_path / "made" / "p=1" / "delta_0000001_0000001_0000"
    delta.mkdir(parents=True)
    event = EVENT.format("id:int,at:timestamp,l:array<timestamp>")
    seconds = (1709212496, 789012345)
    numbers = {pyorc.TypeKind.TIMESTAMP: ExactTimes}
    with (delta / "bucket_00000").open("wb") as file, pyorc.Writer(
        file, event, converters=numbers
    ) as writer:  # fmt: skip
        writer.writerows([(0, 1, _FIRST, i, 1, (i, seconds, [seconds])) for i in range(4)])
    columns = "id int, at timestamp, l array<timestamp>"
    made = make_table(tmp_path / "made", columns, partition_columns=parsed("p int"))
    adopt(empty, made, "t")
    empty.sql("MSCK REPAIR TABLE t; INSERT INTO t VALUES (9, NULL, NULL, 2)")
    plain.sql("UPDATE acid.default.t SET id = id + 10 WHERE id % 2 = 1 OR p = 2 AND upper(id) = 9")
    plain.sql(
        "MERGE INTO acid.default.t USING (SELECT 2 AS id) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET at = TIMESTAMP_NTZ '2020-01-01 00:00:00.5' "
        "WHEN NOT MATCHED BY SOURCE AND t.id = 11 THEN UPDATE SET p = p"
    )
    found = empty.sql("SELECT id, at FROM t ORDER BY id").rows
    assert [(row[0], str(row[1])) for row in found] == [
        (0, exact), (2, "2020-01-01 00:00:00.500000"), (11, exact), (13, exact), (19, "None"),
    ]  # fmt: skip


def test_a_delete_is_ours_where_it_may_be(
    plain: SparkSession, empty: hivesql.Session, tmp_path: Path
) -> None:
    empty.sql(
        "CREATE TRANSACTIONAL TABLE t (id INT, n STRING) STORED AS ORC;"
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, NULL), (5, 'e')"
    )
    for condition, left in (
        ("id = 1 OR n = 'x'", [2, 3, 4, 5]),
        ("n LIKE '%b'", [3, 4, 5]),
        ("id IN (SELECT max(id) FROM acid.default.t)", [3, 4]),
        ("n IS NULL", [3]),
        ("TRUE", []),
    ):
        plain.sql(f"DELETE FROM acid.default.t WHERE {condition}")
        rows = rows_of_both(plain, empty, "SELECT id FROM {} ORDER BY id", "t")
        assert [row[0] for row in rows] == left
    deltas = sorted(path.name for path in (tmp_path / "warehouse" / "t").glob("delete_delta*"))
    assert [name[:20] for name in deltas] == [f"delete_delta_000000{i}" for i in range(2, 7)]
    assert empty.check("t") == ()


def test_a_merge_has_all_of_its_clauses(plain: SparkSession, empty: hivesql.Session) -> None:
    empty.sql(
        "CREATE TRANSACTIONAL TABLE t (k INT, v STRING NOT NULL ENABLE) CLUSTERED BY (k) INTO 3 "
        "BUCKETS STORED AS ORC; INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')"
    )
    frame = plain.createDataFrame(
        [(1, "x"), (2, "gone"), (7, "new"), (8, "not")], "k int, v string"
    )
    frame.createOrReplaceTempView("source")
    plain.sql(
        """
        MERGE INTO acid.default.t AS t USING source AS s ON t.k = s.k
        WHEN MATCHED AND s.v = 'gone' THEN DELETE
        WHEN MATCHED THEN UPDATE SET v = concat(t.v, s.v)
        WHEN NOT MATCHED AND s.v = 'new' THEN INSERT *
        WHEN NOT MATCHED BY SOURCE AND t.k = 4 THEN UPDATE SET v = 'left'
        """
    )
    # Without other clauses it is an INSERT to Spark.
    plain.sql(
        "MERGE INTO acid.default.t AS t USING source AS s ON t.k = s.k AND t.v <> 'c' "
        "WHEN NOT MATCHED THEN INSERT (v, k) VALUES (s.v, s.k + 10)"
    )
    plain.catalog.dropTempView("source")
    rows = rows_of_both(plain, empty, "SELECT k, v FROM {} ORDER BY k", "t")
    assert rows == [(1, "ax"), (3, "c"), (4, "left"), (7, "new"), (12, "gone"), (18, "not")]
    ids = empty.sql("SELECT ROW__ID.writeid FROM t ORDER BY k").rows
    assert [row[0] for row in ids] == [2, 1, 2, 2, 3, 3]
    assert empty.check("t") == ()
