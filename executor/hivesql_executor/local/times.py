"""Whether Arrow reads a file's days and times rightly, told by what the file's footer says."""

from __future__ import annotations

import functools
import io
from typing import Any

import pyorc

from hivesql_executor.files.api import Files, readable
from hivesql_executor.orc.proto import contents, fields, signed
from hivesql_executor.orc.statistics import FIRST_PLAIN_DAY, LAST_PLAIN_DAY
from hivesql_executor.orc.tail_bytes import plain_footer
from hivesql_planner.errors import NotSupported

_ZONES = {"UTC", "GMT", "Etc/UTC"}
_DATE, _TIMES = 15, (9, 18)
_DAY = 86_400_000
_STATISTICS_OF = {_DATE: 7, **dict.fromkeys(_TIMES, 9)}


@functools.lru_cache(maxsize=10_000)
def has_plain_times(files: Files, path: str, length: int, modified: int) -> bool:
    """Tell whether all days and times are near today; False where the file does not tell.

    A file that was changed at the same time is the same file.
    """
    reader: Any = pyorc.Reader(readable(files, path, length, io.DEFAULT_BUFFER_SIZE))
    if any(stripe.writer_timezone not in _ZONES for stripe in reader.iter_stripes()):
        return False
    try:
        footer = _footer(files, path, length)
    except NotSupported:
        return False
    kinds = [_value(one, 1) for one in contents(footer, 4)]
    statistics = list(contents(footer, 7))
    timed = [number for number, kind in enumerate(kinds) if kind in _STATISTICS_OF]
    if timed and len(statistics) != len(kinds):
        return False
    return all(_is_plain(statistics[number], kinds[number]) for number in timed)


def _is_plain(statistics: bytes, kind: int) -> bool:
    if not _value(statistics, 1):
        return True
    unit = 1 if kind == _DATE else _DAY
    known = list(contents(statistics, _STATISTICS_OF[kind]))
    ends = {number: signed(value) for one in known for number, value, _, _ in fields(one)}
    # Of times, two fields are in the writer's zone and two in UTC; either pair may be missing.
    return any({low, low + 1} <= set(ends) for low in (1, 3)) and all(
        FIRST_PLAIN_DAY * unit < value < LAST_PLAIN_DAY * unit
        for number, value in ends.items()
        if number <= 4
    )


def _footer(files: Files, path: str, length: int) -> bytes:
    tail = files.read(path, max(0, length - 256), min(length, 256))
    size = tail[-1]
    said = {number: value for number, value, _, _ in fields(tail[-1 - size : -1])}
    footer = said[1]
    return plain_footer(files.read(path, length - 1 - size - footer, footer), said.get(2, 0))


def _value(message: bytes, wanted: int) -> int:
    return next((value for number, value, _, _ in fields(message) if number == wanted), 0)
