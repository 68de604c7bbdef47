"""One setting: name, default, kind and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["bool", "int", "float", "text", "duration"]
Row = tuple[str, str, Kind, str]


@dataclass(frozen=True, slots=True)
class Setting:
    """One key; ``default`` is text as in Hive's documentation.

    A duration that is written without a unit has that of the default, as in Hive.
    """

    name: str
    default: str
    kind: Kind
    meaning: str
