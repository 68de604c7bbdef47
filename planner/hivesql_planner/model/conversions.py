"""How Hive makes a value of one type one of another: by CAST, and where a column takes it.

Types are texts of Hive or Spark in lower case; a template is Spark SQL in which ``@0`` stands for
the value.
"""

from __future__ import annotations

import re

from hivesql_planner.errors import SemanticError
from hivesql_planner.model.types import text_limit

_TEXTS = ("string", "varchar", "char")
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_INTEGERS, "float", "double", "decimal")
_INSTANTS = ("timestamplocaltz", "timestamp with local time zone")
_TIMES = ("date", "timestamp", *_INSTANTS)
_NOT_OF_TIMES = (*_INTEGERS, "float", "double", "boolean")
_RANGES = {"tinyint": 2**7 - 1, "smallint": 2**15 - 1, "int": 2**31 - 1}
_POSSIBLE = {
    "binary": (*_TEXTS, "binary"),
    "date": (*_TEXTS, *_TIMES),
    "timestamp": (*_TEXTS, *_NUMBERS, *_TIMES, "boolean"),
    **dict.fromkeys(_INSTANTS, (*_TEXTS, *_TIMES)),
    **dict.fromkeys((*_NUMBERS, "boolean"), (*_TEXTS, *_NUMBERS, *_TIMES, "boolean")),
    "decimal": (*_TEXTS, *_NUMBERS, "timestamp", *_INSTANTS, "boolean"),
}
"""From what Hive makes values of a type."""
_DAY = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_TIME = "([01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9]([.][0-9]{1,9})?"
_REGION = "[A-Z][A-Za-z_]+(/[A-Za-z0-9_+-]+)+"
_ZONE = f"( *| ?(Z|UTC|GMT|{_REGION}|[+-][0-9]{{1,2}}:?[0-9]{{2}}))"

WHOLE_TIME = f"CAST(regexp_extract(@0, '^ *({_DAY} {_TIME})', 1) AS TIMESTAMP)"
"""Text to a TIMESTAMP where it begins with one of a day and a time."""
# Hive reads a date from the beginning of a text, whatever follows, and a time only when whole.
TEXT_TO_DATE = f"CAST(regexp_extract(@0, '^ *({_DAY})([^0-9]|$)', 1) AS DATE)"
TEXT_TO_TIMESTAMP = (
    f"CAST(regexp_extract(@0, '^ *({_DAY}( {_TIME}(?={_ZONE}$)|T{_TIME}(?= *$))?|{_TIME}(?= *$))"
    "([^0-9]|$)', 1) AS TIMESTAMP)"
)
TEXT_TO_BOOLEAN = "(NOT lower(@0) IN ('', '0', 'false', 'no', 'off'))"
_INSTANT = (
    "[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,10})?"
    f"( ?(Z|UTC|GMT|{_REGION}|[+-][0-9]{{2}}:[0-9]{{2}}))?)?"
)
TEXT_TO_INSTANT = f"CAST(regexp_extract(@0, '^ *({_INSTANT}) *$', 1) AS TIMESTAMP_LTZ)"
INSTANT_TEXT = "concat(regexp_replace(CAST(@0 AS STRING), ':[0-9][0-9]$', '$0.0'), ' UTC')"
"""Hive's text of an instant: at least one digit behind the seconds, and the zone."""
_MOST_MILLIS = 2**63 // 1000
_OF_TEXT = {
    "boolean": TEXT_TO_BOOLEAN,
    "date": TEXT_TO_DATE,
    "timestamp": TEXT_TO_TIMESTAMP,
    **dict.fromkeys(_INSTANTS, TEXT_TO_INSTANT),
}


def conversion(source: str | None, target: str) -> str | None:
    """Tell how Spark must convert; None where its CAST does as Hive, or nothing is known."""
    given, wanted = _family(source), _family(target)
    if given in _TEXTS:
        limit = text_limit(source or "")
        padded = f"CAST(rpad(@0, {limit[1]}, ' ') AS BINARY)" if limit and given == "char" else None
        return padded if wanted == "binary" else _OF_TEXT.get(wanted)
    if given == "boolean" and wanted in _TEXTS:
        return "upper(CAST(@0 AS STRING))"
    if given in _INSTANTS and wanted in _TEXTS:
        return INSTANT_TEXT
    if wanted == "timestamp" and given in ("boolean", *_INTEGERS):
        millis = "CAST(@0 AS BIGINT)"
        return f"if(abs({millis}) <= {_MOST_MILLIS}, timestamp_millis({millis}), NULL)"
    if given == "float" and wanted == "decimal":
        # The digits of the FLOAT's text, not those of the DOUBLE that it is.
        return f"CAST(CAST(@0 AS STRING) AS {target.upper()})"
    if given == "timestamp" and wanted in _RANGES:
        return _fitting("CAST(@0 AS BIGINT)", wanted)
    if given == "decimal" and wanted in _INTEGERS:
        return _whole_part(source or "", wanted)
    return None


def _fitting(seconds: str, wanted: str) -> str:
    """Seconds as a smaller number; NULL where it cannot hold them."""
    most = _RANGES[wanted]
    return (
        f"if({seconds} BETWEEN {-most - 1} AND {most}, CAST({seconds} AS {wanted.upper()}), NULL)"
    )


def _whole_part(source: str, wanted: str) -> str | None:
    """Return a decimal's digits before the point; NULL where the type cannot hold them."""
    precision, scale, *_ = [*map(int, re.findall(r"[0-9]+", source)), 0, 0]
    precision = precision or 10
    most = _RANGES.get(wanted, 2**63 - 1)
    if precision - scale < len(str(most)):
        return None
    inside = f"@0 > {-most - 2}BD AND @0 < {most + 1}BD"
    return f"if({inside}, CAST(@0 AS {wanted.upper()}), NULL)"


def conversion_of_any(target: str) -> str | None:
    """Return the same for a value whose type only Spark knows; None where that does not matter."""
    if of_text := _OF_TEXT.get(_family(target)):
        kind = "TIMESTAMP" if _family(target) in _INSTANTS else target.upper()
        converted = of_text.replace("@0", "CAST(@0 AS STRING)")
        return f"if(typeof(@0) = 'string', {converted}, CAST(@0 AS {kind}))"
    if _family(target) in _TEXTS:
        return "if(typeof(@0) = 'boolean', upper(CAST(@0 AS STRING)), CAST(@0 AS STRING))"
    return None


def check_conversion(source: str | None, target: str, *, strict: bool) -> None:
    """Refuse what Hive does not convert (SemanticError 10014).

    ``strict`` is hive.strict.timestamp.conversion: times and numbers are not made of each other.
    """
    given, wanted = _family(source), _family(target)
    if given not in (*_TEXTS, *_NUMBERS, *_TIMES, "boolean", "binary"):
        return
    if strict and wanted == "timestamp" and given in _NUMBERS:
        problem = "Casting NUMERIC types to TIMESTAMP is prohibited"
    elif strict and given in _TIMES and wanted in _NOT_OF_TIMES:
        problem = "Casting DATE/TIMESTAMP types to NUMERIC is prohibited"
    elif given not in _POSSIBLE.get(wanted, (given,)):
        raise SemanticError(f"Hive does not convert {source} to {target}", code=10014)
    else:
        return
    raise SemanticError(f"{problem} (hive.strict.timestamp.conversion)", code=10014)


def _family(kind: str | None) -> str:
    return re.split(r"[(<]", kind, maxsplit=1)[0].strip() if kind else ""
