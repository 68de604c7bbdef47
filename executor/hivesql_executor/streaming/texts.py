"""Columns of delimited text as columns of the table's types, for streams.

Which texts are values is said in ``hivesql_planner.model.delimited_text``. Whole columns are
converted at once where all their texts are plain; only columns with an odd one are looked at text
by text.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.local.types import arrow_type
from hivesql_planner.errors import NotSupported
from hivesql_planner.model import delimited_text
from hivesql_planner.model.delimited_text import LineFormat
from hivesql_planner.model.hive_type import BITS, FLOATS, HiveType, Kind

_WHOLE, _NAN, _INFINITY, _DATE, _TIMESTAMP, _BASE64 = (
    re.compile(pattern, re.ASCII)
    for pattern in (
        delimited_text.WHOLE_NUMBER, delimited_text.NAN, delimited_text.INFINITY,
        delimited_text.DATE, delimited_text.TIMESTAMP,
        # Python 3.10 has no possessive patterns; it needs none.
        delimited_text.BASE64.replace("*+", "*"),
    )
)  # fmt: skip
# What Java makes a number of, without the letters that it takes for DOUBLE and FLOAT.
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([fFdD]?)\s*", re.ASCII)
_PARTS = re.compile(r"\d+")
_PLAIN_WHOLE = r"^-?\d{1,18}$"
_PLAIN_DOUBLE = r"^-?\d{1,15}(\.\d{1,15})?$"
_PLAIN_TIMESTAMP = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?$"
Texts = Sequence[str | None]
Reader = Callable[[str], Any]


def typed(texts: Texts, hive_type: HiveType, form: LineFormat) -> pa.Array:
    """Read texts as values of a type; None stays NULL, and so does the NULL of what is inside."""
    array, kind = pa.array(texts, pa.string()), hive_type.kind
    if kind in BITS:
        return _whole(array, texts, hive_type)
    if hive_type.is_text:
        return sized(array, hive_type)
    if kind in FLOATS and _all_match(array, _PLAIN_DOUBLE):
        return array.cast(arrow_type(hive_type))
    if kind is Kind.TIMESTAMP and _all_match(array, _PLAIN_TIMESTAMP):
        with contextlib.suppress(pa.ArrowInvalid):
            return array.cast(pa.timestamp("us"))
    if kind is Kind.DECIMAL:
        precision, scale = hive_type.arguments
        if _all_match(array, _plain_decimal(precision - scale, scale)):
            return array.cast(pa.decimal128(precision, scale))
    read = reader(hive_type, form)
    return pa.array([None if text is None else read(text) for text in texts], arrow_type(hive_type))


def sized(array: pa.Array, hive_type: HiveType) -> pa.Array:
    """VARCHAR cut, CHAR cut and padded."""
    if hive_type.length is None:
        return array
    cut = pc.utf8_slice_codeunits(array, 0, hive_type.length)
    return pc.utf8_rpad(cut, hive_type.length, " ") if hive_type.kind is Kind.CHAR else cut


def _all_match(array: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(array, pattern), min_count=0).as_py())


def _whole(array: pa.Array, texts: Texts, hive_type: HiveType) -> pa.Array:
    bits = BITS[hive_type.kind]
    limit = 2 ** (bits - 1)
    if not _all_match(array, _PLAIN_WHOLE):
        numbers = [None if text is None else _whole_number(text, limit) for text in texts]
        return pa.array(numbers, arrow_type(hive_type))
    values = array.cast(pa.int64())
    if bits < 64:
        inside = pc.and_(pc.greater_equal(values, -limit), pc.less(values, limit))
        values = pc.if_else(inside, values, None)
    return values.cast(arrow_type(hive_type))


def _plain_decimal(digits: int, scale: int) -> str:
    fraction = rf"(\.\d{{1,{scale}}})?" if scale else ""
    return rf"^-?\d{{1,{digits}}}{fraction}$" if digits else "^$"


def reader(hive_type: HiveType, form: LineFormat, level: int = 1) -> Reader:
    """Choose what makes a text a value: one that is not NULL's, at a level of nesting."""
    kind, inside = hive_type.kind, hive_type.children
    if kind in BITS:
        limit = 2 ** (BITS[kind] - 1)
        return lambda text: _whole_number(text, limit)
    match kind:
        case Kind.ARRAY:
            item = _or_null(reader(inside[0], form, level + 1), form)
            between = form.at(level)
            return lambda text: list(map(item, text.split(between))) if text else []
        case Kind.MAP:
            return _map_reader(hive_type, form, level)
        case Kind.STRUCT:
            return _struct_reader(hive_type, form, level)
        case Kind.DECIMAL:
            precision, scale = hive_type.arguments
            return lambda text: _decimal(text, precision, scale)
        case Kind.CHAR:
            length = hive_type.length or 0
            return lambda text: text[:length].ljust(length)
        case Kind.VARCHAR:
            return lambda text: text[: hive_type.length]
    if kind not in _READERS:
        raise NotSupported(f"the type {hive_type} in a stream")
    return _READERS[kind]


def _or_null(read: Reader, form: LineFormat) -> Reader:
    return lambda text: None if text == form.null else read(text)


def _map_reader(hive_type: HiveType, form: LineFormat, level: int) -> Reader:
    key, value = (_or_null(reader(child, form, level + 2), form) for child in hive_type.children)
    between, after_key = form.at(level), form.at(level + 1)

    def read(text: str) -> list[tuple[Any, Any]]:
        entries: dict[Any, Any] = {}
        for entry in text.split(between) if text else ():
            before, separator, rest = entry.partition(after_key)
            entry_key = key(before)
            # Of a key given twice, the first value counts.
            if entry_key is not None and entry_key not in entries:
                entries[entry_key] = value(rest) if separator else None
        return list(entries.items())

    return read


def _struct_reader(hive_type: HiveType, form: LineFormat, level: int) -> Reader:
    fields = [
        (name, _or_null(reader(field_type, form, level + 1), form))
        for name, field_type in hive_type.fields
    ]
    between = form.at(level)

    def read(text: str) -> dict[str, Any]:
        parts = text.split(between)
        return {
            name: read_part(parts[i]) if i < len(parts) else None
            for i, (name, read_part) in enumerate(fields)
        }

    return read


def _whole_number(text: str, limit: int) -> int | None:
    """Return a number whose fraction, if there is one, is dropped; None where it does not fit."""
    if not _WHOLE.fullmatch(text):
        return None
    integral = text.partition(".")[0]
    number = int(integral) if integral.strip("+-") else 0
    return number if -limit <= number < limit else None


def _double(text: str) -> float | None:
    if _NAN.fullmatch(text) or _INFINITY.fullmatch(text):
        return float(text.replace("-NaN", "NaN"))
    match = _NUMBER.fullmatch(text)
    return float(match[1]) if match else None


def _decimal(text: str, precision: int, scale: int) -> Decimal | None:
    match = _NUMBER.fullmatch(text)
    return decimal_of(match[1], precision, scale) if match and not match[2] else None


def decimal_of(value: str | int | Decimal, precision: int, scale: int) -> Decimal | None:
    """Return a number rounded to the scale; None when it is none or does not fit."""
    with localcontext(Context(prec=100)):
        try:
            number = Decimal(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        except (InvalidOperation, ValueError):
            return None
        return number if abs(number) < Decimal(1).scaleb(precision - scale) else None


def _date(text: str) -> datetime.date | None:
    match = _DATE.match(text)
    try:
        return datetime.date(int(match[1]), int(match[2]), int(match[3])) if match else None
    except ValueError:
        return None


def _timestamp(text: str) -> datetime.datetime | None:
    if not _TIMESTAMP.fullmatch(text):
        return None
    moment, _, fraction = text.strip().partition(".")
    try:
        value = datetime.datetime(*map(int, _PARTS.findall(moment)))  # type: ignore[arg-type]
    except ValueError:
        return None
    # Nanoseconds are cut, as everywhere in HiveSQL.
    return value.replace(microsecond=int(fraction[:6].ljust(6, "0")))


def _binary(text: str) -> bytes:
    if not _BASE64.fullmatch(text):
        return text.encode()
    return base64.b64decode(text + "=" * (-len(text) % 4))


_READERS: dict[Kind, Reader] = {
    Kind.BOOLEAN: lambda text: {"true": True, "false": False}.get(text.lower()),
    Kind.FLOAT: _double,
    Kind.DOUBLE: _double,
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
    Kind.STRING: str,
    Kind.BINARY: _binary,
}
