"""Values of partitions in the form in which Hive keeps them: in directories and in its catalog."""

from __future__ import annotations

import re
import struct
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext

from hivesql_planner.model.hive_type import (
    BITS,
    FLOATS,
    LONGEST_NUMBER,
    SIZED_TEXTS,
    HiveType,
    Kind,
)
from hivesql_planner.model.table import DEFAULT_PARTITION
from hivesql_planner.settings.settings import DEFAULT_NAME, Settings

FALSE = ("", "false", "no", "off", "0")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DAY = r"([0-9]{1,4})-([0-9]{1,2})-([0-9]{1,2})"
_DATE = re.compile(_DAY + r"([ T].*)?", re.DOTALL)
_TIME = re.compile(_DAY + r"(?:[ T]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]{1,9}))?)?")


def default_partition(settings: Settings) -> str:
    """Give the value of new partitions for rows that have none; to readers it is one like others.

    What is no value of the column's type they read as NULL.
    """
    return settings.text(DEFAULT_NAME) or DEFAULT_PARTITION


def normal_value(text: str, type_: HiveType) -> str | None:
    """Give the text that Hive keeps of a constant in a column of the type; None if it is not one.

    CHAR has its blanks; complex types stay as they are.
    """
    kind = type_.kind
    if kind is Kind.BOOLEAN:
        return "false" if text.lower() in FALSE else "true"
    if kind in BITS:
        return _whole(text, BITS[kind])
    if kind in FLOATS:
        return _fraction(text, single=kind is Kind.FLOAT)
    if kind is Kind.DECIMAL:
        return _decimal(text, *type_.arguments)
    if kind is Kind.DATE:
        match = _DATE.fullmatch(text)
        return _day(*match.group(1, 2, 3)) if match else None
    if kind is Kind.TIMESTAMP:
        return _timestamp(text)
    if kind in SIZED_TEXTS:
        cut = text[: type_.length]
        return cut.ljust(type_.length or 0) if kind is Kind.CHAR else cut
    return text


def read_text(text: str, type_: HiveType) -> str:
    """Give the text to cast to the column's type in Spark, for the value that queries read.

    Texts may be another program's, or from before the column was made shorter; CHAR has no blanks.
    """
    if type_.kind is Kind.BOOLEAN:
        return "false" if text.lower() in FALSE else "true"
    if type_.kind in SIZED_TEXTS:
        cut = text[: type_.length]
        return cut.rstrip(" ") if type_.kind is Kind.CHAR else cut
    return text


def _whole(text: str, bits: int) -> str | None:
    if len(text) > LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    if ("." in text or "e" in text.lower()) and bits == 64:
        return None
    if _WHOLE.fullmatch(text):
        number = int(text)
    elif "e" in text.lower():
        return None
    else:
        number = int(Decimal(text))
    # A constant is an INT before it is made smaller, and then loses its higher bits.
    if not -(2 ** (max(bits, 32) - 1)) <= number < 2 ** (max(bits, 32) - 1):
        return None
    half = 2 ** (bits - 1)
    return str((number + half) % (2 * half) - half)


def _fraction(text: str, *, single: bool) -> str | None:
    if not _NUMBER.fullmatch(text):
        return text if text in ("NaN", "Infinity", "-Infinity") else None
    number = float(text)
    if single:
        try:
            nearest = struct.unpack("f", struct.pack("f", number))[0]
        except OverflowError:
            return "-Infinity" if number < 0 else "Infinity"
        short = next(
            candidate
            for digits in range(1, 18)
            if struct.pack("f", float(candidate := f"{nearest:.{digits}g}"))
            == struct.pack("f", nearest)
        )
        return _as_java(short)
    return _as_java(repr(number))


def _as_java(text: str) -> str:
    """Return a number's shortest text as Java writes it: ``1.0``, ``1.5E10``."""
    if text in ("inf", "-inf"):
        return text.replace("inf", "Infinity")
    number = Decimal(text)
    if number == 0:
        return "-0.0" if text.startswith("-") else "0.0"
    sign = "-" if number < 0 else ""
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0") or "0"
    power = number.adjusted()
    if -3 <= power < 7:
        plain = f"{abs(number):f}"
        integral, _, rest = plain.partition(".")
        return f"{sign}{integral}.{rest.rstrip('0') or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def _decimal(text: str, precision: int, scale: int) -> str | None:
    if not _NUMBER.fullmatch(text):
        return None
    try:
        with localcontext(Context(prec=76)):
            number = Decimal(text).quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP)
    except InvalidOperation:
        return None
    if number.adjusted() >= precision - scale and number != 0:
        return None
    plain = f"{number:f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain in ("-0", "") else plain


def _day(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _timestamp(text: str) -> str | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(group or 0) for group in match.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None
    fraction = (match[7] or "").rstrip("0")
    return moment.isoformat(sep=" ") + (f".{fraction}" if fraction else "")
