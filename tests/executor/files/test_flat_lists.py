"""Many directories by one list: what is taken for all of a directory is all of it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from hivesql_executor.files.stores.flat_lists import FlatList

PARTS = ("a", "a!", "a0", "b", "a/c", "ü", "%2F", "a b", "z", "y")


def full_pages(keys: list[str], size: int) -> Iterator[tuple[list[dict[str, str]], bool]]:
    for at in range(0, len(keys), size):
        page = [{"path": key} for key in keys[at : at + size]]
        yield page, len(page) == size


def read(flat: FlatList, keys: list[str], size: int) -> int:
    """Read pages as far as they are wanted; how many that is."""
    count = 0
    for page, is_full in full_pages(keys, size):
        count += 1
        if not is_full:
            flat.end(page)
            break
        if not flat.take(page):
            break
    return count


def test_what_is_settled_is_all_there_is() -> None:
    chance = random.Random(7)
    for _ in range(500):
        names = {*chance.sample(PARTS, 5)}
        names = {one for one in names if not any(one.startswith(f"{above}/") for above in names)}
        keys = {
            f"t/{chance.choice(PARTS)}/{chance.choice('xyz')}{chance.randrange(9)}"
            for _ in range(chance.randrange(60))
        }
        ordered = sorted(keys, key=str.encode)
        prefixes = sorted(f"t/{name}/".encode() for name in names)
        flat = FlatList(prefixes, worth=chance.randrange(1, 4))
        read(flat, ordered, size=chance.randrange(1, 20))
        for prefix in prefixes[: flat.complete]:
            below = [key for key in ordered if key.encode().startswith(prefix)]
            assert [entry["path"] for entry in flat.entries[prefix]] == below


@pytest.mark.parametrize(("files", "pages", "settled"), [
    (1, 1, 300), (11, 4, 300), (100, 1, 9), (10_000, 1, 0),
])  # fmt: skip
def test_pages_that_settle_little_are_not_asked_for(files: int, pages: int, settled: int) -> None:
    """So many files in each of 300 directories; a page of a thousand has to settle 16 of them."""
    names = [f"t/p={number:03d}" for number in range(300)]
    keys = [f"{name}/{number:05d}" for name in names for number in range(files)]
    flat = FlatList([f"{name}/".encode() for name in names], worth=16)
    assert read(flat, keys, size=1_000) == pages
    assert flat.complete == settled


@pytest.mark.parametrize("is_full", [True, False])
def test_a_store_of_another_order_settles_nothing(is_full: bool) -> None:
    flat = FlatList([b"t/a/", b"t/b/"], 1)
    page = [{"path": "t/b/1"}, {"path": "t/a/1"}]
    assert (flat.take if is_full else flat.end)(page) in (False, None)
    assert flat.complete == 0
