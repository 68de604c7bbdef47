"""Earlier states of a table, and when they are gone."""

from __future__ import annotations

import pytest

from hivesql_planner.acid.snapshot import FileStatus, select
from hivesql_planner.acid.time_travel import after_write, check_history, without_writes
from hivesql_planner.acid.write_ids import ALL_TXNS, ValidWriteIdList
from hivesql_planner.errors import DataError, SemanticError

NOW = ValidWriteIdList(9, frozenset({8}), frozenset({3}), "d.t")
CASES = {
    # listing: (as of write, cleaned up to, what is read; None: it may have been cleaned)
    "nothing was removed": ("delta_1_1_0 delta_2_2_0 delta_4_4_0", 2, 0, "delta_1_1_0 delta_2_2_0"),
    "below an overwrite": ("delta_1_1_0 base_4", 2, 0, "delta_1_1_0"),
    "below a cleaned overwrite": ("delta_1_1_0 base_4", 2, 5, None),
    "an overwrite alone": ("base_4 delta_5_5_0", 2, 0, None),
    "before the first write": ("base_4 delta_5_5_0", 0, 0, ""),
    "the overwrite itself": ("base_4 delta_5_5_0", 4, 9, "base_4"),
    "an older base is left": ("base_2 base_4 delta_5_5_0", 3, 0, "base_2"),
    "a compaction of deltas": ("delta_1_5_v7 delta_6_6_0", 2, 5, "delta_1_5_v7"),
    "originals": ("000000_0 base_4", 2, 0, ""),
    "a compaction": ("base_5_v7 delta_6_6_0", 2, 0, None),
    "a compaction not cleaned": ("base_5_v7 base_1_v2 delta_2_2_0", 2, 0, "base_1_v2 delta_2_2_0"),
}  # fmt: skip


@pytest.mark.parametrize(("names", "write_id", "cleaned", "read"), CASES.values(), ids=CASES)
def test_history(names: str, write_id: int, cleaned: int, read: str | None) -> None:
    files = [
        FileStatus(name if name == "000000_0" else f"{name}/bucket_00000", 9)
        for name in names.split()
    ]
    then = after_write(NOW, write_id)

    def found() -> list[str]:
        state = select(files, then, ALL_TXNS, location="/t")
        check_history(files, state, then, cleaned_up_to=cleaned, location="/t")
        return [one.name for one in (*([state.base] if state.base else []), *state.deltas)]

    if read is not None:
        assert found() == read.split()
        return
    with pytest.raises(DataError, match=r"/t") as raised:
        found()
    assert raised.value.code == 10327


def test_lists_of_the_past() -> None:
    assert after_write(NOW, 5).format() == "d.t:5:8:8:3"
    assert without_writes(NOW, {6, 9}).open == {6, 8, 9}
    for write_id in (-1, 10):
        with pytest.raises(SemanticError, match=r"d\.t has no write .*from 1 to 9"):
            after_write(NOW, write_id)
