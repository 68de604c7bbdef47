"""Hive's patterns for names."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARK = re.compile(r"\\+(_)|\\+(%)|([*%])|(_)|(.)", re.DOTALL)


def matching(
    names: Iterable[str], pattern: str | None, *, underscore: bool = True
) -> list[tuple[str]]:
    """The names that match, sorted, each as a row.

    ``*`` and ``%`` stand for anything, ``|`` between choices; case is ignored. With
    ``underscore``, ``_`` stands for one character, unless a backslash is before it.
    """
    if pattern is None:
        return [(name,) for name in sorted(names)]
    choices = [
        re.compile(_expression(part.strip(), underscore=underscore), re.IGNORECASE)
        for part in pattern.split("|")
    ]
    return [(name,) for name in sorted(names) if any(c.fullmatch(name) for c in choices)]


def _expression(pattern: str, *, underscore: bool) -> str:
    def one(match: re.Match[str]) -> str:
        escaped, percent, anything, single, other = match.groups()
        if anything:
            return ".*"
        if single and underscore:
            return "."
        return re.escape(escaped or percent or single or other)

    return _MARK.sub(one, pattern)
