"""From a state to its data and delete files, with what must be done to their rows."""

from __future__ import annotations

import pytest

from hivesql_planner.acid.files_to_read import (
    DataFile,
    DeleteFile,
    FilesToRead,
    OriginalFile,
    files_to_read,
)
from hivesql_planner.acid.snapshot import FileStatus, select
from hivesql_planner.acid.write_ids import ListMode, ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import DataError

ALL_VISIBLE = ValidWriteIdList(100)


def read(
    paths: str, visible: ValidWriteIdList = ALL_VISIBLE, *, insert_only: bool = False
) -> FilesToRead:
    files = [FileStatus(path, 100) for path in paths.split()]
    state = select(files, visible, ValidTxnList(1000))
    return files_to_read(state, visible, insert_only=insert_only)


def test_base_deltas_and_deletes() -> None:
    found = read(
        "base_5_v20/bucket_00000 base_5_v20/bucket_00001 base_5_v20/_orc_acid_version "
        "delta_6_6_0/bucket_00001_0 delta_6_6_0/_orc_acid_version delta_2_2_0/bucket_00000 "
        "delete_delta_7_7_0/bucket_00000_0 delete_delta_7_7_0/bucket_00001_3 000000_0"
    )
    assert found.data == (
        DataFile("base_5_v20/bucket_00000", 100, 0),
        DataFile("base_5_v20/bucket_00001", 100, 1),
        DataFile("delta_6_6_0/bucket_00001_0", 100, 1),
    )
    assert found.deletes == (
        DeleteFile("delete_delta_7_7_0/bucket_00000_0", 100, 0),
        DeleteFile("delete_delta_7_7_0/bucket_00001_3", 100, 1),
    )


FILTERED = {
    # name: (snapshot, directory, whether rows must be filtered by their write id)
    "all visible": (ValidWriteIdList(9), "delta_1_3_v31", False),
    "aborted inside": (ValidWriteIdList(9, aborted=frozenset({2})), "delta_1_3_v31", True),
    "open inside": (ValidWriteIdList(5, frozenset({5})), "delta_4_5", True),
    "not all below the high watermark": (ValidWriteIdList(4), "delta_4_5", True),
    "exceptions elsewhere": (ValidWriteIdList(9, frozenset({9})), "delta_4_5", False),
    "the compactor's aborted": (
        ValidWriteIdList(9, aborted=frozenset({2}), mode=ListMode.COMPACTOR), "delta_1_3", True),
    "a base over aborted": (ValidWriteIdList(9, aborted=frozenset({2})), "base_5_v20", False),
}  # fmt: skip


@pytest.mark.parametrize(("visible", "name", "filtered"), FILTERED.values(), ids=FILTERED)
def test_which_rows_are_filtered(visible: ValidWriteIdList, name: str, filtered: bool) -> None:
    found = read(f"{name}/bucket_00000", visible)
    assert [file.write_id_filter for file in found.data] == [filtered]


def test_deletes_are_filtered_by_the_write_that_deleted() -> None:
    visible = ValidWriteIdList(6, aborted=frozenset({6}))
    found = read("base_3_v9/bucket_00000 delete_delta_4_6_v40/bucket_00000", visible)
    assert [file.write_id_filter for file in found.deletes] == [True]


SIDE_FILES = {
    "delta_1_5": True,
    "delta_1_5_v20": False,
    "delta_3_3": False,
    "base_5_v20": False,
}


@pytest.mark.parametrize(("name", "counts"), SIDE_FILES.items())
def test_side_files_count_in_streaming_deltas_only(name: str, counts: bool) -> None:
    found = read(f"{name}/bucket_00000 {name}/bucket_00000_flush_length {name}/bucket_00001")
    assert [(file.path, file.side_file) for file in found.data] == [
        (f"{name}/bucket_00000", counts),
        (f"{name}/bucket_00001", False),
    ]


def test_raw_files_get_the_ids_of_their_place() -> None:
    found = read("000001_0 delta_2_2_1/000000_0 delta_3_3/000002_0 delta_4_4_0/bucket_00000")
    assert {file.path: (file.bucket, file.original) for file in found.data} == {
        "000001_0": (1, OriginalFile(0, 0)),
        "delta_2_2_1/000000_0": (0, OriginalFile(2, 1)),
        "delta_3_3/000002_0": (2, OriginalFile(3, 0)),
        "delta_4_4_0/bucket_00000": (0, None),
    }
    (base,) = read("base_6/000003_0").data
    assert (base.bucket, base.original) == (3, OriginalFile(6, 0))


def test_raw_files_come_in_path_order() -> None:
    paths = [
        "000000_0",
        "000000_0_copy_1",
        "000000_0_copy_10",
        "000000_0_copy_2",
        "HIVE_UNION_SUBDIR_1/000000_0",
        "HIVE_UNION_SUBDIR_15/000000_0",
        "HIVE_UNION_SUBDIR_2/000000_0",
    ]
    assert [file.path for file in read(" ".join(reversed(paths))).data] == paths
    inside = [f"delta_2_2_0/{path}" for path in paths]
    assert [file.path for file in read(" ".join(reversed(inside))).data] == inside


def test_empty_raw_files_are_skipped() -> None:
    files = [FileStatus("000000_0", 0), FileStatus("delta_1_1_0/000000_0", 0)]
    assert files_to_read(select(files, ALL_VISIBLE, ValidTxnList(9)), ALL_VISIBLE) == FilesToRead()


REFUSED = {
    # path: what is said
    "part-00000": "must be named like 000000_0",
    "000000_0.snappy": "must be named like 000000_0",
    "delta_1_1_0/part-00000": "neither an ACID nor an original",
    "delta_1_3/000000_0": "has no row ids",
    "delta_3_3_v9/000000_0": "has no row ids",
    "base_5_v9/000000_0": "has no row ids",
    "base_1/bucket_00000 delete_delta_2_2_0/000000_0": "says no bucket",
    "base_1/bucket_00000 delete_delta_2_2_0/bucket_00000_0.orc": "says no bucket",
    "base_1/bucket_00000 delete_delta_2_2_0/bucket_00000_attempt_1": "says no bucket",
}


@pytest.mark.parametrize(("paths", "said"), REFUSED.items())
def test_files_are_never_silently_skipped(paths: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read(paths)


def test_deletes_need_rows_unless_they_are_kept() -> None:
    files = [FileStatus("delete_delta_2_2_0/bucket_00000", 100)]
    state = select(files, ALL_VISIBLE, ValidTxnList(9))
    assert files_to_read(state, ALL_VISIBLE).deletes == ()
    kept = files_to_read(state, ALL_VISIBLE, keep_deletes=True)
    assert kept.deletes == (DeleteFile("delete_delta_2_2_0/bucket_00000", 100, 0),)


ORPHANS = {
    # listing: buckets whose deletes say that a data file is missing
    "delta_1_1_0/bucket_00000 delete_delta_2_2_0/bucket_00000 delete_delta_2_2_0/bucket_00001": [1],
    "delete_delta_2_2_0/bucket_00003_0": [3],
    "000001_0 delete_delta_2_2_0/bucket_00001": [],
    "000001_0_copy_1 delete_delta_2_2_0/bucket_00000": [0],
    "delta_1_1_0/bucket_00002_1 delta_3_3_0/bucket_00004 delete_delta_4_4_0/bucket_00004": [],
    # A compactor may have dropped the bucket's last row.
    "base_1_v7/bucket_00000 delete_delta_2_2_0/bucket_00001": [],
}


@pytest.mark.parametrize(("paths", "buckets"), ORPHANS.items())
def test_deletes_whose_data_file_is_missing(paths: str, buckets: list[int]) -> None:
    assert [file.bucket for file in read(paths).orphans] == buckets


def test_insert_only_tables_take_whole_directories() -> None:
    found = read(
        "delta_1_1_0/000000_0.gz delta_1_1_0/HIVE_UNION_SUBDIR_1/any.txt delta_9_9_0/000000_0 "
        "base_1/part-1 000000_0",
        ValidWriteIdList(8),
        insert_only=True,
    )
    assert [file.path for file in found.data] == ["base_1/part-1"]
    found = read("delta_2_2_0/b.gz delta_2_2_0/HIVE_UNION_SUBDIR_1/any.txt 000000_0",
                 insert_only=True)  # fmt: skip
    assert found == FilesToRead(
        data=(
            DataFile("delta_2_2_0/HIVE_UNION_SUBDIR_1/any.txt", 100, 0),
            DataFile("delta_2_2_0/b.gz", 100, 0),
        )
    )


KINDS_OF_FILES = ("delta_1_1_0/bucket_00000", "delta_1_1_0/000000_0", "000000_0",
                  "delete_delta_1_1_0/bucket_00000")  # fmt: skip


@pytest.mark.parametrize("path", KINDS_OF_FILES)
@pytest.mark.parametrize("insert_only", [False, True])
def test_the_time_of_each_file_is_known_without_asking_again(path: str, insert_only: bool) -> None:
    state = select([FileStatus(path, 100, 7)], ALL_VISIBLE, ValidTxnList(1000))
    found = files_to_read(state, ALL_VISIBLE, insert_only=insert_only, keep_deletes=True)
    assert [file.modified for file in (*found.data, *found.deletes)] in ([7], [])
    if not insert_only:
        assert found.data or found.deletes
