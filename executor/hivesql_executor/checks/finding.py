"""What a check of a table finds, and one of a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong: where, and what."""

    place: str
    problem: str
    is_newer: bool = False
    """The metastore knows nothing of it, as when an older backup of it alone was restored."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that was looked at; ``help`` says what to do unless it is fine."""

    state: Literal["ok", "warning", "failed"]
    subject: str
    message: str
    help: str = ""
