"""ORC tails: what a footer says, and more user metadata for a file that is already written.

A tail is [stripe statistics][footer][postscript][length of the postscript, 1 byte]. The footer is
a protobuf message, and protobuf messages concatenate: more UserMetadataItem records (field 5) can
follow the footer as it is, in a chunk of their own that is marked as not compressed. Only the
postscript's footerLength changes.
"""

from __future__ import annotations

import functools
import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyorc

from hivesql_executor.storage.files import Files, RangeFile
from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.errors import DataError

_TAIL_GUESS = 16 * 1024
_FOOTER_LENGTH, _COMPRESSION, _BLOCK_SIZE = 1, 2, 3
_USER_METADATA = 5
_LONGEST_CHUNK = (1 << 23) - 1
_KEY_COLUMNS = {"originalTransaction": 2, "bucket": 3, "rowId": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrcTail:
    """What the footer of one file says.

    ``row_fields`` are the user columns: of the ``row`` struct in an ACID file, of the root
    otherwise. ``key_range`` maps originalTransaction, bucket and rowId to their least and greatest
    values, and is empty where the file has no statistics.
    """

    rows: int
    stripe_rows: tuple[int, ...]
    is_acid: bool
    row_fields: tuple[str, ...]
    metadata: Mapping[str, bytes]
    key_range: Mapping[str, tuple[int, int]]
    operations: tuple[int, int] | None = None
    """Least and greatest operation code of an ACID file's events, where the file has statistics."""


def cached_tail(files: Files, path: str, length: int) -> OrcTail:
    """The footer of a file, read once as long as the file stays the same.

    A table that was dropped and made again has other files under the same names, so the time of
    the last change is looked at each time.
    """
    return _tail_as_of(files, path, length, files.modified(path))


@functools.lru_cache(maxsize=100_000)
def _tail_as_of(files: Files, path: str, length: int, modified: int) -> OrcTail:
    return read_tail(files, path, length)


def read_tail(files: Files, path: str, length: int | None = None) -> OrcTail:
    """Read a file's footer; DataError when it is missing, truncated or not ORC."""
    size = files.size(path) if length is None else length
    try:
        reader: Any = pyorc.Reader(io.BufferedReader(RangeFile(files, path, size), _TAIL_GUESS))
    except Exception as error:
        raise DataError(
            f"{path} is not a readable ORC file ({error}). It may be truncated; restore it before "
            "you read the table"
        ) from error
    fields = tuple(reader.schema.fields)
    # Hive's query-based compactor writes the names in lower case; ORC itself compares so, in order.
    is_acid = [name.lower() for name in fields] == [name.lower() for name in ACID_FIELDS]
    row = reader.schema.fields[fields[-1]] if is_acid else reader.schema
    has_statistics = is_acid and reader.row_index_stride > 0
    return OrcTail(
        rows=len(reader),
        stripe_rows=tuple(len(stripe) for stripe in reader.iter_stripes()),
        is_acid=is_acid,
        row_fields=tuple(row.fields),
        metadata=dict(reader.user_metadata),
        key_range=_key_range(reader) if has_statistics else {},
        operations=_range(reader, 1) if has_statistics else None,
    )


def _key_range(reader: Any) -> dict[str, tuple[int, int]]:
    found = {name: _range(reader, column) for name, column in _KEY_COLUMNS.items()}
    known = {name: one for name, one in found.items() if one is not None}
    return known if len(known) == len(found) else {}


def _range(reader: Any, column: int) -> tuple[int, int] | None:
    statistics = reader[column].statistics
    if "minimum" not in statistics or "maximum" not in statistics:
        return None
    return int(statistics["minimum"]), int(statistics["maximum"])


def amend(files: Files, path: str, metadata: Mapping[str, bytes]) -> int:
    """Add user metadata to a complete ORC file, and return its new length in bytes.

    Rows and statistics stay as they are. DataError for a file without an ORC postscript.
    """
    size = files.size(path)
    start = max(0, size - 256)
    tail = files.read(path, start, size - start)
    length = tail[-1] if tail else 0
    postscript = tail[-1 - length : -1]
    if len(postscript) != length or not postscript.endswith(b"ORC"):
        raise DataError(f"{path} has no ORC postscript: it is truncated or not an ORC file")
    fields = {number: value for number, value, _, _ in _fields(postscript)}
    added = b"".join(
        _delimited(_USER_METADATA, _delimited(1, key.encode()) + _delimited(2, value))
        for key, value in metadata.items()
    )
    if fields.get(_COMPRESSION, 0):
        added = b"".join(_chunks(added, int(fields.get(_BLOCK_SIZE, 262144))))
    footer_length = _varint(_FOOTER_LENGTH << 3) + _varint(fields[_FOOTER_LENGTH] + len(added))
    changed = b"".join(
        footer_length if number == _FOOTER_LENGTH else postscript[begin:end]
        for number, _, begin, end in _fields(postscript)
    )
    if len(changed) > 255:
        raise DataError(f"{path}: the ORC postscript would be longer than 255 bytes")
    start = size - 1 - length
    end = added + changed + bytes([len(changed)])
    files.replace_tail(path, start, end)
    return start + len(end)


def _chunks(data: bytes, block_size: int) -> Iterator[bytes]:
    """Stored chunks: a three-byte header, little endian, (length << 1) | 1; none over a block."""
    block_size = min(block_size, _LONGEST_CHUNK)
    for start in range(0, len(data), block_size):
        chunk = data[start : start + block_size]
        yield struct.pack("<I", len(chunk) << 1 | 1)[:3] + chunk


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def _delimited(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _fields(message: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Field number, value (0 for bytes), begin and end of every field of a protobuf message."""
    at = 0
    while at < len(message):
        begin = at
        key, at = _read_varint(message, at)
        value, at = _read_varint(message, at)
        if key & 7 == 2:
            at += value
            value = 0
        elif key & 7 != 0:
            raise DataError(f"unexpected field {key} in an ORC postscript")
        yield key >> 3, value, begin, at
