"""One ORC file out of many: stripes are appended as they are, under a new footer each time.

A stripe says nothing of where it lies, so the stripes of a complete small file can follow those
of another of the same schema and codec. After each piece the file ends in a complete footer;
footers of earlier pieces stay inside as bytes that nobody reads, as in files of Hive's own
streaming writer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hivesql_executor.orc import orc_proto
from hivesql_executor.orc.orc_proto import ColumnStatistics, Footer, StripeInformation
from hivesql_executor.orc.proto import Message, delimited, fields, numbered, unsigned, varint
from hivesql_executor.orc.tail_bytes import (
    PostScript,
    StoredType,
    read_postscript,
    user_metadata,
    with_types,
)
from hivesql_planner.errors import DataError

_HEADER = 3
_Statistics = dict[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class _Tail:
    """What follows the stripes of one file."""

    content: int
    """Where the stripes end."""
    metadata: bytes
    footer: bytes
    postscript: PostScript


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
        footer = Message(tail.footer)
        rows = []
        for stripe in footer.contents(Footer.STRIPES):
            self._stripes.append(delimited(Footer.STRIPES, _moved(stripe, shift)))
            rows.append(Message(stripe).number(StripeInformation.NUMBER_OF_ROWS))
        self._metadata += tail.metadata
        self._merge([_statistics(column) for column in footer.contents(Footer.STATISTICS)])
        self.length += len(added)
        self.stripe_rows += rows
        self.rows += sum(rows)
        return added, rows

    def tail(self, metadata: Mapping[str, bytes]) -> bytes:
        """Footer and postscript for everything added so far."""
        assert self._first is not None
        postscript = self._first.postscript
        stripes = postscript.pack(self._metadata)
        footer = postscript.pack(self._footer(metadata))
        end = postscript.replace(footer_length=len(footer), metadata_length=len(stripes))
        data = stripes + footer + end
        self.length += len(data)
        return data

    def _footer(self, metadata: Mapping[str, bytes]) -> bytes:
        assert self._first is not None
        own_fields = b"".join(
            entry for number, entry, _ in fields(self._first.footer) if number not in _OWN
        )
        return b"".join([
            with_types(own_fields, self.types),
            numbered(Footer.CONTENT_LENGTH, self.length),
            *self._stripes,
            user_metadata(metadata),
            numbered(Footer.NUMBER_OF_ROWS, self.rows),
            *(
                delimited(Footer.STATISTICS, _statistics_message(column))
                for column in self._statistics
            ),
            # Days are counted in the calendar that Arrow has.
            numbered(Footer.CALENDAR, orc_proto.PROLEPTIC_GREGORIAN),
        ])  # fmt: skip

    def _check_same(self, tail: _Tail) -> None:
        assert self._first is not None
        mine, other = self._first.postscript, tail.postscript
        same = (mine.codec, mine.block_size) == (other.codec, other.block_size)
        if not same or _types(tail.footer) != _types(self._first.footer):
            raise DataError("a piece of an ORC file is of another schema or codec than the others")

    def _merge(self, new: Sequence[_Statistics]) -> None:
        if not self._statistics:
            self._statistics = list(new)
            return
        self._statistics = [
            _merged(before, column) for before, column in zip(self._statistics, new, strict=True)
        ]


# What a footer says otherwise than that of the first piece.
_OWN = frozenset((
    Footer.CONTENT_LENGTH,
    Footer.STRIPES,
    Footer.METADATA,
    Footer.NUMBER_OF_ROWS,
    Footer.STATISTICS,
    Footer.CALENDAR,
))  # fmt: skip


def _tail(piece: bytes) -> _Tail:
    postscript = read_postscript(piece)
    assert postscript is not None, "Arrow wrote it"
    footer_end = len(piece) - postscript.length
    metadata_end = footer_end - postscript.footer_length
    content = metadata_end - postscript.metadata_length
    return _Tail(
        content=content,
        metadata=postscript.unpack(piece[content:metadata_end]),
        footer=postscript.unpack(piece[metadata_end:footer_end]),
        postscript=postscript,
    )


def _types(footer: bytes) -> list[bytes]:
    return Message(footer).contents(Footer.TYPES)


def _moved(stripe: bytes, shift: int) -> bytes:
    """Return a stripe's entry at another offset."""
    offset = Message(stripe).number(StripeInformation.OFFSET) + shift
    return b"".join(
        numbered(number, offset) if number == StripeInformation.OFFSET else entry
        for number, entry, _ in fields(stripe)
    )


# Of the statistics' messages the ends are kept, of which odd fields are the least and even ones
# the greatest. Of all other messages only the field itself is: readers tell by it what statistics
# they have before them.
_ENDS = {
    ColumnStatistics.INTEGERS: (orc_proto.Ends.MINIMUM, orc_proto.Ends.MAXIMUM),
    ColumnStatistics.DATES: (orc_proto.Ends.MINIMUM, orc_proto.Ends.MAXIMUM),
    ColumnStatistics.TIMESTAMPS: (
        orc_proto.Ends.MINIMUM,
        orc_proto.Ends.MAXIMUM,
        orc_proto.Ends.MINIMUM_UTC,
        orc_proto.Ends.MAXIMUM_UTC,
    ),
}
_NUMBERS = (
    ColumnStatistics.NUMBER_OF_VALUES,
    ColumnStatistics.HAS_NULL,
    ColumnStatistics.BYTES_ON_DISK,
)
_SUMS = (
    ColumnStatistics.NUMBER_OF_VALUES,
    ColumnStatistics.BUCKETS,
    ColumnStatistics.BYTES_ON_DISK,
)


def _statistics(message: bytes) -> _Statistics:
    """Return numbers by their field, ends by those of their message and of their own."""
    statistics = Message(message)
    values: _Statistics = {}
    for field_number, _, content in fields(message):
        if field_number in _NUMBERS:
            values[field_number, 0] = statistics.number(field_number)
            continue
        values[field_number, 0] = 0
        if field_number == ColumnStatistics.BUCKETS:
            trues = Message(content).numbers(orc_proto.Buckets.COUNT)
            values[field_number, 0] = sum(trues[:1])
        elif field_number in _ENDS:
            ends = Message(content)
            ends_of_type = ((end, ends.signed(end)) for end in _ENDS[field_number])
            values |= {
                (field_number, end): value for end, value in ends_of_type if value is not None
            }
    return values


def _merged(first: _Statistics, second: _Statistics) -> _Statistics:
    merged: _Statistics = dict.fromkeys([*first, *second], 0)
    filled = [part for part in (first, second) if part.get((ColumnStatistics.NUMBER_OF_VALUES, 0))]
    for number, name in list(merged):
        key = number, name
        if name:
            if not all(key in part for part in filled):
                del merged[key]
                continue
            least = name % 2 == 1
            merged[key] = (min if least else max)(part[key] for part in filled)
        elif number in _SUMS:
            merged[key] = first.get(key, 0) + second.get(key, 0)
        elif number == ColumnStatistics.HAS_NULL:
            merged[key] = first.get(key, 0) | second.get(key, 0)
    return merged


def _statistics_message(values: _Statistics) -> bytes:
    message = b""
    for number in sorted({number for number, _ in values}):
        if number in _NUMBERS:
            message += numbered(number, values[number, 0])
        elif number == ColumnStatistics.BUCKETS:
            packed = delimited(orc_proto.Buckets.COUNT, varint(values[number, 0]))
            message += delimited(number, packed)
        else:
            ends = (
                numbered(end, unsigned(values[number, end]))
                for end in _ENDS.get(number, ())
                if (number, end) in values
            )
            message += delimited(number, b"".join(ends))
    return message
