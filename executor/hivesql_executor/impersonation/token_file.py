"""Hadoop's files of delegation tokens, which clusters give to the tasks that they start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

TOKEN_FILE = "HADOOP_TOKEN_FILE_LOCATION"
"""The environment's variable that names a task's file."""

_MAGIC = b"HDTS"
_BY_WRITABLES, _BY_PROTOBUF = 0, 1
_BYTES_OF_PROTOBUF = 2
"""The wire type of whatever has a length."""


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token: what it says of its owner, the secret, of what kind it is and for which service."""

    identifier: bytes
    secret: bytes = field(repr=False)
    kind: str
    service: str

    @property
    def owner(self) -> str | None:
        """Give the first part of the owner's name; None where the identifier says none."""
        claims = self._claims()
        name = claims[0] if claims else ""
        return name.partition("@")[0].partition("/")[0] or None

    @property
    def ends(self) -> datetime | None:
        """Tell until when it can be renewed at most; None where the identifier does not say."""
        claims = self._claims()
        return datetime.fromtimestamp(claims[2] / 1000, timezone.utc) if claims else None

    def describe(self) -> str:
        """Say whose it is, who renews it and until when, as far as the identifier says."""
        claims, ends = self._claims(), self.ends
        if claims is None or ends is None:
            return f"of {self.owner or 'its owner'}"
        by = f"renewed by {claims[1]}" if claims[1] else "renewed by nobody"
        has_ended = ends <= datetime.now(timezone.utc)
        until = "at the latest it has ended at" if has_ended else "until at most"
        return f"of {self.owner or 'its owner'} ({by}, {until} {ends:%Y-%m-%d %H:%M} UTC)"

    def _claims(self) -> tuple[str, str, int] | None:
        """Return owner, renewer and end, in milliseconds, of Hadoop's usual identifier."""
        data = _Reader(self.identifier)
        try:
            data.take(1)  # Its version.
            owner, renewer, _ = (data.sized().decode() for _ in range(3))
            data.integer()  # When it was issued.
            return owner, renewer, data.integer()
        except ValueError:
            return None


class _Reader:
    """Reads bytes one after the other; ValueError where there are too few."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def take(self, size: int) -> bytes:
        """Read so many bytes."""
        taken = self._data[self._at : self._at + size]
        if size < 0 or len(taken) < size:
            raise ValueError(f"{size} bytes are missing at {self._at}")
        self._at += size
        return taken

    def sized(self) -> bytes:
        """Read bytes behind their length, as Hadoop's Writables have it."""
        return self.take(self.integer())

    def integer(self) -> int:
        """Read an integer as WritableUtils writes it."""
        first = int.from_bytes(self.take(1), "big", signed=True)
        if first >= -112:
            return first
        size = -112 - first if first >= -120 else -120 - first
        value = int.from_bytes(self.take(size), "big")
        return value if first >= -120 else ~value

    def varint(self) -> int:
        """Read an integer as protobuf has it."""
        value = shift = 0
        while True:
            (byte,) = self.take(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7


def read_tokens(data: bytes) -> tuple[DelegationToken, ...]:
    """Return the tokens of a file; ValueError for what is none."""
    if not data.startswith(_MAGIC) or len(data) <= len(_MAGIC):
        raise ValueError("it does not begin as one")
    version, rest = data[len(_MAGIC)], data[len(_MAGIC) + 1 :]
    if version == _BY_WRITABLES:
        return tuple(_by_writables(_Reader(rest)))
    if version == _BY_PROTOBUF:
        reader = _Reader(rest)
        return tuple(_by_protobuf(reader.take(reader.varint())))
    raise ValueError(f"it has the unknown version {version}")


def tokens_of_task(kind: str) -> tuple[DelegationToken, ...]:
    """Return the tokens of a kind that a cluster gave to this process; none that can be read."""
    try:
        tokens = read_tokens(Path(os.environ.get(TOKEN_FILE, "")).read_bytes())
    except (OSError, ValueError):
        return ()
    return tuple(token for token in tokens if token.kind == kind)


def read_token(data: bytes) -> DelegationToken:
    """Return the token that a server gave; ValueError for what is none."""
    return _next_token(_Reader(data))


def _by_writables(data: _Reader) -> Iterator[DelegationToken]:
    for _ in range(data.integer()):
        data.sized()  # Its alias.
        yield _next_token(data)


def _next_token(data: _Reader) -> DelegationToken:
    identifier, secret, kind, service = (data.sized() for _ in range(4))
    return DelegationToken(identifier, secret, kind.decode(), service.decode())


def _by_protobuf(data: bytes) -> Iterator[DelegationToken]:
    for entry in _fields(data).get(1, ()):
        for token in _fields(entry).get(2, ()):
            fields = _fields(token)
            identifier, secret, kind, service = (
                fields.get(number, [b""])[0] for number in range(1, 5)
            )
            yield DelegationToken(identifier, secret, kind.decode(), service.decode())


def _fields(message: bytes) -> dict[int, list[bytes]]:
    """Return the fields of a message by their numbers; all of these have a length."""
    data, fields = _Reader(message), dict[int, list[bytes]]()
    while data:
        key = data.varint()
        if key & 7 != _BYTES_OF_PROTOBUF:
            raise ValueError(f"a field of type {key & 7} is in it")
        fields.setdefault(key >> 3, []).append(data.take(data.varint()))
    return fields
