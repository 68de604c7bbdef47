"""Counting by footers counts what reading the rows counts, or leaves it to that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from acid_files import write_events
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.local.count import living_rows
from hivesql_executor.local.fitting import fitting
from hivesql_executor.local.read import SmallSnapshot, small_snapshot
from hivesql_executor.snapshot.listing import acid_state
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.write_ids import ALL_TXNS, ValidWriteIdList
from tables import make_table, property_of

Key = tuple[int, int, int]
B, SECOND = property_of(0), property_of(0, 1)
MOST = 1 << 24


@dataclass(frozen=True)
class Case:
    """Ids of rows by directory, ids of deleted ones by directory, how many live."""

    rows: Mapping[str, Sequence[Key]]
    living: int
    deletes: Mapping[str, Sequence[Key]] = field(default_factory=dict)
    told: bool = True
    """Whether footers tell it."""
    visible: ValidWriteIdList = ValidWriteIdList(9)  # noqa: RUF009 - frozen


TEN = [(1, B, number) for number in range(10)]
CASES = {
    "rows of several writes": Case({"delta_1_1_0": TEN, "delta_2_2_0": [(2, B, 0)]}, 11),
    "one row deleted": Case({"delta_1_1_0": TEN}, 9, {"delete_delta_2_2_0": [(1, B, 3)]}),
    "a row deleted twice, alone and among others": Case(
        {"delta_1_1_0": TEN},
        8,
        {"delete_delta_2_2_0": [(1, B, 3)], "delete_delta_3_3_0": [(1, B, 3), (1, B, 9)]},
    ),
    "a row deleted twice in one file": Case(
        {"delta_1_1_0": TEN}, 8, {"delete_delta_2_2_0": [(1, B, 1), (1, B, 1), (1, B, 3)]}
    ),
    "deletes of rows that are not there": Case(
        {"delta_1_1_0": TEN},
        10,
        {"delete_delta_2_2_0": [(1, B, 10)], "delete_delta_3_3_0": [(1, SECOND, 3), (2, B, 3)]},
    ),
    "a version that is deleted again": Case(
        {"delta_1_1_0": TEN, "delta_2_2_1": [(2, SECOND, 0)], "delta_3_3_1": [(3, SECOND, 0)]},
        10,
        {"delete_delta_2_2_0": [(1, B, 5)], "delete_delta_3_3_0": [(2, SECOND, 0)]},
    ),
    "all rows deleted": Case({"delta_1_1_0": TEN}, 0, {"delete_delta_2_2_0": TEN}),
    "a delete that is not seen": Case(
        {"delta_1_1_0": TEN},
        10,
        {"delete_delta_2_2_0": [(1, B, 3)]},
        visible=ValidWriteIdList(2, open=frozenset({2})),
    ),
    "one delete of two is seen in a compacted file": Case(
        {"delta_1_1_0": TEN},
        9,
        {"delete_delta_2_3_v7": [(1, B, 3), (1, B, 4)]},
        visible=ValidWriteIdList(3, aborted=frozenset({3})),
    ),
    "rows that do not follow each other": Case(
        {"base_1": [(1, B, 0), (1, B, 2)]}, 1, {"delete_delta_2_2_0": [(1, B, 2)]}, told=False
    ),
    "rows of two writes in one file": Case(
        {"base_2": [(1, B, 0), (2, B, 1)]}, 2, {"delete_delta_3_3_0": [(1, B, 1)]}, told=False
    ),
    "rows of which one is not seen": Case(
        {"delta_1_2_v7": [(1, B, 0), (2, B, 0)]},
        1,
        told=False,
        visible=ValidWriteIdList(2, aborted=frozenset({2})),
    ),
    "no rows": Case({}, 0),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_count(case: Case, tmp_path: Path) -> None:
    snapshot = _snapshot(case, tmp_path)
    read = fitting(snapshot, None, (), MOST)
    assert sum(len(file.ids["rowId"]) for file in read) == case.living
    assert living_rows(snapshot, MOST) == (case.living if case.told else None)


def _snapshot(case: Case, root: Path) -> SmallSnapshot:
    for name, keys in case.rows.items():
        events = [(0, *key, key[0], (key[2], "")) for key in sorted(keys)]
        write_events(root / name, events)
    for name, keys in case.deletes.items():
        low, high = (int(part) for part in name.split("_")[2:4])
        writers = [low if number == 0 else high for number in range(len(keys))]
        events = [(2, *key, by, None) for key, by in zip(sorted(keys), writers, strict=True)]
        write_events(root / name, events)
    files, table = LocalFiles(), make_table(root)
    state = acid_state(files, str(root), case.visible, ALL_TXNS)
    chosen = files_to_read(state, case.visible)
    part = PartitionFiles(partition=None, location=str(root), files=chosen)
    return small_snapshot(table, [part], case.visible, files, MOST)
