"""The sections of an ORC tail as bytes: found, unpacked from their codec, changed, packed again.

A tail is [metadata][footer][postscript][length of the postscript, 1 byte]; the metadata section
holds the statistics of stripes. The postscript alone is never compressed.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from hivesql_executor.orc import orc_proto
from hivesql_executor.orc.proto import Message, delimited, fields, numbered, read_varint
from hivesql_planner.errors import DataError, NotSupported

_LONGEST_CHUNK = (1 << 23) - 1
_DEFAULT_BLOCK = 262_144
_LONGEST_POSTSCRIPT = 255
_KINDS = {
    "varchar": orc_proto.Kind.VARCHAR,
    "char": orc_proto.Kind.CHAR,
    "timestamp with local time zone": orc_proto.Kind.TIMESTAMP_INSTANT,
}


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
        return orc_proto.Kind.TIMESTAMP if self.length is None else orc_proto.Kind.STRING


# By the number of the codec in the postscript.
_CODECS: dict[int, Callable[[bytes], bytes]] = {1: _inflate, 2: _unsnap, 5: _unzstd}


@dataclass(frozen=True)
class PostScript:
    """What ends a file: how long the sections before it are, and what their codec is."""

    data: bytes

    @cached_property
    def _said(self) -> Message:
        return Message(self.data)

    @property
    def length(self) -> int:
        """Return how many bytes of the file it takes, with the byte that says how long it is."""
        return len(self.data) + 1

    @property
    def footer_length(self) -> int:
        """Return the length of the footer in the file."""
        return self._said.number(orc_proto.PostScript.FOOTER_LENGTH)

    @property
    def metadata_length(self) -> int:
        """Return the length of the section before the footer."""
        return self._said.number(orc_proto.PostScript.METADATA_LENGTH)

    @property
    def codec(self) -> int:
        """Return the number of the codec; 0 is none."""
        return self._said.number(orc_proto.PostScript.COMPRESSION)

    @property
    def block_size(self) -> int:
        """Return how many bytes a chunk has at most before it is compressed."""
        return self._said.number(orc_proto.PostScript.COMPRESSION_BLOCK_SIZE, _DEFAULT_BLOCK)

    @property
    def writer_version(self) -> int:
        """Return the number by which writers say which defects they no longer have."""
        return self._said.number(orc_proto.PostScript.WRITER_VERSION)

    def unpack(self, section: bytes) -> bytes:
        """Return a section without its codec."""
        return unpack(section, self.codec)

    def pack(self, section: bytes) -> bytes:
        """Return a section in chunks that are marked as not compressed, where there is a codec."""
        return b"".join(_chunks(section, self.block_size)) if self.codec else section

    def replace(self, *, footer_length: int, metadata_length: int | None = None) -> bytes:
        """Return the end of a file whose sections are of other lengths; None leaves one.

        ValueError when it would be longer than a postscript may be.
        """
        lengths = {orc_proto.PostScript.FOOTER_LENGTH: footer_length}
        if metadata_length is not None:
            lengths[orc_proto.PostScript.METADATA_LENGTH] = metadata_length
        data = b"".join(
            numbered(number, lengths[number]) if number in lengths else field
            for number, field, _ in fields(self.data)
        )
        if len(data) > _LONGEST_POSTSCRIPT:
            raise ValueError("the ORC postscript would be longer than 255 bytes")
        return data + bytes([len(data)])


def read_postscript(end: bytes) -> PostScript | None:
    """Return what the last bytes of a file (256 are enough) say; None unless it is an ORC file."""
    length = end[-1] if end else 0
    data = end[-1 - length : -1]
    return PostScript(data) if len(data) == length and data.endswith(b"ORC") else None


def user_metadata(items: Mapping[str, bytes]) -> bytes:
    """Return what a footer says of user metadata."""
    return b"".join(
        delimited(
            orc_proto.Footer.METADATA,
            delimited(orc_proto.UserMetadataItem.NAME, key.encode())
            + delimited(orc_proto.UserMetadataItem.VALUE, value),
        )
        for key, value in items.items()
    )


def unpack(section: bytes, codec: int) -> bytes:
    """Return a section without its codec; NotSupported for LZO, LZ4 and BROTLI.

    ValueError for bytes that it did not write.
    """
    if not codec:
        return section
    if codec not in _CODECS:
        raise NotSupported(
            "TIMESTAMP WITH LOCAL TIME ZONE under this orc.compress: use ZLIB, SNAPPY, ZSTD or NONE"
        )
    unpacked, at = [], 0
    while at < len(section):
        try:
            (header,) = struct.unpack("<I", section[at : at + 3] + b"\0")
            chunk = section[at + 3 : at + 3 + (header >> 1)]
            unpacked.append(chunk if header & 1 else _CODECS[codec](chunk))
        except (OSError, zlib.error, struct.error, IndexError, MemoryError) as error:
            # Arrow's OSError is of bytes in memory too: nothing was asked of the system.
            raise ValueError(str(error)) from error
        at += 3 + (header >> 1)
    return b"".join(unpacked)


def with_types(footer: bytes, types: Mapping[int, StoredType]) -> bytes:
    """Return the footer with other types for these columns, by their ids.

    DataError where a column's type is none that is encoded like the wanted one.
    """
    pieces, column = [], 0
    wrong = set(types)
    for number, field, content in fields(footer):
        if number != orc_proto.Footer.TYPES:
            pieces.append(field)
            continue
        stored_type = types.get(column)
        kind = Message(content).number(orc_proto.Type.KIND) if stored_type else None
        if stored_type and kind == stored_type.encoded_like:
            pieces.append(delimited(orc_proto.Footer.TYPES, _retyped(content, stored_type)))
            wrong.discard(column)
        else:
            pieces.append(field)
            if stored_type and kind == _KINDS[stored_type.name]:
                # Its writer has called it so.
                wrong.discard(column)
        column += 1
    if wrong:
        raise DataError(f"columns {sorted(wrong)} of an ORC file are of other types than expected")
    return b"".join(pieces)


def _retyped(message: bytes, stored_type: StoredType) -> bytes:
    kind = numbered(orc_proto.Type.KIND, _KINDS[stored_type.name])
    most = b""
    if stored_type.length is not None:
        most = numbered(orc_proto.Type.MAXIMUM_LENGTH, stored_type.length)
    rest = (field for number, field, _ in fields(message) if number != orc_proto.Type.KIND)
    return b"".join([kind, *rest, most])


def _chunks(data: bytes, block_size: int) -> Iterator[bytes]:
    """Yield chunks: a three-byte header, little endian, (length << 1) | 1; none over a block."""
    block_size = min(block_size, _LONGEST_CHUNK)
    for start in range(0, len(data), block_size):
        chunk = data[start : start + block_size]
        yield struct.pack("<I", len(chunk) << 1 | 1)[:3] + chunk
