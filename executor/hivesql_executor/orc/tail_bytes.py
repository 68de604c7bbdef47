"""The sections of an ORC tail: the chunks that a codec puts around them, and types in a footer."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from hivesql_executor.orc.proto import delimited, fields, read_varint, varint
from hivesql_planner.errors import DataError, NotSupported

_LONGEST_CHUNK = (1 << 23) - 1
_TYPES, _KIND, _MOST = 4, 1, 4
_STRING, _TIMESTAMP = 7, 9
_NUMBERS = {"varchar": 16, "char": 17, "timestamp with local time zone": 18}


def _inflate(data: bytes) -> bytes:
    return zlib.decompress(data, wbits=-15)


def _unsnap(data: bytes) -> bytes:
    length, _ = read_varint(data, 0)
    return bytes(pa.decompress(data, decompressed_size=length, codec="snappy", asbytes=True))


def _unzstd(data: bytes) -> bytes:
    return bytes(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read())


@dataclass(frozen=True, slots=True)
class StoredType:
    """A type that ORC encodes like the one that a footer names: of a name, with a longest text."""

    name: str
    length: int | None = None

    @property
    def encoded_like(self) -> int:
        """The number of the type that it may replace."""
        return _TIMESTAMP if self.length is None else _STRING


# By the number of the codec in the postscript.
_CODECS: dict[int, Callable[[bytes], bytes]] = {1: _inflate, 2: _unsnap, 5: _unzstd}


def plain_footer(data: bytes, codec: int) -> bytes:
    """Return a footer without its codec; NotSupported for LZO, LZ4 and BROTLI."""
    if not codec:
        return data
    if codec not in _CODECS:
        raise NotSupported(
            "TIMESTAMP WITH LOCAL TIME ZONE under this orc.compress: use ZLIB, SNAPPY, ZSTD or NONE"
        )
    found, at = [], 0
    while at < len(data):
        (header,) = struct.unpack("<I", data[at : at + 3] + b"\0")
        chunk = data[at + 3 : at + 3 + (header >> 1)]
        found.append(chunk if header & 1 else _CODECS[codec](chunk))
        at += 3 + (header >> 1)
    return b"".join(found)


def with_types(footer: bytes, types: Mapping[int, StoredType]) -> bytes:
    """Return the footer with other types for these columns, by their ids.

    DataError where a column's type is none that is encoded like the wanted one.
    """
    found, number = [], 0
    wrong = set(types)
    for field, _, begin, end in fields(footer):
        piece = footer[begin:end]
        if field == _TYPES:
            if number in types:
                _, at = read_varint(footer, begin + 1)
                if _kind(footer[at:end]) == types[number].encoded_like:
                    piece = delimited(_TYPES, _retyped(footer[at:end], types[number]))
                    wrong.discard(number)
            number += 1
        found.append(piece)
    if wrong:
        raise DataError(f"columns {sorted(wrong)} of an ORC file are of other types than expected")
    return b"".join(found)


def _kind(message: bytes) -> int | None:
    return next((value for field, value, _, _ in fields(message) if field == _KIND), None)


def _retyped(message: bytes, wanted: StoredType) -> bytes:
    kind = varint(_KIND << 3) + varint(_NUMBERS[wanted.name])
    most = b"" if wanted.length is None else varint(_MOST << 3) + varint(wanted.length)
    rest = (message[begin:end] for field, _, begin, end in fields(message) if field != _KIND)
    return b"".join([kind, *rest, most])


def chunks(data: bytes, block_size: int) -> Iterator[bytes]:
    """Store chunks: a three-byte header, little endian, (length << 1) | 1; none over a block."""
    block_size = min(block_size, _LONGEST_CHUNK)
    for start in range(0, len(data), block_size):
        chunk = data[start : start + block_size]
        yield struct.pack("<I", len(chunk) << 1 | 1)[:3] + chunk
