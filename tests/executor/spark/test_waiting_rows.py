"""A query's rows on their way to the driver: in order, and never a large partition at once."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from hivesql_executor.spark.lines import arrow_batches

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("count", "partitions"), [(0, 2), (10, 3), (1_000_000, 1), (900_000, 3)])
def test_rows_come_in_order(spark: SparkSession, count: int, partitions: int) -> None:
    frame = spark.range(0, count, 1, partitions).selectExpr("id", "concat('row ', id) s")
    batches = arrow_batches(frame)
    assert batches is not None
    expected = 0
    for batch in batches:
        assert batch.column(0).to_pylist() == list(range(expected, expected + batch.num_rows))
        expected += batch.num_rows
    assert batch.column(1)[-1].as_py() == f"row {count - 1}" if count else expected == 0
    assert expected == count


@pytest.mark.parametrize("reads_all", [True, False])
def test_a_large_partition_waits_on_a_disk_until_nobody_wants_it(
    spark: SparkSession, reads_all: bool
) -> None:
    batches: Any = arrow_batches(spark.range(0, 2_000_000, 1, 1))
    next(batches)
    names = batches.gi_frame.f_locals
    waiting, attempt, count = names["waiting"], names["attempt"], names["count"]
    assert count > 3
    if reads_all:
        assert sum(batch.num_rows for batch in batches) < 2_000_000
    else:
        assert waiting.block(attempt, count - 1)
        batches.close()
    # Spark removes blocks in a thread of its own.
    while any(waiting.block(attempt, number) for number in range(count)):
        pass


def test_batches_of_wide_rows_are_short(spark: SparkSession) -> None:
    columns = [f"id + {i} AS c{i}" for i in range(2000)]
    batches = arrow_batches(spark.range(0, 250, 1, 1).selectExpr(*columns))
    assert batches is not None
    counts = [batch.num_rows for batch in batches]
    assert sum(counts) == 250 and max(counts) == 100
    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "10000"
