"""Python values as Hive literals, and statements with them put in."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from hivesql_planner.model.hive_type import MOST_DIGITS

Parameters = Mapping[str, Any] | Sequence[Any]

_PLACEHOLDER = re.compile(r"%(?:\((?P<name>[^)]*)\))?(?P<kind>.|\Z)", re.DOTALL)
_TOO_LONG = f"DECIMAL has {MOST_DIGITS} digits"
_MOST_ZEROS = 500
"""Zeros behind the point of a number that is nearly 0."""
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\0": "\\0", "\n": "\\n", "\r": "\\r"})


def literal(value: Any) -> str:
    """Return the text that means the value in Hive's SQL; TypeError for what has no literal.

    Sequences become ``(a, b)``, the right side of IN; an empty one ``(NULL)``, which matches
    nothing. A datetime with a zone is refused, as Hive's TIMESTAMP has none.
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float() | Decimal():
            return _number(value)
        case str():
            return f"'{value.translate(_ESCAPES)}'"
        case bytes() | bytearray() | memoryview():
            return f"unhex('{bytes(value).hex()}')"
        case datetime.date():
            return _time(value)
        case list() | tuple() | set() | frozenset():
            return f"({', '.join(map(literal, value)) or 'NULL'})"
    raise TypeError(f"{type(value).__name__} has no literal in Hive: {value!r}")


def _number(value: int | float | Decimal) -> str:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise TypeError(f"{value!r} has no literal in Hive: DECIMAL is finite")
        if not -_MOST_ZEROS < value.adjusted() < MOST_DIGITS:
            raise TypeError(f"{value!r:.60} has no literal in Hive: {_TOO_LONG}")
        return f"{value:f}BD"
    if isinstance(value, float):
        return f"{value!r}D" if math.isfinite(value) else f"CAST('{value}' AS DOUBLE)"
    if abs(value) >= 10**MOST_DIGITS:
        what = f"a whole number of {value.bit_length()} bits"
        raise TypeError(f"{what} has no literal in Hive: {_TOO_LONG}")
    if -(2**31) <= value < 2**31:
        return str(value)
    return f"{value}L" if -(2**63) < value < 2**63 else f"{value}BD"


def _time(value: datetime.date) -> str:
    if not isinstance(value, datetime.datetime):
        return f"DATE '{value.isoformat()}'"
    if value.tzinfo is not None:
        raise TypeError(f"{value!r} has a time zone: give the wall clock without one")
    return f"TIMESTAMP '{value.isoformat(sep=' ')}'"


def interpolate(text: str, parameters: Parameters) -> str:
    """Put literals where ``%(name)s`` or ``%s`` stand; ``%%`` is a percent sign.

    Raises KeyError or IndexError for a parameter that is missing, ValueError for any other ``%``
    and for parameters left over.
    """
    named = parameters if isinstance(parameters, Mapping) else None
    values = [] if isinstance(parameters, Mapping) else list(parameters)
    used = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal used
        if match["kind"] == "%" and match["name"] is None:
            return "%"
        if match["kind"] != "s":
            raise ValueError(f"{match[0]!r} is no placeholder; write %(name)s, %s or %%")
        if match["name"] is not None:
            if named is None:
                raise ValueError(f"{match[0]} wants parameters by name")
            return literal(named[match["name"]])
        if named is not None:
            raise ValueError("%s wants a sequence of parameters")
        if used >= len(values):
            raise IndexError(f"{len(values)} parameters are too few")
        used += 1
        return literal(values[used - 1])

    bound = _PLACEHOLDER.sub(replaced, text)
    if used < len(values):
        raise ValueError(f"{len(values)} parameters for {used} placeholders")
    return bound
