"""Which inserts gather the rows of a partition, and how many files they write."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as f

from acid_files import bucket_files, check_file
from hivesql_executor.spark.write.partition_clustering import gathered
from hivesql_executor.spark.write.write import shuffled_to
from tables import make_table, numbers, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KINDS: dict[str, dict[str, Any]] = {
    "full ACID": {},
    "ACID buckets": {"bucket_columns": ("a",), "bucket_count": 2},
    "insert-only": {
        "properties": {"transactional": "true", "transactional_properties": "insert_only"}
    },
    "insert-only buckets": {
        "properties": {"transactional": "true", "transactional_properties": "insert_only"},
        "bucket_columns": ("a",),
        "bucket_count": 2,
    },
    "plain": {"properties": {}},
}


@pytest.fixture
def small_shares(spark: SparkSession) -> Iterator[None]:
    """A task for every few kilobytes that are shuffled."""
    sizes = {
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "4k",
        "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1k",
        "spark.sql.shuffle.partitions": "64",
    }
    before = {key: spark.conf.get(key, None) for key in sizes}
    for key, value in sizes.items():
        spark.conf.set(key, value)
    yield
    for key, old in before.items():
        spark.conf.unset(key) if old is None else spark.conf.set(key, old)


@pytest.mark.parametrize("kind", KINDS)
def test_a_partition_of_many_is_written_by_one_task(
    insert: Any, spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    table = make_table(tmp_path, partition_columns=parsed("k string"), **KINDS[kind])
    rows = numbers(spark, 400, 4, "cast(id % 40 as string)")
    written = insert(table, rows, dynamic=["k"], gathering=0)
    assert sum(file.rows for file in written) == 400
    # Four tasks have rows of each partition; only buckets may make several files of one.
    assert set(Counter(file.partition for file in written).values()) <= {1, table.bucket_count}


def test_a_large_partition_is_written_by_several(
    insert: Any, spark: SparkSession, small_shares: None, tmp_path: Path
) -> None:
    table = make_table(tmp_path, partition_columns=parsed("k string"))
    rows = numbers(spark, 20_000, 4, "if(id % 10 = 0, cast(id % 100 as string), 'most')")
    written = insert(table, rows, dynamic=["k"], gathering=1)
    files = Counter(file.partition for file in written)
    assert files.pop("k=most") > 1
    # Those that share their place in the shuffle with it are cut with it.
    assert 1 in files.values()
    found = [event for path in bucket_files(tmp_path) for event in check_file(path)]
    assert sorted(event[5][0] for event in found) == list(range(20_000))
    by_file = Counter(file.path for file in written)
    assert set(by_file.values()) == {1}


@pytest.mark.parametrize(
    ("query", "threshold", "gathers"),
    [
        ("select id % 5 as k from n", 0, False),
        ("select id % 5 as k from n", 4, True),
        ("select id % 5 as k from n", 5, False),
        ("select id % 5 as k from n", 1, True),
        ("select id % 100 as k from n", 0, True),
        ("select id % 100 as k from n", 100, False),
        ("select id % 100 as k from n", -1, False),
        ("select id % 5 as k from n where id > 3", 0, True),
        ("select id % 5 as k from n union all select 7", 0, False),
        ("select id % 100 as k from n distribute by k", 1, False),
        ("select id % 100 as k from n order by k", 1, False),
    ],
)
def test_first_rows_tell(spark: SparkSession, query: str, threshold: int, gathers: bool) -> None:
    numbers(spark, 1000, 2).selectExpr("x as id").createOrReplaceTempView("n")
    try:
        plan = gathered(spark.sql(query), ["`k`"], threshold)._jdf.queryExecution().analyzed()
    finally:
        # Other tests in this Spark want to see no view that is not theirs.
        spark.catalog.dropTempView("n")
    assert ("rebalance" in plan.toString().lower()) is gathers


@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_rows_are_shuffled_to_the_partition_of_their_number(
    spark: SparkSession, count: int
) -> None:
    rows = shuffled_to(spark.range(-300, 300), count, "cast(id as int)")
    assert rows.rdd.getNumPartitions() == count
    where = rows.select("id", f.spark_partition_id()).collect()
    assert {place for _, place in where} == set(range(count))
    assert all(number % count == place for number, place in where)
