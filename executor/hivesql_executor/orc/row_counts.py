"""How many rows a file holds, whatever its format."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from hivesql_executor.files.api import Files, RangeFile
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.orc.tail import read_tail, stripe_rows
from hivesql_planner.errors import DataError
from hivesql_planner.model.table import FileFormat

_CHUNK = 8 * 1024 * 1024
_SYNC = 16
_BUFFERS = 4
"""Of a block of a SequenceFile: the lengths of keys and values, and those themselves."""
_PACKAGE = "org.apache.hadoop.io.compress"
_EITHER = 32 + zlib.MAX_WBITS
"""Zlib's and gzip's headers alike."""


def _identity(stored: bytes) -> bytes:
    return stored


def _inflated(stored: bytes) -> bytes:
    return zlib.decompress(stored, _EITHER)


_UNPACKED: dict[str, Callable[[bytes], bytes]] = {
    "": _identity,
    f"{_PACKAGE}.DefaultCodec": _inflated,
    f"{_PACKAGE}.DeflateCodec": _inflated,
    f"{_PACKAGE}.GzipCodec": _inflated,
}
"""By their codecs, the records that RCFiles here are made of."""
_WITH_COUNTS = ("parquet", "avro", "sequencefile", "sequencebinary", "rcfile", "rctext",
                "thrift")  # fmt: skip
"""Formats whose files tell somewhere how many rows they have."""


def row_count(files: Files, path: str, length: int, file_format: FileFormat) -> int:
    """Rows of one file: from its footer, or by counting the lines of a text file.

    DataError for a file that is not of its format.
    """
    if file_format == "orc":
        return read_tail(files, path, length).rows
    if file_format in _WITH_COUNTS:
        # Counts are all over these files; of another machine each look at one is a request.
        is_near = file_format == "parquet" or isinstance(files, LocalFiles)
        buffer = io.DEFAULT_BUFFER_SIZE if is_near else _CHUNK
        opened = io.BufferedReader(RangeFile(files, path, length), buffer)
        return _counted_rows(opened, path, length, file_format)
    return sum(
        files.read(path, start, min(_CHUNK, length - start)).count(b"\n")
        for start in range(0, length, _CHUNK)
    )


def is_of_lines(file_format: FileFormat) -> bool:
    """Tell whether each row is a line."""
    return file_format != "orc" and file_format not in _WITH_COUNTS


def rows_of_content(data: bytes, path: str, file_format: FileFormat) -> int:
    """Count the rows of a whole file, which ``path`` is only called; DataError as above."""
    if file_format == "orc":
        return sum(stripe_rows(data))
    if file_format in _WITH_COUNTS:
        return _counted_rows(io.BytesIO(data), path, len(data), file_format)
    return data.count(b"\n")


def _counted_rows(file: IO[bytes], path: str, length: int, file_format: FileFormat) -> int:
    if file_format == "parquet":
        try:
            return int(pq.read_metadata(file).num_rows)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{path} is a damaged or truncated Parquet file: {error}") from error
    if not length:
        return 0
    return _avro_rows(file, path) if file_format == "avro" else _container_rows(file, path, length)


def _avro_rows(file: IO[bytes], path: str) -> int:
    """Rows of an Avro container, from the counts of its blocks."""
    if file.read(4) != b"Obj\x01":
        raise DataError(f"{path} is no Avro file")
    try:
        rows = _rows_of_blocks(file)
    except EOFError:
        rows = None
    if rows is None:
        raise DataError(f"{path} is a damaged or truncated Avro file")
    return rows


def _rows_of_blocks(file: IO[bytes]) -> int | None:
    """None where a block does not end as all do; EOFError where the file ends too early."""
    while entries := _long(file):
        if entries < 0:
            _long(file)
        for _ in range(2 * abs(entries)):
            file.seek(_long(file), io.SEEK_CUR)
    sync, rows = file.read(_SYNC), 0
    while first := file.read(1):
        rows += _long(file, first)
        file.seek(_long(file), io.SEEK_CUR)
        if file.read(_SYNC) != sync:
            return None
    return rows


def _long(file: IO[bytes], first: bytes = b"") -> int:
    """Return a number of Avro: zig-zag, seven bits a byte."""
    value, shift = 0, 0
    while True:
        byte = first or file.read(1)
        if not byte:
            raise EOFError
        first = b""
        value |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return (value >> 1) ^ -(value & 1)


def _container_rows(file: IO[bytes], path: str, length: int) -> int:
    """Rows of a SequenceFile or an RCFile; DataError for a codec that nobody here writes."""
    columnar, in_blocks, unpack = _container_head(file, path)
    rows = 0
    while file.tell() < length:
        size = _int(file)
        if size == -1:  # marks a place where readers may begin
            file.read(_SYNC)
            if in_blocks:
                rows += _hadoop_long(file)
                for _ in range(_BUFFERS):
                    _skip_text(file)
            continue
        key = _int(file)
        if columnar:
            stored = file.read(_int(file))
            rows += _hadoop_long(io.BytesIO(unpack(stored)))
            file.seek(size - key, io.SEEK_CUR)
        else:
            rows += 1
            file.seek(size, io.SEEK_CUR)
    return rows


def _container_head(file: IO[bytes], path: str) -> tuple[bool, bool, Callable[[bytes], bytes]]:
    """Read whether it has columns, whether records are in blocks, and how to unpack a key."""
    magic, version = file.read(3), file.read(1)
    columnar = magic == b"RCF"
    if magic not in (b"SEQ", b"RCF") or not version:
        raise DataError(f"{path} is no SequenceFile and no RCFile")
    if not columnar:
        _skip_text(file)
        _skip_text(file)
    compressed = file.read(1) != b"\0"
    in_blocks = not columnar and file.read(1) != b"\0"
    codec = file.read(_hadoop_long(file)).decode() if compressed else ""
    if columnar and codec not in _UNPACKED:
        raise DataError(f"{path} is compressed by {codec}")
    for _ in range(2 * _int(file)):
        _skip_text(file)
    file.read(_SYNC)
    return columnar, in_blocks, _UNPACKED.get(codec, _identity)


def _int(file: IO[bytes]) -> int:
    return int.from_bytes(file.read(4), "big", signed=True)


def _skip_text(file: IO[bytes]) -> None:
    file.seek(_hadoop_long(file), io.SEEK_CUR)


def _hadoop_long(file: IO[bytes]) -> int:
    """Read a number of Hadoop's that is not negative: a small one is one byte, others follow it."""
    (first,) = file.read(1)
    return first if first < 0x80 else int.from_bytes(file.read(0x90 - first), "big")
