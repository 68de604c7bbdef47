"""Where tests put files that nothing depends on being on a disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

MEMORY, ENOUGH = Path("/dev/shm"), 2**30


def in_memory() -> str | None:
    """A directory whose files are in memory, if there is room; None stands for the usual one."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH:
        return str(MEMORY)
    return None
