"""Contents of small files of other machines, for who reads them next in this process."""

from __future__ import annotations

import threading
from collections import OrderedDict

SMALL = 256 * 1024
"""Bytes of files whose footer is wanted first, and their rows a moment later."""
LARGEST = 4 << 20
"""Bytes that a file has at most which is remembered."""
_MOST_REMEMBERED = 64 << 20
"""Bytes of all of them that are remembered."""
_remembered: OrderedDict[tuple[object, str, int, int], bytes] = OrderedDict()
_guard = threading.Lock()


def remember_content(files: object, path: str, modified: int, data: bytes) -> None:
    """Remember what a file had when it was read or written; nothing happens with a large one.

    ``files`` is its file system, and ``modified`` tells it from another one of its name.
    """
    if len(data) > LARGEST:
        return
    with _guard:
        _remembered[files, path, len(data), modified] = data
        room = _MOST_REMEMBERED - sum(map(len, _remembered.values()))
        while room < 0:
            room += len(_remembered.popitem(last=False)[1])


def recall_content(files: object, path: str, length: int, modified: int) -> bytes | None:
    """Return what a file of that length and time has; None where that is not remembered."""
    key = files, path, length, modified
    with _guard:
        data = _remembered.get(key)
        if data is not None:
            _remembered.move_to_end(key)
        return data
