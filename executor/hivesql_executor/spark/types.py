"""Hive types as Spark types."""

from __future__ import annotations

import re

_SPARK = {
    "integer": "int",
    "double precision": "double",
    "numeric": "decimal",
    "timestamp with local time zone": "timestamp",
    "timestamplocaltz": "timestamp",
}
_SIZED_TEXT = re.compile(r"\b(?:var)?char\s*\(\s*\d+\s*\)", re.IGNORECASE)


def spark_type(hive_type: str) -> str:
    """The Spark DDL text of a Hive type: char and varchar are strings, the rest keeps its name."""
    text = " ".join(hive_type.strip().split())
    text = _SIZED_TEXT.sub("string", text)
    lowered = text.lower()
    if lowered in _SPARK:
        return _SPARK[lowered]
    return text


def text_limit(hive_type: str) -> tuple[str, int] | None:
    """``("char", n)`` or ``("varchar", n)`` of a sized text type, else None."""
    match = re.fullmatch(r"(char|varchar)\s*\(\s*(\d+)\s*\)", hive_type.strip(), re.IGNORECASE)
    return (match[1].lower(), int(match[2])) if match else None
