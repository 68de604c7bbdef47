"""Rows of ORC files as they are stored, by a library that knows no Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyorc
from pyorc.converters import ORCConverter


class _AsStored(ORCConverter):
    """Days and times as numbers: Python has not all that the old calendar had."""

    @staticmethod
    def from_orc(*given: Any) -> Any:
        """The numbers of a value."""
        return given

    @staticmethod
    def to_orc(*given: Any) -> Any:
        """Nothing is written."""
        raise NotImplementedError


_STORED = dict.fromkeys(
    (pyorc.TypeKind.DATE, pyorc.TypeKind.TIMESTAMP, pyorc.TypeKind.TIMESTAMP_INSTANT), _AsStored
)


def stored_rows(path: Path) -> list[Any]:
    """Give the rows of one file, those of an ACID file as events."""
    with path.open("rb") as file:
        return list(pyorc.Reader(file, converters=_STORED))
