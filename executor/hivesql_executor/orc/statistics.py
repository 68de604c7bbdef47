"""What ORC files say about columns: per file's stripe, and per row group inside of a stripe.

ORC's specification calls these the metadata section and the row index. Only what means the same
whoever wrote it is taken: ends of whole numbers, decimals, days since 1700 and texts that are not
cut; how many values there are, and whether there are NULLs.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hivesql_executor.files.api import Files
from hivesql_executor.orc.proto import Message, contents, parsed, read_varint, signed
from hivesql_executor.orc.tail_bytes import plain_footer
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.predicates.predicate import Stored
from hivesql_planner.predicates.ranges import Extent

_TAIL_GUESS = 16 * 1024
_WHOLE, _TEXTS, _DECIMAL, _DATE = (1, 2, 3, 4), (7, 16), 14, 15
_EPOCH = datetime.date(1970, 1, 1)
FIRST_PLAIN_DAY, LAST_PLAIN_DAY = -98_615, 84_006
"""1700-01-01 and 2200-01-01: before 1582 are two calendars, and Arrow's nanoseconds end 2262."""
_PLAIN_DAYS = range(FIRST_PLAIN_DAY, LAST_PLAIN_DAY)
_FIRST_SOUND_WRITER = 1
"""Before HIVE-8732, ends of texts and decimals were wrong."""
_ROW_INDEX = 6
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
    files: Files, path: str, length: int, modified: int, wanted: tuple[ColumnPath, ...]
) -> Statistics | None:
    """Tell what a file says about columns, read once as long as it stays the same.

    None where nothing can be told: an odd codec, or a tail that is not understood.
    """
    try:
        return _statistics(files, path, length, wanted)
    except _UNCLEAR:
        return None


def _statistics(
    files: Files, path: str, length: int, wanted: tuple[ColumnPath, ...]
) -> Statistics | None:
    start = max(0, length - _TAIL_GUESS)
    tail = files.read(path, start, length - start)
    size = tail[-1]
    if not tail[:-1].endswith(b"ORC"):
        return None
    said = parsed(tail[-1 - size : -1])
    codec, footer, metadata = _number(said, 2), _number(said, 1), _number(said, 5)
    before = length - 1 - size - footer
    if before - metadata < start:
        start = before - metadata
        tail = files.read(path, start, length - start)
    about = parsed(plain_footer(tail[before - start : before - start + footer], codec))
    columns = tuple(_column(about, one) for one in wanted)
    told = parsed(plain_footer(tail[before - start - metadata : before - start], codec))
    stripes, stated = about.get(3, []), told.get(1, [])
    known = len(stripes) == len(stated) and _number(said, 6) >= _FIRST_SOUND_WRITER
    found, first = [], 0
    for number, stripe in enumerate(stripes):
        one = parsed(_bytes(stripe))
        offset, body = _number(one, 1), _number(one, 2) + _number(one, 3)
        entries = _entries(_bytes(stated[number])) if known else []
        extents = tuple(
            _extent(entries[column[0]], column[1]) if column and entries else None
            for column in columns
        )
        end = _number(one, 4)
        found.append(
            Stripe(number, offset, body + end, offset + body, end, first, _number(one, 5), extents)
        )
        first += _number(one, 5)
    return Statistics(tuple(found), _number(about, 8) if known else 0, codec, columns)


@functools.lru_cache(maxsize=5_000)
def read_groups(
    files: Files,
    path: str,
    length: int,
    modified: int,
    wanted: tuple[ColumnPath, ...],
    number: int,
) -> tuple[tuple[Extent | None, ...], ...]:
    """Extents of the wanted columns in each row group of a stripe; () where there is no index."""
    statistics = read_statistics(files, path, length, modified, wanted)
    if statistics is None or not statistics.stride:
        return ()
    stripe, stride = statistics.stripes[number], statistics.stride
    count = -(-stripe.rows // stride)
    try:
        footer = files.read(path, stripe.footer_offset, stripe.footer_length)
        places = _index_places(parsed(plain_footer(footer, statistics.codec)), stripe.offset)
        columns = [
            _groups(files, path, places.get(column[0]), column[1], statistics.codec, count)
            if column
            else [None] * count
            for column in statistics.columns
        ]
    except _UNCLEAR:
        return ()
    return tuple(zip(*columns, strict=True))


def _index_places(footer: Message, offset: int) -> dict[int, tuple[int, int]]:
    """Tell where the row index of each column is: offset and length."""
    found = {}
    for stream in footer.get(1, []):
        one = parsed(_bytes(stream))
        if _number(one, 1) == _ROW_INDEX:
            found[_number(one, 2)] = (offset, _number(one, 3))
        offset += _number(one, 3)
    return found


def _groups(
    files: Files,
    path: str,
    place: tuple[int, int] | None,
    kind: int,
    codec: int,
    count: int,
) -> Sequence[Extent | None]:
    if place is None:
        return [None] * count
    entries = _entries(plain_footer(files.read(path, *place), codec))
    if len(entries) != count:
        return [None] * count
    return [_extent(_bytes(parsed(entry)[2][0]), kind) for entry in entries]


def _column(footer: Message, path: ColumnPath) -> tuple[int, int] | None:
    """Id and kind of a column; None where the file has none there."""
    types = [_bytes(one) for one in footer[4]]
    found = 0
    for child in path:
        children = [
            number for packed in parsed(types[found]).get(2, []) for number in _packed(packed)
        ]
        if child >= len(children):
            return None
        found = children[child]
    return found, _number(parsed(types[found]), 1)


def _extent(message: bytes, kind: int) -> Extent | None:
    said = parsed(message)
    if 1 not in said:
        return None
    values = _number(said, 1)
    has_null = bool(said.get(10, [1])[0])
    low, high = _ends(said, kind)
    return Extent(values, low, high, has_null)


def _ends(said: Message, kind: int) -> tuple[Stored, Stored]:
    if kind in _WHOLE and 2 in said:
        ends = parsed(_bytes(said[2][0]))
        return _signed(ends, 1), _signed(ends, 2)
    if kind in _TEXTS and 4 in said:
        texts = parsed(_bytes(said[4][0]))
        return _text(texts, 1), _text(texts, 2)
    if kind == _DECIMAL and 6 in said:
        texts = parsed(_bytes(said[6][0]))
        low, high = _text(texts, 1), _text(texts, 2)
        return (Decimal(low) if low else None), (Decimal(high) if high else None)
    if kind == _DATE and 7 in said:
        days = parsed(_bytes(said[7][0]))
        first, last = _signed(days, 1), _signed(days, 2)
        if first in _PLAIN_DAYS and last in _PLAIN_DAYS:
            return _day(first), _day(last)
    return None, None


def _day(number: int | None) -> datetime.date | None:
    return None if number is None else _EPOCH + datetime.timedelta(number)


def _text(message: Message, field: int) -> str | None:
    return _bytes(message[field][0]).decode() if field in message else None


def _signed(message: Message, field: int) -> int | None:
    return signed(_number(message, field)) if field in message else None


def _number(message: Message, field: int) -> int:
    value = message.get(field, [0])[-1]
    if not isinstance(value, int):
        raise _odd(field)
    return value


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise _odd(value)
    return value


def _odd(what: object) -> ValueError:
    return ValueError(f"unexpected {what} in an ORC tail")


def _entries(message: bytes) -> list[bytes]:
    """Return the messages of field 1."""
    return list(contents(message, 1))


def _packed(value: int | bytes) -> Iterator[int]:
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = read_varint(value, at)
        yield number
