"""Many directories by one list of the tree that they are in, as far as that asks less."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hivesql_executor.files.stores.pages import follow_pages


@dataclass
class FlatList:
    """What a list of a tree has named so far, and of which of the directories that is all.

    ``prefixes`` are the directories' keys with a slash behind, in a store's order, none below
    another one; ``worth`` is how many of them a page must settle.
    """

    prefixes: Sequence[bytes]
    worth: int
    entries: Mapping[bytes, list[Any]] = field(init=False)
    complete: int = 0
    """So many of them, the first ones, have been listed whole."""
    _pages: int = 0
    _last: bytes = b""

    def __post_init__(self) -> None:
        self.entries = {prefix: [] for prefix in self.prefixes}

    def take(self, page: Sequence[Any]) -> bool:
        """Take a full page; tell whether the next one is worth its request."""
        if not self._sort_in(page):
            self.complete = 0
            return False
        self._pages += 1
        passed = bisect_left(self.prefixes, self._last)
        # More of the last one may come.
        is_inside = passed > 0 and self._last.startswith(self.prefixes[passed - 1])
        self.complete = passed - is_inside
        return self._pages * self.worth <= self.complete < len(self.prefixes)

    def end(self, page: Sequence[Any]) -> None:
        """Take the last page, behind which nothing is."""
        self.complete = len(self.prefixes) if self._sort_in(page) else 0

    def _sort_in(self, page: Sequence[Any]) -> bool:
        """Sort a page's files by directory; False where they come in another order than S3's."""
        for entry in page:
            path = entry["path"].encode()
            if path < self._last:
                return False
            self._last = path
            at = bisect_right(self.prefixes, path) - 1
            if at >= 0 and path.startswith(self.prefixes[at]):
                self.entries[self.prefixes[at]].append(entry)
            elif f"{entry['path']}/".encode() in self.entries:
                # What stands for the directory itself: the client tells nothing of its slash.
                self.entries[path + b"/"].append(entry)
        return True


def list_many(
    store: Any, home: str, keys: Sequence[str], location: str, seconds: float, *, worth: int
) -> dict[str, list[Any]]:
    """Return all that a store lists below directories, of those that few requests tell it of.

    ``home`` and ``keys`` name what is above them and they themselves. A page of the list has to
    come by as many directories as ``worth`` says, else the others are better asked for alone.
    """
    prefixes = sorted(f"{key}/".encode() for key in keys)
    if any(later.startswith(above) for above, later in pairwise(prefixes)):
        return {}
    flat = FlatList(prefixes, worth)
    # What comes before the first of them is of no use.
    before = prefixes[0].decode().removesuffix("/")
    follow_pages(store, home, before, location, seconds, flat.take, flat.end)
    return {
        prefix.decode().removesuffix("/"): flat.entries[prefix]
        for prefix in prefixes[: flat.complete]
    }
