"""Memory between small statements: kept by the process, not given back after each."""

from __future__ import annotations

import ctypes
import functools

# Of malloc.h. The sizes are those up to which glibc raises both by itself, once a block of
# 32 MiB was freed.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGEST_MMAP_THRESHOLD = 32 << 20


@functools.cache
def keep_freed_memory() -> bool:
    """Let glibc keep up to 64 MiB that are freed; whether it is glibc and does.

    ORC's writer takes some megabytes for a row and frees them again. By default glibc gives such
    memory back to the system at once, and to get it again, page by page, takes longer than all
    else in a small statement.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(
        mallopt(_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
        and mallopt(_TRIM_THRESHOLD, 2 * _LARGEST_MMAP_THRESHOLD)
    )
