"""Every operation on a file of the warehouse is a point, whoever does it in whichever way.

Python tells its audit hooks of each such operation before it happens, and what a hook raises is
raised to who asked. Writes into open files are not among them: they are met when they are brought
to the disk.
"""

from __future__ import annotations

import errno
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simulation.scheduler import Scheduler

_PATHS = {
    "open": 0,
    "os.link": 1,
    "os.listdir": 0,
    "os.mkdir": 0,
    "os.remove": 0,
    "os.rename": 1,
    "os.rmdir": 0,
    "os.scandir": 0,
    "os.truncate": 0,
}
"""Which argument says where."""
_CODES = defaultdict(lambda: errno.EIO, full=errno.ENOSPC)
"""By the kind of a fault: what a store may do besides, a disk does not do at all."""
_active: list[tuple[Scheduler, str]] = []
_installed: list[bool] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _PATHS or not _active:
        return
    scheduler, root = _active[0]
    if scheduler.current is None:
        return
    path = arguments[_PATHS[event]]
    if isinstance(path, int):
        return
    path = os.fspath(path)
    if event in ("os.remove", "os.rmdir") and not str(path).startswith("/"):
        # A tree is removed by names below open directories.
        path = f"{root}/…/{path}"
    if isinstance(path, str) and path.startswith(root):
        short = path.removeprefix(root)
        mode = f" {arguments[1]}" if event == "open" and arguments[1] else ""
        _reach(scheduler, f"{event.removeprefix('os.')}{mode} {short}")


def _reach(scheduler: Scheduler, what: str) -> None:
    fault = scheduler.point("file", what)
    if fault is not None:
        code = _CODES[fault.kind]
        raise OSError(code, os.strerror(code), what)


@contextmanager
def watching(scheduler: Scheduler, warehouse: Path) -> Iterator[None]:
    """Make points of the operations below a directory."""
    if not _installed:
        # There is no way to take it away again.
        sys.addaudithook(_audit)
        _installed.append(True)
    _active.append((scheduler, str(warehouse)))
    synced = os.fsync

    def sync(file: int) -> None:
        """Nothing needs a disk here; what is being written may be torn off."""
        client = scheduler.current
        if client is None:
            return
        fault = scheduler.point("file", "fsync")
        if fault is not None:
            _tear(file, scheduler)
            code = _CODES[fault.kind]
            raise OSError(code, os.strerror(code))

    os.fsync = sync  # type: ignore[assignment]
    try:
        yield
    finally:
        os.fsync = synced
        _active.clear()


def _tear(file: int, scheduler: Scheduler) -> None:
    """Only a part of the last bytes arrived."""
    size = os.fstat(file).st_size
    lost = scheduler.chance(f"torn {scheduler.steps}").randrange(min(size, 200) + 1)
    # Readers may have opened the file for reading only: then nothing was being written.
    try:
        os.ftruncate(file, size - lost)
    except OSError:
        return
