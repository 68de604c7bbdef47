"""One setting: name, default, kind, meaning, unit, and the release that brought it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["bool", "int", "float", "text", "duration"]
Row = tuple[str, str, Kind, str] | tuple[str, str, Kind, str, str]
FIRST_RELEASE = "0.1.0"


@dataclass(frozen=True, slots=True)
class Setting:
    """One key; ``default`` is text as in Hive's documentation.

    A duration that is written without a unit has that of the default, as in Hive.
    """

    name: str
    default: str
    kind: Kind
    meaning: str
    unit: str = "none"
    """Of what a number counts; a duration tells its own, and has one where none is written."""
    since: str = FIRST_RELEASE

    @property
    def usual_unit(self) -> str:
        """Return the unit of a value that is a number alone; none of texts and flags."""
        return self.default.lstrip("0123456789") if self.kind == "duration" else self.unit
