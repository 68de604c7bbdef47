"""Events as ORC files."""

from __future__ import annotations

import io
import platform
import re
import resource
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow.orc import ORCFile

from hivesql_executor.local.events import insert_events, orc_bytes, orc_options
from hivesql_planner.model.table import Column, Table, TableName

_COLUMNS = 300
_MIB = 1024


def _resident() -> int:
    """Return the process's memory in KiB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found
    return int(found[1])


def _page_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


only_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc keeps what is freed"
)


@only_glibc
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("columns", [2, 12, 20])
@pytest.mark.parametrize("codec", ["ZLIB", "ZSTD", "SNAPPY"])
def test_small_files_take_their_memory_from_those_before(
    codec: str, columns: int, threads: int
) -> None:
    names = [f"c{i}" for i in range(columns)]
    table = Table(
        name=TableName("default", "t"),
        columns=tuple(Column.of(name, "string") for name in names),
        location="",
        properties={"orc.compress": codec},
    )
    row = pa.StructArray.from_arrays([pa.array(["a", "b"])] * columns, names)
    events = insert_events(row, write_id=1, writer=0, statement_id=0)
    with ThreadPoolExecutor(threads) as pool:

        def write(files: int) -> None:
            list(pool.map(orc_bytes, [events] * files, repeat(orc_options(table))))

        faults = []
        for _ in range(8):
            before = _page_faults()
            write(50)
            faults.append(_page_faults() - before)
    # Threads have touched all of it after some files. It was a thousand for each file, and more
    # in threads, whose heaps have 64 MiB; who shares one with threads of other tests has some too.
    assert min(faults) < 50 * 300


@only_glibc
def test_wide_tables_leave_no_memory_behind() -> None:
    names = [f"c{i}" for i in range(_COLUMNS)]
    table = Table(
        name=TableName("default", "t"),
        columns=tuple(Column.of(name, "string") for name in names),
        location="",
    )
    row = pa.StructArray.from_arrays([pa.array(["a", "b"])] * _COLUMNS, names)
    events = insert_events(row, write_id=1, writer=0, statement_id=0)
    orc_bytes(events, orc_options(table))
    before = _resident()
    for _ in range(5):
        assert orc_bytes(events, orc_options(table)).startswith(b"ORC")
    # It was some 100 MiB for each.
    assert _resident() - before < 100 * _MIB


@pytest.mark.parametrize(("columns", "kilobytes"), [(10, 256), (40, 128), (100, 64), (2000, 64)])
def test_blocks_of_wide_tables_are_small(columns: int, kilobytes: int) -> None:
    """As those of ORC's writer in Java, but no smaller than Arrow's smallest."""
    names = [f"c{i}" for i in range(columns)]
    table = Table(
        name=TableName("default", "t"),
        columns=tuple(Column.of(name, "int") for name in names),
        location="",
        properties={"orc.compress": "ZSTD"},
    )
    row = pa.StructArray.from_arrays([pa.array([1])] * columns, names)
    events = insert_events(row, write_id=1, writer=0, statement_id=0)
    file = ORCFile(io.BytesIO(orc_bytes(events, orc_options(table))))
    assert file.compression_size == kilobytes * 1024
