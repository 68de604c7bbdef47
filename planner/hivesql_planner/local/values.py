"""Literals as the values that Spark would store for them; Unclear wherever that takes thought.

Casts that lose something (overflow, digits that do not fit, text that is no number) are Spark's.
"""

from __future__ import annotations

import datetime
import re
import struct
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext

from hivesql_planner.local.spark_sql_reader import Literal, Unclear
from hivesql_planner.model.table import DEFAULT_PARTITION
from hivesql_planner.predicates.predicate import Stored

WHOLE = {"tinyint": 8, "smallint": 16, "int": 32, "integer": 32, "bigint": 64}
"""Types of whole numbers, with their bits."""
_PARAMETERS = re.compile(r"(\w+) ?\( ?(\d+) ?(?:, ?(\d+) ?)?\)")
_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,15})?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?")
_GREGORIAN = datetime.date(1582, 10, 15)
_EPOCH_YEAR = 1970
_EXACT_DOUBLE = 2**53
_HALF_WAY = 1 << 28


def base_type(hive_type: str) -> tuple[str, tuple[int, ...]]:
    """``decimal(10,2)`` as its name and its numbers."""
    text = " ".join(hive_type.lower().split())
    match = _PARAMETERS.fullmatch(text)
    if match is None:
        return {"numeric": "decimal", "dec": "decimal", "double precision": "double"}.get(
            text, text
        ), ()
    name = "decimal" if match[1] in ("numeric", "dec") else match[1]
    return name, tuple(int(number) for number in match.groups()[1:] if number is not None)


def decimal_size(numbers: Sequence[int]) -> tuple[int, int]:
    """Precision and scale of a decimal type; both have defaults."""
    precision = numbers[0] if numbers else 10
    return precision, numbers[1] if len(numbers) > 1 else 0


def stored(literal: Literal, hive_type: str) -> Stored:
    """Return the literal cast to a column's type; CHAR is padded, VARCHAR cut."""
    if literal.kind == "null":
        return None
    name, numbers = base_type(hive_type)
    if name in WHOLE:
        return _whole(literal, WHOLE[name])
    if name == "decimal":
        return _decimal(literal, *decimal_size(numbers))
    if name in ("char", "varchar"):
        text = _text(literal)[: numbers[0]]
        return text.ljust(numbers[0]) if name == "char" else text
    if name not in _CASTS:
        raise Unclear
    return _CASTS[name](literal)


def _whole(literal: Literal, bits: int) -> int:
    if literal.kind not in ("int", "text") or not re.fullmatch(r"-?\d{1,19}", literal.text):
        raise Unclear
    value = int(literal.text)
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise Unclear
    return value


def _number(literal: Literal) -> Decimal:
    if literal.kind not in ("int", "decimal", "text"):
        raise Unclear
    if literal.kind == "text" and not _NUMBER.fullmatch(literal.text):
        raise Unclear
    value = Decimal(literal.text)
    _, digits, exponent = value.as_tuple()
    if len(digits) > 38 or not isinstance(exponent, int) or exponent < -38:
        raise Unclear
    return value


def _decimal(literal: Literal, precision: int, scale: int) -> Decimal:
    with localcontext(prec=100):
        value = _number(literal).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        if abs(value) >= Decimal(1).scaleb(precision - scale):
            raise Unclear
    return value or abs(value)


def _double(literal: Literal) -> float:
    if literal.kind == "double":
        value = float(literal.text)
    else:
        number = _number(literal)
        if literal.kind == "int" and abs(number) > _EXACT_DOUBLE:
            raise Unclear
        # Only text has a zero below zero.
        value = float(number) if number or literal.kind == "text" else 0.0
    if value in (float("inf"), float("-inf")):
        raise Unclear
    return value


def _float(literal: Literal) -> float:
    value = _double(literal)
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    # Rounding twice differs from rounding once only half way between two floats.
    if literal.kind != "double" and bits & (2 * _HALF_WAY - 1) == _HALF_WAY:
        raise Unclear
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        raise Unclear from None
    return float(rounded)


def _text(literal: Literal) -> str:
    if literal.kind == "int":
        return str(int(literal.text))
    if literal.kind == "date":
        return _date(literal).isoformat()
    if literal.kind == "text":
        return literal.text
    raise Unclear


def _boolean(literal: Literal) -> bool:
    if literal.kind != "boolean":
        raise Unclear
    return literal.text == "true"


def _date(literal: Literal) -> datetime.date:
    if literal.kind not in ("date", "text") or not _DATE.fullmatch(literal.text):
        raise Unclear
    try:
        value = datetime.date.fromisoformat(literal.text)
    except ValueError:
        raise Unclear from None
    # Older days depend on the calendar that a file says it has.
    if value < _GREGORIAN:
        raise Unclear
    return value


def _timestamp(literal: Literal) -> datetime.datetime:
    if literal.kind == "date":
        return datetime.datetime.combine(_date(literal), datetime.time())
    if literal.kind not in ("timestamp", "text") or not _TIMESTAMP.fullmatch(literal.text):
        raise Unclear
    seconds, _, fraction = literal.text.partition(".")
    try:
        value = datetime.datetime.fromisoformat(seconds)
    except ValueError:
        raise Unclear from None
    if value.date() < _GREGORIAN:
        raise Unclear
    micros = int(fraction.ljust(6, "0")) if fraction else 0
    # Arrow writes fractions of a second before 1970 in a way that Java cannot read.
    if micros and value.year < _EPOCH_YEAR:
        raise Unclear
    return value.replace(microsecond=micros)


def _binary(literal: Literal) -> bytes:
    if literal.kind != "text":
        raise Unclear
    return literal.text.encode()


_CASTS: dict[str, Callable[[Literal], Stored]] = {
    "double": _double,
    "float": _float,
    "string": _text,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
    "binary": _binary,
}


def operand(literal: Literal, operator: str, hive_type: str) -> int | float | Decimal:
    """Tell what to compute with a column; Unclear if the result is not exact or of another kind."""
    name, numbers = base_type(hive_type)
    if name in ("int", "integer", "bigint") and literal.kind == "int":
        return _whole(literal, 32)
    if name == "double" and literal.kind in ("int", "decimal", "double"):
        return _double(literal)
    if name == "decimal" and literal.kind in ("int", "decimal"):
        return _exact(literal, operator, *decimal_size(numbers))
    raise Unclear


def _exact(literal: Literal, operator: str, precision: int, scale: int) -> Decimal:
    """Give a number whose result with such a decimal needs no more digits than one may have."""
    value = _number(literal)
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    # A whole number counts as an INT or BIGINT there.
    least = 0 if literal.kind == "decimal" else 10 if len(digits) <= 10 else 19
    own = max(len(digits), -exponent, least)
    if operator == "*":
        needed = precision + own + 1
    else:
        needed = max(precision - scale, own + exponent) + max(scale, -exponent) + 1
    if needed > 38:
        raise Unclear
    return value


def partition_text(literal: Literal, hive_type: str) -> str:
    """Hive's text of a dynamic partition's value; NULL and '' are the default partition."""
    name, _ = base_type(hive_type)
    value = stored(literal, hive_type)
    if value is None:
        return DEFAULT_PARTITION
    if name not in (*WHOLE, "string", "varchar", "date", "boolean"):
        raise Unclear
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) or DEFAULT_PARTITION


def same_kind(literals: Sequence[Literal], hive_type: str) -> bool:
    """Tell whether the values of a column agree, so that none changes what another one is."""
    kinds = {one.kind for one in literals} - {"null"}
    return len(kinds) <= 1 or (kinds == {"int", "decimal"} and base_type(hive_type)[0] == "decimal")


def compared(literal: Literal, hive_type: str) -> Stored:
    """Tell what a column of this type is compared with; Unclear unless both sides stay the same."""
    name, numbers = base_type(hive_type)
    kind = literal.kind
    if kind == "null":
        return None
    if name in WHOLE and kind == "int":
        return _whole(literal, 64)
    if name == "decimal" and kind in ("int", "decimal"):
        precision, scale = decimal_size(numbers)
        value = _number(literal)
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int)
        if -exponent > scale or len(digits) + precision > 38:
            raise Unclear
        return _decimal(literal, precision, scale)
    if name in ("string", "varchar", "char") and kind == "text":
        return literal.text
    if name == "boolean" and kind == "boolean":
        return _boolean(literal)
    if name == "date" and kind in ("date", "text"):
        return _date(literal)
    if name == "timestamp" and kind in ("timestamp", "text"):
        return _timestamp(literal)
    raise Unclear
