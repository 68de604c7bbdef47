"""Files that are uploaded to their places, where a move would copy them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Protocol

_WHOLE = "="
"""How the word of a small file begins that is nowhere yet (``Uploads.java``)."""


def is_whole(word: str) -> bool:
    """Tell whether a task has told all of a file, and uploaded nothing."""
    return word.startswith(_WHOLE)


def content_of(word: str) -> bytes:
    """Return the file that a task has told."""
    return base64.urlsafe_b64decode(f"{word.removeprefix(_WHOLE)}===")


def word_of(content: bytes) -> str:
    """Return the word of a file of which this is all."""
    return f"{_WHOLE}{base64.urlsafe_b64encode(content).decode().rstrip('=')}"


class LeftUploads(Protocol):
    """Uploads that somebody began: each is a pair of the path and of what tells it from others."""

    def abort(self, uploaded: Sequence[tuple[str, str]]) -> None:
        """Give up what is not completed."""
        ...

    def waiting(self, location: str) -> list[tuple[str, str]]:
        """List all below a location that are neither completed nor given up, of anybody."""
        ...


class Uploads(LeftUploads, Protocol):
    """Files that tasks upload to their places, and that are there once they are completed.

    Each is a pair of the path and of what its writer told of the upload.
    """

    def complete(self, uploaded: Sequence[tuple[str, str]]) -> None:
        """Let files be seen, whole; ExecutionError where one of them cannot be."""
        ...
