"""Ranges of larger files of object stores: what lies close together is asked for once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hivesql_executor.files.small_contents import (
    LARGEST,
    recall_piece,
    remember_content,
    remember_piece,
)

_PIECE = 1 << 20
"""Bytes that take no longer to read than one more request."""
_TAIL = 128 * 1024
"""Bytes of the last piece: footers are wanted of many files of which nothing else is."""
_MOST_PIECES = 8
"""So many more are asked for at once where all before them were read."""


class _Files(Protocol):
    """What is needed of a file system."""

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Return a range of a file."""
        ...


def read_near(
    files: _Files, path: str, offset: int, count: int, *, length: int, modified: int
) -> bytes:
    """Return a range of a file that is so long, as ``modified`` tells it from others of its name.

    Whole pieces of it are read and remembered, more of them at once the further somebody reads on.
    """
    end = min(offset + count, length)
    if offset >= end:
        return b""
    file = _File(files, path, length, modified)
    first, final = file.piece_at(offset), file.piece_at(end - 1)
    pieces: dict[int, bytes] = {}
    while (number := first + len(pieces)) <= final:
        data = recall_piece(files, path, modified, number)
        pieces |= {number: data} if data is not None else file.fetch(number, final)
    whole = b"".join(pieces[number] for number in range(first, final + 1))
    start = offset - file.start_of(first)
    return whole[start : start + end - offset]


def remember_written(files: _Files, path: str, modified: int, data: bytes) -> None:
    """Remember what a file has that was written here, as whoever reads it looks for it."""
    if len(data) <= LARGEST:
        remember_content(files, path, modified, data)
        return
    file = _File(files, path, len(data), modified)
    for number in range(file.last + 1):
        piece = data[file.start_of(number) : file.start_of(number + 1)]
        remember_piece(files, path, modified, number, piece)


@dataclass(frozen=True, slots=True)
class _File:
    """A file in numbered pieces, the last of which is for the footer."""

    files: _Files
    path: str
    length: int
    modified: int

    @property
    def body(self) -> int:
        """Bytes before the last piece."""
        return max(0, self.length - _TAIL)

    @property
    def last(self) -> int:
        """Number of the last piece."""
        return -(-self.body // _PIECE)

    def piece_at(self, place: int) -> int:
        """Return the number of the piece with a byte."""
        return self.last if place >= self.body else place // _PIECE

    def start_of(self, number: int) -> int:
        """Return where a piece begins; behind the last one, where the file ends."""
        return self.length if number > self.last else min(number * _PIECE, self.body)

    def is_known(self, number: int) -> bool:
        """Tell whether a piece is remembered."""
        return recall_piece(self.files, self.path, self.modified, number) is not None

    def fetch(self, first: int, final: int) -> dict[int, bytes]:
        """Read the first of some pieces that are wanted, and those after it that are not known."""
        before = 0
        while before < min(first, _MOST_PIECES) and self.is_known(first - before - 1):
            before += 1
        # The footer is for who asks for it.
        most = max(final + 1, min(self.last, first + before + 1))
        until = first + 1
        while until < most and not self.is_known(until):
            until += 1
        start = self.start_of(first)
        data = self.files.read(self.path, start, self.start_of(until) - start)
        pieces = {
            number: data[self.start_of(number) - start : self.start_of(number + 1) - start]
            for number in range(first, until)
        }
        for number, piece in pieces.items():
            remember_piece(self.files, self.path, self.modified, number, piece)
        return {number: piece for number, piece in pieces.items() if number <= final}
