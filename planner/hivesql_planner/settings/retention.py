"""How long earlier versions of a table are kept: what the cleaner may not delete yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.durations import read_duration

RETENTION = "hivesql.retention"
"""A table's property, and the setting for tables that do not have it."""
_LONG = 10 * 365 * 86400.0
"""Seconds that stand for a number of versions: who counts them ends the wait."""
_VERSIONS = re.compile(r"(\d+)\s*versions?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Retention:
    """What stays readable: the states of so many ``seconds``, and the latest ``versions``."""

    seconds: float = 0
    versions: int = 0

    @property
    def hold(self) -> float:
        """For how many seconds after a compaction no cleaner may come by itself."""
        return max(self.seconds, _LONG) if self.versions else self.seconds

    def keeps(self, compacted: int, newest: int, age: float) -> bool:
        """Tell whether states are kept that a compaction has replaced.

        It covers the writes up to ``compacted`` of a table whose latest is ``newest``, and was
        committed ``age`` seconds ago.
        """
        return age < self.seconds or compacted > newest - self.versions + 1


def read_retention(text: str) -> Retention:
    """Read ``7d``, ``10 versions``, or both with a comma; what is empty keeps nothing."""
    seconds, versions = 0.0, 0
    for part in filter(None, map(str.strip, text.split(","))):
        count, duration = _VERSIONS.fullmatch(part), read_duration(part)
        if count is not None:
            versions = int(count[1])
        elif duration is not None:
            seconds = duration
        else:
            raise SemanticError(
                f"{RETENTION} must be a duration like 7d, a number like '10 versions', or both "
                f"with a comma between them, not {text!r}"
            )
    return Retention(seconds, versions)


def retention_of(properties: Mapping[str, str], default: str) -> Retention:
    """Return what a table says of itself; the ``default`` is the setting's value."""
    return read_retention(properties.get(RETENTION, default))
