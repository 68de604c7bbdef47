"""Snapshots as lists of ids: what they see, and Hive's text for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivesql_planner.acid.write_ids import (
    ALL_TXNS,
    NONE_OPEN,
    ListMode,
    Range,
    ValidTxnList,
    ValidWriteIdList,
    format_txn_write_ids,
)
from hivesql_planner.errors import DataError

NONE, SOME, ALL = Range.NONE, Range.SOME, Range.ALL
MAX = 9223372036854775807


def ids(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


TXN_TEXTS = {
    "nothing open": (ValidTxnList(5), f"5:{MAX}::"),
    "a run of five": (ValidTxnList(10, ids(3, 4, 5, 6, 7), ids(2, 9)), "10:3:3-7:2,9"),
    "a run of four": (ValidTxnList(10, ids(3, 4, 5, 6)), "10:3:3,4,5,6:"),
    "only aborted": (ValidTxnList(8, aborted=ids(7)), f"8:{MAX}::7"),
    "runs and singles": (
        ValidTxnList(40, ids(5, 20, 21, 22, 23, 24, 25), ids(1, 2, 3, 4, 6, 7, 8, 9, 10)),
        "40:5:5,20-25:1,2,3,4,6-10",
    ),
    "everything": (ALL_TXNS, f"{MAX}:{MAX}::"),
}


@pytest.mark.parametrize(("txns", "text"), TXN_TEXTS.values(), ids=TXN_TEXTS)
def test_text_of_transactions(txns: ValidTxnList, text: str) -> None:
    assert txns.format() == text
    assert ValidTxnList.parse(text) == txns


WRITE_ID_TEXTS = {
    "open and aborted": (
        ValidWriteIdList(12, ids(7, 8), ids(3), "default.t"),
        "default.t:12:7:7,8:3",
    ),
    "nothing open": (ValidWriteIdList(5, table="default.t"), f"default.t:5:{MAX}::"),
    "runs are never shortened": (
        ValidWriteIdList(9, ids(1, 2, 3, 4, 5, 6), table="db.t"),
        "db.t:9:1:1,2,3,4,5,6:",
    ),
    "no table": (ValidWriteIdList(5), f"null:5:{MAX}::"),
}


@pytest.mark.parametrize(("seen", "text"), WRITE_ID_TEXTS.values(), ids=WRITE_ID_TEXTS)
def test_text_of_write_ids(seen: ValidWriteIdList, text: str) -> None:
    assert seen.format() == text
    assert ValidWriteIdList.parse(text) == seen


def test_missing_parts_mean_none() -> None:
    assert ValidWriteIdList.parse(f"t:5:{MAX}:") == ValidWriteIdList(5, table="t")
    assert ValidWriteIdList.parse("t:5") == ValidWriteIdList(5, table="t")
    assert ValidWriteIdList.parse("") == ValidWriteIdList(NONE_OPEN)
    assert ValidTxnList.parse("5") == ValidTxnList(5)
    assert ValidTxnList.parse("") == ALL_TXNS


@pytest.mark.parametrize("text", ["x", "5:5:a:", "5:5:3-:"])
def test_other_text_is_an_error(text: str) -> None:
    with pytest.raises(DataError, match="not a list of transactions"):
        ValidTxnList.parse(text)
    with pytest.raises(DataError, match="not a list of write ids"):
        ValidWriteIdList.parse(f"t:{text}")


def test_text_of_all_tables_of_a_transaction() -> None:
    lists = [ValidWriteIdList(5, table="default.a"), ValidWriteIdList(2, ids(2), table="default.b")]
    assert format_txn_write_ids(9, lists) == f"9$default.a:5:{MAX}::$default.b:2:2:2:"
    assert format_txn_write_ids(9, []) == "9"


def test_what_a_list_sees() -> None:
    txns = ValidTxnList(10, ids(4, 6), ids(2))
    seen = ValidWriteIdList(10, ids(4, 6), ids(2))
    visible = [1, 3, 5, 7, 8, 9, 10]
    assert [one for one in range(1, 13) if txns.sees(one)] == visible
    assert [one for one in range(1, 13) if seen.sees(one)] == visible
    assert [one for one in range(1, 13) if txns.is_aborted(one)] == [2]
    assert [one for one in range(1, 13) if seen.is_aborted(one)] == [2]
    assert (txns.min_open, seen.min_open) == (4, 4)
    assert (ValidTxnList(3).min_open, ValidWriteIdList(3, aborted=ids(1)).min_open) == (None, None)
    assert [one for one in range(1, 13) if seen.is_valid_base(one)] == [1, 2, 3]
    assert [one for one in range(1, 13) if ValidWriteIdList(2).is_valid_base(one)] == [1, 2]


READER = ValidWriteIdList(10, ids(4, 5), ids(7, 8))
COMPACTOR = ValidWriteIdList(6, aborted=ids(3), mode=ListMode.COMPACTOR)
CLEANER = ValidWriteIdList(6, aborted=ids(3), mode=ListMode.CLEANER)
RANGES = [
    # list, range, valid, aborted
    (READER, 1, 3, ALL, NONE),
    (READER, 4, 5, NONE, NONE),
    (READER, 3, 4, SOME, NONE),
    (READER, 7, 8, NONE, ALL),
    (READER, 6, 8, SOME, SOME),
    (READER, 4, 8, SOME, SOME),
    (READER, 9, 10, ALL, NONE),
    (READER, 10, 11, SOME, NONE),
    (READER, 11, 12, NONE, NONE),
    (ValidWriteIdList(10), 1, 10, ALL, NONE),
    (ValidWriteIdList(10), 5, 15, SOME, NONE),
    (COMPACTOR, 3, 3, ALL, ALL),
    (COMPACTOR, 2, 6, ALL, SOME),
    (COMPACTOR, 6, 7, NONE, NONE),
    (CLEANER, 2, 6, SOME, SOME),
    (CLEANER, 4, 6, ALL, NONE),
    (CLEANER, 6, 7, NONE, NONE),
]


@pytest.mark.parametrize(("seen", "low", "high", "valid", "aborted"), RANGES)
def test_ranges(seen: ValidWriteIdList, low: int, high: int, valid: Range, aborted: Range) -> None:
    assert seen.range_valid(low, high) is valid
    assert seen.range_aborted(low, high) is aborted


_SETS = st.frozensets(st.integers(1, 60), max_size=30)


@st.composite
def lists(draw: st.DrawFn) -> ValidWriteIdList:
    highest = draw(st.integers(0, 60))
    opened = frozenset(one for one in draw(_SETS) if one <= highest)
    aborted = frozenset(one for one in draw(_SETS) if one <= highest) - opened
    return ValidWriteIdList(highest, opened, aborted, "default.t")


@given(lists())
def test_reading_undoes_writing(seen: ValidWriteIdList) -> None:
    assert ValidWriteIdList.parse(seen.format()) == seen
    txns = ValidTxnList(seen.high_watermark, seen.open, seen.aborted)
    assert ValidTxnList.parse(txns.format()) == txns
    assert ValidTxnList.parse(txns.format(runs=False)) == txns
    assert "-" not in txns.format(runs=False)


@given(lists(), st.integers(1, 70), st.integers(0, 20))
def test_a_range_counts_its_ids(seen: ValidWriteIdList, low: int, width: int) -> None:
    span = range(low, low + width + 1)
    visible = sum(seen.sees(one) for one in span)
    expected = NONE if visible == 0 else ALL if visible == len(span) else SOME
    assert seen.range_valid(low, low + width) is expected
