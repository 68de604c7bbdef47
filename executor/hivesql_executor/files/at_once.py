"""Work on many files at once without Spark: a store's answers are waited for side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from hivesql_executor.files.api import Files
from hivesql_executor.files.local import LocalFiles

Item = TypeVar("Item")
Result = TypeVar("Result")
_NAME = "small-files"
_THREADS = min(4, os.cpu_count() or 1)
"""Local files that are worked on at once: Arrow holds no lock of Python's."""
_REQUESTS = 16
"""Those of other file systems, as many as FileTree.java asks for."""


def each_at_once(
    files: Files, work: Callable[[Item], Result], items: Sequence[Item], *, few: int = 4
) -> list[Result]:
    """Return what the work gives for each item, in their order; the first error is raised.

    ``few`` local files are done before the threads of a pool have started. Work that is part of
    such work is done one by one.
    """
    is_local = isinstance(files, LocalFiles)
    is_part = threading.current_thread().name.startswith(_NAME)
    if is_part or len(items) <= (few if is_local else 1):
        return [work(item) for item in items]
    with ThreadPoolExecutor(_THREADS if is_local else _REQUESTS, _NAME) as pool:
        return list(pool.map(work, items))
