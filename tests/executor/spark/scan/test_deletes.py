"""Deleted rows go and no others, whatever the ids: compared with Python's sets."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acid_files import write_events
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.scan.scan import ScanRequest, scan
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile, FilesToRead
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.table import Column, Partition
from tables import make_table, property_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

RowKey = tuple[int, int, int, int]
"""Write id, bucket property, row number, place."""
PLAIN, OTHER = property_of(0), property_of(4095, 4095)
SMALL = {"stripe_size": 1 << 16, "row_index_stride": 1000}
"""Stripes and row groups that few rows fill."""
EDGES = [0, 1, 62, 63, 64, 127, 128, 2**31, 2**33 - 1]
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
        [(5, PLAIN, 63, 0), (5, PLAIN, 64, 0), (7, PLAIN, 64, 0), (5, PLAIN, 65, 0)],
    ),
    "buckets as version 1 wrote them": (
        [(3, b, n, 0) for b in (0, 1) for n in range(5)],
        [(3, 0, 3, 0), (3, 1, 0, 0)],
    ),
    "buckets of both versions": (
        [(3, b, n, 0) for b in (0, PLAIN) for n in range(5)],
        [(3, 0, 3, 0), (3, PLAIN, 4, 0)],
    ),
    "statement ids": (
        [(7, property_of(0, s), n, 0) for s in range(4) for n in range(3)],
        [(7, property_of(0, 2), n, 0) for n in range(3)],
    ),
    "far apart": (
        [(w, b, n, 0) for w in (1, 2**40) for b in (PLAIN, OTHER) for n in EDGES],
        [(1, PLAIN, 2**31, 0), (2**40, OTHER, 0, 0), (2**40, PLAIN, 64, 0)],
    ),
    "everything": ([(1, PLAIN, n, 0) for n in range(70)], [(1, PLAIN, n, 0) for n in range(70)]),
    "many row groups": (
        [(w, PLAIN, n, 0) for w in (1, 2) for n in range(30_000)],
        [(w, PLAIN, n, 0) for w in (1, 2) for n in range(0, 30_000, 7)],
    ),
    "few of many row groups": (
        [(1, PLAIN, n, 0) for n in range(100, 30_000)],
        [(1, PLAIN, n, 0) for n in (*range(50, 150), 999, 1000, 1001, *range(29_990, 40_000))],
    ),
}  # fmt: skip


def files_of(
    home: Path, name: str, keys: Iterable[RowKey], operation: int
) -> dict[int, tuple[str, int, int]]:
    """A file for each place: path below the place, bytes and bucket."""
    found = {}
    for place, group in groupby(sorted(keys, key=lambda key: key[3]), key=lambda key: key[3]):
        row = None if operation else (0, "x")
        events = [(operation, *key[:3], key[0], row) for key in sorted(group)]
        path = write_events(home / f"a={place}" / name, events, **SMALL)
        found[place] = (f"{name}/{path.name}", path.stat().st_size, 0)
    return found


def left(
    spark: SparkSession,
    home: Path,
    rows: Collection[RowKey],
    deleted: Iterable[Collection[RowKey]],
    *,
    words: int,
) -> set[RowKey]:
    """The rows that are left under some delete files, when ``words`` of deletes are kept whole."""
    partitioned = {"partition_columns": (Column.of("p", "int"),)}
    table = make_table(home, "a int, b string", **partitioned)
    data = files_of(home, "base_1", rows, 0)
    deletes = [files_of(home, f"delete_delta_2_2_{i}", keys, 2) for i, keys in enumerate(deleted)]
    parts = [
        PartitionFiles(
            partition=Partition(values=(str(place),), location=str(home / f"a={place}")),
            location=str(home / f"a={place}"),
            files=FilesToRead(
                (DataFile(*file),),
                tuple(DeleteFile(*found[place]) for found in deletes if place in found),
            ),
        )
        for place, file in data.items()
    ]
    request = ScanRequest(
        table=table,
        parts=parts,
        visible=ValidWriteIdList(2**41),
        files=LocalFiles(),
        with_row_id=True,
        broadcast_words=words,
    )
    found = scan(spark, request).rows.select("row__id.*", "p").collect()
    assert len(found) == len(set(found)), "no row comes twice"
    return {(row[0], row[1], row[2], row[3]) for row in found}


@pytest.mark.parametrize("words", [10**6, 0], ids=["kept whole", "by task"])
@pytest.mark.parametrize(("rows", "deleted"), ROWS.values(), ids=ROWS)
def test_exactly_the_deleted_rows_go(
    spark: SparkSession, tmp_path: Path, rows: list[RowKey], deleted: list[RowKey], words: int
) -> None:
    assert left(spark, tmp_path, rows, [deleted], words=words) == set(rows) - set(deleted)


@pytest.mark.parametrize("words", [10**6, 0], ids=["kept whole", "by task"])
def test_many_rows_at_random(spark: SparkSession, tmp_path: Path, words: int) -> None:
    chosen = random.Random(20241121)
    rows = {
        (
            chosen.choice([1, 2, 10_000_001, 10_000_002]),
            property_of(chosen.choice([0, 1, 4095]), chosen.choice([0, 1])),
            chosen.choice([chosen.randrange(300), chosen.randrange(2**25)]),
            chosen.randrange(3),
        )
        for _ in range(5000)
    }
    deleted = set(chosen.sample(sorted(rows), 1500)) | {(1, PLAIN, 10**9, 2)}
    files = [set(chosen.sample(sorted(deleted), 500)) for _ in range(2)]
    files.append(deleted - files[0])
    assert left(spark, tmp_path, rows, files, words=words) == rows - deleted
