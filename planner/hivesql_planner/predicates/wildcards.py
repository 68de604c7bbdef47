"""Patterns with wildcards, looked for in a time that their length and the text's bound.

Of ``%a%a%a%a%b`` as a regular expression Python tries every way to place each part, for ever where
there are many, and meanwhile no other thread runs: one user of a server would stop all.
"""

from __future__ import annotations

import re
from fnmatch import translate

ANY, ONE = "*", "?"
"""What stands for any characters, and for one."""


def literal(text: str) -> str:
    """Return the pattern that stands for a text itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in text)


def compile_wildcards(pattern: str, *, ignores_case: bool = False) -> re.Pattern[str]:
    """Return what matches a pattern of ``ANY``, ``ONE``, sets such as ``[a-z]``, and literals.

    Each part between two ``ANY`` is taken where it is first found, once and for all.
    """
    return re.compile(translate(pattern), re.IGNORECASE if ignores_case else 0)
