"""Constants as the values that Spark would store for them; Unclear wherever that takes thought.

Casts that lose something (overflow, digits that do not fit, text that is no number) are Spark's.
"""

from __future__ import annotations

import datetime
import re
import struct
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext

from hivesql_planner.model.table import DEFAULT_PARTITION
from hivesql_planner.predicates.constants import day, wall_clock
from hivesql_planner.predicates.predicate import Value

WHOLE = {"tinyint": 8, "smallint": 16, "int": 32, "integer": 32, "bigint": 64}
"""Types of whole numbers, with their bits."""
_PARAMETERS = re.compile(r"(\w+) ?\( ?(\d+) ?(?:, ?(\d+) ?)?\)")
_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,15})?")
_WHOLE = re.compile(r"-?\d{1,19}")
_GREGORIAN = datetime.date(1582, 10, 15)
_EPOCH_YEAR = 1970
_EXACT_DOUBLE = 2**53
_HALF_WAY = 1 << 28


class Unclear(Exception):
    """The statement says something that is not understood here."""


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


def stored(value: Value, hive_type: str) -> Value:
    """Return the constant cast to a column's type; CHAR is padded, VARCHAR cut."""
    if value is None:
        return None
    name, numbers = base_type(hive_type)
    if name in WHOLE:
        return _whole(value, WHOLE[name])
    if name == "decimal":
        return _decimal(value, *decimal_size(numbers))
    if name in ("char", "varchar"):
        text = _text(value)[: numbers[0]]
        return text.ljust(numbers[0]) if name == "char" else text
    if name not in _CASTS:
        raise Unclear
    return _CASTS[name](value)


def _whole(value: Value, bits: int) -> int:
    is_text = isinstance(value, str) and _WHOLE.fullmatch(value)
    if not is_text and type(value) is not int:
        raise Unclear
    number = int(value)  # type: ignore[arg-type]
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise Unclear
    return number


def _number(value: Value) -> Decimal:
    if type(value) not in (int, Decimal, str):
        raise Unclear
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise Unclear
    number = Decimal(value)  # type: ignore[arg-type]
    _, digits, exponent = number.as_tuple()
    if len(digits) > 38 or not isinstance(exponent, int) or exponent < -38:
        raise Unclear
    return number


def _decimal(value: Value, precision: int, scale: int) -> Decimal:
    with localcontext(Context(prec=100)):
        number = _number(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        if abs(number) >= Decimal(1).scaleb(precision - scale):
            raise Unclear
    return number or abs(number)


def _double(value: Value) -> float:
    if isinstance(value, float):
        number = value
    else:
        exact = _number(value)
        if type(value) is int and abs(exact) > _EXACT_DOUBLE:
            raise Unclear
        # Only text has a zero below zero.
        number = float(exact) if exact or isinstance(value, str) else 0.0
    if number in (float("inf"), float("-inf")):
        raise Unclear
    return number


def _float(value: Value) -> float:
    number = _double(value)
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    # Rounding twice differs from rounding once only half way between two floats.
    if not isinstance(value, float) and bits & (2 * _HALF_WAY - 1) == _HALF_WAY:
        raise Unclear
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        raise Unclear from None
    return float(rounded)


def _text(value: Value) -> str:
    if type(value) is int:
        return str(value)
    if type(value) is datetime.date:
        return _date(value).isoformat()
    if isinstance(value, str):
        return value
    raise Unclear


def _boolean(value: Value) -> bool:
    if not isinstance(value, bool):
        raise Unclear
    return value


def _date(value: Value) -> datetime.date:
    if isinstance(value, str):
        value = day(value)
    # Older days depend on the calendar that a file says it has.
    if type(value) is not datetime.date or value < _GREGORIAN:
        raise Unclear
    return value


def _timestamp(value: Value) -> datetime.datetime:
    if type(value) is datetime.date:
        return datetime.datetime.combine(_date(value), datetime.time())
    if isinstance(value, str):
        value = wall_clock(value)
    if not isinstance(value, datetime.datetime) or value.date() < _GREGORIAN:
        raise Unclear
    # Arrow writes fractions of a second before 1970 in a way that Java cannot read.
    if value.microsecond and value.year < _EPOCH_YEAR:
        raise Unclear
    return value


def _binary(value: Value) -> bytes:
    if not isinstance(value, str):
        raise Unclear
    return value.encode()


_CASTS: dict[str, Callable[[Value], Value]] = {
    "double": _double,
    "float": _float,
    "string": _text,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
    "binary": _binary,
}


def operand(value: Value, operator: str, hive_type: str) -> int | float | Decimal:
    """Tell what to compute with a column; Unclear if the result is not exact or of another kind."""
    name, numbers = base_type(hive_type)
    kind = type(value)
    if name in ("int", "integer", "bigint") and kind is int:
        return _whole(value, 32)
    if name == "double" and kind in (int, Decimal, float):
        return _double(value)
    if name == "decimal" and kind in (int, Decimal):
        return _exact(value, operator, *decimal_size(numbers))
    raise Unclear


def _exact(value: Value, operator: str, precision: int, scale: int) -> Decimal:
    """Give a number whose result with such a decimal needs no more digits than one may have."""
    number = _number(value)
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    # A whole number counts as an INT or BIGINT there.
    least = 0 if isinstance(value, Decimal) else 10 if len(digits) <= 10 else 19
    own = max(len(digits), -exponent, least)
    if operator == "*":
        needed = precision + own + 1
    else:
        needed = max(precision - scale, own + exponent) + max(scale, -exponent) + 1
    if needed > 38:
        raise Unclear
    return number


def partition_text(value: Value, hive_type: str) -> str:
    """Hive's text of a dynamic partition's value; NULL and '' are the default partition."""
    name, _ = base_type(hive_type)
    found = stored(value, hive_type)
    if found is None:
        return DEFAULT_PARTITION
    if name not in (*WHOLE, "string", "varchar", "date", "boolean"):
        raise Unclear
    if isinstance(found, bool):
        return "true" if found else "false"
    return str(found) or DEFAULT_PARTITION


def same_kind(values: Sequence[Value], hive_type: str) -> bool:
    """Tell whether the values of a column agree, so that none changes what another one is."""
    kinds = set(map(type, values)) - {type(None)}
    return len(kinds) <= 1 or (kinds == {int, Decimal} and base_type(hive_type)[0] == "decimal")


def compared(value: Value, hive_type: str) -> Value:
    """Tell what a column of this type is compared with; Unclear unless both sides stay the same."""
    name, numbers = base_type(hive_type)
    kind = type(value)
    if value is None:
        return None
    if name in WHOLE and kind is int:
        return _whole(value, 64)
    if name == "decimal" and kind in (int, Decimal):
        precision, scale = decimal_size(numbers)
        _, digits, exponent = _number(value).as_tuple()
        assert isinstance(exponent, int)
        if -exponent > scale or len(digits) + precision > 38:
            raise Unclear
        return _decimal(value, precision, scale)
    if name in ("string", "varchar", "char") and isinstance(value, str):
        # CHAR compares without the blanks at its end.
        return value.rstrip(" ") if name == "char" else value
    if name == "boolean" and kind is bool:
        return value
    if name == "date" and kind in (datetime.date, str):
        return _date(value)
    if name == "timestamp" and kind in (datetime.datetime, str):
        return _timestamp(value)
    raise Unclear
