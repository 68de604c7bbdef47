"""Protobuf's bytes: numbers, and the fields of a message."""

from __future__ import annotations

from collections.abc import Iterator

from hivesql_planner.errors import DataError


class Message:
    """A message that was read: the values of its fields, by the numbers of ``orc_proto``.

    DataError when a field is not of the kind that is asked for.
    """

    __slots__ = ("_values",)

    def __init__(self, data: bytes) -> None:
        self._values: dict[int, list[int | bytes]] = {}
        for number, value, _, _ in _walk(data):
            self._values.setdefault(number, []).append(value)

    def __contains__(self, field: int) -> bool:
        return field in self._values

    def number(self, field: int, default: int = 0) -> int:
        """Return a number."""
        values = self._values.get(field)
        if values is None:
            return default
        return _number(values[-1], field)

    def signed(self, field: int) -> int | None:
        """Return a number that is stored with its sign; None where the field is missing."""
        return signed(self.number(field)) if field in self._values else None

    def numbers(self, field: int) -> list[int]:
        """Return all numbers of a field, packed into bytes or one by one."""
        numbers: list[int] = []
        for value in self._values.get(field, ()):
            if isinstance(value, int):
                numbers.append(value)
            else:
                numbers += _unpacked(value)
        return numbers

    def contents(self, field: int) -> list[bytes]:
        """Return what each field of this number holds."""
        return [_bytes(value, field) for value in self._values.get(field, ())]

    def text(self, field: int) -> str | None:
        """Return a text; None where the field is missing."""
        return self.contents(field)[0].decode() if field in self._values else None

    def messages(self, field: int) -> list[Message]:
        """Return the messages inside of this one."""
        return [Message(content) for content in self.contents(field)]


def varint(number: int) -> bytes:
    """Return a number, seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def numbered(field: int, number: int) -> bytes:
    """Return a field of a number."""
    return varint(field << 3) + varint(number)


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


def fields(message: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the number of every field, all of its bytes, and what it holds (b"" of numbers)."""
    for number, value, begin, end in _walk(message):
        yield number, message[begin:end], value if isinstance(value, bytes) else b""


def signed(value: int) -> int:
    """Return a number that is stored with its sign in the lowest bit."""
    return value >> 1 ^ -(value & 1)


def unsigned(value: int) -> int:
    """Return what a number with a sign is stored as."""
    return -2 * value - 1 if value < 0 else 2 * value


def _unpacked(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        number, at = read_varint(data, at)
        yield number


def _number(value: int | bytes, field: int) -> int:
    if not isinstance(value, int):
        raise DataError(f"field {field} of an ORC tail holds no number")
    return value


def _bytes(value: int | bytes, field: int) -> bytes:
    if not isinstance(value, bytes):
        raise DataError(f"field {field} of an ORC tail holds a number")
    return value


def _walk(message: bytes) -> Iterator[tuple[int, int | bytes, int, int]]:
    """Yield number, value, begin and end of every field."""
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
