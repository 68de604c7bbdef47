"""Larger files of object stores are read in pieces that are remembered."""

from __future__ import annotations

import io
import random
from dataclasses import dataclass, field

import pytest

from hivesql_executor.files.api import RangeFile, readable_rows
from hivesql_executor.files.near_bytes import read_near, remember_written

MIB = 1 << 20
SIZES = (1, 100, 128 << 10, (128 << 10) + 1, MIB, MIB + (128 << 10), 5 * MIB + 1, 13 * MIB)


@dataclass(eq=False)
class OneFile:
    """A file system of one file, which tells the ranges that are asked for."""

    content: bytes
    asked: list[tuple[int, int]] = field(default_factory=list)

    def read(self, path: str, offset: int, length: int) -> bytes:
        self.asked.append((offset, length))
        return self.content[offset : offset + length]


@pytest.mark.parametrize("size", SIZES)
def test_any_range_is_that_of_the_file(size: int) -> None:
    chance = random.Random(size)
    content = chance.randbytes(size)
    files = OneFile(content)
    for number in range(100):
        offset = chance.randrange(size)
        count = chance.randrange(1, (100, 300_000, 5 * MIB)[number % 3])
        found = read_near(files, "p", offset, count, length=size, modified=1)
        assert found == content[offset : offset + count]
    read = sum(length for _, length in files.asked)
    assert read <= size, "each piece is read once"


def test_who_reads_on_asks_for_more_at_once() -> None:
    content = random.Random(1).randbytes(7 * MIB)
    files = OneFile(content)
    file = io.BufferedReader(RangeFile(files, "p", len(content), 1))  # type: ignore[arg-type]
    file.seek(-16384, io.SEEK_END)
    assert file.read() == content[-16384:]
    assert len(files.asked) == 1
    file.seek(0)
    parts = iter(lambda: file.read(200_000), b"")
    assert b"".join(parts) == content
    assert len(files.asked) == 4


def test_who_wants_all_columns_asks_for_the_rest_at_once() -> None:
    content = random.Random(3).randbytes(7 * MIB)
    files = OneFile(content)
    size = len(content)
    for offset in (size - 10, 0):
        read_near(files, "p", offset, 10, length=size, modified=3)
    rows = readable_rows(files, "p", size, 1, modified=3, is_whole=True)  # type: ignore[arg-type]
    assert rows.read() == content
    assert files.asked == [(size - 128 * 1024, 128 * 1024), (0, MIB), (MIB, size - MIB - 131072)]


def test_a_jump_asks_for_one_piece() -> None:
    files = OneFile(random.Random(2).randbytes(20 * MIB))
    for offset in (0, 8 * MIB, 16 * MIB):
        read_near(files, "p", offset, 10, length=20 * MIB, modified=1)
    assert files.asked == [(0, MIB), (8 * MIB, MIB), (16 * MIB, MIB)]
    read_near(files, "p", 0, 20 * MIB, length=20 * MIB, modified=2)
    assert files.asked[3:] == [(0, 20 * MIB)], "another file of its name, all of it at once"


@pytest.mark.parametrize("size", SIZES)
def test_what_was_written_here_is_not_asked_for(size: int) -> None:
    content = random.Random(size).randbytes(size)
    files = OneFile(content)
    remember_written(files, "p", 1, content)
    file = readable_rows(files, "p", size, 0, modified=1)  # type: ignore[arg-type]
    assert file.read() == content
    assert files.asked == []
