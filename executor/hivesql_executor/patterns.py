"""Hive's patterns for names."""

from __future__ import annotations

import re
from collections.abc import Iterable


def matching(names: Iterable[str], pattern: str | None) -> list[tuple[str]]:
    """The names that match, sorted, each as a row.

    ``*`` and ``%`` stand for anything, ``|`` between choices; case is ignored.
    """
    if pattern is None:
        return [(name,) for name in sorted(names)]
    choices = [
        re.compile(re.escape(part.strip()).replace(r"\*", ".*").replace("%", ".*"), re.IGNORECASE)
        for part in pattern.split("|")
    ]
    return [(name,) for name in sorted(names) if any(c.fullmatch(name) for c in choices)]
