"""The file system protocol on local disk and through Hadoop: one suite for both."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivesql_executor.files.api import Files, RangeFile, files_for
from hivesql_executor.files.hadoop import HadoopFiles, ObjectStoreFiles
from hivesql_executor.files.local import LocalFiles, local_path
from hivesql_planner.errors import DataError, ExecutionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(params=["local", pytest.param("hadoop", marks=pytest.mark.spark)])
def files(request: pytest.FixtureRequest) -> Files:
    if request.param == "local":
        return LocalFiles()
    spark: SparkSession = request.getfixturevalue("spark")
    return HadoopFiles(lambda: spark)


@pytest.fixture(params=["{}", "file:{}", "file://{}"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(request.param.format(tmp_path))


def put(path: Path, data: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_listing_skips_what_is_hidden_and_keeps_acid_markers(
    files: Files, root: str, tmp_path: Path
) -> None:
    for name in (
        "delta_1_1_0/bucket_00000",
        "delta_1_1_0/_orc_acid_version",
        "base_2/_metadata_acid",
        "b/c/000000_0",
        "_SUCCESS",
        ".hive-staging_x/part-0",
        "-tmp.delta_1/0.manifest",
        "b/.000000_0.crc",
    ):
        put(tmp_path / name, b"abc")
    found = files.list(root)
    assert [file.path for file in found] == [
        "b/c/000000_0",
        "base_2/_metadata_acid",
        "delta_1_1_0/_orc_acid_version",
        "delta_1_1_0/bucket_00000",
    ]
    assert {file.length for file in found} == {3}
    assert files.survey(root) == (found, files.all_directories(root))
    assert found[0].modified == files.modified(f"{root}/b/c/000000_0") > 0


def test_a_missing_location_has_no_files(files: Files, root: str) -> None:
    assert files.list(f"{root}/nothing") == ()


def test_what_is_right_below_and_below_some_of_it(
    files: Files, root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalFiles, "few_directories", -1)
    for name in ("a/x/f", "b/f", "b/_hidden", "c/f", ".d/f", "_e/f", "f", "_orc_acid_version"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    top = files.top(root)
    assert top is not None
    assert sorted(top.directories) == ["a", "b", "c"]
    every = files.list(root)
    assert top.files == tuple(status for status in every if "/" not in status.path)
    assert files.list(root, ["a", "c", "gone"]) == tuple(
        status for status in every if status.path[:2] in ("a/", "c/")
    )
    assert files.list(root, []) == ()
    os.utime(tmp_path / "b", ns=(10**15, 10**15))
    changed = files.top(root)
    assert changed is not None
    same = {
        name for name, identity in changed.directories.items() if identity == top.directories[name]
    }
    assert same == {"a", "c"}
    nothing = files.top(f"{root}/gone")
    assert nothing is None or (nothing.directories, nothing.files) == ({}, ())


def test_directories_with_the_hidden_ones(files: Files, root: str, tmp_path: Path) -> None:
    for name in (".hive-staging_1", "k=b/delta_1_1", "k=a%2F"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file").touch()
    assert files.all_directories(root) == (".hive-staging_1", "k=a%2F", "k=b")
    assert files.all_directories(f"{root}/none") == ()


def test_percent_signs_are_part_of_the_name(files: Files, root: str, tmp_path: Path) -> None:
    files.make_directories(f"{root}/p=a%2Fb c é")
    files.write(f"{root}/p=a%2Fb c é/f", b"1")
    assert (tmp_path / "p=a%2Fb c é/f").read_bytes() == b"1"
    assert [file.path for file in files.list(root)] == ["p=a%2Fb c é/f"]


def test_sizes_ranges_and_changes(files: Files, root: str, tmp_path: Path) -> None:
    path = put(tmp_path / "f", b"0123456789")
    assert files.exists(f"{root}/f")
    assert files.size(f"{root}/f") == 10
    assert files.read(f"{root}/f", 2, 3) == b"234"
    before = files.modified(f"{root}/f")
    os.utime(path, (1, 1))
    assert files.modified(f"{root}/f") < before


@pytest.mark.parametrize("what", ["size", "modified", "read"])
def test_missing_files_are_named(files: Files, root: str, what: str) -> None:
    assert not files.exists(f"{root}/gone")
    with pytest.raises(DataError, match="gone"):
        if what == "read":
            files.read(f"{root}/gone", 0, 1)
        else:
            getattr(files, what)(f"{root}/gone")


def test_rename_makes_parents_and_never_overwrites(files: Files, root: str, tmp_path: Path) -> None:
    put(tmp_path / "a", b"new")
    files.rename(f"{root}/a", f"{root}/d/e/b")
    assert (tmp_path / "d/e/b").read_bytes() == b"new"
    assert not (tmp_path / "a").exists()
    put(tmp_path / "a", b"newer")
    with pytest.raises(ExecutionError, match="exists already"):
        files.rename(f"{root}/a", f"{root}/d/e/b")
    assert (tmp_path / "d/e/b").read_bytes() == b"new"
    assert (tmp_path / "a").read_bytes() == b"newer"


def test_directories_move_whole_and_never_overwrite(
    files: Files, root: str, tmp_path: Path
) -> None:
    put(tmp_path / "a/f")
    (tmp_path / "taken").mkdir()
    with pytest.raises(ExecutionError, match="exists already"):
        files.rename(f"{root}/a", f"{root}/taken")
    files.rename(f"{root}/a", f"{root}/b")
    assert (tmp_path / "b/f").exists()
    assert not (tmp_path / "a").exists()


def test_renaming_what_is_not_there(files: Files, root: str) -> None:
    with pytest.raises(ExecutionError, match="gone"):
        files.rename(f"{root}/gone", f"{root}/b")


def test_delete_takes_files_trees_and_nothing(files: Files, root: str, tmp_path: Path) -> None:
    put(tmp_path / "tree/x/y")
    put(tmp_path / "f")
    for name in ("tree", "f", "never-there"):
        files.delete(f"{root}/{name}")
    assert list(tmp_path.iterdir()) == []


def test_replace_tail(files: Files, root: str, tmp_path: Path) -> None:
    put(tmp_path / "f", b"0123456789")
    files.replace_tail(f"{root}/f", 8, b"abcdef")
    assert (tmp_path / "f").read_bytes() == b"01234567abcdef"
    files.replace_tail(f"{root}/f", 2, b"-")
    assert files.read(f"{root}/f", 0, 100 if isinstance(files, LocalFiles) else 3) == b"01-"
    assert [file.path for file in files.list(root)] == ["f"]


def test_stale_checksums_go(tmp_path: Path) -> None:
    files = LocalFiles()
    for name in ("changed", "moved", "deleted"):
        put(tmp_path / name, b"0123")
        put(tmp_path / f".{name}.crc")
    files.replace_tail(f"{tmp_path}/changed", 2, b"x")
    files.rename(f"{tmp_path}/moved", f"{tmp_path}/there")
    files.delete(f"{tmp_path}/deleted")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changed", "there"]


def test_writing_never_overwrites(tmp_path: Path) -> None:
    put(tmp_path / "f", b"1")
    with pytest.raises(FileExistsError):
        LocalFiles().write(f"{tmp_path}/f", b"2")


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("/a/b", "/a/b"),
        ("file:/a/b", "/a/b"),
        ("file:///a/b", "/a/b"),
        ("file:/a/p=x%2Fy", "/a/p=x%2Fy"),
    ],
)
def test_local_path(location: str, path: str) -> None:
    assert local_path(location) == Path(path)


@pytest.mark.parametrize("location", ["/a/b:c", "file:/a", "file:///a", "relative"])
def test_local_locations_never_start_spark(location: str) -> None:
    def started() -> SparkSession:
        raise AssertionError("Spark was started")

    assert files_for(location, started) == LocalFiles()


@pytest.mark.parametrize("location", ["hdfs://n/a", "hdfs:/a", "viewfs:///a", "s3a://b/k"])
def test_other_schemes_go_through_hadoop(location: str) -> None:
    def spark() -> SparkSession:
        raise AssertionError("not before it is used")

    is_s3 = location.startswith("s3a:")
    assert files_for(location, spark) == (ObjectStoreFiles if is_s3 else HadoopFiles)(spark)


def test_a_range_file_ends_at_its_length(tmp_path: Path) -> None:
    put(tmp_path / "f", b"0123456789")
    file = RangeFile(LocalFiles(), f"{tmp_path}/f", 6)
    assert file.seek(-4, os.SEEK_END) == 2
    assert file.read(100) == b"2345"
    assert file.read(1) == b""
    assert file.seek(1) == 1
    assert file.seek(2, os.SEEK_CUR) == file.tell() == 3


def test_files_are_told_from_directories_and_copied(
    files: Files, root: str, tmp_path: Path
) -> None:
    put(tmp_path / "a" / "x", b"abc")
    put(tmp_path / "a" / "k=1" / "y")
    put(tmp_path / "a" / ".hidden" / "z")
    assert [files.is_file(f"{root}/{name}") for name in ("a/x", "a", "nosuch")] == [
        True, False, False,
    ]  # fmt: skip
    assert (files.directories(f"{root}/a"), files.directories(f"{root}/no")) == (("k=1",), ())
    files.copy(f"{root}/a/x", f"{root}/b/c/x")
    assert (tmp_path / "b" / "c" / "x").read_bytes() == b"abc"
    assert (tmp_path / "a" / "x").exists()
    with pytest.raises(ExecutionError, match="exists already"):
        files.copy(f"{root}/a/k=1/y", f"{root}/b/c/x")
