"""Files that may not be written, for root too: containers run tests as root."""

from __future__ import annotations

import ctypes
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_VERSION = 0x20080522
_OVERRIDE = 0b110
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""


@contextmanager
def read_only(*places: Path) -> Iterator[None]:
    """Let this thread, even that of root, write neither the files nor the directories below."""
    found = [one for place in places for one in (place, *place.rglob("*"))]
    modes = {one: stat.S_IMODE(one.stat().st_mode) for one in found}
    for one, mode in modes.items():
        one.chmod(mode & ~0o222)
    before = _capabilities()
    _use([before[0] & ~_OVERRIDE, *before[1:]])
    try:
        yield
    finally:
        _use(before)
        for one, mode in modes.items():
            one.chmod(mode)


_header = (ctypes.c_uint32 * 2)(_VERSION, 0)


def _capabilities() -> list[int]:
    """Those in effect, permitted and inherited of this thread, in two words each."""
    found = (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capget(_header, found) == 0
    return list(found)


def _use(wanted: list[int]) -> None:
    assert ctypes.CDLL(None).capset(_header, (ctypes.c_uint32 * 6)(*wanted)) == 0
