"""Work on many files at once without Spark: a store's answers are waited for side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Protocol, TypeVar

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.statement_log import carried

Item = TypeVar("Item")
Result = TypeVar("Result")
_NAME = "small-files"
_SHARES = 4
"""What each thread is given of local files in turns, so that all end at about the same time."""


class TakesManyAtOnce(Protocol):
    """A file system, as far as it counts here."""

    @property
    def most_at_once(self) -> int:
        """Say on how many files it pays to work at once."""
        ...


def each_at_once(
    files: TakesManyAtOnce, work: Callable[[Item], Result], items: Sequence[Item], *, few: int = 4
) -> list[Result]:
    """Return what the work gives for each item, in their order; the first error is raised.

    ``few`` local files are done before the threads of a pool have started. Work that is part of
    such work is done one by one.
    """
    is_part = threading.current_thread().name.startswith(_NAME)
    is_little = len(items) <= (few if isinstance(files, LocalFiles) else 1)
    if is_part or is_little or files.most_at_once == 1:
        return [work(item) for item in items]
    # To hand over a local file's work may take longer than the work, where much of it is known.
    threads = files.most_at_once
    size = max(len(items) // (threads * _SHARES), 1) if isinstance(files, LocalFiles) else 1
    shares = (items[start : start + size] for start in range(0, len(items), size))

    def work_on(share: Sequence[Item]) -> list[Result]:
        return [work(item) for item in share]

    with ThreadPoolExecutor(threads, _NAME) as pool:
        done = pool.map(carried(work_on), shares)
        return [*chain.from_iterable(done)]
