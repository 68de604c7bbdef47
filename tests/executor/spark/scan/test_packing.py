"""Keys of row ids: every id its own, and bounds that stay where a table grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hivesql_executor.spark.scan.row_id_keys import KEYS, Packing
from tables import property_of

PLAIN, OTHER = property_of(0), property_of(3, 2)


def packing(write: tuple[int, int], bucket: tuple[int, int], row: tuple[int, int],
            places: int = 1) -> Packing | None:  # fmt: skip
    return Packing.of(dict(zip(KEYS, (write, bucket, row), strict=True)), places)


def test_words_hold_one_bit_for_each_row() -> None:
    found = packing((1, 9), (PLAIN, OTHER), (0, 1000), places=3)
    assert found
    ids = [
        (place, write, bucket, row)
        for place in (0, 2)
        for write in (1, 9)
        for bucket in (PLAIN, OTHER)
        for row in (0, 63, 64, 1000)
    ]
    keys, words = found.words([np.array(column, np.int64) for column in zip(*ids, strict=True)])
    assert len(keys) == 2 * 2 * 2 * 3, "rows 0 and 63 share a word"
    assert (np.diff(keys) > 0).all()
    assert sorted(int(word) & (2**64 - 1) for word in words[:3]) == [1, 1 << 40, 1 | 1 << 63]
    assert sum(int(word & (2**64 - 1)).bit_count() for word in map(int, words)) == len(ids)


def test_no_events_have_no_words() -> None:
    found = packing((1, 1), (PLAIN, PLAIN), (0, 0))
    assert found
    keys, words = found.words([np.array([], np.int64)] * 4)
    assert len(keys) == len(words) == 0


SAME_BOUNDS: dict[str, tuple[Any, Any]] = {
    "more writes": (((1, 2), (PLAIN, PLAIN), (0, 70)), ((1, 15), (PLAIN, PLAIN), (0, 70))),
    "more rows": (((1, 2), (PLAIN, PLAIN), (0, 70)), ((1, 2), (PLAIN, PLAIN), (5, 900))),
    "more writers": (
        ((1, 1), (property_of(0), property_of(1)), (0, 1)),
        ((1, 1), (property_of(0), property_of(7)), (0, 1)),
    ),
}


@pytest.mark.parametrize(("before", "after"), SAME_BOUNDS.values(), ids=SAME_BOUNDS)
def test_bounds_stay_when_a_table_grows_a_little(before: Any, after: Any) -> None:
    assert packing(*before) == packing(*after)


@pytest.mark.parametrize("low", [0, 1, 15, 16, 1000, 2**40 - 1])
@pytest.mark.parametrize("span", [0, 1, 2, 15, 16, 17, 300])
def test_rounded_bounds_cover_the_range(low: int, span: int) -> None:
    found = packing((low, low + span), (PLAIN, OTHER), (0, 2**33))
    assert found
    assert found.lows[0] <= low
    assert found.highs[0] >= low + span
    assert found.lows[1] <= PLAIN < OTHER <= found.highs[1]
    assert found.highs[2] >= 2**33


def test_exact_bounds_where_rounded_ones_are_too_wide() -> None:
    found = packing((0, 2**20 - 1), (0, 2**30), (0, 2**17 - 1))
    assert found is not None
    assert sum(found.widths) == 62
    assert packing((0, 2**20), (0, 2**30), (0, 2**17)) is None
    assert packing((0, 1), (0, 1), (-1, 5)) is None
