"""Constants as the values that Spark would store for them; Unclear wherever that takes thought.

Casts that lose something (overflow, digits that do not fit, text that is no number) are Spark's.
"""

from __future__ import annotations

import datetime
import re
import struct
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext

from hivesql_planner.model.hive_type import (
    BITS,
    INTEGERS,
    MOST_DIGITS,
    SIZED_TEXTS,
    TEXTS,
    HiveType,
    Kind,
)
from hivesql_planner.model.partition_values import FALSE
from hivesql_planner.model.table import DEFAULT_PARTITION
from hivesql_planner.predicates.constants import day, wall_clock
from hivesql_planner.predicates.predicate import Value

_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,15})?")
_WHOLE = re.compile(r"-?\d{1,19}")
_GREGORIAN = datetime.date(1582, 10, 15)
_EPOCH_YEAR = 1970
_EXACT_DOUBLE = 2**53
_PARTITIONED = INTEGERS | {Kind.STRING, Kind.VARCHAR, Kind.DATE, Kind.BOOLEAN}
_HALF_WAY = 1 << 28


class Unclear(Exception):
    """The statement says something that is not understood here."""


def stored(value: Value, hive_type: HiveType) -> Value:
    """Return the constant cast to a column's type; CHAR is padded, VARCHAR cut."""
    if value is None:
        return None
    kind = hive_type.kind
    if kind in BITS:
        return _whole(value, BITS[kind])
    if kind is Kind.DECIMAL:
        return _decimal(value, *hive_type.arguments)
    if kind in SIZED_TEXTS:
        text = _text(value)[: hive_type.length]
        return text.ljust(hive_type.length or 0) if kind is Kind.CHAR else text
    if kind not in _CASTS:
        raise Unclear
    return _CASTS[kind](value)


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
    if len(digits) > MOST_DIGITS or not isinstance(exponent, int) or exponent < -MOST_DIGITS:
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
    if isinstance(value, str):
        return value.lower() not in FALSE
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


_CASTS: dict[Kind, Callable[[Value], Value]] = {
    Kind.DOUBLE: _double,
    Kind.FLOAT: _float,
    Kind.STRING: _text,
    Kind.BOOLEAN: _boolean,
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
    Kind.BINARY: _binary,
}


def operand(value: Value, operator: str, hive_type: HiveType) -> int | float | Decimal:
    """Tell what to compute with a column; Unclear if the result is not exact or of another kind."""
    target = hive_type.kind
    kind = type(value)
    if target in (Kind.INT, Kind.BIGINT) and kind is int:
        return _whole(value, 32)
    if target is Kind.DOUBLE and kind in (int, Decimal, float):
        return _double(value)
    if target is Kind.DECIMAL and kind in (int, Decimal):
        return _exact(value, operator, *hive_type.arguments)
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


def partition_text(value: Value, hive_type: HiveType, default: str = DEFAULT_PARTITION) -> str:
    """Hive's text of a dynamic partition's value; NULL and '' are the default partition."""
    converted = stored(value, hive_type)
    if converted is None:
        return default
    if hive_type.kind not in _PARTITIONED:
        raise Unclear
    if isinstance(converted, bool):
        return "true" if converted else "false"
    return str(converted) or default


def same_kind(values: Sequence[Value], hive_type: HiveType) -> bool:
    """Tell whether the values of a column agree, so that none changes what another one is."""
    kinds = set(map(type, values)) - {type(None)}
    return len(kinds) <= 1 or (kinds == {int, Decimal} and hive_type.kind is Kind.DECIMAL)


def compared(value: Value, hive_type: HiveType) -> Value:
    """Tell what a column of this type is compared with; Unclear unless both sides stay the same."""
    column_kind = hive_type.kind
    kind = type(value)
    if value is None:
        return None
    if column_kind in INTEGERS and kind is int:
        return _whole(value, 64)
    if column_kind is Kind.DECIMAL and kind in (int, Decimal):
        precision, scale = hive_type.arguments
        _, digits, exponent = _number(value).as_tuple()
        assert isinstance(exponent, int)
        if -exponent > scale or len(digits) + precision > MOST_DIGITS:
            raise Unclear
        return _decimal(value, precision, scale)
    if column_kind in TEXTS and isinstance(value, str):
        # CHAR compares without the blanks at its end.
        return value.rstrip(" ") if column_kind is Kind.CHAR else value
    if column_kind is Kind.BOOLEAN and kind is bool:
        return value
    if column_kind is Kind.DATE and kind in (datetime.date, str):
        return _date(value)
    if column_kind is Kind.TIMESTAMP and kind in (datetime.datetime, str):
        return _timestamp(value)
    raise Unclear
