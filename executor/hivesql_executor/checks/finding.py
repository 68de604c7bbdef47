"""What a check of a table finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong: where, and what."""

    place: str
    problem: str
