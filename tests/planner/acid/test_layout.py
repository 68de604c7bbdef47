"""Names of ACID directories and files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivesql_planner.acid.layout import (
    AcidDirectory,
    DirectoryKind,
    base_name,
    bucket_file_name,
    delete_delta_name,
    delta_name,
    is_hidden,
    is_side_file,
    parse_bucket_file,
    parse_directory,
    parse_original_file,
)

BASE, DELTA, DELETE = DirectoryKind.BASE, DirectoryKind.DELTA, DirectoryKind.DELETE_DELTA
SMALLEST = -(2**63)

NAMES = {
    # as Hive writes them
    "base_0000009_v0000025": AcidDirectory(BASE, 9, 9, visibility_txn=25),
    "base_0000006": AcidDirectory(BASE, 6, 6),
    "base_1234567890": AcidDirectory(BASE, 1234567890, 1234567890),
    "base_-9223372036854775808": AcidDirectory(BASE, SMALLEST, SMALLEST),
    "delta_0000005_0000005_0001": AcidDirectory(DELTA, 5, 5, 1),
    "delta_10000001_10000001_0001": AcidDirectory(DELTA, 10000001, 10000001, 1),
    "delta_0000001_0000005": AcidDirectory(DELTA, 1, 5),
    "delta_0000001_0000003_v0000031": AcidDirectory(DELTA, 1, 3, visibility_txn=31),
    "delete_delta_0000005_0000005_0000": AcidDirectory(DELETE, 5, 5, 0),
    "delete_delta_0000003_0000009_v0000025": AcidDirectory(DELETE, 3, 9, visibility_txn=25),
}


@pytest.mark.parametrize(("name", "directory"), NAMES.items())
def test_directories(name: str, directory: AcidDirectory) -> None:
    assert parse_directory(name) == directory
    assert directory.name == name


@pytest.mark.parametrize(
    ("name", "directory"),
    [
        ("base_5", AcidDirectory(BASE, 5, 5)),
        ("delta_025_030", AcidDirectory(DELTA, 25, 30)),
        ("delta_1_1_0", AcidDirectory(DELTA, 1, 1, 0)),
        ("delete_delta_2_2_v50", AcidDirectory(DELETE, 2, 2, visibility_txn=50)),
    ],
)
def test_any_padding_is_read(name: str, directory: AcidDirectory) -> None:
    assert parse_directory(name) == directory


@pytest.mark.parametrize(
    "name",
    ["", "base", "base_", "base_x", "base_1_2", "base_1_v", "delta_1", "delta_1_2_3_4", "p=1",
     "delta_1_a", "delete_delta_", "HIVE_UNION_SUBDIR_1", "-tmp.delta_3_3_0", "xbase_5",
     "delta_1_1_0_v3_4", "base_5 ", "base_1٣", f"base_{2**63}", f"base_{SMALLEST - 1}",
     f"delta_1_{2**63}", f"delta_{2**63}_{2**63}_0", f"delta_1_1_{2**31}", f"delta_1_1_v{2**63}"],
)  # fmt: skip
def test_other_directories(name: str) -> None:
    assert parse_directory(name) is None


def test_names_of_one_statement() -> None:
    assert delta_name(7, 0) == "delta_0000007_0000007_0000"
    assert delete_delta_name(7, 12) == "delete_delta_0000007_0000007_0012"
    assert base_name(7) == "base_0000007"


_IDS = st.integers(0, 2**63 - 1)
_TXNS = st.integers(0, 2**40)


@given(
    st.builds(AcidDirectory, st.sampled_from([DELTA, DELETE]), _IDS, _IDS,
              st.integers(-1, 12345), _TXNS)
    | st.builds(lambda w, v: AcidDirectory(BASE, w, w, visibility_txn=v), _IDS, _TXNS)
)  # fmt: skip
def test_reading_undoes_writing(directory: AcidDirectory) -> None:
    assert parse_directory(directory.name) == directory


def test_numbers_that_no_integer_of_hive_holds_are_none_of_a_bucket() -> None:
    assert parse_bucket_file(f"bucket_{2**31 - 1}") == (2**31 - 1, None)
    assert parse_bucket_file(f"bucket_{2**31}") is None
    assert parse_bucket_file(f"bucket_00000_{2**31}") is None


BUCKET_FILES = {
    "bucket_00000": (0, None),
    "bucket_00012": (12, None),
    "bucket_00000_0": (0, 0),
    "bucket_00003_17": (3, 17),
    "bucket_123456": (123456, None),
    "bucket_00000_flush_length": None,
    "bucket_": None,
    "bucket_00000_0_0": None,
    "bucket_00000.orc": None,
    "000000_0": None,
}


@pytest.mark.parametrize(("name", "parsed"), BUCKET_FILES.items())
def test_bucket_files(name: str, parsed: tuple[int, int | None] | None) -> None:
    assert parse_bucket_file(name) == parsed
    if parsed is not None:
        assert bucket_file_name(*parsed) == name


ORIGINAL_FILES = {
    "000000_0": 0,
    "000001_1": 1,
    "000001_0_copy_2": 1,
    "000012_0_copy_10": 12,
    "random": None,
    "part-00000": None,
    "bucket_00000": None,
    "000000_0.manifest": None,
    "000000_0_copy": None,
    "000000": None,
}


@pytest.mark.parametrize(("name", "bucket"), ORIGINAL_FILES.items())
def test_original_files(name: str, bucket: int | None) -> None:
    assert parse_original_file(name) == bucket


HIDDEN = {
    "_SUCCESS": True,
    ".hive-staging_hive_1/-ext-10000/000000_0": True,
    "_tmp.delta_3_3_0/000000_0.manifest": True,
    "-tmp.delta_0000003_0000003_0000/000000_0.manifest": True,
    "-tmp.base_3_0/000000_0.manifest": True,
    "_task_tmp.-ext-1/000000_0": True,
    "_orc_acid_version/x": True,
    "delta_1_1_0/.bucket_00000.crc": True,
    "delta_1_1_0/_tmp/bucket_00000": True,
    "_hidden/_metadata_acid": True,
    "delta_1_1_0/_orc_acid_version": False,
    "base_0000006/_metadata_acid": False,
    "delta_1_1_0/bucket_00000": False,
    "HIVE_UNION_SUBDIR_1/000000_0": False,
    "000000_0": False,
}


@pytest.mark.parametrize(("path", "hidden"), HIDDEN.items())
def test_hidden_paths(path: str, hidden: bool) -> None:
    assert is_hidden(path) is hidden


def test_side_files() -> None:
    assert is_side_file("delta_1_5/bucket_00000_flush_length")
    assert not is_side_file("delta_1_5/bucket_00000")
