"""Work on many files at once without Spark: a store's answers are waited for side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from hivesql_executor.files.api import Files
from hivesql_executor.files.local import LocalFiles

Item = TypeVar("Item")
Result = TypeVar("Result")
_NAME = "small-files"


def each_at_once(
    files: Files, work: Callable[[Item], Result], items: Sequence[Item], *, few: int = 4
) -> list[Result]:
    """Return what the work gives for each item, in their order; the first error is raised.

    ``few`` local files are done before the threads of a pool have started. Work that is part of
    such work is done one by one.
    """
    is_part = threading.current_thread().name.startswith(_NAME)
    is_little = len(items) <= (few if isinstance(files, LocalFiles) else 1)
    if is_part or is_little or files.most_at_once == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(files.most_at_once, _NAME) as pool:
        return list(pool.map(work, items))
