"""Files that are uploaded to their places, where a move would copy them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Upload = str | bytes
"""What a task has told of its file: a word of its upload; or all of it, which is nowhere yet."""


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

    def complete(self, uploaded: Sequence[tuple[str, Upload]]) -> None:
        """Let files be seen, whole; ExecutionError where one of them cannot be."""
        ...

    def abort(self, uploaded: Sequence[tuple[str, Upload]]) -> None:
        """Give up what is not completed; what is nowhere yet is forgotten."""
        ...
