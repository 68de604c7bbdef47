"""Inserts written by Spark, checked file by file without it."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyorc
import pytest

from acid_files import bucket_files, check_file, events, tree
from hivesql_executor.files.hadoop import HadoopFiles
from hivesql_executor.orc.publish import Publication
from hivesql_executor.runtime import Runtime
from hivesql_executor.spark.write.write import stage_insert
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_planner.errors import ExecutionError
from hivesql_planner.model.table import parse_partition_name
from hivesql_planner.plan import Write, WriteKind
from tables import ACID, make_table, numbers, operators, parsed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_insert_makes_the_layout_of_hive(insert: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    written = insert(table, "select * from values (1, 'x'), (2, 'y'), (3, null)")
    assert set(tree(tmp_path / "t")) >= {
        "delta_0000001_0000001_0000/_orc_acid_version",
        "delta_0000001_0000001_0000/bucket_00000",
    }
    assert sum(file.rows for file in written) == 3
    for file in written:
        assert file.partition is None
        assert file.bytes == Path(file.path).stat().st_size
    assert not [name for name in tree(tmp_path) if "staging" in name or name.endswith(".crc")]
    rows = [event[5] for path in bucket_files(tmp_path) for event in check_file(path)]
    assert sorted(rows) == [(1, "x"), (2, "y"), (3, None)]


def test_statement_id_is_in_the_bucket_property(insert: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    (file,) = insert(table, "select 1, 'x'", statement_id=3, write_id=12)
    assert file.path == f"{tmp_path}/delta_0000012_0000012_0003/bucket_00000"
    assert events(Path(file.path)) == [(0, 12, 536870915, 0, 12, (1, "x"))]


def test_no_row_id_occurs_twice(
    insert: Any, spark: SparkSession, tmp_path: Path, partitions: int
) -> None:
    written = insert(make_table(tmp_path), numbers(spark, 1000, partitions))
    assert len(written) == partitions
    found = [event for path in bucket_files(tmp_path) for event in check_file(path)]
    assert len(found) == len({event[1:4] for event in found}) == 1000
    assert {event[5] for event in found} == {(i, f"s{i}") for i in range(1000)}


def test_bucketed_rows_lie_in_their_bucket(
    insert: Any, spark: SparkSession, tmp_path: Path, partitions: int
) -> None:
    table = make_table(tmp_path, bucket_columns=("a",), bucket_count=4)
    insert(table, numbers(spark, 1000, partitions))
    assert [path.name for path in bucket_files(tmp_path)] == [f"bucket_{n:05d}" for n in range(4)]
    places = {}
    for path in bucket_files(tmp_path):
        found = check_file(path)
        assert [event[3] for event in found] == list(range(len(found)))
        places.update({event[5][0]: int(path.name[-5:]) for event in found})
    assert len(places) == 1000
    # From Hive: 0 -> 1, 1 -> 1, 2 -> 0, 3 -> 2, 42 -> 3.
    assert [places[i] for i in (0, 1, 2, 3, 42)] == [1, 1, 0, 2, 3]


@pytest.mark.parametrize("bucketed", [False, True])
def test_dynamic_partitions(
    insert: Any, spark: SparkSession, tmp_path: Path, partitions: int, bucketed: bool
) -> None:
    buckets: dict[str, Any] = {"bucket_columns": ("a",), "bucket_count": 2} if bucketed else {}
    table = make_table(tmp_path, partition_columns=parsed("k string, n int"), **buckets)
    values = ["a/b=c", "100%", "x{y}", "a b", "é", "\t", "", None, "日本", "'q'", "a:b"]
    quoted = ", ".join("null" if v is None else "'" + v.replace("'", "\\'") + "'" for v in values)
    rows = numbers(
        spark, 660, partitions, f"array({quoted})[id % {len(values)}] as k", "id % 3 as n"
    )
    written = insert(table, rows, dynamic=["k", "n"])
    names = {file.partition for file in written}
    assert len(names) == 30  # '' and NULL share the default partition
    assert {"k=a%2Fb%3Dc/n=0", "k=100%25/n=1", "k=x%7By}/n=2", "k=%09/n=0"} <= names
    assert "k=__HIVE_DEFAULT_PARTITION__/n=0" in names
    rows_of: Counter[str] = Counter()
    for file in written:
        assert file.partition is not None
        assert file.path.startswith(f"{tmp_path}/{file.partition}/delta_0000001_0000001_0000/")
        found = check_file(Path(file.path))
        assert len(found) == file.rows
        rows_of[file.partition] += file.rows
        k, n = parse_partition_name(file.partition)
        for event in found:
            number = event[5][0]
            assert (values[number % len(values)] or None, str(number % 3)) == (k, n)
    assert sum(rows_of.values()) == 660
    assert rows_of["k=__HIVE_DEFAULT_PARTITION__/n=0"] == 40


def test_static_then_dynamic_partition(insert: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path, partition_columns=parsed("k string, d date"))
    written = insert(table, "select 1, 'x', date'2020-01-02'", static={"k": "a/b"}, dynamic=["d"])
    assert [file.partition for file in written] == ["k=a%2Fb/d=2020-01-02"]


def test_partition_that_lives_elsewhere(insert: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", partition_columns=parsed("k string"))
    elsewhere = str(tmp_path / "elsewhere")
    (file,) = insert(table, "select 1, 'x'", static={"k": "v"}, locations={"k=v": elsewhere})
    assert file.path == f"{elsewhere}/delta_0000001_0000001_0000/bucket_00000"
    assert file.partition == "k=v"


@pytest.mark.parametrize("bucketed", [False, True])
@pytest.mark.parametrize("static", [{}, {"k": "v"}])
def test_overwrite_with_no_rows_leaves_an_empty_base(
    insert: Any, tmp_path: Path, bucketed: bool, static: dict[str, str]
) -> None:
    buckets: dict[str, Any] = {"bucket_columns": ("a",), "bucket_count": 2} if bucketed else {}
    keys = parsed("k string") if static else ()
    table = make_table(tmp_path, partition_columns=keys, **buckets)
    written = insert(table, "select 1, 'x' where false", kind=WriteKind.BASE, static=static)
    home = tmp_path / "k=v" if static else tmp_path
    assert tree(home) == ["base_0000001/_orc_acid_version", "base_0000001/bucket_00000"]
    assert [file.rows for file in written] == [0]
    assert check_file(home / "base_0000001/bucket_00000") == []


def test_overwrite_writes_a_base(insert: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    (file,) = insert(table, "select 1, 'x'", kind=WriteKind.BASE, write_id=7)
    assert file.path == f"{tmp_path}/base_0000007/bucket_00000"
    check_file(Path(file.path))


@pytest.mark.parametrize("dynamic", [False, True])
def test_no_rows_make_no_directory(insert: Any, tmp_path: Path, dynamic: bool) -> None:
    keys = parsed("k string") if dynamic else ()
    table = make_table(tmp_path, partition_columns=keys)
    rows = "select 1, 'x', 'v' where false" if dynamic else "select 1, 'x' where false"
    assert insert(table, rows, dynamic=["k"] if dynamic else []) == ()
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_never_written_twice(insert: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    insert(table, "select 1, 'x'")
    before = (tmp_path / "delta_0000001_0000001_0000/bucket_00000").read_bytes()
    with pytest.raises(ExecutionError, match="has files of write 1, an id"):
        insert(table, "select 2, 'y'")
    assert (tmp_path / "delta_0000001_0000001_0000/bucket_00000").read_bytes() == before
    assert not list(tmp_path.glob(".hive-staging*"))


def test_staging_goes_when_the_job_fails(insert: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    with pytest.raises(Exception, match="boom"):
        insert(table, "select raise_error(concat('boom', id)), 'x' from range(2)")
    assert list(tmp_path.rglob("*")) == [], "nor the table's directory, which no catalog names"


def test_records_per_file_limit_is_not_ours(
    insert: Any, spark: SparkSession, tmp_path: Path
) -> None:
    spark.conf.set("spark.sql.files.maxRecordsPerFile", 10)
    try:
        insert(make_table(tmp_path), numbers(spark, 100, 1))
    finally:
        spark.conf.unset("spark.sql.files.maxRecordsPerFile")
    assert len(check_file(tmp_path / "delta_0000001_0000001_0000/bucket_00000")) == 100


@pytest.mark.parametrize("dynamic", [False, True])
def test_key_index_of_many_stripes(
    insert: Any, spark: SparkSession, tmp_path: Path, dynamic: bool
) -> None:
    properties = {**ACID, "orc.stripe.size": "1024", "orc.row.index.stride": "1000"}
    keys = parsed("k int") if dynamic else ()
    table = make_table(tmp_path, properties=properties, partition_columns=keys)
    more = ["id % 2"] if dynamic else []
    insert(table, numbers(spark, 40_000, 1, *more), dynamic=["k"] if dynamic else [])
    for path in bucket_files(tmp_path):
        check_file(path)
        with path.open("rb") as file:
            index = dict(pyorc.Reader(file).user_metadata)["hive.acid.key.index"]
        assert index.count(b";") > 1


@pytest.mark.parametrize("codec", ["NONE", "SNAPPY", "ZSTD", "ZLIB"])
def test_compression_of_the_table(insert: Any, tmp_path: Path, codec: str) -> None:
    table = make_table(tmp_path, properties={**ACID, "orc.compress": codec})
    (file,) = insert(table, "select 1, 'x'")
    assert check_file(Path(file.path))[0][5] == (1, "x")


def test_values_are_cast_cut_and_padded(insert: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path, "a tinyint, b char(3), c varchar(2), d decimal(4,1), e timestamp")
    (file,) = insert(table, "select 7L, 'é', 'abc', 1.25, '2020-01-01 10:00:00.5'")
    stamp = datetime.datetime(2020, 1, 1, 10, 0, 0, 500_000, tzinfo=datetime.timezone.utc)
    assert events(Path(file.path))[0][5] == (7, "é  ", "ab", Decimal("1.3"), stamp)


def test_an_insert_without_buckets_neither_sorts_nor_shuffles(
    insert: Any, spark: SparkSession, tmp_path: Path
) -> None:
    insert(make_table(tmp_path), numbers(spark, 10, 2))
    assert operators(spark, "Sort", "Exchange", "Window") == []


def test_dynamic_partitions_are_sorted_once(
    insert: Any, spark: SparkSession, tmp_path: Path
) -> None:
    table = make_table(tmp_path, partition_columns=parsed("k string"))
    insert(table, numbers(spark, 10, 2, "nullif(id % 2, 1)"), dynamic=["k"])
    assert operators(spark, "Sort", "Exchange", "Window") == ["Sort"]


def test_buckets_are_shuffled_and_sorted_once(
    insert: Any, spark: SparkSession, tmp_path: Path
) -> None:
    keys = parsed("k string")
    table = make_table(tmp_path, partition_columns=keys, bucket_columns=("a",), bucket_count=4)
    insert(table, numbers(spark, 10, 2, "nullif(id % 2, 1)"), dynamic=["k"])
    assert operators(spark, "Sort", "Exchange", "Window") == ["Sort", "Exchange"]


def test_writing_through_hadoop(spark: SparkSession, noting: Runtime, tmp_path: Path) -> None:
    table = make_table(tmp_path, location=f"file:{tmp_path}", partition_columns=parsed("k string"))
    publication = Publication(
        writes=(Write(kind=WriteKind.DELTA, table=table),),
        write_id=1,
        staging=f"{table.location}/.hive-staging_test",
        static_partition={},
        dynamic_partition=("k",),
        locations={},
        changes=FileChanges(noting, 0),
    )
    rows = spark.sql("select * from values (1, 'x', 'a/b'), (2, 'y', 'é')")
    staged = stage_insert(rows, publication, HadoopFiles(lambda: spark))
    assert {file.partition for file in staged.publish()} == {"k=a%2Fb", "k=é"}
    written = [event[5] for path in bucket_files(tmp_path) for event in check_file(path)]
    assert sorted(written) == [(1, "x"), (2, "y")]
    staged.discard()
    assert not list(tmp_path.glob(".hive-staging*"))
