"""Files that Spark does not list again: their partitions, and what Spark thinks they weigh."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as f

import hivesql
from hivesql_executor.jvm import gateway

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def test_each_row_knows_its_partition_among_many(spark: SparkSession, tmp_path: Path) -> None:
    odd = {"1": "x/y=z", "2": "ü[*]?%41", "3": None, "4": "01"}
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", f"{tmp_path}/warehouse", spark=spark
    ) as session:
        session.sql(f"CREATE TABLE t (id int) PARTITIONED BY (p string, q int) {ACID}")
        for number in range(18):
            text = odd.get(str(number), f"plain {number}")
            value = "NULL" if text is None else f"'{text}'"
            session.sql(f"INSERT INTO t PARTITION (p, q) VALUES ({number}, {value}, {number % 2})")
        session.sql(f"ALTER TABLE t ADD PARTITION (p='far', q=7) LOCATION '{tmp_path}/far'")
        session.sql("INSERT INTO t PARTITION (p='far', q=7) VALUES (18)")
        session.sql("DELETE FROM t WHERE id IN (4, 18)")
        session.sql("UPDATE t SET id = id + 100 WHERE id < 4")
        found = {row[0] % 100: tuple(row)[1:] for row in session.sql("SELECT * FROM t").rows}
    odd["3"] = "__HIVE_DEFAULT_PARTITION__"
    expected = {i: (odd.get(str(i), f"plain {i}"), i % 2) for i in range(18) if i != 4}
    assert found == expected


def test_narrow_reads_weigh_less_than_whole_files(spark: SparkSession, tmp_path: Path) -> None:
    """As much as the rows take in memory, or half: what looks small is sent to all tasks."""
    columns = ", ".join(f"c{i} bigint" for i in range(40))

    def bytes_of(frame: Any) -> int:
        return int(str(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))

    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", f"{tmp_path}/warehouse", spark=spark
    ) as session:
        session.sql(f"CREATE TABLE t ({columns}) {ACID}")
        session.sql(f"INSERT INTO t SELECT {', '.join(f'{i} + x' for i in range(40))} FROM "
                    "(SELECT posexplode(split(space(99), ' ')) AS (x, blank)) n")  # fmt: skip
        narrow = session.sql("SELECT c7 FROM t", consume=bytes_of).value
        wide = session.sql("SELECT * FROM t", consume=bytes_of).value
        session.sql("DELETE FROM t WHERE c0 = 7")
        after = session.sql("SELECT c7 FROM t", consume=bytes_of).value
    # Numbers that follow each other are next to nothing in a file.
    assert narrow == after == 100 * (8 + 8) / 2
    assert 100 * (8 + 40 * 8) / 2 <= wide <= 100 * (8 + 40 * 8)


def test_tasks_share_the_long_files_and_the_short_ones(spark: SparkSession, tmp_path: Path) -> None:
    """A task that got all the bases would work long after that of the deltas has ended."""

    def rows_of_tasks(frame: Any) -> list[int]:
        by_task = frame.groupBy(f.spark_partition_id()).count()
        return [row["count"] for row in by_task.collect()]

    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", f"{tmp_path}/warehouse", spark=spark
    ) as session:
        session.sql(f"CREATE TABLE t (id int) PARTITIONED BY (p int) {ACID}")
        session.sql("INSERT INTO t PARTITION (p) SELECT x, x % 8 FROM "
                    "(SELECT posexplode(split(space(39999), ' ')) AS (x, blank)) n")  # fmt: skip
        for number in range(6):
            few = ", ".join(f"({number}, {p})" for p in range(8))
            session.sql(f"INSERT INTO t PARTITION (p) VALUES {few}")
        shares = session.sql("SELECT * FROM t", consume=rows_of_tasks).value
    assert sum(shares) == 40_048
    assert len(shares) > 1
    assert max(shares) < 1.5 * sum(shares) / len(shares)


@pytest.mark.parametrize("kind", ["orc", "parquet"])
def test_plain_files_weigh_what_their_rows_do(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    """Numbers that follow each other are a hundredth of that in a file."""
    spark.range(100_000).write.format(kind).save(str(tmp_path / kind))
    rows = spark.read.format(kind).load(str(tmp_path / kind))
    assert gateway(spark).bytesRead(rows._jdf) == 100_000 * (8 + 8)
    some = rows.where("id % 2 = 0")
    # Only where a condition chooses from each table few may be left.
    assert gateway(spark).rowsFiltered(some.unionAll(rows.where("id = 1"))._jdf) == 200_000
    assert gateway(spark).rowsFiltered(some.unionAll(rows)._jdf) > 2**62
    assert sum(file.stat().st_size for file in (tmp_path / kind).glob("part-*")) < 500_000
