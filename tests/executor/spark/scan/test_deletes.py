"""Deleted rows go and no others, whatever the ids: compared with Python's sets."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from hivesql_executor.spark.scan.delete_filter import ID_COLUMNS, DeleteSet, without_deleted
from hivesql_executor.spark.scan.partition_columns import PLACE
from tables import property_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

RowKey = tuple[int, int, int, int]
"""Write id, bucket property, row number, place."""
SCHEMA = f"{ID_COLUMNS[0]} bigint, {ID_COLUMNS[1]} int, {ID_COLUMNS[2]} bigint, {PLACE} int"
KEY_NAMES = ("originalTransaction", "bucket", "rowId")
PLAIN, OTHER = property_of(0), property_of(4095, 4095)


def delete_set(
    spark: SparkSession, deleted: Collection[RowKey], *, known: bool = True, **given: Any
) -> DeleteSet:
    """The delete set that the footers of files with these events would tell."""
    ranges = {
        name: (min(key[i] for key in deleted), max(key[i] for key in deleted))
        for i, name in enumerate(KEY_NAMES)
    }
    fields: dict[str, Any] = {
        "events": spark.createDataFrame(sorted(deleted), SCHEMA),
        "ranges": ranges if known else None,
        "places": max(key[3] for key in deleted) + 1,
        "words": len(deleted),
    }
    return DeleteSet(**{**fields, **given})


def here(deleted: Collection[RowKey]) -> pa.Table:
    """Events that were read in this process."""
    types = (pa.int64(), pa.int32(), pa.int64(), pa.int32())
    columns = [pa.array(values, kind) for values, kind in zip(zip(*deleted, strict=True), types,
                                                              strict=True)]  # fmt: skip
    return pa.table(columns, names=[*ID_COLUMNS, PLACE])


def left(
    spark: SparkSession, rows: Collection[RowKey], deletes: DeleteSet, *, broadcast: bool = True
) -> set[RowKey]:
    frame = spark.createDataFrame(sorted(rows), SCHEMA)
    found = without_deleted(frame, deletes, broadcast_words=10**6 if broadcast else 0)
    assert found.columns == frame.columns
    collected = [tuple(row) for row in found.collect()]
    assert len(collected) == len(set(collected)), "no row comes twice"
    return set(collected)


EDGES = [0, 1, 62, 63, 64, 127, 128, 2**31, 2**33 - 1, 2**40]
ROWS: dict[str, tuple[list[RowKey], list[RowKey]]] = {
    "bits of a word": (
        [(1, PLAIN, n, 0) for n in range(200)],
        [(1, PLAIN, n, 0) for n in (0, 1, 63, 64, 65, 127, 128, 199)],
    ),
    "same number elsewhere": (
        [(w, b, 5, p) for w in (1, 2, 3) for b in (PLAIN, property_of(1)) for p in (0, 1)],
        [(2, PLAIN, 5, 0), (3, property_of(1), 5, 1)],
    ),
    "outside the ranges": (
        [(w, PLAIN, n, 0) for w in (1, 5, 9) for n in EDGES],
        [(5, PLAIN, 63, 0), (5, PLAIN, 64, 0)],
    ),
    "original files": (
        [(0, b, n, 0) for b in (0, 1) for n in range(5)],
        [(0, 0, 3, 0), (0, 1, 0, 0)],
    ),
    "statement ids": (
        [(7, property_of(0, s), n, 0) for s in range(4) for n in range(3)],
        [(7, property_of(0, 2), n, 0) for n in range(3)],
    ),
    "too wide for 62 bits": (
        [(w, b, n, 0) for w in (1, 2**40) for b in (PLAIN, OTHER) for n in EDGES],
        [(1, PLAIN, 2**40, 0), (2**40, OTHER, 0, 0), (2**40, PLAIN, 64, 0)],
    ),
    "exactly 62 bits": (
        [(w, b, n, 0) for w in (0, 2**20 - 1) for b in (0, 2**30) for n in (0, 2**17 - 1, 64)],
        [(2**20 - 1, 2**30, 2**17 - 1, 0), (0, 0, 0, 0)],
    ),
    "everything": ([(1, PLAIN, n, 0) for n in range(70)], [(1, PLAIN, n, 0) for n in range(70)]),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "deleted"), ROWS.values(), ids=ROWS)
def test_exactly_the_deleted_rows_go(
    spark: SparkSession, rows: list[RowKey], deleted: list[RowKey]
) -> None:
    expected = set(rows) - set(deleted)
    assert left(spark, rows, delete_set(spark, deleted)) == expected
    assert left(spark, rows, delete_set(spark, deleted), broadcast=False) == expected
    assert left(spark, rows, delete_set(spark, deleted, known=False)) == expected
    assert left(spark, rows, delete_set(spark, deleted, events=here(deleted))) == expected


def test_many_rows_at_random(spark: SparkSession) -> None:
    chosen = random.Random(20241121)
    rows = {
        (
            chosen.choice([1, 2, 10_000_001, 10_000_002]),
            property_of(chosen.choice([0, 1, 4095]), chosen.choice([0, 1])),
            chosen.choice([chosen.randrange(300), chosen.randrange(2**33)]),
            chosen.randrange(3),
        )
        for _ in range(5000)
    }
    deleted = set(chosen.sample(sorted(rows), 1500)) | {(1, PLAIN, 10**9, 2)}
    twice = spark.createDataFrame([*sorted(deleted), *sorted(deleted)], SCHEMA)
    for events in (twice, here([*sorted(deleted), *sorted(deleted)])):
        deletes = delete_set(spark, deleted, events=events)
        assert left(spark, rows, deletes) == rows - deleted


def test_ranges_too_wide_take_the_plain_join(spark: SparkSession) -> None:
    for name, join in (("bits of a word", "BroadcastHashJoin"),
                       ("too wide for 62 bits", "SortMergeJoin")):  # fmt: skip
        rows, deleted = ROWS[name]
        frame = spark.createDataFrame(sorted(rows), SCHEMA)
        alive = without_deleted(frame, delete_set(spark, deleted), broadcast_words=10**6)
        assert join in alive._jdf.queryExecution().executedPlan().toString()


def test_statistics_that_lie_bring_no_row_back(spark: SparkSession) -> None:
    rows, deleted = ROWS["outside the ranges"]
    lie = {"originalTransaction": (1, 1), "bucket": (PLAIN, PLAIN), "rowId": (0, 1)}
    deletes = delete_set(spark, deleted, ranges=lie)
    with pytest.raises(PySparkException, match="outside its file's statistics"):
        left(spark, rows, deletes)
