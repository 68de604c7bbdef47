"""Updates, deletes and merges written by Spark, checked file by file without it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acid_files import bucket_files, check_file, events
from hivesql_planner.acid.row_id import decode_bucket
from hivesql_planner.plan import WriteKind
from tables import make_table, operators, parsed, property_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


UPDATE = [(WriteKind.DELETE_DELTA, 0), (WriteKind.DELTA, 1)]


def updated(spark: SparkSession, count: int, partitions: int, *more: str) -> Any:
    """An update of every row of three writers and two write ids, in no order."""
    rows = spark.range(count).selectExpr(
        "named_struct('writeid', 1 + id % 2, 'bucketid', cast(536870912 + 65536 * (id % 3) as int),"
        " 'rowid', id) as row__id",
        "named_struct('a', cast(nullif(id, -1) as int), 'b', concat('s', nullif(id, -1))) as new",
        *more,
    )
    keys = [f"p{i}" for i in range(len(more))]
    return rows.repartition(partitions, "row__id").selectExpr(
        "row__id", *keys, "stack(2, 0, cast(null as struct<a:int,b:string>), 1, new) "
        "as (branch, row)"
    )  # fmt: skip


@pytest.mark.parametrize("partitioned", [False, True])
def test_update_keeps_writers_and_sorts_deletes(
    change: Any, spark: SparkSession, tmp_path: Path, partitions: int, partitioned: bool
) -> None:
    keys = parsed("k string") if partitioned else ()
    table = make_table(tmp_path, partition_columns=keys)
    more = ["if(id % 5 = 0, 'a/b', 'c') as p0"] if partitioned else []
    written = change(table, updated(spark, 3000, partitions, *more), UPDATE)
    homes = [tmp_path / "k=a%2Fb", tmp_path / "k=c"] if partitioned else [tmp_path]
    assert len(written) == 6 * len(homes)
    for home in homes:
        for writer in range(3):
            deletes = check_file(home / f"delete_delta_0000009_0000009_0000/bucket_{writer:05d}")
            inserts = check_file(home / f"delta_0000009_0000009_0001/bucket_{writer:05d}")
            assert {event[2] for event in deletes} == {property_of(writer)}
            assert {event[2] for event in inserts} == {property_of(writer, 1)}
            assert [event[3] for event in inserts] == list(range(len(inserts)))
            assert {event[3] for event in deletes} == {event[5][0] for event in inserts}
    assert sum(file.rows for file in written if file.kind is WriteKind.DELTA) == 3000
    assert sum(file.rows for file in written if file.kind is WriteKind.DELETE_DELTA) == 3000


def test_merge_of_four_branches(change: Any, tmp_path: Path, partitions: int) -> None:
    table = make_table(tmp_path)
    old = property_of(1)
    rows = [
        (0, (1, old, 5), None),
        (0, (1, old, 2), None),
        (1, (1, property_of(0), 0), None),
        (2, (1, property_of(0), 0), (1, "new")),
        (3, None, (2, "x")),
        (3, None, (3, "y")),
    ]
    delete, delta = WriteKind.DELETE_DELTA, WriteKind.DELTA
    written = change(table, rows, [(delete, 0), (delete, 1), (delta, 2), (delta, 3)])
    found = {}
    for file in written:
        path = Path(file.path)
        assert file.rows == len(check_file(path))
        found.setdefault(path.parent.name, []).extend(events(path))
    assert found["delete_delta_0000009_0000009_0000"] == [
        (2, 1, old, 2, 9, None),
        (2, 1, old, 5, 9, None),
    ]
    assert found["delete_delta_0000009_0000009_0001"] == [(2, 1, property_of(0), 0, 9, None)]
    assert found["delta_0000009_0000009_0002"] == [(0, 9, property_of(0, 2), 0, 9, (1, "new"))]
    inserted = found["delta_0000009_0000009_0003"]
    assert sorted(event[5] for event in inserted) == [(2, "x"), (3, "y")]
    writers = {decode_bucket(event[2]).bucket for event in inserted}
    assert writers <= set(range(partitions))


def test_a_row_of_two_writes(
    change: Any, spark: SparkSession, tmp_path: Path, partitions: int
) -> None:
    """An update's rows come once; beside them rows of a branch that only deletes."""
    table = make_table(tmp_path, partition_columns=parsed("k string"))
    rows = spark.range(3000).selectExpr(
        "if(id % 10 = 0, 1, 0) as branch",
        "named_struct('writeid', 1 + id % 2, 'bucketid', cast(536870912 + 65536 * (id % 3) as int),"
        " 'rowid', id) as row__id",
        "if(id % 10 = 0, null, named_struct('a', cast(id as int), 'b', concat('s', id))) as row",
        "if(id % 7 = 0, 'x', 'y') as p0",
    ).repartition(partitions, "row__id")  # fmt: skip
    delete, delta = WriteKind.DELETE_DELTA, WriteKind.DELTA
    written = change(
        table, rows, [(delete, 0), (delete, 1), (delta, 2)], branches=[(0, 2), (1,)]
    )  # fmt: skip
    assert len(written) == 3 * 3 * 2
    seen = []
    for key in "xy":
        for writer in range(3):
            name = f"bucket_{writer:05d}"
            home = tmp_path / f"k={key}"
            updated = check_file(home / "delete_delta_0000009_0000009_0000" / name)
            deleted = check_file(home / "delete_delta_0000009_0000009_0001" / name)
            inserted = check_file(home / "delta_0000009_0000009_0002" / name)
            # The new rows are in the order of the old ones.
            assert [event[3] for event in updated] == [event[5][0] for event in inserted]
            assert [event[3] for event in inserted] == list(range(len(inserted)))
            assert all(event[3] % 10 == 0 for event in deleted)
            seen += [event[3] for event in [*updated, *deleted]]
    assert sorted(seen) == list(range(3000))


def test_inserts_into_buckets_follow_the_hash(change: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path, bucket_columns=("a",), bucket_count=4)
    rows = [(0, None, (i, "x")) for i in (0, 1, 2, 3, 42)]
    change(table, rows, [(WriteKind.DELTA, 0)])
    placed = {
        event[5][0]: int(path.name[-5:])
        for path in bucket_files(tmp_path)
        for event in check_file(path)
    }
    assert placed == {0: 1, 1: 1, 2: 0, 3: 2, 42: 3}


def test_delete_of_a_version_0_row(change: Any, tmp_path: Path) -> None:
    (file,) = change(make_table(tmp_path), [(0, (1, 3, 0), None)], [(WriteKind.DELETE_DELTA, 0)])
    assert file.path.endswith("/delete_delta_0000009_0000009_0000/bucket_00003")
    assert events(Path(file.path)) == [(2, 1, 3, 0, 9, None)]


def test_change_cuts_and_pads_text(change: Any, spark: SparkSession, tmp_path: Path) -> None:
    table = make_table(tmp_path, "a char(3), b varchar(2)")
    rows = spark.sql(
        "select 0 as branch, cast(null as struct<writeid:bigint,bucketid:int,rowid:bigint>) as "
        "row__id, named_struct('a', 'x', 'b', 'abc') as row"
    )
    (file,) = change(table, rows, [(WriteKind.DELTA, 0)])
    assert events(Path(file.path))[0][5] == ("x  ", "ab")


def test_change_of_nothing_writes_nothing(change: Any, tmp_path: Path) -> None:
    assert change(make_table(tmp_path), [], UPDATE) == ()
    assert list(tmp_path.iterdir()) == []


def test_events_are_shuffled_and_sorted_once(
    change: Any, spark: SparkSession, tmp_path: Path
) -> None:
    table = make_table(tmp_path, partition_columns=parsed("k string"))
    old = (1, property_of(0), 3)
    written = change(table, [(0, old, None, None), (1, old, (1, "x"), None)], UPDATE)
    assert operators(spark, "Sort", "Exchange", "Window") == ["Sort", "Exchange"]
    assert {file.partition for file in written} == {"k=__HIVE_DEFAULT_PARTITION__"}
