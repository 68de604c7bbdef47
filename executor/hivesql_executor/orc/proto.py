"""Protobuf's bytes: numbers, and the fields of a message."""

from __future__ import annotations

from collections.abc import Iterator

from hivesql_planner.errors import DataError

Message = dict[int, list[int | bytes]]
"""The values of a message's fields, by their numbers."""


def varint(number: int) -> bytes:
    """Return a number, seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def delimited(field: int, data: bytes) -> bytes:
    """Return a field of bytes, with its length."""
    return varint(field << 3 | 2) + varint(len(data)) + data


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number, and where what follows it begins."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(message: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Field number, value (0 for bytes), begin and end of every field of a protobuf message."""
    for number, value, begin, end in _walk(message):
        yield number, 0 if isinstance(value, bytes) else value, begin, end


def parsed(message: bytes) -> Message:
    """Return the values of every field of a message, by field number."""
    found: Message = {}
    for number, value, _, _ in _walk(message):
        found.setdefault(number, []).append(value)
    return found


def contents(message: bytes, wanted: int) -> Iterator[bytes]:
    """Tell what each field of this number holds, of a field of bytes."""
    return (value for value in parsed(message).get(wanted, ()) if isinstance(value, bytes))


def signed(value: int) -> int:
    """Return a number that is stored with its sign in the lowest bit."""
    return value >> 1 ^ -(value & 1)


def _walk(message: bytes) -> Iterator[tuple[int, int | bytes, int, int]]:
    at = 0
    while at < len(message):
        begin = at
        key, at = read_varint(message, at)
        value, at = read_varint(message, at)
        if key & 7 == 2:
            content, at = at, at + value
            yield key >> 3, message[content:at], begin, at
        elif key & 7 == 0:
            yield key >> 3, value, begin, at
        else:
            raise DataError(f"unexpected field {key} in an ORC tail")
