"""A system that has no thread left, as in a container with a limit of processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NO_ROOM = 2**46


@contextmanager
def without_threads() -> Iterator[None]:
    """No thread of this process can be started: each would need a larger stack than there is."""
    before = threading.stack_size(_NO_ROOM)
    try:
        yield
    finally:
        threading.stack_size(before)
