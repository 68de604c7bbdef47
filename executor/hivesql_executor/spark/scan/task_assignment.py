"""Reads in which a task has all rows of its writers: what becomes of these needs no shuffle.

The events of an UPDATE or DELETE go into a file for each writer of the old rows, so all that comes
of one writer's rows in a partition must come together. Mostly these are few files already.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import TypeVar

from hivesql_executor.orc.tail import OrcTail
from hivesql_planner.acid.row_id import decode_bucket
from hivesql_planner.errors import DataError

_Key = TypeVar("_Key")
_LITTLE = 1 << 20
"""Bytes that one task may read alone though others have nothing to do."""
_MUCH = 1 << 30
"""Bytes that no task shall have to read again when it fails."""
_UNEVEN = 1.5


def writer_of(tail: OrcTail) -> int | None:
    """Return the writer of all rows of a file, by its statistics; None unless these tell of one.

    As ``BUCKET_OF_ROW_ID`` takes it from each row.
    """
    try:
        low, high = map(decode_bucket, tail.key_range["bucket"])
    except (KeyError, DataError):
        return None
    same = (low.version, low.bucket) == (high.version, high.bucket)
    return low.bucket if same else None


def shared_out(sizes: Mapping[_Key, int], cores: int) -> dict[_Key, int] | None:
    """Return the number of a task for each, so that all tasks read much the same.

    None when one would have so much more to read than others that a shuffle costs less.
    """
    total = sum(sizes.values())
    # Each task costs time too, and no task shall be longer than those of other reads.
    count = max(1, min(len(sizes), cores, -(-total // _LITTLE)), -(-total // (_MUCH // 8)))
    loads = [(0, task) for task in range(count)]
    tasks = {}
    for key in sorted(sizes, key=lambda key: -sizes[key]):
        load, task = heapq.heappop(loads)
        tasks[key] = task
        heapq.heappush(loads, (load + sizes[key], task))
    longest = max((load for load, _ in loads), default=0)
    even = longest <= max(_LITTLE, _UNEVEN * total / max(1, cores))
    return tasks if even and longest <= _MUCH else None


def tasks_by_path(
    files: Iterable[tuple[str, int, int, int | None]], cores: int
) -> dict[str, int] | None:
    """Return the task for each file, given as path, bytes, partition's number and writer.

    None too when a file may have rows of several writers.
    """
    sizes: dict[tuple[int, int], int] = {}
    keys = {}
    for path, length, place, writer in files:
        if writer is None:
            return None
        keys[path] = place, writer
        sizes[place, writer] = sizes.get((place, writer), 0) + length
    tasks = shared_out(sizes, cores)
    return None if tasks is None else {path: tasks[key] for path, key in keys.items()}
