"""Contents of small files of other machines, for who reads them next in this process."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections import OrderedDict

SMALL = 256 * 1024
"""Bytes of files whose footer is wanted first, and their rows a moment later."""
LARGEST = 4 << 20
"""Bytes that a file has at most which is remembered."""
_TINY = 16 * 1024
"""Bytes of files that go to tasks with the plan."""
_MOST_IN_PLAN = 256 * 1024
"""Bytes of all files that go with one plan."""
_MOST_REMEMBERED = 64 << 20
"""Bytes of all of them that are remembered."""
_remembered: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
_guard = threading.Lock()


def remember_content(files: object, path: str, modified: int, data: bytes) -> None:
    """Remember what a file had when it was read or written; nothing happens with a large one.

    ``files`` is its file system, and ``modified`` tells it from another one of its name.
    """
    if len(data) <= LARGEST:
        _remember((files, path, len(data), modified), data)


def remember_piece(files: object, path: str, modified: int, number: int, data: bytes) -> None:
    """Remember a numbered piece of a larger file."""
    _remember((files, path, "piece", modified, number), data)


def recall_piece(files: object, path: str, modified: int, number: int) -> bytes | None:
    """Return a piece of a larger file; None where it is not remembered."""
    return _recall((files, path, "piece", modified, number))


def _remember(key: tuple[object, ...], data: bytes) -> None:
    with _guard:
        _remembered[key] = data
        room = _MOST_REMEMBERED - sum(map(len, _remembered.values()))
        while room < 0:
            room += len(_remembered.popitem(last=False)[1])


def recall_content(files: object, path: str, length: int, modified: int) -> bytes | None:
    """Return what a file of that length and time has; None where that is not remembered."""
    return _recall((files, path, length, modified))


def _recall(key: tuple[object, ...]) -> bytes | None:
    with _guard:
        data = _remembered.get(key)
        if data is not None:
            _remembered.move_to_end(key)
        return data


class KnownFiles:
    """Tells tasks what this process knows of files of other machines (``SmallFiles.java``)."""

    def __init__(self, files: object) -> None:
        self._files, self._room = files, _MOST_IN_PLAN

    def tell(self, path: str, length: int, modified: int) -> dict[str, str]:
        """Return what tells a file from another of its path, and what it has, as far as known.

        ``modified`` is 0 where nothing tells them apart.
        """
        if not modified:
            return {}
        facts = {"version": f"{length}.{modified}"}
        data = recall_content(self._files, path, length, modified)
        if data is not None and len(data) <= min(_TINY, self._room):
            self._room -= len(data)
            facts["content"] = base64.b64encode(data).decode()
        elif data is not None:
            # Then a task has written it, who may be asked for it again.
            facts["digest"] = hashlib.sha256(data).hexdigest()
        return facts
