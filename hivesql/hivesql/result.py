"""What a statement gave its user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Columns and rows of a query, or the number of rows that a statement changed.

    ``types`` are Spark's names of the column types. ``affected`` is None for statements that
    change no rows. ``seconds`` is the wall time from text to committed.
    """

    statement: str
    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    rows: Sequence[Sequence[Any]] = ()
    affected: int | None = None
    message: str | None = None
    value: Any = None
    seconds: float = 0.0
