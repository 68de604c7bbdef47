"""Whether the row index of a stripe holds what ORC's reader takes from it to jump to a row.

The reader looks at nothing itself: where a damaged index has too few positions, or too few entries,
it reads beyond them, and the process is gone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from hivesql_executor.files.api import READ_WHOLE, Files, read_range
from hivesql_executor.orc import orc_proto
from hivesql_executor.orc.proto import Message
from hivesql_executor.orc.tail_bytes import read_postscript, unpack

_END = 256
"""No postscript is longer."""
_KIND = orc_proto.Kind
_WHOLE = (_KIND.BYTE, _KIND.SHORT, _KIND.INT, _KIND.LONG, _KIND.DATE)
_TEXTS = (_KIND.STRING, _KIND.BINARY, _KIND.VARCHAR, _KIND.CHAR)
_TIMES = (_KIND.TIMESTAMP, _KIND.TIMESTAMP_INSTANT)


@dataclass(frozen=True, slots=True)
class Seekable:
    """The stripes of a file as its footer tells them, and the wanted columns: their kinds by id.

    ``stride`` is the number of rows of a row group, 0 without an index.
    """

    codec: int
    stride: int
    kinds: Mapping[int, int]
    stripes: tuple[Message, ...]

    def numbers_at(self, rows: Sequence[int]) -> Iterator[int]:
        """Yield the numbers of the stripes that some of these rows, in their order, are in."""
        end, number = 0, 0
        for number, stripe in enumerate(self.stripes):
            begin, end = end, end + stripe.number(orc_proto.StripeInformation.NUMBER_OF_ROWS)
            if any(begin <= row < end for row in rows):
                yield number


@functools.lru_cache(maxsize=5_000)
def read_seekable(
    files: Files, path: str, length: int, modified: int, names: tuple[str, ...]
) -> Seekable:
    """Read a footer; ``names`` are those of columns, with a dot between a struct and its field.

    ValueError where there is no such column, or the footer is damaged.
    """
    read = partial(read_range, files, path, length=length, modified=modified, most=READ_WHOLE)
    postscript = read_postscript(read(max(0, length - _END), min(length, _END)))
    if postscript is None:
        raise ValueError("the file has no postscript")
    start = length - postscript.length - postscript.footer_length
    footer = Message(postscript.unpack(read(start, postscript.footer_length)))
    types = [Message(content) for content in footer.contents(orc_proto.Footer.TYPES)]
    columns = {column for name in names for column in _columns(types, name.split("."))}
    return Seekable(
        codec=postscript.codec,
        stride=footer.number(orc_proto.Footer.ROW_INDEX_STRIDE),
        kinds={column: types[column].number(orc_proto.Type.KIND) for column in sorted(columns)},
        stripes=tuple(footer.messages(orc_proto.Footer.STRIPES)),
    )


def _columns(types: Sequence[Message], names: Sequence[str]) -> Iterator[int]:
    """Yield the ids of a column and of all that it is in."""
    column = 0
    yield column
    for name in names:
        fields = types[column].contents(orc_proto.Type.FIELD_NAMES)
        column = types[column].numbers(orc_proto.Type.SUBTYPES)[fields.index(name.encode())]
        yield column


@functools.lru_cache(maxsize=5_000)
def check_index(
    files: Files, path: str, length: int, modified: int, names: tuple[str, ...], number: int
) -> None:
    """Raise ValueError unless rows of a stripe, by its number, can be jumped to."""
    file = read_seekable(files, path, length, modified, names)
    if not file.stride:
        return
    read = partial(read_range, files, path, length=length, modified=modified, most=READ_WHOLE)
    stripe = file.stripes[number]
    offset = stripe.number(orc_proto.StripeInformation.OFFSET)
    body = stripe.number(orc_proto.StripeInformation.INDEX_LENGTH) + stripe.number(
        orc_proto.StripeInformation.DATA_LENGTH
    )
    end = read(offset + body, stripe.number(orc_proto.StripeInformation.FOOTER_LENGTH))
    footer = Message(unpack(end, file.codec))
    groups = -(-stripe.number(orc_proto.StripeInformation.NUMBER_OF_ROWS) // file.stride)
    least = _least(footer, file)
    indexed = set()
    for column, place, size in _indexes(footer, offset):
        if column in least:
            _check(read, place, size, file.codec, groups, least[column])
            indexed.add(column)
    if missing := least.keys() - indexed:
        raise ValueError(f"the stripe has no row index of column {min(missing)}")


def _least(footer: Message, file: Seekable) -> dict[int, int]:
    """Tell how many positions the reader takes of each column."""
    encodings = footer.messages(orc_proto.StripeFooter.COLUMNS)
    present = {
        stream.number(orc_proto.Stream.COLUMN)
        for stream in footer.messages(orc_proto.StripeFooter.STREAMS)
        if stream.number(orc_proto.Stream.KIND) == orc_proto.PRESENT
    }
    # A place in bytes that are packed is where the chunk begins, and how far on in it.
    place = 2 if file.codec else 1
    return {
        column: (place + 2) * (column in present)
        + _of_values(kind, encodings[column].number(orc_proto.ColumnEncoding.KIND), place)
        for column, kind in file.kinds.items()
    }


def _of_values(kind: int, encoding: int, place: int) -> int:
    if kind == _KIND.STRUCT:
        return 0
    if kind == _KIND.BOOLEAN:
        return place + 2
    if kind in _WHOLE:
        return place + 1
    if kind in (_KIND.FLOAT, _KIND.DOUBLE):
        return place
    if kind in _TEXTS:
        return place + 1 if encoding in orc_proto.DICTIONARIES else 2 * place + 1
    if kind == _KIND.DECIMAL:
        return 2 * place + 1
    if kind in _TIMES:
        return 2 * place + 2
    raise ValueError(f"nobody jumps to rows of columns of kind {kind}")


def _indexes(footer: Message, offset: int) -> Iterator[tuple[int, int, int]]:
    """Yield the column of each row index, where it is, and its length."""
    for stream in footer.messages(orc_proto.StripeFooter.STREAMS):
        length = stream.number(orc_proto.Stream.LENGTH)
        if stream.number(orc_proto.Stream.KIND) == orc_proto.ROW_INDEX:
            yield stream.number(orc_proto.Stream.COLUMN), offset, length
        offset += length


def _check(
    read: Callable[[int, int], bytes], place: int, size: int, codec: int, groups: int, least: int
) -> None:
    entries = Message(unpack(read(place, size), codec)).messages(orc_proto.RowIndex.ENTRIES)
    if len(entries) < groups:
        raise ValueError(f"a row index of {len(entries)} entries for {groups} row groups")
    for entry in entries:
        positions = entry.numbers(orc_proto.RowIndexEntry.POSITIONS)
        if len(positions) < least:
            raise ValueError(f"a row index of {len(positions)} positions instead of {least}")
