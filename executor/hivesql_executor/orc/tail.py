"""ORC tails: what a footer says, and more user metadata for a file that is already written.

The footer is a protobuf message, and protobuf messages concatenate: more UserMetadataItem records
can follow the footer as it is, in a chunk of their own that is marked as not compressed. Only the
postscript's footerLength changes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO

import pyorc

from hivesql_executor.files.api import Files, readable
from hivesql_executor.orc import orc_proto
from hivesql_executor.orc.proto import Message
from hivesql_executor.orc.tail_bytes import (
    StoredType,
    read_postscript,
    user_metadata,
    with_types,
)
from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.errors import DataError, ExecutionError, NotSupported
from hivesql_planner.model.hive_type import MOST_DIGITS, HiveType, Kind

_TAIL_GUESS = 16 * 1024
_MOST_POSTSCRIPT = 256
_KEY_COLUMNS = {"originalTransaction": 2, "bucket": 3, "rowId": 4}
_WRITER = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class OrcTail:
    """What the footer of one file says.

    ``row_fields`` are the user columns: of the ``row`` struct in an ACID file, of the root
    otherwise; ``schema`` is the root's type as text. ``key_range`` maps originalTransaction, bucket
    and rowId to their least and greatest values, and is empty where the file has no statistics.
    """

    rows: int
    stripe_rows: tuple[int, ...]
    is_acid: bool
    row_fields: tuple[str, ...]
    schema: str
    metadata: Mapping[str, bytes]
    key_range: Mapping[str, tuple[int, int]]
    row_types: tuple[HiveType, ...]
    """The types of ``row_fields``."""
    operations: tuple[int, int] | None = None
    """Least and greatest operation code of an ACID file's events, where the file has statistics."""
    writers: tuple[int, int] | None = None
    """Least and greatest write id of the events, likewise."""
    lacking: tuple[str, ...] = ()
    """The fields of an ACID file that are NULL in some event, as far as there are statistics."""
    modified: int = 0
    """When the file was last changed before this was read, where that is known."""
    only: tuple[int, ...] | None = None
    """The id of an ACID file's only event; None when there are more, or no statistics."""

    @property
    def unit(self) -> tuple[int, int] | None:
        """Write id and bucket property that all rows have; None unless statistics tell so."""
        if self.lacking or not self.key_range:
            return None
        (write, last_write), (bucket, last_bucket) = (
            self.key_range[name] for name in ("originalTransaction", "bucket")
        )
        return (write, bucket) if (write, bucket) == (last_write, last_bucket) else None


def known_tail(files: Files, path: str, length: int, modified: int = 0) -> OrcTail | None:
    """Return the footer of a file if it was read before and the file has stayed the same.

    A table that was dropped and made again has other files under the same names, so the time of
    the last change is looked at each time, unless it was ``modified`` when it was listed. None
    where it was not read.
    """
    return _tails.get((files, path, length, modified or files.modified(path)))


def cached_tail(files: Files, path: str, length: int, modified: int = 0) -> OrcTail:
    """Return the footer of a file, read once as long as the file stays the same; as above."""
    key = files, path, length, modified or files.modified(path)
    tail = _tails.get(key)
    if tail is None:
        tail = _tails[key] = replace(_read(files, path, length, key[-1]), modified=key[-1])
        while len(_tails) > _MOST_TAILS:
            # Several threads may come here at once.
            _tails.pop(next(iter(_tails)), None)
    return tail


_MOST_TAILS = 100_000
_tails: dict[tuple[Files, str, int, int], OrcTail] = {}
"""The footers that were read last."""


def read_tail(files: Files, path: str, length: int | None = None) -> OrcTail:
    """Read a file's footer; DataError when it is missing, truncated or not ORC."""
    return _read(files, path, files.size(path) if length is None else length, 0)


def _read(files: Files, path: str, size: int, modified: int) -> OrcTail:
    try:
        source = readable(files, path, size, _TAIL_GUESS, modified=modified)
        return _tail_of(pyorc.Reader(source), _column_statistics(source, size))
    except ExecutionError:
        # Nobody knows yet what is in the file: its place refuses it, or does not answer.
        raise
    except Exception as error:
        # Of a damaged file, pyorc's own code raises whatever there is.
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: Exception) -> DataError:
    # ORC's library names the object that it reads from, whose address tells nobody anything.
    why = str(error).partition(" from <")[0]
    return DataError(
        f"{path} is not a readable ORC file ({why}). It may be truncated; restore it before "
        "you read the table"
    )


def _column_statistics(source: BinaryIO, size: int) -> Sequence[bytes]:
    """Return what the footer says of each column; () where it cannot be unpacked.

    pyorc's own way to them ends the process where a damaged footer has those of another type.
    """
    end = _bytes_at(source, max(0, size - _MOST_POSTSCRIPT), size)
    postscript = read_postscript(end)
    if postscript is None:
        return ()
    first = size - postscript.length - postscript.footer_length
    section = _bytes_at(source, first, size - postscript.length)
    try:
        return Message(postscript.unpack(section)).contents(orc_proto.Footer.STATISTICS)
    except NotSupported:
        return ()


def _bytes_at(source: BinaryIO, first: int, end: int) -> bytes:
    source.seek(first)
    return source.read(end - first)


def _tail_of(reader: Any, statistics: Sequence[bytes]) -> OrcTail:
    fields = tuple(reader.schema.fields)
    # Hive's query-based compactor writes the names in lower case; ORC itself compares so, in order.
    is_acid = [name.lower() for name in fields] == [name.lower() for name in ACID_FIELDS]
    row = reader.schema.fields[fields[-1]] if is_acid else reader.schema
    row_types = tuple(HiveType.as_stored(str(row.fields[name])) for name in row.fields)
    for row_type in row_types:
        _check_decimals(row_type)
    counts = tuple(len(stripe) for stripe in reader.iter_stripes())
    if sum(counts) != len(reader):
        # pyorc ends the process where it is asked for a row behind the last stripe.
        raise ValueError(f"its stripes have {sum(counts)} rows, and it says {len(reader)}")
    has_statistics = is_acid and reader.row_index_stride > 0
    columns = (*range(1, _WRITER + 1), row.column_id) if has_statistics and statistics else ()
    by_column = {column: Message(statistics[column]) for column in columns}
    key_range = _key_range(by_column)
    single = len(reader) == 1 and key_range
    return OrcTail(
        rows=len(reader),
        stripe_rows=counts,
        is_acid=is_acid,
        row_fields=tuple(row.fields),
        row_types=row_types,
        schema=str(reader.schema),
        metadata=dict(reader.user_metadata),
        key_range=key_range,
        only=tuple(key_range[name][0] for name in _KEY_COLUMNS) if single else None,
        operations=_range(by_column, 1),
        writers=_range(by_column, _WRITER),
        lacking=_lacking(by_column, len(reader)),
    )


def _check_decimals(stored: HiveType) -> None:
    """ValueError for decimals that no writer makes: Arrow ends the process where it reads them."""
    if stored.kind is Kind.DECIMAL and stored.arguments[0] > MOST_DIGITS:
        raise ValueError(f"it has a column of {stored}")
    for child in stored.children:
        _check_decimals(child)


def stripe_rows(data: bytes) -> tuple[int, ...]:
    """Return the numbers of rows in the stripes of a whole file."""
    reader: Any = pyorc.Reader(io.BytesIO(data))
    return tuple(len(stripe) for stripe in reader.iter_stripes())


_ByColumn = Mapping[int, Message]
"""Statistics of an ACID file's own columns, in their order; empty where there are none."""


def _lacking(by_column: _ByColumn, events: int) -> tuple[str, ...]:
    """Fields of which there are fewer values than events."""
    return tuple(
        name
        for name, statistics in zip(ACID_FIELDS, by_column.values(), strict=False)
        if statistics.number(orc_proto.ColumnStatistics.NUMBER_OF_VALUES, events) < events
    )


def _key_range(by_column: _ByColumn) -> dict[str, tuple[int, int]]:
    ranges = {name: _range(by_column, column) for name, column in _KEY_COLUMNS.items()}
    stated = {name: ends for name, ends in ranges.items() if ends is not None}
    return stated if len(stated) == len(ranges) else {}


def _range(by_column: _ByColumn, column: int) -> tuple[int, int] | None:
    if column not in by_column:
        return None
    for ends in by_column[column].messages(orc_proto.ColumnStatistics.INTEGERS)[:1]:
        low, high = ends.signed(orc_proto.Ends.MINIMUM), ends.signed(orc_proto.Ends.MAXIMUM)
        return None if low is None or high is None else (low, high)
    return None


def amend(
    files: Files,
    path: str,
    metadata: Mapping[str, bytes],
    *,
    types: Mapping[int, StoredType] | None = None,
) -> int:
    """Add user metadata to a complete ORC file, and return its new length in bytes.

    ``types`` are what the footer shall call some columns, by their ids: TIMESTAMP_INSTANT what was
    TIMESTAMP, which are encoded alike in UTC, CHAR and VARCHAR what was STRING. Rows and statistics
    stay as they are. DataError for a file without an ORC postscript, NotSupported for types under a
    codec that cannot be undone here.
    """
    size = files.size(path)
    start, end = _new_end(partial(files.read, path), size, path, metadata, types)
    if end:
        files.replace_tail(path, start, end)
    return start + len(end)


def amended(data: bytes, metadata: Mapping[str, bytes], types: Mapping[int, StoredType]) -> bytes:
    """Return a whole ORC file as ``amend`` would leave it."""

    def read(offset: int, length: int) -> bytes:
        return data[offset : offset + length]

    start, end = _new_end(read, len(data), "an ORC file in memory", metadata, types)
    return data[:start] + end


def _new_end(
    read: Callable[[int, int], bytes],
    size: int,
    path: str,
    metadata: Mapping[str, bytes],
    types: Mapping[int, StoredType] | None,
) -> tuple[int, bytes]:
    """From where on a file is another with this metadata and these types, and what is there.

    That is nothing, at the end, for a file that is so already.
    """
    first = max(0, size - _MOST_POSTSCRIPT)
    postscript = read_postscript(read(first, size - first))
    if postscript is None:
        raise DataError(f"{path} has no ORC postscript: it is truncated or not an ORC file")
    added = postscript.pack(user_metadata(metadata))
    start, footer_length = size - postscript.length, postscript.footer_length
    if types:
        start, footer_length = start - footer_length, 0
        footer = postscript.unpack(read(start, postscript.footer_length))
        retyped = with_types(footer, types)
        if retyped == footer and not metadata:
            return size, b""
        added = postscript.pack(retyped) + added
    try:
        return start, added + postscript.replace(footer_length=footer_length + len(added))
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error
