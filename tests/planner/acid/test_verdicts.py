"""Why a reader takes a directory or leaves it."""

from __future__ import annotations

import pytest

from hivesql_planner.acid.layout_report import Verdict, judge
from hivesql_planner.acid.snapshot import FileStatus, select
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList

VISIBLE = ValidWriteIdList(10, frozenset({8}), frozenset({3, 7}))
TXNS = ValidTxnList(30, frozenset({20}), frozenset({21}))
CASES = {
    # listing: directory, whether it is read, and why
    "base_2_v9": ("base_2_v9", True, "the newest base that the snapshot sees"),
    "delta_1_1_0": ("delta_1_1_0", True, "write 1 is committed"),
    "delta_4_6_v9": ("delta_4_6_v9", True, "writes 4 to 6 are committed"),
    "delta_2_4_v9": (
        "delta_2_4_v9", True, "some writes of 2 to 4 are visible: its rows are filtered"),
    "delta_3_3_0": ("delta_3_3_0", False, "rolled back: the cleaner will remove it"),
    "delta_8_8_0": ("delta_8_8_0", False, "write 8: not committed"),
    "delta_11_11_0": (
        "delta_11_11_0", False, "write 11: above the snapshot's highest write 10"),
    "delta_8_9_0 delta_9_9_0": (
        "delta_8_9_0", True, "some writes of 8 to 9 are visible: its rows are filtered"),
    "base_2_v9 delta_1_1_0": (
        "delta_1_1_0", False, "covered by base_2_v9: the cleaner will remove it"),
    "delta_4_6_v9 delta_5_5_0": (
        "delta_5_5_0", False, "covered by delta_4_6_v9: the cleaner will remove it"),
    "delete_delta_4_6_v9 delta_4_6_v9 delta_5_5_0": (
        "delta_5_5_0", False, "covered by delta_4_6_v9: the cleaner will remove it"),
    "delta_4_6_v9 delete_delta_5_5_0": (
        "delete_delta_5_5_0", False, "covered by delta_4_6_v9: the cleaner will remove it"),
    "base_2_v20 delta_1_1_0": (
        "base_2_v20", False, "its compaction (transaction 20) is not committed"),
    "base_2_v21 delta_1_1_0": ("base_2_v21", False, "rolled back: the cleaner will remove it"),
    "base_9_v9 base_2_v9": (
        "base_9_v9", False, "a compaction of writes that were open below write 9"),
    "base_8 delta_1_1_0": ("base_8", False, "write 8: not committed"),
    "000000_0 delta_1_1_0": ("original files", True, "no base holds their rows yet"),
    "HIVE_UNION_SUBDIR_1/000000_0": ("original files", True, "no base holds their rows yet"),
    "000000_0 base_2_v9": ("original files", False, "covered by base_2_v9"),
}  # fmt: skip


@pytest.mark.parametrize(("names", "verdict"), CASES.items())
def test_verdicts(names: str, verdict: tuple[str, bool, str]) -> None:
    files = [
        FileStatus(name if name.endswith("_0") and name[0] in "0H" else f"{name}/bucket_00000", 9)
        for name in names.split()
    ]
    state = select(files, VISIBLE, TXNS)
    found = {one.name: (one.is_read, one.why) for one in judge(files, state, VISIBLE, TXNS)}
    assert len(found) == len(files)
    name, *rest = verdict
    assert found[name] == tuple(rest)


def test_originals_of_insert_only_tables() -> None:
    files = [FileStatus("000000_0", 9)]
    state = select(files, VISIBLE, TXNS)
    (verdict,) = judge(files, state, VISIBLE, TXNS, insert_only=True)
    why = "insert-only tables do not read them"
    assert verdict == Verdict("original files", "original", False, why)
