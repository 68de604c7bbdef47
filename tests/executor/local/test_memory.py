"""Memory that small statements free stays with the process."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from hivesql_executor.local.memory import keep_freed_memory

PROGRAM = """
import resource
from hivesql_executor.local.memory import keep_freed_memory
import ctypes

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        block = libc.malloc(8 << 20)
        ctypes.memset(block, 1, 8 << 20)
        libc.free(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

assert keep_freed_memory()
first = faults()
assert faults() * 10 < first or first < 5000, first
"""


def test_freed_blocks_are_used_again() -> None:
    if platform.libc_ver()[0] != "glibc":
        assert not keep_freed_memory()
        pytest.skip("another C library")
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)
