"""What ORC files say about columns: per file's stripe, and per row group inside of a stripe.

ORC's specification calls these the metadata section and the row index. Only what means the same
whoever wrote it is taken: ends of whole numbers, decimals, days since 1700 and texts that are not
cut; how many values there are, and whether there are NULLs.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from hivesql_executor.files.api import READ_WHOLE, Files, read_range
from hivesql_executor.orc import orc_proto
from hivesql_executor.orc.proto import Message
from hivesql_executor.orc.tail_bytes import read_postscript, unpack
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.predicates.predicate import Value
from hivesql_planner.predicates.ranges import Extent

_TAIL_GUESS = 16 * 1024
_WHOLE = (orc_proto.Kind.BYTE, orc_proto.Kind.SHORT, orc_proto.Kind.INT, orc_proto.Kind.LONG)
_TEXTS = (orc_proto.Kind.STRING, orc_proto.Kind.VARCHAR)
_EPOCH = datetime.date(1970, 1, 1)
FIRST_PLAIN_DAY, LAST_PLAIN_DAY = -98_615, 84_006
"""1700-01-01 and 2200-01-01: before 1582 are two calendars, and Arrow's nanoseconds end 2262."""
_PLAIN_DAYS = range(FIRST_PLAIN_DAY, LAST_PLAIN_DAY)
_FIRST_SOUND_WRITER = 1
"""Before HIVE-8732, ends of texts and decimals were wrong."""
_UNCLEAR = (DataError, NotSupported, ValueError, KeyError, IndexError, ArithmeticError)
ColumnPath = tuple[int, ...]
"""Where a column is among the children of the root, and then of each struct."""


@dataclass(frozen=True, slots=True)
class Stripe:
    """One stripe: its place, its rows, and what is known of the wanted columns in their order.

    ``first_row`` counts from the file's begin; ``extents`` are None where nothing is known.
    """

    number: int
    offset: int
    length: int
    footer_offset: int
    footer_length: int
    first_row: int
    rows: int
    extents: tuple[Extent | None, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """The stripes of a file; ``stride`` is the number of rows of a row group, 0 without an index.

    ``columns`` are the wanted columns' ids and kinds.
    """

    stripes: tuple[Stripe, ...]
    stride: int
    codec: int
    columns: tuple[tuple[int, int] | None, ...]


@functools.lru_cache(maxsize=20_000)
def read_statistics(
    files: Files, path: str, length: int, modified: int, paths: tuple[ColumnPath, ...]
) -> Statistics | None:
    """Tell what a file says about columns, read once as long as it stays the same.

    None where nothing can be told: an odd codec, or a tail that is not understood.
    """
    try:
        return _statistics(files, path, length, modified, paths)
    except _UNCLEAR:
        return None


def _statistics(
    files: Files, path: str, length: int, modified: int, paths: tuple[ColumnPath, ...]
) -> Statistics | None:
    read = partial(read_range, files, path, length=length, modified=modified)
    start = max(0, length - _TAIL_GUESS)
    tail = read(start, length - start)
    postscript = read_postscript(tail)
    if postscript is None:
        return None
    footer_end = length - postscript.length
    metadata_end = footer_end - postscript.footer_length
    metadata_start = metadata_end - postscript.metadata_length
    if metadata_start < start:
        start = metadata_start
        tail = read(start, length - start)
    footer = Message(postscript.unpack(tail[metadata_end - start : footer_end - start]))
    metadata = Message(postscript.unpack(tail[metadata_start - start : metadata_end - start]))
    columns = tuple(_column(footer, place) for place in paths)
    entries = footer.messages(orc_proto.Footer.STRIPES)
    stated = metadata.contents(orc_proto.Metadata.STRIPE_STATISTICS)
    is_sound = len(entries) == len(stated) and postscript.writer_version >= _FIRST_SOUND_WRITER
    stripes, first_row = [], 0
    for number, entry in enumerate(entries):
        extents = _extents(stated[number] if is_sound else b"", columns)
        stripes.append(_stripe(entry, number, first_row, extents))
        first_row += stripes[-1].rows
    stride = footer.number(orc_proto.Footer.ROW_INDEX_STRIDE) if is_sound else 0
    return Statistics(tuple(stripes), stride, postscript.codec, columns)


def _extents(
    statistics: bytes, columns: Sequence[tuple[int, int] | None]
) -> tuple[Extent | None, ...]:
    """Return what a stripe's statistics say; all None where there are none."""
    stated = Message(statistics).contents(orc_proto.StripeStatistics.COLUMN_STATISTICS)
    return tuple(
        _extent(stated[column[0]], column[1]) if column and stated else None for column in columns
    )


def _stripe(
    entry: Message, number: int, first_row: int, extents: tuple[Extent | None, ...]
) -> Stripe:
    offset = entry.number(orc_proto.StripeInformation.OFFSET)
    body = entry.number(orc_proto.StripeInformation.INDEX_LENGTH) + entry.number(
        orc_proto.StripeInformation.DATA_LENGTH
    )
    end = entry.number(orc_proto.StripeInformation.FOOTER_LENGTH)
    return Stripe(
        number=number,
        offset=offset,
        length=body + end,
        footer_offset=offset + body,
        footer_length=end,
        first_row=first_row,
        rows=entry.number(orc_proto.StripeInformation.NUMBER_OF_ROWS),
        extents=extents,
    )


@functools.lru_cache(maxsize=5_000)
def read_groups(
    files: Files,
    path: str,
    length: int,
    modified: int,
    paths: tuple[ColumnPath, ...],
    number: int,
) -> tuple[tuple[Extent | None, ...], ...]:
    """Extents of the wanted columns in each row group of a stripe; () where there is no index."""
    statistics = read_statistics(files, path, length, modified, paths)
    if statistics is None or not statistics.stride:
        return ()
    stripe, stride = statistics.stripes[number], statistics.stride
    count = -(-stripe.rows // stride)
    # Its rows are read a moment later.
    read = partial(read_range, files, path, length=length, modified=modified, most=READ_WHOLE)
    try:
        footer = read(stripe.footer_offset, stripe.footer_length)
        places = _index_places(Message(unpack(footer, statistics.codec)), stripe.offset)
        columns = [
            _groups(read, places.get(column[0]), column[1], statistics.codec, count)
            if column
            else [None] * count
            for column in statistics.columns
        ]
    except _UNCLEAR:
        return ()
    return tuple(zip(*columns, strict=True))


def _index_places(footer: Message, offset: int) -> dict[int, tuple[int, int]]:
    """Tell where the row index of each column is: offset and length."""
    places = {}
    for stream in footer.messages(orc_proto.StripeFooter.STREAMS):
        length = stream.number(orc_proto.Stream.LENGTH)
        if stream.number(orc_proto.Stream.KIND) == orc_proto.ROW_INDEX:
            places[stream.number(orc_proto.Stream.COLUMN)] = (offset, length)
        offset += length
    return places


def _groups(
    read: Callable[[int, int], bytes],
    place: tuple[int, int] | None,
    kind: int,
    codec: int,
    count: int,
) -> Sequence[Extent | None]:
    if place is None:
        return [None] * count
    index = Message(unpack(read(*place), codec))
    entries = index.messages(orc_proto.RowIndex.ENTRIES)
    if len(entries) != count:
        return [None] * count
    statistics = orc_proto.RowIndexEntry.STATISTICS
    return [_extent(entry.contents(statistics)[0], kind) for entry in entries]


def _column(footer: Message, path: ColumnPath) -> tuple[int, int] | None:
    """Id and kind of a column; None where the file has none there."""
    types = footer.contents(orc_proto.Footer.TYPES)
    column = 0
    for child in path:
        children = Message(types[column]).numbers(orc_proto.Type.SUBTYPES)
        if child >= len(children):
            return None
        column = children[child]
    return column, Message(types[column]).number(orc_proto.Type.KIND)


def _extent(message: bytes, kind: int) -> Extent | None:
    statistics = Message(message)
    if orc_proto.ColumnStatistics.NUMBER_OF_VALUES not in statistics:
        return None
    values = statistics.number(orc_proto.ColumnStatistics.NUMBER_OF_VALUES)
    has_null = bool(statistics.number(orc_proto.ColumnStatistics.HAS_NULL, 1))
    low, high = _ends(statistics, kind)
    return Extent(values, low, high, has_null)


def _ends(statistics: Message, kind: int) -> tuple[Value, Value]:
    if kind in _WHOLE:
        return _signed_ends(statistics, orc_proto.ColumnStatistics.INTEGERS)
    if kind in _TEXTS:
        return _text_ends(statistics, orc_proto.ColumnStatistics.STRINGS)
    if kind == orc_proto.Kind.DECIMAL:
        low, high = _text_ends(statistics, orc_proto.ColumnStatistics.DECIMALS)
        return (Decimal(low) if low else None), (Decimal(high) if high else None)
    if kind == orc_proto.Kind.DATE:
        first, last = _signed_ends(statistics, orc_proto.ColumnStatistics.DATES)
        if first in _PLAIN_DAYS and last in _PLAIN_DAYS:
            return _day(first), _day(last)
    return None, None


def _signed_ends(statistics: Message, field: int) -> tuple[int | None, int | None]:
    for ends in statistics.messages(field)[:1]:
        return ends.signed(orc_proto.Ends.MINIMUM), ends.signed(orc_proto.Ends.MAXIMUM)
    return None, None


def _text_ends(statistics: Message, field: int) -> tuple[str | None, str | None]:
    for ends in statistics.messages(field)[:1]:
        return ends.text(orc_proto.Ends.MINIMUM), ends.text(orc_proto.Ends.MAXIMUM)
    return None, None


def _day(number: int | None) -> datetime.date | None:
    return None if number is None else _EPOCH + datetime.timedelta(number)
