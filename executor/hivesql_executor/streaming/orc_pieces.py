"""One ORC file out of many: stripes are appended as they are, under a new footer each time.

A stripe says nothing of where it lies, so the stripes of a complete small file can follow those
of another of the same schema and codec. After each piece the file ends in a complete footer;
footers of earlier pieces stay inside as bytes that nobody reads, as in files of Hive's own
streaming writer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hivesql_executor.orc.proto import contents, delimited, fields, read_varint, signed, varint
from hivesql_executor.orc.tail_bytes import StoredType, chunks, plain_footer, with_types
from hivesql_planner.errors import DataError

_FOOTER_LENGTH, _CODEC, _BLOCK, _METADATA_LENGTH = 1, 2, 3, 5
_CONTENT_LENGTH, _STRIPES, _TYPES, _USER, _ROWS, _STATISTICS, _CALENDAR = 2, 3, 4, 5, 6, 7, 11
_PROLEPTIC = 2
_HEADER = 3
_Statistics = dict[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class _Tail:
    """What follows the stripes of one file."""

    content: int
    """Where the stripes end."""
    metadata: bytes
    footer: bytes
    postscript: bytes

    def said(self) -> dict[int, int]:
        return {number: value for number, value, _, _ in fields(self.postscript)}


@dataclass(slots=True)
class OrcPieces:
    """The state of a growing file: what its next footer must say.

    ``types`` are columns that it calls otherwise than the pieces do, by their ids.
    """

    types: Mapping[int, StoredType] = field(default_factory=dict)
    length: int = 0
    rows: int = 0
    stripe_rows: list[int] = field(default_factory=list)
    _stripes: list[bytes] = field(default_factory=list)
    _metadata: bytes = b""
    _statistics: list[_Statistics] = field(default_factory=list)
    _first: _Tail | None = None

    def add(self, piece: bytes) -> tuple[bytes, list[int]]:
        """Take in a complete ORC file; the bytes to append for it, and the rows of its stripes.

        The bytes end where the stripes do: ``tail`` must follow. DataError when the piece is of
        another schema or codec.
        """
        tail = _tail(piece)
        if self._first is None:
            self._first, start = tail, 0
        else:
            self._check_same(tail)
            start = _HEADER
        added = piece[start : tail.content]
        shift = self.length - start
        rows = []
        for number, _, begin, end in fields(tail.footer):
            if number == _STRIPES:
                stripe, count = _moved(_inside(tail.footer[begin:end]), shift)
                self._stripes.append(delimited(_STRIPES, stripe))
                rows.append(count)
        self._metadata += tail.metadata
        self._merge([_statistics(one) for one in contents(tail.footer, _STATISTICS)])
        self.length += len(added)
        self.stripe_rows += rows
        self.rows += sum(rows)
        return added, rows

    def tail(self, user_metadata: Mapping[str, bytes]) -> bytes:
        """Footer and postscript for everything added so far."""
        assert self._first is not None
        said = self._first.said()
        codec, block = said.get(_CODEC, 0), said.get(_BLOCK, 262_144)

        def packed(data: bytes) -> bytes:
            return b"".join(chunks(data, block)) if codec else data

        metadata = packed(self._metadata)
        footer = packed(self._footer(user_metadata))
        replaced = {_FOOTER_LENGTH: len(footer), _METADATA_LENGTH: len(metadata)}
        postscript = b"".join(
            _number(number, replaced[number])
            if number in replaced
            else self._first.postscript[begin:end]
            for number, _, begin, end in fields(self._first.postscript)
        )
        data = metadata + footer + postscript + bytes([len(postscript)])
        self.length += len(data)
        return data

    def _footer(self, user_metadata: Mapping[str, bytes]) -> bytes:
        assert self._first is not None
        known = {_CONTENT_LENGTH, _STRIPES, _USER, _ROWS, _STATISTICS, _CALENDAR}
        first = self._first.footer
        kept = b"".join(first[a:b] for number, _, a, b in fields(first) if number not in known)
        items = (
            delimited(_USER, delimited(1, key.encode()) + delimited(2, value))
            for key, value in user_metadata.items()
        )
        return b"".join([
            with_types(kept, self.types),
            _number(_CONTENT_LENGTH, self.length),
            *self._stripes,
            *items,
            _number(_ROWS, self.rows),
            *(delimited(_STATISTICS, _statistics_message(one)) for one in self._statistics),
            # Days are counted in the calendar that Arrow has.
            _number(_CALENDAR, _PROLEPTIC),
        ])  # fmt: skip

    def _check_same(self, tail: _Tail) -> None:
        assert self._first is not None
        mine, other = self._first.said(), tail.said()
        same = all(mine.get(key) == other.get(key) for key in (_CODEC, _BLOCK))
        if not same or _types(tail.footer) != _types(self._first.footer):
            raise DataError("a piece of an ORC file is of another schema or codec than the others")

    def _merge(self, new: Sequence[_Statistics]) -> None:
        if not self._statistics:
            self._statistics = list(new)
            return
        self._statistics = [
            _merged(old, one) for old, one in zip(self._statistics, new, strict=True)
        ]


def _tail(piece: bytes) -> _Tail:
    size = piece[-1]
    postscript = piece[-1 - size : -1]
    said = {number: value for number, value, _, _ in fields(postscript)}
    codec = said.get(_CODEC, 0)
    end = len(piece) - 1 - size
    start = end - said[_FOOTER_LENGTH]
    content = start - said.get(_METADATA_LENGTH, 0)
    return _Tail(
        content=content,
        metadata=plain_footer(piece[content:start], codec),
        footer=plain_footer(piece[start:end], codec),
        postscript=postscript,
    )


def _inside(record: bytes) -> bytes:
    """Return a field's content, without its key and length."""
    _, at = read_varint(record, 0)
    length, at = read_varint(record, at)
    return record[at : at + length]


def _types(footer: bytes) -> list[bytes]:
    return list(contents(footer, _TYPES))


def _number(field_number: int, value: int) -> bytes:
    return varint(field_number << 3) + varint(value)


def _moved(stripe: bytes, shift: int) -> tuple[bytes, int]:
    """Return a stripe's entry at another offset, and its rows."""
    said = {number: value for number, value, _, _ in fields(stripe)}
    parts = (
        _number(1, value + shift) if number == 1 else stripe[begin:end]
        for number, value, begin, end in fields(stripe)
    )
    return b"".join(parts), said[5]


# Of a column's statistics: how many values (1), whether there is a NULL (10), bytes (11), the
# number of TRUEs (5), and the ends of numbers (2), days (7) and times (9), where odd fields are the
# least and even ones the greatest. Of all other kinds only the field itself is kept: readers tell
# by it what statistics they have before them.
_VALUES, _TRUES, _HAS_NULL, _BYTES = 1, 5, 10, 11
_ENDS = {2: (1, 2), 7: (1, 2), 9: (1, 2, 3, 4)}
_SUMS = (_VALUES, _TRUES, _BYTES)


def _statistics(message: bytes) -> _Statistics:
    found: _Statistics = {}
    for number, value, begin, end in fields(message):
        found[number, 0] = value
        inside = b"" if number in (_VALUES, _HAS_NULL, _BYTES) else _inside(message[begin:end])
        if number == _TRUES and inside:
            # One number, packed into a field of bytes.
            found[number, 0], _ = read_varint(_inside(inside), 0)
        for name, end_value, _, _ in fields(inside) if number in _ENDS else ():
            if name in _ENDS[number]:
                found[number, name] = signed(end_value)
    return found


def _merged(one: _Statistics, other: _Statistics) -> _Statistics:
    found: _Statistics = dict.fromkeys([*one, *other], 0)
    filled = [part for part in (one, other) if part.get((_VALUES, 0))]
    for number, name in list(found):
        key = number, name
        if name:
            if not all(key in part for part in filled):
                del found[key]
                continue
            least = name % 2 == 1
            found[key] = (min if least else max)(part[key] for part in filled)
        elif number in _SUMS:
            found[key] = one.get(key, 0) + other.get(key, 0)
        elif number == _HAS_NULL:
            found[key] = one.get(key, 0) | other.get(key, 0)
    return found


def _statistics_message(found: _Statistics) -> bytes:
    message = b""
    for number in sorted({number for number, _ in found}):
        if number in (_VALUES, _HAS_NULL, _BYTES):
            message += _number(number, found[number, 0])
        elif number == _TRUES:
            message += delimited(number, delimited(1, varint(found[number, 0])))
        else:
            ends = (
                _number(name, _zigzag(found[number, name]))
                for name in _ENDS.get(number, ())
                if (number, name) in found
            )
            message += delimited(number, b"".join(ends))
    return message


def _zigzag(value: int) -> int:
    return -2 * value - 1 if value < 0 else 2 * value
