"""Row ids packed into 64-bit keys: of Spark's columns, and of arrays in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pyspark.sql import Column
from pyspark.sql import functions as f

KEYS = ("originalTransaction", "bucket", "rowId")
"""The columns of a row's id inside a file."""

_PACKED_BITS = 62
_STEP = 4
Range = tuple[int, int]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Packing:
    """Place, write id, bucket property and row number / 64, side by side in one long.

    ``lows`` are the least values of write id and bucket property, ``widths`` the bits of the four.
    """

    lows: tuple[int, int]
    widths: tuple[int, int, int, int]

    @classmethod
    def of(cls, ranges: Mapping[str, Range], places: int) -> Packing | None:
        """Wide enough for these ids, and places below ``places``; None when 62 bits are too few.

        Bounds are rounded where there is room: the code that Spark generates holds them, so that
        bounds that moved with every write would be compiled anew for every statement.
        """
        write, bucket, (row_low, row_high) = (ranges[key] for key in KEYS)
        if row_low < 0:
            return None
        place, row = (places - 1).bit_length(), (row_high >> 6).bit_length()
        (write_low, write_bits), (bucket_low, bucket_bits) = _rounded(write), _rounded(bucket)
        widths = (_up(place), write_bits, bucket_bits, _up(row))
        if sum(widths) <= _PACKED_BITS:
            return cls((write_low, bucket_low), widths)
        widths = (place, _bits(write), _bits(bucket), row)
        return cls((write[0], bucket[0]), widths) if sum(widths) <= _PACKED_BITS else None

    @property
    def highs(self) -> tuple[int, int, int]:
        """The greatest write id, bucket property and row number that have a key."""
        _, write, bucket, row = self.widths
        write_low, bucket_low = self.lows
        return write_low + (1 << write) - 1, bucket_low + (1 << bucket) - 1, (64 << row) - 1

    def key(self, place: Column, write: Column, bucket: Column, row: Column) -> Column:
        """Return the key of columns; means nothing where ``covers`` is not true."""
        write_low, bucket_low = self.lows
        values = (
            place.cast("bigint"),
            write - f.lit(write_low).cast("bigint"),
            bucket.cast("bigint") - f.lit(bucket_low).cast("bigint"),
            f.shiftright(row, 6),
        )
        key: Column = f.lit(0).cast("bigint")
        for value, width in zip(values, self.widths, strict=True):
            key = f.shiftleft(key, width).bitwiseOR(value)
        return key

    def covers(self, write: Column, bucket: Column, row: Column) -> Column:
        """Tell whether an id has a key of its own."""
        highs = self.highs
        return (
            write.between(self.lows[0], highs[0])
            & bucket.between(self.lows[1], highs[1])
            & row.between(0, highs[2])
        )

    def words(self, ids: Sequence[Longs]) -> tuple[Longs, Longs]:
        """Keys, ascending, and the bits of their rows, of place, write, bucket and row arrays.

        Every id must have a key.
        """
        place, write, bucket, row = ids
        values = (place, write - self.lows[0], bucket - self.lows[1], row >> 6)
        keys = np.zeros(len(row), np.int64)
        for value, width in zip(values, self.widths, strict=True):
            keys = (keys << width) | value
        order = np.argsort(keys, kind="stable")
        keys, bits = keys[order], (np.int64(1) << (row & 63))[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        return keys[starts], np.bitwise_or.reduceat(bits, starts) if len(starts) else bits


def _rounded(found: Range) -> Range:
    """Find a least value and a number of bits that cover a range, and stay if it grows a little."""
    bits = _up(_bits(found))
    while True:
        low = found[0] >> bits << bits
        if found[1] - low < 1 << bits:
            return low, bits
        bits += _STEP


def _bits(found: Range) -> int:
    return (found[1] - found[0]).bit_length()


def _up(bits: int) -> int:
    return -(-bits // _STEP) * _STEP
