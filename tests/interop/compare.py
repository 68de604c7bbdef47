"""Values of both sides in one form: what JSON can say, exact where JSON is not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from hivesql_planner.model.table import DEFAULT_PARTITION

_AS_THEY_ARE = frozenset({type(None), bool, int, float, str})


def plain(value: Any) -> Any:
    """A Python value of Spark as ``hive.read`` gives it: times as text, binaries as hex."""
    if type(value) in _AS_THEY_ARE:
        return value
    match value:
        case Mapping():
            return {str(key): plain(inner) for key, inner in value.items()}
        case tuple() if hasattr(value, "asDict"):
            return plain(value.asDict())
        case list() | tuple():
            return [plain(inner) for inner in value]
    return _plain_primitive(value)


def _plain_primitive(value: Any) -> Any:
    match value:
        case Decimal():
            return _without_last_zeros(format(value, "f"))
        case datetime():
            return _without_last_zeros(value.isoformat(sep=" "))
        case date():
            return value.isoformat()
        case bytes() | bytearray():
            return bytes(value).hex()
    return value


def _without_last_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def agrees(value: Any, text: str) -> bool:
    """Whether a plain value is what Hive's SQL printed for it."""
    match value:
        case None:
            return text == "NULL"
        case str():
            return _text_agrees(value, text)
        case bool():
            return text == str(value).lower()
        case int() | float():
            return text != "NULL" and repr(value) == repr(type(value)(text))
    return text != "NULL" and bool(value == json.loads(text))


def _text_agrees(value: str, text: str) -> bool:
    if value == DEFAULT_PARTITION:
        return text in {"NULL", DEFAULT_PARTITION}  # the second is how Hive shows a NULL string
    if re.fullmatch(r"-?\d+\.\d+", text):  # a plain decimal has lost its last zeros
        return Decimal(value) == Decimal(text)
    # Hive shows CHAR with the blanks that pad it; a binary has no text.
    return value == text or value.rstrip() == text.rstrip(" ") or "\ufffd" in text


def partition_text(value: Any) -> str:
    """A partition column's value as the metastore keeps it."""
    if value is None or value == "":
        return DEFAULT_PARTITION
    return str(value).lower() if isinstance(value, bool) else str(plain(value))
