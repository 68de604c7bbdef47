"""Hive types as they are written."""

from __future__ import annotations

import re

from hivesql_planner.errors import SemanticError

_SIZED_TEXT = re.compile(r"(char|varchar)\s*\(\s*(\d+)\s*\)", re.IGNORECASE)


def text_limit(hive_type: str) -> tuple[str, int] | None:
    """``("char", n)`` or ``("varchar", n)`` of a sized text type, else None."""
    match = _SIZED_TEXT.fullmatch(hive_type.strip())
    return (match[1].lower(), int(match[2])) if match else None


def parts_of(hive_type: str) -> list[tuple[str, str]]:
    """List the types inside a nested type, those of a struct with their names; else none."""
    kind, bracket, rest = hive_type.strip().partition("<")
    found: list[tuple[str, str]] = []
    depth, part = 0, ""
    for char in rest.rstrip()[:-1] + "," if bracket else "":
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            named = kind.strip().lower() == "struct"
            name, _, inner = part.partition(":") if named else ("", "", part)
            found.append((name.strip(), inner.strip()))
            part = ""
        else:
            part += char
    return found


_LONGEST = {"char": 255, "varchar": 65535}


def check_length(kind: str, length: int) -> None:
    """Refuse a length that CHAR or VARCHAR cannot have."""
    if not 1 <= length <= _LONGEST[kind]:
        raise SemanticError(
            f"{kind.capitalize()} length {length} out of allowed range [1, {_LONGEST[kind]}]"
        )
