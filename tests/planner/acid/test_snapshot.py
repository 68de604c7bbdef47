"""From listings to states: the cases that Hive's own AcidUtils decided, one row each.

Names are as in directories, without zero padding. A bare directory stands for one that holds a
``bucket_00000``; one that ends with ``/`` is empty; ``name=format`` gives a ``_metadata_acid``
file's dataFormat. Write ids and transactions are ``hwm:minOpen:open:aborted``, MAX for none open.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivesql_planner.acid.snapshot import AcidState, FileStatus, select
from hivesql_planner.acid.write_ids import ListMode, ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import DataError

MAX = str(2**63 - 1)
MIN = str(-(2**63))
LATER = ValidTxnList(1000)
MODES = {"R": ListMode.READER, "C": ListMode.COMPACTOR, "L": ListMode.CLEANER}


@dataclass(frozen=True)
class Case:
    """A listing under a snapshot, and what becomes of it."""

    mode: str
    write_ids: str
    listing: str
    state: str
    txns: str = ""

    @property
    def visible(self) -> ValidWriteIdList:
        found = ValidWriteIdList.parse(f"t:{self.write_ids.replace('MAX', MAX)}")
        return ValidWriteIdList(found.high_watermark, found.open, found.aborted, "t",
                                MODES[self.mode])  # fmt: skip

    @property
    def transactions(self) -> ValidTxnList:
        return ValidTxnList.parse(self.txns.replace("MAX", MAX)) if self.txns else LATER


def listing(text: str) -> tuple[list[FileStatus], dict[str, str]]:
    files, metadata = [], {}
    for word in text.replace("MIN", MIN).split():
        path, _, form = word.partition("=")
        if form:
            metadata[path.partition("/")[0]] = form
        if path.startswith(("base_", "delta_", "delete_delta_")) and "/" not in path:
            path += "/bucket_00000"
        if not path.endswith("/"):
            files.append(FileStatus(path, 0 if path == "_SUCCESS" else 100))
    return files, metadata


def text_of(state: AcidState) -> str:
    parts = [state.base.name if state.base else "-"]
    parts.append(" ".join(entry.name for entry in state.deltas))
    lists = {
        "obsolete": sorted(state.obsolete),
        "aborted": sorted(state.aborted),
        "originals": [file.path for file in state.originals],
    }
    parts += [f"{name} {' '.join(names)}" for name, names in lists.items() if names]
    parts += ["uncompacted aborts"] if state.uncompacted_aborts else []
    return " | ".join(parts)


# base | current deltas in reading order | obsolete … | aborted … | originals … | uncompacted aborts
CASES = {
    "W01 everything is visible": Case(
        "R", "100:MAX::", "delta_1_1_0 delta_2_2_0 delete_delta_3_3_0",
        "- | delta_1_1_0 delta_2_2_0 delete_delta_3_3_0"),
    "W02 above the high watermark": Case(
        "R", "2:MAX::", "delta_1_1_0 delta_2_2_0 delta_3_3_0", "- | delta_1_1_0 delta_2_2_0"),
    "W03 open": Case(
        "R", "3:2:2:", "delta_1_1_0 delta_2_2_0 delta_3_3_0", "- | delta_1_1_0 delta_3_3_0"),
    "W04 aborted": Case(
        "R", "3:MAX::2", "delta_1_1_0 delta_2_2_0 delta_3_3_0",
        "- | delta_1_1_0 delta_3_3_0 | aborted delta_2_2_0"),
    "W05 a compacted base": Case(
        "R", "10:MAX::", "base_5_v20 delta_1_1_0 delta_5_5_0 delta_6_6_0 delete_delta_4_4_0",
        "base_5_v20 | delta_6_6_0 | obsolete delete_delta_4_4_0 delta_1_1_0 delta_5_5_0"),
    "W06 its transaction is open": Case(
        "R", "10:MAX::", "base_5_v20 delta_1_1_0 delta_5_5_0 delta_6_6_0",
        "- | delta_1_1_0 delta_5_5_0 delta_6_6_0", txns="30:20:20:"),
    "W07 its transaction is aborted": Case(
        "R", "10:MAX::", "base_5_v20 delta_1_1_0 delta_5_5_0",
        "- | delta_1_1_0 delta_5_5_0 | aborted base_5_v20", txns="30:MAX::20"),
    "W08 no base is old enough": Case(
        "R", "10:4:4:", "base_5_v20 delta_1_1_0 delta_5_5_0", "not enough history: base_5_v20"),
    "W09 an older base is": Case(
        "R", "10:4:4:", "base_5_v20 base_3_v10 delta_4_4_0 delta_5_5_0",
        "base_3_v10 | delta_5_5_0"),
    "W10 an overwrite": Case(
        "R", "10:MAX::", "base_6 delta_5_5_0 delta_6_6_0 delta_7_7_0",
        "base_6 | delta_7_7_0 | obsolete delta_5_5_0 delta_6_6_0"),
    # Hive answers "base_6 | delta_7_7_0 | obsolete delta_5_5_0" and counts on the overwrite's lock
    # to keep readers away; we require that the overwrite's write id is visible.
    "W11 an open overwrite, unlike Hive": Case(
        "R", "10:6:6:", "base_6 delta_5_5_0 delta_7_7_0", "- | delta_5_5_0 delta_7_7_0"),
    "W12 an open overwrite": Case(
        "R", "10:4:4,6:", "base_6 delta_3_3_0 delta_5_5_0 delta_7_7_0",
        "- | delta_3_3_0 delta_5_5_0 delta_7_7_0"),
    "W13 an aborted overwrite": Case(
        "R", "10:MAX::6", "base_6 delta_5_5_0 delta_7_7_0",
        "- | delta_5_5_0 delta_7_7_0 | aborted base_6"),
    "W14 truncated": Case(
        "R", "10:MAX::", "base_6/_metadata_acid=truncated delta_5_5_0 delta_7_7_0",
        "base_6 | delta_7_7_0 | obsolete delta_5_5_0"),
    "W15 a minor compaction": Case(
        "R", "10:MAX::", "delta_1_3_v31 delete_delta_1_3_v31 delta_1_1_0 delete_delta_2_2_0 "
        "delta_2_2_1 delta_3_3_0 delta_4_4_0",
        "- | delete_delta_1_3_v31 delta_1_3_v31 delta_4_4_0 | "
        "obsolete delete_delta_2_2_0 delta_1_1_0 delta_2_2_1 delta_3_3_0"),
    "W16 its transaction is open": Case(
        "R", "10:MAX::", "delta_1_3_v31 delete_delta_1_3_v31 delta_1_1_0 delete_delta_2_2_0 "
        "delta_2_2_1 delta_3_3_0",
        "- | delta_1_1_0 delete_delta_2_2_0 delta_2_2_1 delta_3_3_0", txns="40:31:31:"),
    "W17 an open id inside": Case(
        "R", "10:2:2:", "delta_1_3_v31 delta_1_1_0 delta_3_3_0",
        "- | delta_1_3_v31 | obsolete delta_1_1_0 delta_3_3_0"),
    "W18 statements of one transaction": Case(
        "R", "10:MAX::", "delta_2_2_0 delta_2_2_3 delete_delta_2_2_1 delete_delta_2_2_2",
        "- | delta_2_2_0 delete_delta_2_2_1 delete_delta_2_2_2 delta_2_2_3"),
    "W19 a compaction of one transaction": Case(
        "R", "10:MAX::", "delta_2_2_v50 delta_2_2_0 delta_2_2_1 delete_delta_2_2_v50",
        "- | delete_delta_2_2_v50 delta_2_2_v50 | obsolete delta_2_2_0 delta_2_2_1"),
    "W20 originals": Case(
        "R", "10:MAX::", "000000_0 000000_0_copy_1 000001_0 delta_1_1_0",
        "- | delta_1_1_0 | originals 000000_0 000000_0_copy_1 000001_0"),
    "W21 originals in directories": Case(
        "R", "10:MAX::", "000000_0 HIVE_UNION_SUBDIR_1/000000_0 HIVE_UNION_SUBDIR_15/000000_0 "
        "HIVE_UNION_SUBDIR_2/000000_0",
        "- |  | originals 000000_0 HIVE_UNION_SUBDIR_1/000000_0 HIVE_UNION_SUBDIR_15/000000_0 "
        "HIVE_UNION_SUBDIR_2/000000_0"),
    "W22 originals under a base": Case(
        "R", "10:MAX::", "000000_0 000001_0 base_2_v9 delta_3_3_0",
        "base_2_v9 | delta_3_3_0 | obsolete 000000_0 000001_0"),
    "W23 hidden": Case(
        "R", "10:MAX::", "_tmp_space/000000_0 .hive-staging_hive_1/000000_0 "
        "_tmp.delta_3_3_0/000000_0.manifest delta_1_1_0 _SUCCESS", "- | delta_1_1_0"),
    "W24 an overwrite and its compaction": Case(
        "R", "10:MAX::", "base_6 base_6_v44", "base_6_v44 |  | obsolete base_6"),
    "W25 compacted twice": Case(
        "R", "10:MAX::", "base_6_v44 base_6_v45", "base_6_v45 |  | obsolete base_6_v44"),
    "W26 a streaming batch": Case(
        "R", "10:3:3,5:", "delta_1_5/bucket_00000 delta_1_5/bucket_00000_flush_length",
        "- | delta_1_5"),
    "W27 a batch that is wholly open": Case(
        "R", "5:2:2,3,4,5:", "delta_2_5 delta_1_1_0", "- | delta_1_1_0"),
    "W28 a batch that is wholly aborted": Case(
        "R", "10:MAX::2,3", "delta_2_3 delta_1_1_0", "- | delta_1_1_0 | aborted delta_2_3"),
    "W29 a batch that is partly aborted": Case(
        "R", "10:MAX::3", "delta_2_3 delta_1_1_0",
        "- | delta_1_1_0 delta_2_3 | uncompacted aborts"),
    "W30 the compactor stops at open ids": Case(
        "C", "4:5:", "delta_1_1_0 delta_2_5 delta_6_6_0", "- | delta_1_1_0"),
    "W31 the compactor and aborts": Case(
        "C", "6:MAX::3", "delta_1_1_0 delta_3_3_0 delete_delta_4_4_0 delta_5_5_0",
        "- | delta_1_1_0 delete_delta_4_4_0 delta_5_5_0 | aborted delta_3_3_0"),
    "W32 the cleaner": Case(
        "L", "6:MAX::", "base_5_v20 delta_1_1_0 delta_6_6_0 delta_7_7_0 000000_0",
        "base_5_v20 | delta_6_6_0 | obsolete 000000_0 delta_1_1_0"),
    "W33 a compacted base of Hive 3": Case(
        "R", "10:MAX::", "base_4/_metadata_acid=compacted base_4/bucket_00000 delta_4_4_0",
        "base_4 |  | obsolete delta_4_4_0"),
    "W34 which is too new": Case(
        "R", "10:3:3:", "base_4/_metadata_acid=compacted base_4/bucket_00000 delta_2_2_0",
        "not enough history: base_4"),
    "W35 the base of an empty table": Case(
        "R", "10:MAX::", "base_MIN delta_1_1_0 000000_0",
        "base_MIN | delta_1_1_0 | obsolete 000000_0"),
    "W36 overlapping deltas": Case(
        "R", "10:MAX::", "delta_5_10 delta_3_7 delta_11_11_0", "- | delta_3_7 delta_5_10"),
    # Hive 4.1 reads both, and so every row twice; its cleaner leaves both.
    "two workers compacted the same deltas, unlike Hive": Case(
        "R", "10:MAX::", "delta_2_3_v24 delta_2_3_v25 delete_delta_2_3_v24 delete_delta_2_3_v25 "
        "delta_2_2_0 delta_3_3_0 delta_4_4_0",
        "- | delete_delta_2_3_v25 delta_2_3_v25 delta_4_4_0 | "
        "obsolete delete_delta_2_3_v24 delta_2_2_0 delta_2_3_v24 delta_3_3_0"),
    "the later one of two workers is not seen yet": Case(
        "R", "10:MAX::", "delta_2_3_v24 delta_2_3_v25 delta_2_2_0",
        "- | delta_2_3_v24 | obsolete delta_2_2_0", txns="30:25:25:"),
    "a streaming batch that was compacted alone, unlike Hive": Case(
        "R", "10:MAX::", "delta_2_3 delta_2_3_v24 delete_delta_2_3_v24",
        "- | delete_delta_2_3_v24 delta_2_3_v24 | obsolete delta_2_3"),
    "W37 a base below an open id": Case(
        "R", "10:5:5:", "base_4_v10 delta_5_5_0 delta_6_6_0", "base_4_v10 | delta_6_6_0"),
    "W38 an empty directory": Case("R", "10:MAX::", "delta_3_3_0/ delta_2_2_0", "- | delta_2_2_0"),
    # Hive takes the manifest for an original file.
    "X1 a running write, unlike Hive": Case(
        "R", "3:3:3:", "delta_1_1_0 -tmp.delta_3_3_0/000000_0.manifest delta_3_3_0",
        "- | delta_1_1_0"),
    # Hive takes the manifest for obsolete, and its cleaner would delete it.
    "X2 a running write beside a base, unlike Hive": Case(
        "R", "3:3:3:", "base_1_v5 -tmp.delta_3_3_0/000000_0.manifest", "base_1_v5 | "),
    "A1 originals": Case(
        "R", "100:MAX::", "000000_0 000000_0_copy_1 000000_0_copy_2 000001_1 000002_0 random "
        "_done subdir/000000_0",
        "- |  | originals 000000_0 000000_0_copy_1 000000_0_copy_2 000001_1 000002_0 random "
        "subdir/000000_0"),
    "A2 originals and deltas": Case(
        "R", "100:MAX::", "000000_0 000001_1 000002_0 random subdir/000000_0 delta_025_025 "
        "delta_029_029 delta_025_030 delta_050_100 delta_101_101",
        "- | delta_025_030 delta_050_100 | obsolete delta_025_025 delta_029_029 | "
        "originals 000000_0 000001_1 000002_0 random subdir/000000_0"),
    "A3 bases": Case(
        "R", "100:MAX::", "base_5 base_10 base_49 delta_025_025 delta_029_029 delta_025_030 "
        "delta_050_105 delta_90_120",
        "base_49 | delta_050_105 | "
        "obsolete base_10 base_5 delta_025_025 delta_025_030 delta_029_029"),
    "A4 obsolete originals": Case(
        "R", "150:MAX::", "base_10 base_5 000000_0 000001_1",
        "base_10 |  | obsolete 000000_0 000001_1 base_5"),
    "A5 overlaps": Case(
        "R", "100:MAX::", "delta_63_63 delta_62_62 delta_61_61 delta_40_60 delta_60_60 "
        "delta_052_55 base_50",
        "base_50 | delta_40_60 delta_61_61 delta_62_62 delta_63_63 | "
        "obsolete delta_052_55 delta_60_60"),
    "A6 overlaps and statements": Case(
        "R", "100:MAX::", "delta_63_63_0 delta_62_62_0 delta_62_62_3 delta_61_61_0 delta_40_60 "
        "delta_60_60_1 delta_60_60_4 delta_60_60_7 delta_052_55 delta_058_58 base_50",
        "base_50 | delta_40_60 delta_61_61_0 delta_62_62_0 delta_62_62_3 delta_63_63_0 | "
        "obsolete delta_052_55 delta_058_58 delta_60_60_1 delta_60_60_4 delta_60_60_7"),
    "A7 an open id in a batch": Case(
        "R", "100:4:4:", "delta_1_1 delta_2_5", "- | delta_1_1 delta_2_5"),
    "A8 and statements": Case(
        "R", "100:4:4:", "delta_1_1 delta_2_5 delta_4_4_1 delta_4_4_3 delta_101_101_1",
        "- | delta_1_1 delta_2_5"),
    "A9 the compactor": Case("C", "4:MAX::", "delta_1_1 delta_2_5", "- | delta_1_1"),
    "A10 the compactor and a side file": Case(
        "C", "3:MAX::", "delta_1_1 delta_2_5 delta_2_5/bucket_00000_flush_length delta_6_10",
        "- | delta_1_1"),
    "A11 a base and deletes": Case(
        "R", "100:MAX::", "base_5 base_10 base_49 delta_025_025 delta_029_029 "
        "delete_delta_029_029 delta_025_030 delete_delta_025_030 delta_050_105 "
        "delete_delta_050_105 delete_delta_110_110",
        "base_49 | delete_delta_050_105 delta_050_105 | obsolete base_10 base_5 "
        "delete_delta_025_030 delete_delta_029_029 delta_025_025 delta_025_030 delta_029_029"),
    "A12 overlaps and deletes": Case(
        "R", "100:MAX::", "delta_63_63 delta_62_62 delta_61_61 delete_delta_64_64 delta_40_60 "
        "delete_delta_40_60 delta_60_60 delta_052_55 delete_delta_052_55 base_50",
        "base_50 | delete_delta_40_60 delta_40_60 delta_61_61 delta_62_62 delta_63_63 "
        "delete_delta_64_64 | obsolete delete_delta_052_55 delta_052_55 delta_60_60"),
    "A13 a compaction without deletes hides a delete": Case(
        "R", "100:MAX::", "delta_40_60 delete_delta_50_50",
        "- | delta_40_60 | obsolete delete_delta_50_50"),
    "A14 the compactor and deletes": Case(
        "C", "4:MAX::", "delta_1_1 delete_delta_2_2 delta_2_5 delete_delta_2_5 "
        "delta_2_5/bucket_00000_flush_length delete_delta_7_7 delta_6_10",
        "- | delta_1_1 delete_delta_2_2"),
    "A15 the reader and deletes": Case(
        "R", "100:4:4:", "delta_1_1 delta_2_5 delete_delta_2_5 delete_delta_3_3 delta_4_4_1 "
        "delta_4_4_3 delta_101_101_1",
        "- | delta_1_1 delete_delta_2_5 delta_2_5 | obsolete delete_delta_3_3"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_cases(case: Case) -> None:
    files, metadata = listing(case.listing)
    try:
        state = select(files, case.visible, case.transactions, metadata=metadata, location="/t")
    except DataError as error:
        assert error.code == 10327
        assert case.state == f"not enough history: {str(error).rpartition('/')[2]}"
    else:
        assert text_of(state) == case.state.replace("MIN", MIN)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_order_of_the_listing_does_not_matter(case: Case) -> None:
    files, metadata = listing(case.listing)
    if not case.state.startswith("not enough"):
        states = set()
        for seed in range(5):
            Random(seed).shuffle(files)
            states.add(text_of(select(files, case.visible, case.transactions, metadata=metadata)))
        assert states == {case.state.replace("MIN", MIN)}


def test_not_enough_history_names_the_snapshot_and_the_base() -> None:
    files, _ = listing("base_5_v20 delta_1_1_0 delta_5_5_0")
    with pytest.raises(DataError) as caught:
        select(files, ValidWriteIdList(10, frozenset({4})), LATER, location="/w/t")
    assert str(caught.value) == (
        "[Error 10327] Not enough history available for (10,4). "
        "Oldest available base: /w/t/base_5_v20"
    )


def test_a_directory_keeps_all_files_below_it() -> None:
    files, _ = listing("delta_2_2_0/HIVE_UNION_SUBDIR_1/000000_0 delta_2_2_0/000000_0")
    state = select(files, ValidWriteIdList(10), LATER)
    assert state.originals == ()
    assert [file.path for file in state.deltas[0].files] == [file.path for file in files]


@pytest.mark.parametrize("name", ["delta_1_1", "base_3", "delete_delta_2_2_0000"])
def test_copies_of_a_write_inside_of_it_are_no_rows(name: str) -> None:
    """Compactions of early Hives left them; read as files of the delta they double its rows."""
    files = [FileStatus(f"{name}/{inner}bucket_00000", 100) for inner in ("", f"{name}/", "part/")]
    state = select(files, ValidWriteIdList(5, table="t"), LATER)
    read = [file.path for entry in state.directories for file in entry.files]
    assert read == [f"{name}/bucket_00000", f"{name}/part/bucket_00000"]


def test_a_file_named_like_a_directory_is_an_original() -> None:
    files = [FileStatus("base_5", 100)]
    assert select(files, ValidWriteIdList(10), LATER).originals == tuple(files)


@pytest.mark.parametrize("name", ["delta_1_2_3_4", "base_x", "delete_delta_5", "base_5_vx"])
def test_what_only_looks_like_a_directory_of_hive_is_refused(name: str) -> None:
    with pytest.raises(DataError, match=f"{name} begins like an ACID directory"):
        select([FileStatus(f"{name}/000000_0", 100)], ValidWriteIdList(10), LATER)


def test_data_formats_ignore_case_and_unknown_ones_are_refused() -> None:
    files, metadata = listing("base_4/_metadata_acid=COMPACTED delta_4_4_0")
    state = select(files, ValidWriteIdList(10), LATER, metadata=metadata)
    assert text_of(state) == "base_4 |  | obsolete delta_4_4_0"
    with pytest.raises(DataError, match="unknown dataFormat: 'shuffled'"):
        select(files, ValidWriteIdList(10), LATER, metadata={"base_4": "shuffled"})


_WRITES = st.integers(1, 8)
_TXN = st.sampled_from(["", "_v20", "_v21"])
_NAMES = st.builds(lambda w, v: f"base_{w}{v}", _WRITES, _TXN) | st.builds(
    lambda kind, one, other, rest: f"{kind}_{min(one, other)}_{max(one, other)}{rest}",
    st.sampled_from(["delta", "delete_delta"]), _WRITES, _WRITES,
    st.sampled_from(["", "_0", "_1", "_v20", "_v21"]),
)  # fmt: skip


@given(st.sets(_NAMES, max_size=12), st.frozensets(_WRITES), st.frozensets(_WRITES), _WRITES)
def test_nothing_is_read_that_the_snapshot_does_not_see(
    names: set[str], opened: frozenset[int], aborted: frozenset[int], highest: int
) -> None:
    opened = frozenset(one for one in opened if one <= highest)
    aborted = frozenset(one for one in aborted if one <= highest) - opened
    visible = ValidWriteIdList(highest, opened, aborted)
    files, _ = listing(" ".join(sorted(names)))
    try:
        state = select(files, visible, ValidTxnList(20, frozenset(), frozenset({21})))
    except DataError as error:
        assert error.code == 10327
        return
    read = [*([state.base] if state.base else []), *state.deltas]
    told = [*(entry.name for entry in read), *state.obsolete, *state.aborted]
    assert len(told) == len(set(told)), "a directory has one fate"
    assert not any(entry.directory.visibility_txn == 21 for entry in read)
    for entry in state.deltas:
        span = range(entry.directory.min_write_id, entry.directory.max_write_id + 1)
        assert any(map(visible.sees, span))
    if state.base and not state.base.directory.visibility_txn:
        assert visible.sees(state.base.directory.max_write_id)


def test_ten_thousand_deltas() -> None:
    files = [
        FileStatus(f"delta_{one:07d}_{one:07d}_0000/bucket_0000{bucket}", 100)
        for one in range(1, 10_001)
        for bucket in range(2)
    ]
    visible = ValidWriteIdList(10_000, frozenset({9_000}), frozenset(range(1, 1_000, 2)))
    # A scan that is quadratic in the deltas would run into the suite's time-out.
    state = select(files, visible, LATER)
    assert (len(state.deltas), len(state.aborted)) == (9_499, 500)
