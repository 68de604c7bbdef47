"""Property lists."""

from __future__ import annotations

from hivesql.parser.tokens import Cursor


def parse_properties(cursor: Cursor) -> dict[str, str]:
    """``('k'='v', …)``."""
    cursor.expect("(")
    found: dict[str, str] = {}
    while True:
        key = cursor.string("a property key")
        cursor.expect("=")
        found[key] = cursor.string("a property value")
        if not cursor.take(","):
            break
    cursor.expect(")")
    return found
