"""Whether Arrow reads a file's days and times rightly, told by what the file's footer says."""

from __future__ import annotations

import functools
import io
from functools import partial
from typing import Any

import pyorc

from hivesql_executor.files.api import Files, read_range, readable
from hivesql_executor.orc import orc_proto
from hivesql_executor.orc.proto import Message
from hivesql_executor.orc.statistics import FIRST_PLAIN_DAY, LAST_PLAIN_DAY
from hivesql_executor.orc.tail_bytes import read_postscript
from hivesql_planner.errors import DataError, NotSupported

_ZONES = {"UTC", "GMT", "Etc/UTC"}
_DAY = 86_400_000
_STATISTICS_OF = {
    orc_proto.Kind.DATE: orc_proto.ColumnStatistics.DATES,
    orc_proto.Kind.TIMESTAMP: orc_proto.ColumnStatistics.TIMESTAMPS,
    orc_proto.Kind.TIMESTAMP_INSTANT: orc_proto.ColumnStatistics.TIMESTAMPS,
}
# Of times, two fields are in the writer's zone and two in UTC; either pair may be missing.
_ENDS = (
    (orc_proto.Ends.MINIMUM, orc_proto.Ends.MAXIMUM),
    (orc_proto.Ends.MINIMUM_UTC, orc_proto.Ends.MAXIMUM_UTC),
)


@functools.lru_cache(maxsize=10_000)
def has_plain_times(files: Files, path: str, length: int, modified: int) -> bool:
    """Tell whether all days and times are near today; False where the file does not tell.

    A file that was changed at the same time is the same file.
    """
    source = readable(files, path, length, io.DEFAULT_BUFFER_SIZE, modified=modified)
    try:
        reader: Any = pyorc.Reader(source)
        if any(stripe.writer_timezone not in _ZONES for stripe in reader.iter_stripes()):
            return False
        return _is_all_plain(_footer(files, path, length, modified))
    except (DataError, NotSupported, ValueError, RuntimeError, pyorc.ORCError):
        # Also of bytes that are damaged: Spark says what is wrong with them.
        return False


def _is_all_plain(footer: Message) -> bool:
    kinds = [each.number(orc_proto.Type.KIND) for each in footer.messages(orc_proto.Footer.TYPES)]
    statistics = footer.messages(orc_proto.Footer.STATISTICS)
    timed = [column for column, kind in enumerate(kinds) if kind in _STATISTICS_OF]
    if timed and len(statistics) != len(kinds):
        return False
    return all(_is_plain(statistics[column], kinds[column]) for column in timed)


def _is_plain(statistics: Message, kind: int) -> bool:
    if not statistics.number(orc_proto.ColumnStatistics.NUMBER_OF_VALUES):
        return True
    unit = 1 if kind == orc_proto.Kind.DATE else _DAY
    pairs = [
        (ends.signed(low), ends.signed(high))
        for ends in statistics.messages(_STATISTICS_OF[kind])
        for low, high in _ENDS
    ]
    values = [value for pair in pairs for value in pair if value is not None]
    return any(None not in pair for pair in pairs) and all(
        FIRST_PLAIN_DAY * unit < value < LAST_PLAIN_DAY * unit for value in values
    )


def _footer(files: Files, path: str, length: int, modified: int) -> Message:
    read = partial(read_range, files, path, length=length, modified=modified)
    end = read(max(0, length - 256), min(length, 256))
    postscript = read_postscript(end)
    if postscript is None:
        raise DataError(f"{path} has no ORC postscript")
    start = length - postscript.length - postscript.footer_length
    return Message(postscript.unpack(read(start, postscript.footer_length)))
