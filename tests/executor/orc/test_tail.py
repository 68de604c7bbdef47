"""ORC tails: read, and amended under every codec for every reader."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.orc
import pyorc
import pytest
from pyorc import CompressionKind

from hivesql_executor.files.hadoop import HadoopFiles
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.orc.tail import amend, cached_tail, read_tail
from hivesql_executor.orc.tail_bytes import StoredType, unpack
from hivesql_planner.errors import DataError, NotSupported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENT = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,"
    "currentTransaction:bigint,row:struct<a:int,b:string>>"
)
GOLDEN = Path(__file__).parents[2] / "golden"
FILES = LocalFiles()
INSTANT = StoredType("timestamp with local time zone")
KEYS = {"hive.acid.version": b"2", "hive.acid.stats": b"3,0,0"}


def write_events(path: Path, rows: int, **options: Any) -> str:
    with path.open("wb") as file, pyorc.Writer(file, EVENT, **options) as writer:
        for i in range(rows):
            writer.write((0, 7, 536870912, i, 7, (i, f"s{i}")))
    return str(path)


def rows_of(path: str) -> list[Any]:
    with Path(path).open("rb") as file:
        return list(pyorc.Reader(file))


def metadata_of(path: str) -> dict[str, bytes]:
    with Path(path).open("rb") as file:
        return dict(pyorc.Reader(file).user_metadata)


def test_tail_of_an_acid_file(tmp_path: Path) -> None:
    tail = read_tail(FILES, write_events(tmp_path / "f", 3))
    assert (tail.rows, tail.stripe_rows, tail.is_acid) == (3, (3,), True)
    assert tail.row_fields == ("a", "b")
    assert tail.key_range == {
        "originalTransaction": (7, 7),
        "bucket": (536870912, 536870912),
        "rowId": (0, 2),
    }


def test_tail_of_a_plain_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with path.open("wb") as file, pyorc.Writer(file, "struct<x:int,y:string>") as writer:
        writer.write((1, "a"))
    tail = read_tail(FILES, str(path))
    assert (tail.rows, tail.is_acid, tail.row_fields, tail.key_range) == (1, False, ("x", "y"), {})


def test_no_statistics_without_a_row_index(tmp_path: Path) -> None:
    path = write_events(tmp_path / "f", 3, row_index_stride=0)
    assert read_tail(FILES, path).key_range == {}


def test_tail_of_a_file_by_hive() -> None:
    path = next((GOLDEN / "a_example").rglob("delta_0000001_0000001_0000/bucket_00000*"))
    tail = read_tail(FILES, str(path))
    assert tail.is_acid
    assert tail.metadata["hive.acid.version"] == b"2"
    assert tail.metadata["hive.acid.stats"].decode() == f"{tail.rows},0,0"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"not an ORC file",
        lambda data: data[:-1],
    ],
)
def test_damaged_files_are_named(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "bucket_00000"
    write_events(path, 100)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match="bucket_00000"):
        read_tail(FILES, str(path))
    with pytest.raises(DataError, match="bucket_00000"):
        amend(FILES, str(path), KEYS)


def test_a_tail_may_end_before_the_file(tmp_path: Path) -> None:
    path = write_events(tmp_path / "f", 3)
    length = Path(path).stat().st_size
    with Path(path).open("ab") as file:
        file.write(b"not flushed yet")
    assert read_tail(FILES, path, length).rows == 3


def test_a_remembered_tail_is_that_of_the_file_of_today(tmp_path: Path) -> None:
    first, second = tmp_path / "f", tmp_path / "g"
    for path, name in ((first, "a"), (second, "b")):
        with path.open("wb") as file, pyorc.Writer(file, f"struct<{name}:int>") as writer:
            writer.write((1,))
    length = first.stat().st_size
    assert length == second.stat().st_size
    assert cached_tail(FILES, str(first), length).row_fields == ("a",)
    shutil.move(second, first)
    assert cached_tail(FILES, str(first), length).row_fields == ("b",)


CODECS = {
    "none": CompressionKind.NONE,
    "zlib": CompressionKind.ZLIB,
    "snappy": CompressionKind.SNAPPY,
    "zstd": CompressionKind.ZSTD,
}


@pytest.mark.parametrize("codec", CODECS)
def test_amended_files_read_the_same(tmp_path: Path, codec: str) -> None:
    path = write_events(tmp_path / "f", 3000, compression=CODECS[codec])
    before = rows_of(path)
    length = amend(FILES, path, KEYS)
    assert length == Path(path).stat().st_size
    assert metadata_of(path) == KEYS
    assert rows_of(path) == before
    assert pa.orc.ORCFile(path).read().num_rows == 3000
    assert read_tail(FILES, path).metadata == KEYS


@pytest.mark.parametrize("codec", CODECS)
def test_metadata_longer_than_a_block(tmp_path: Path, codec: str) -> None:
    path = write_events(tmp_path / "f", 10, compression=CODECS[codec], compression_block_size=65536)
    keys = {"hive.acid.key.index": b"1,536870912,0;" * 10_000, **KEYS}
    amend(FILES, path, keys)
    assert metadata_of(path) == keys
    assert len(rows_of(path)) == 10
    assert pa.orc.ORCFile(path).nrows == 10


@pytest.mark.parametrize("codec", CODECS)
def test_timestamps_become_instants(tmp_path: Path, codec: str) -> None:
    path, then = tmp_path / "f", datetime(2024, 2, 29, 12, 34, 56, 789012, tzinfo=timezone.utc)
    schema = "struct<a:timestamp,b:array<struct<c:int,d:timestamp>>,e:timestamp>"
    with path.open("wb") as file, pyorc.Writer(file, schema, compression=CODECS[codec]) as writer:
        for i in range(3000):
            writer.write((then, [(i, then)], then))
    before = rows_of(str(path))
    length = amend(FILES, str(path), KEYS, types={5: INSTANT, 6: INSTANT})
    assert length == path.stat().st_size
    with path.open("rb") as file:
        assert str(pyorc.Reader(file).schema) == (
            "struct<a:timestamp,b:array<struct<c:int,d:timestamp with local time zone>>,"
            "e:timestamp with local time zone>"
        )
    assert rows_of(str(path)) == before
    assert metadata_of(str(path)) == KEYS
    with pytest.raises(DataError, match="other types"):
        amend(FILES, str(path), KEYS, types={4: INSTANT})
    with pytest.raises(NotSupported, match=r"orc\.compress"):
        unpack(b"", 4)


@pytest.mark.parametrize("codec", CODECS)
def test_texts_get_their_lengths(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "f"
    with path.open("wb") as file:
        schema = "struct<a:string,b:array<string>,c:map<string,int>>"
        with pyorc.Writer(file, schema, compression=CODECS[codec]) as writer:
            for i in range(3000):
                writer.write((f"a{i % 7}", [f"b{i}"], [("c", i)]))
    before = rows_of(str(path))
    types = {1: StoredType("char", 4), 3: StoredType("varchar", 65535), 5: StoredType("char", 1)}
    amend(FILES, str(path), KEYS, types=types)
    with path.open("rb") as file:
        assert str(pyorc.Reader(file).schema) == (
            "struct<a:char(4),b:array<varchar(65535)>,c:map<char(1),int>>"
        )
    after = rows_of(str(path))
    assert [(a.rstrip(), *rest) for a, *rest in after] == [tuple(row) for row in before]
    with pytest.raises(DataError, match="other types"):
        amend(FILES, str(path), KEYS, types={6: StoredType("char", 4)})


def test_columns_of_the_wanted_types_stay(tmp_path: Path) -> None:
    """A writer may call them so itself."""
    path = tmp_path / "x.orc"
    with path.open("wb") as file, pyorc.Writer(file, "struct<a:timestamp,b:string>") as writer:
        writer.write((datetime(2020, 1, 1, tzinfo=timezone.utc), "x"))
    types, contents = {1: INSTANT, 2: StoredType("char", 4)}, []
    for _ in range(2):
        assert amend(FILES, str(path), {}, types=types) == path.stat().st_size
        contents.append(path.read_bytes())
        assert read_tail(FILES, str(path)).schema == (
            "struct<a:timestamp with local time zone,b:char(4)>"
        )
    assert contents[0] == contents[1]


def test_amending_twice_adds(tmp_path: Path) -> None:
    path = write_events(tmp_path / "f", 1)
    amend(FILES, path, {"a": b"1"})
    amend(FILES, path, {"b": b"2"})
    assert metadata_of(path) == {"a": b"1", "b": b"2"}


@pytest.mark.spark
@pytest.mark.parametrize("codec", ["none", "zlib", "snappy", "zstd"])
@pytest.mark.parametrize("through", ["local", "hadoop"])
def test_spark_reads_what_was_amended(
    spark: SparkSession, tmp_path: Path, codec: str, through: str
) -> None:
    target = tmp_path / "t"
    spark.range(20_000).coalesce(1).write.orc(str(target), compression=codec)
    (path,) = target.glob("part-*.orc")
    files = LocalFiles() if through == "local" else HadoopFiles(lambda: spark)
    length = amend(files, str(path), KEYS)
    assert length == path.stat().st_size
    assert KEYS.items() <= metadata_of(str(path)).items()
    assert spark.read.orc(str(target)).selectExpr("sum(id)").collect() == [(199_990_000,)]


@pytest.mark.spark
def test_a_stale_checksum_would_stop_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Hadoop's local file system checks a sidecar, so amending in place must remove it."""
    target = tmp_path / "t"
    spark.range(10).coalesce(1).write.orc(str(target))
    (path,) = target.glob("part-*.orc")
    assert path.with_name(f".{path.name}.crc").exists()
    amend(LocalFiles(), str(path), KEYS)
    assert not path.with_name(f".{path.name}.crc").exists()
    assert spark.read.orc(str(target)).count() == 10
