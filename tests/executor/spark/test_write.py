"""Inserts and changes written by Spark, checked file by file without it."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acid_files import bucket_files, check_file, events, tree
from hivesql_executor.spark.publish import WrittenFile
from hivesql_executor.spark.write import partition_text, write_change, write_insert
from hivesql_executor.storage.local import LocalFiles
from hivesql_planner.acid.row_id import decode_bucket
from hivesql_planner.errors import ExecutionError, NotSupported
from hivesql_planner.plan import Write, WriteKind
from hivesql_planner.table import Column, Table, TableName, parse_partition_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ACID = {"transactional": "true", "bucketing_version": "2"}
INSERT_ONLY = {**ACID, "transactional_properties": "insert_only"}


def make_table(root: Path, columns: str = "a int, b string", **fields: Any) -> Table:
    fields.setdefault("properties", ACID)
    return Table(
        name=TableName("default", "t"), columns=parsed(columns), location=str(root), **fields
    )


def parsed(columns: str) -> tuple[Column, ...]:
    return tuple(Column(*column.split(" ", 1)) for column in columns.split(", "))


@pytest.fixture
def insert(spark: SparkSession) -> Callable[..., tuple[WrittenFile, ...]]:
    def run(
        table: Table,
        rows: str | Any,
        *,
        kind: WriteKind = WriteKind.DELTA,
        statement_id: int = 0,
        write_id: int = 1,
        overwrite: bool = False,
        static: Mapping[str, str | None] | None = None,
        dynamic: Sequence[str] = (),
        locations: Mapping[str, str] | None = None,
    ) -> tuple[WrittenFile, ...]:
        write = Write(kind=kind, table=table, statement_id=statement_id, overwrite=overwrite)
        return write_insert(
            spark.sql(rows) if isinstance(rows, str) else rows,
            write,
            write_id=write_id,
            static_partition=static or {},
            dynamic_partition=dynamic,
            files=LocalFiles(),
            staging=f"{table.location}/.hive-staging_test",
            locations=locations or {},
        )

    return run


@pytest.fixture(params=[1, 2, 16])
def partitions(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[int]:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", request.param)
    yield request.param
    spark.conf.set("spark.sql.shuffle.partitions", before)


def numbers(spark: SparkSession, count: int, partitions: int, *more: str) -> Any:
    rows = spark.range(0, count, 1, partitions)
    return rows.selectExpr("cast(id as int) as x", "concat('s', id) as y", *more)


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
    with pytest.raises(ExecutionError, match="exists already"):
        insert(table, "select 2, 'y'")
    assert (tmp_path / "delta_0000001_0000001_0000/bucket_00000").read_bytes() == before
    assert not list(tmp_path.glob(".hive-staging*"))


def test_staging_goes_when_the_job_fails(insert: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    with pytest.raises(Exception, match="boom"):
        insert(table, "select raise_error(concat('boom', id)), 'x' from range(2)")
    assert list(tmp_path.iterdir()) == []


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
            import pyorc

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
    stamp = datetime.datetime(2020, 1, 1, 10, 0, 0, 500_000, tzinfo=datetime.UTC)
    assert events(Path(file.path))[0][5] == (7, "é  ", "ab", Decimal("1.3"), stamp)


@pytest.mark.parametrize(
    ("value", "hive_type", "text"),
    [
        ("true", "boolean", "true"),
        ("date'2020-01-02'", "date", "2020-01-02"),
        ("timestamp'2020-01-01 00:00:00'", "timestamp", "2020-01-01 00:00:00"),
        ("timestamp'2020-01-01 00:00:00.500'", "timestamp", "2020-01-01 00:00:00.5"),
        ("1D", "double", "1.0"),
        ("cast(1.5 as float)", "float", "1.5"),
        ("1.50", "decimal(5,2)", "1.5"),
        ("1.00", "decimal(5,2)", "1"),
        ("100", "decimal(5,0)", "100"),
        ("0", "decimal(20,10)", "0"),
        ("0.0000000010", "decimal(20,10)", "0.000000001"),
        ("-12345678901234567890.5", "decimal(38,8)", "-12345678901234567890.5"),
        ("'ab '", "char(5)", "ab"),
        ("'ab '", "varchar(5)", "ab "),
        ("'abc'", "varchar(2)", "ab"),
        ("'01'", "int", "1"),
        ("'01'", "string", "01"),
        ("''", "string", "__HIVE_DEFAULT_PARTITION__"),
        ("null", "string", "__HIVE_DEFAULT_PARTITION__"),
        ("'x'", "int", "__HIVE_DEFAULT_PARTITION__"),
    ],
)
def test_partition_text(spark: SparkSession, value: str, hive_type: str, text: str) -> None:
    from pyspark.sql import functions as f

    frame = spark.range(1).select(partition_text(f.expr(value), hive_type).alias("p"))
    assert frame.collect() == [(text,)]
    assert not frame.schema["p"].nullable


def last_plan(spark: SparkSession) -> str:
    """The physical plan of the last job, as Spark ran it."""
    executions = spark._jsparkSession.sharedState().statusStore().executionsList()
    plan: str = executions.last().physicalPlanDescription()
    return plan


# -- changes ------------------------------------------------------------------------------------


EVENTS = (
    "branch int, row__id struct<writeid:bigint,bucketid:int,rowid:bigint>, "
    "row struct<a:int,b:string>"
)


def property_of(writer: int, statement_id: int = 0) -> int:
    return 1 << 29 | writer << 16 | statement_id


@pytest.fixture
def change(spark: SparkSession) -> Callable[..., tuple[WrittenFile, ...]]:
    def run(
        table: Table, rows: Any, writes: Sequence[tuple[WriteKind, int]], *, write_id: int = 9
    ) -> tuple[WrittenFile, ...]:
        schema = EVENTS + "".join(f", p{i} string" for i in range(len(table.partition_columns)))
        frame = spark.createDataFrame(rows, schema) if isinstance(rows, list) else rows
        return write_change(
            frame,
            tuple(Write(kind=kind, table=table, statement_id=s) for kind, s in writes),
            write_id=write_id,
            files=LocalFiles(),
            staging=f"{table.location}/.hive-staging_test",
            locations={},
        )

    return run


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


# -- tables without row ids ---------------------------------------------------------------------


@pytest.mark.parametrize("table_format", ["orc", "parquet", "textfile", "json"])
def test_insert_only_tables(insert: Any, tmp_path: Path, table_format: Any) -> None:
    table = make_table(tmp_path, properties=INSERT_ONLY, format=table_format)
    written = insert(table, "select * from values (1, 'x'), (2, null)", statement_id=1)
    assert all(Path(f.path).parent == tmp_path / "delta_0000001_0000001_0001" for f in written)
    assert Path(written[0].path).name == "000000_0"
    assert sum(file.rows for file in written) == 2
    written = insert(table, "select 3, 'z'", kind=WriteKind.BASE, write_id=2)
    assert [file.path for file in written] == [f"{tmp_path}/base_0000002/000000_0"]


@pytest.mark.parametrize("table_format", ["orc", "textfile"])
def test_insert_only_overwrite_with_no_rows(insert: Any, tmp_path: Path, table_format: Any) -> None:
    table = make_table(tmp_path, properties=INSERT_ONLY, format=table_format)
    written = insert(table, "select 1, 'x' where false", kind=WriteKind.BASE)
    assert [file.rows for file in written] == [0]
    assert tree(tmp_path) == ["base_0000001/000000_0"]


@pytest.mark.parametrize("table_format", ["orc", "parquet", "textfile", "json"])
def test_plain_tables_append_and_overwrite(insert: Any, tmp_path: Path, table_format: Any) -> None:
    table = make_table(tmp_path, properties={}, format=table_format)
    (first,) = insert(table, "select 1, 'x'", kind=WriteKind.FILES)
    (second,) = insert(table, "select 2, 'y'", kind=WriteKind.FILES)
    assert (first.rows, second.rows) == (1, 1)
    assert tree(tmp_path) == ["000000_0", "000000_0_copy_1"]
    insert(table, "select 3, 'z'", kind=WriteKind.FILES, overwrite=True)
    assert tree(tmp_path) == ["000000_0_copy_2"]
    insert(table, "select 3, 'z' where false", kind=WriteKind.FILES, overwrite=True)
    assert tree(tmp_path) == []


def test_plain_overwrite_keeps_the_old_files_when_the_job_fails(
    insert: Any, tmp_path: Path
) -> None:
    table = make_table(tmp_path, properties={}, format="textfile")
    insert(table, "select 1, 'x'", kind=WriteKind.FILES)
    with pytest.raises(Exception, match="boom"):
        insert(table, "select raise_error('boom'), 'x' from range(2)", kind=WriteKind.FILES,
               overwrite=True)  # fmt: skip
    assert tree(tmp_path) == ["000000_0"]


def test_delimited_text(insert: Any, tmp_path: Path) -> None:
    columns = "a int, b string, c decimal(20,10), d timestamp, e boolean, f double"
    table = make_table(tmp_path, columns, properties={}, format="textfile")
    insert(table, "select 1, null, 0, timestamp'2020-01-01 00:00:00.5', true, 1D",
           kind=WriteKind.FILES)  # fmt: skip
    line = (tmp_path / "000000_0").read_text(encoding="utf-8")
    assert line.split("\x01") == ["1", "\\N", "0.0000000000", "2020-01-01 00:00:00.5", "true", "1.0\n"]


def test_delimiter_of_the_table(insert: Any, tmp_path: Path) -> None:
    serde = {"field.delim": ",", "serialization.null.format": "-"}
    table = make_table(tmp_path, properties={}, format="textfile", serde_properties=serde)
    insert(table, "select 1, null", kind=WriteKind.FILES)
    assert (tmp_path / "000000_0").read_text(encoding="utf-8") == "1,-\n"


def test_plain_column_named_like_a_staging_key(insert: Any, tmp_path: Path) -> None:
    table = make_table(
        tmp_path, "p0 int, n string", properties={}, partition_columns=parsed("k string")
    )
    (file,) = insert(table, "select 1, 'x', 'v'", kind=WriteKind.FILES, dynamic=["k"])
    assert file.path == f"{tmp_path}/k=v/000000_0"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format": "rcfile"}, "rcfile"),
        ({"format": "avro"}, "avro"),
        ({"format": "textfile", "columns": "a int, b array<int>"}, "array<int>"),
        ({"bucket_columns": ("a",), "bucket_count": 2}, "bucketed"),
    ],
)
def test_refused_by_name(insert: Any, tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    table = make_table(tmp_path, **fields, properties={})
    with pytest.raises(NotSupported, match=message):
        insert(table, "select 1, null", kind=WriteKind.FILES)
    assert list(tmp_path.iterdir()) == []
