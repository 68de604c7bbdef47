"""Hive's bucket hashes over Arrow arrays, both bucketing versions, in numpy.

Source: ObjectInspectorUtils.getBucketHashCode (version 1: Java's hash codes, version 2: Murmur3
with its own seed, big-endian bytes and a sign-extended tail). Fixed-width types and text have no
loop over rows; decimals and timestamps are hashed once per distinct value.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_SEED = 104729
_EPOCH = datetime.datetime(1970, 1, 1)
Ints = npt.NDArray[np.int32]
_UInt32s = npt.NDArray[np.uint32]
_Bytes = npt.NDArray[np.uint8]


def hash_array(array: pa.Array, kind: str, version: int) -> Ints:
    """Return the hash of each value; NULL hashes to 0. ``kind`` names a primitive type."""
    if array.null_count == len(array):
        return np.zeros(len(array), np.int32)
    hashes = (_hash_v2 if version == 2 else _hash_v1)(array, kind)
    hashes[np.asarray(pc.is_null(array))] = 0
    return hashes


def _hash_v1(array: pa.Array, kind: str) -> Ints:
    if kind in ("string", "varchar", "char", "binary"):
        matrix, lengths = _byte_matrix(_trimmed(array, kind))
        return _java_hash(matrix, lengths, 0 if kind == "string" else 1)
    if kind == "decimal":
        return _per_value(array, lambda value: _decimal_v1(value))
    if kind == "timestamp":
        return _per_value(array, lambda value: _fold(_seconds(value)[0] << 30 | _seconds(value)[1]))
    values = _numbers(array, kind)
    if kind in ("bigint", "double"):
        bits = values.view(np.uint64)
        folded: Ints = ((bits >> np.uint64(32)) ^ bits).astype(np.uint32).view(np.int32)
        return folded
    if kind == "float":
        values = values.view(np.int32)
    integers: Ints = values.astype(np.int32)
    return integers


def _hash_v2(array: pa.Array, kind: str) -> Ints:
    if kind in ("string", "varchar", "char", "binary"):
        return _murmur(*_byte_matrix(_trimmed(array, kind)))
    if kind == "decimal":
        return _per_value(array, lambda value: _murmur_one(_decimal_bytes(value)))
    if kind == "timestamp":
        return _per_value(array, lambda value: _murmur_one(_timestamp_bytes(*_seconds(value))))
    values = _numbers(array, kind)
    if kind in ("boolean", "tinyint"):
        return values.astype(np.int32)
    if kind == "float":
        # Hive hashes the float whose value is the number that the bits spell.
        values = values.view(np.int32).astype(np.float32)
    elif kind == "double":
        values = values.view(np.int64).astype(np.float64)
    width = values.dtype.itemsize
    big_endian = values.astype(values.dtype.newbyteorder(">")).view(np.uint8)
    matrix = big_endian.reshape(len(values), width)
    return _murmur(matrix, np.full(len(values), width, np.int64))


_DTYPES: dict[str, Any] = {
    "boolean": np.int8,
    "tinyint": np.int8,
    "smallint": np.int16,
    "int": np.int32,
    "integer": np.int32,
    "bigint": np.int64,
    "date": np.int32,
    "float": np.float32,
    "double": np.float64,
}


def _numbers(array: pa.Array, kind: str) -> npt.NDArray[Any]:
    if kind not in _DTYPES:
        raise TypeError(f"no bucket hash for {kind}")
    if kind == "date":
        array = array.cast(pa.int32())
    elif kind == "boolean":
        array = array.cast(pa.int8())
    filled = pc.fill_null(array, pa.scalar(0, array.type))
    return np.ascontiguousarray(filled.to_numpy(zero_copy_only=False).astype(_DTYPES[kind]))


def _trimmed(array: pa.Array, kind: str) -> pa.Array:
    """CHAR compares and hashes without its padding."""
    return pc.utf8_rtrim(array, " ") if kind == "char" else array


def _byte_matrix(array: pa.Array) -> tuple[_Bytes, npt.NDArray[np.int64]]:
    """Values as rows of a zero-padded matrix, and their lengths."""
    binary = pc.fill_null(array.cast(pa.large_binary()), b"")
    if isinstance(binary, pa.ChunkedArray):
        binary = binary.combine_chunks()
    offsets = np.frombuffer(binary.buffers()[1], np.int64)
    offsets = offsets[binary.offset : binary.offset + len(binary) + 1]
    lengths = np.diff(offsets)
    width = int(lengths.max(initial=0))
    matrix = np.zeros((len(binary), -(-width // 4) * 4 or 4), np.uint8)
    data = binary.buffers()[2]
    if data is not None and width:
        flat = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
        columns = np.arange(matrix.shape[1])
        matrix[columns < lengths[:, None]] = flat
    return matrix, lengths


def _java_hash(matrix: _Bytes, lengths: npt.NDArray[np.int64], start: int) -> Ints:
    result = np.full(len(matrix), start, np.int32)
    signed = matrix.view(np.int8).astype(np.int32)
    with np.errstate(over="ignore"):
        for position in range(int(lengths.max(initial=0))):
            following = result * np.int32(31) + signed[:, position]
            result = np.where(position < lengths, following, result)
    return result


def _rotated(values: _UInt32s, bits: int) -> _UInt32s:
    rotated: _UInt32s = (values << np.uint32(bits)) | (values >> np.uint32(32 - bits))
    return rotated


def _murmur(matrix: _Bytes, lengths: npt.NDArray[np.int64]) -> Ints:
    """Murmur3 of each row's first ``length`` bytes."""
    c1, c2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
    if matrix.shape[1] % 4:
        matrix = np.pad(matrix, ((0, 0), (0, 4 - matrix.shape[1] % 4)))
    words = np.ascontiguousarray(matrix).view("<u4")
    result = np.full(len(matrix), _SEED, np.uint32)
    word_counts = lengths // 4
    with np.errstate(over="ignore"):
        for position in range(int(word_counts.max(initial=0))):
            mixed = _rotated(words[:, position] * c1, 15) * c2
            following = _rotated(result ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
            result = np.where(position < word_counts, following, result)
        rest = lengths % 4
        tail = np.zeros(len(matrix), np.uint32)
        rows = np.arange(len(matrix))
        for index, shift in ((2, 16), (1, 8), (0, 0)):
            at = np.minimum(word_counts * 4 + index, matrix.shape[1] - 1)
            # The tail bytes are signed in Hive, unlike in the textbook.
            byte = matrix[rows, at].view(np.int8).astype(np.int32).view(np.uint32)
            tail = np.where(rest > index, tail ^ (byte << np.uint32(shift)), tail)
        result = np.where(rest > 0, result ^ (_rotated(tail * c1, 15) * c2), result)
        result ^= lengths.astype(np.uint32)
        result ^= result >> np.uint32(16)
        result *= np.uint32(0x85EBCA6B)
        result ^= result >> np.uint32(13)
        result *= np.uint32(0xC2B2AE35)
        result ^= result >> np.uint32(16)
    return result.view(np.int32)


def _murmur_one(data: bytes) -> int:
    matrix = np.frombuffer(data, np.uint8).reshape(1, len(data))
    return int(_murmur(matrix, np.array([len(data)], np.int64))[0])


def _per_value(array: pa.Array, function: Callable[[Any], int]) -> Ints:
    encoded = array.dictionary_encode()
    hashes = np.array([function(v) for v in encoded.dictionary.to_pylist()] or [0], np.int64)
    codes = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
    hashed: Ints = hashes[codes].astype(np.int32)
    return hashed


def _fold(number: int) -> int:
    number &= 2**64 - 1
    return _int32(number >> 32 ^ number)


def _int32(number: int) -> int:
    number &= 2**32 - 1
    return number - 2**32 if number >= 2**31 else number


def _unscaled(value: decimal.Decimal) -> tuple[int, int]:
    """Unscaled value and scale without trailing zeros of the fraction."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    number, scale = int("".join(map(str, digits))), -exponent
    while number and scale > 0 and number % 10 == 0:
        number, scale = number // 10, scale - 1
    if scale < 0:
        number, scale = number * 10**-scale, 0
    return (-number if sign else number), (scale if number else 0)


def _decimal_v1(value: decimal.Decimal) -> int:
    number, scale = _unscaled(value)
    magnitude, result, words = abs(number), 0, []
    while magnitude:
        words.append(magnitude & 2**32 - 1)
        magnitude >>= 32
    for word in reversed(words):
        result = 31 * result + word & 2**32 - 1
    return _int32(31 * _int32(result if number > 0 else -result) + scale)


def _decimal_bytes(value: decimal.Decimal) -> bytes:
    number, _ = _unscaled(value)
    bits = number.bit_length() if number >= 0 else (number + 1).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)


def _seconds(value: datetime.datetime) -> tuple[int, int]:
    """Seconds since the epoch and nanoseconds of a wall-clock time."""
    past = value.replace(tzinfo=None) - _EPOCH
    return past.days * 86400 + past.seconds, past.microseconds * 1000


def _timestamp_bytes(seconds: int, nanos: int) -> bytes:
    """TimestampWritableV2's serialized form."""
    reversed_nanos = int(f"{nanos:09d}"[::-1]) if nanos else 0
    second_part = seconds >> 31
    low = seconds & 0x7FFFFFFF
    if not nanos and not second_part:
        return low.to_bytes(4, "big")
    first = -reversed_nanos - 1 if second_part else reversed_nanos
    data = (low | 0x80000000).to_bytes(4, "big") + _vint(first)
    return data + _vint(second_part) if second_part else data


def _vint(value: int) -> bytes:
    """Hadoop's variable-length integer."""
    if -112 <= value <= 127:
        return (value & 0xFF).to_bytes(1, "big")
    length = -120 if value < 0 else -112
    rest = ~value if value < 0 else value
    size = -(-rest.bit_length() // 8)
    return ((length - size) & 0xFF).to_bytes(1, "big") + rest.to_bytes(size, "big")
