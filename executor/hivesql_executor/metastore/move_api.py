"""What a metastore notes of directories that move together with their catalog entries."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Remedy(StrEnum):
    """What is left to do with a directory whose mover has died."""

    TAKE_BACK = "take back"
    """The catalog still says the old place."""
    DELETE = "delete"
    """It was hidden, and what it belonged to is dropped."""
    KEEP = "keep"
    """The catalog says the new place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A directory's old and new place.

    With ``table_id`` it is hidden, to be deleted once that table, or the ``partition`` of it, is
    dropped.
    """

    source: str
    target: str
    table_id: int = 0
    partition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunMoves:
    """What one statement has noted, in its order, and what would put each right."""

    key: str
    moves: tuple[tuple[Move, Remedy], ...]
