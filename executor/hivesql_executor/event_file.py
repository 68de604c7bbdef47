"""A staged file of events, whoever wrote it; told without Spark, so that publishing needs none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFile:
    """A complete file in staging, footer and all; ``keys`` as in the rows.

    ``write`` is an index into the publication's writes.
    """

    name: str
    rows: int
    bytes: int
    write: int
    writer: int
    keys: tuple[str, ...]
