"""The order of sorted files, and which of them overlap."""

from __future__ import annotations

import itertools
import random

import pytest

from hivesql_planner.acid.key_spans import KeySpan, in_order

B = 1 << 29


def span(write: tuple[int, int], row: tuple[int, int] = (0, 9), bucket: int = B) -> KeySpan:
    return KeySpan(write, (bucket, bucket), row)


CASES: dict[str, tuple[dict[str, KeySpan], list[list[str]]]] = {
    "nothing": ({}, []),
    "deltas, whatever their order": (
        {"d3": span((3, 3)), "d1": span((1, 1)), "base": span((-1, 0))}, [["base"], ["d1"], ["d3"]]
    ),
    "statements of one write": (
        {"s1": span((4, 4), bucket=B + 1), "s0": span((4, 4))}, [["s0"], ["s1"]]
    ),
    "parts of one statement": (
        {"b": span((4, 4), (10, 19)), "a": span((4, 4), (0, 9))}, [["a"], ["b"]]
    ),
    "rows that interleave": (
        {"b": span((4, 4), (5, 19)), "a": span((4, 4), (0, 9)), "c": span((5, 5))},
        [["a", "b"], ["c"]],
    ),
    "batches of writes": ({"x": span((1, 4)), "y": span((4, 8)), "z": span((9, 9))},
                          [["x", "y"], ["z"]]),
    "one that spans all others": (
        {"all": span((1, 9)), "d2": span((2, 2)), "d3": span((3, 3)), "d10": span((10, 10))},
        [["all", "d2", "d3"], ["d10"]],
    ),
    "one that reaches back over several": (
        {"8": span((1, 1), (8, 8)), "13": span((1, 1), (13, 14)), "20": span((1, 1), (20, 21)),
         "back": span((1, 2), (10, 18))},
        [["8", "13", "20", "back"]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_in_order(name: str) -> None:
    spans, expected = CASES[name]
    assert in_order([(one, key) for key, one in spans.items()]) == expected


def test_no_row_comes_before_one_of_an_earlier_group() -> None:
    chance = random.Random(7)
    for _ in range(2_000):
        files = [
            [
                (chance.randrange(3), B + chance.randrange(2), chance.randrange(6))
                for _ in range(chance.randint(1, 3))
            ]
            for _ in range(chance.randint(1, 6))
        ]
        ends = [[(min(part), max(part)) for part in zip(*file, strict=True)] for file in files]
        groups = in_order([(KeySpan(*three), n) for n, three in enumerate(ends)])
        assert sorted(n for group in groups for n in group) == [*range(len(files))]
        keys = [sorted(key for n in group for key in files[n]) for group in groups]
        assert all(before[-1] < after[0] for before, after in itertools.pairwise(keys)), files


def test_rows_of_another_bucket() -> None:
    assert span((1, 1), bucket=B + 7).stays_in(0)
    assert KeySpan((1, 1), (B | 3 << 16, B | 3 << 16 | 4095), (0, 0)).stays_in(3)
    for bucket, writer in ((B | 1 << 16, 0), (B, 1), (2, 2)):
        assert not span((1, 1), bucket=bucket).stays_in(writer)
