"""Columns of text as columns of the table's types, as Hive's LazySimpleSerDe reads them.

What is no value of the type is NULL. Whole columns are converted at once where all their texts are
plain; only columns with an odd one are looked at text by text.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.local.types import arrow_type
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import BITS, FLOATS, HiveType, Kind

_WHOLE = re.compile(r"[+-]?\d+(?:\.\d*)?")
_PLAIN_WHOLE = r"^-?\d{1,18}$"
_PLAIN_DOUBLE = r"^-?\d{1,15}(\.\d{1,15})?$"
_PLAIN_TIMESTAMP = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?$"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
Texts = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Delimiters:
    """What separates the items of a collection, and the key of a map from its value."""

    item: str = "\x02"
    key: str = "\x03"


def typed(texts: Texts, hive_type: HiveType, delimiters: Delimiters) -> pa.Array:
    """Read texts as values of a type; None stays NULL. NotSupported for collections in others."""
    if hive_type.is_nested:
        values = [None if one is None else _nested(one, hive_type, delimiters) for one in texts]
        return pa.array(values, arrow_type(hive_type))
    array = pa.array(texts, pa.string())
    kind = hive_type.kind
    if kind in BITS:
        return _whole(array, texts, BITS[kind], hive_type)
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
    read = _reader(hive_type)
    return pa.array([None if one is None else read(one) for one in texts], arrow_type(hive_type))


def sized(array: pa.Array, hive_type: HiveType) -> pa.Array:
    """VARCHAR cut, CHAR cut and padded."""
    if hive_type.length is None:
        return array
    cut = pc.utf8_slice_codeunits(array, 0, hive_type.length)
    return pc.utf8_rpad(cut, hive_type.length, " ") if hive_type.kind is Kind.CHAR else cut


def _all_match(array: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(array, pattern), min_count=0).as_py())


def _whole(array: pa.Array, texts: Texts, bits: int, hive_type: HiveType) -> pa.Array:
    limit = 2 ** (bits - 1)
    if _all_match(array, _PLAIN_WHOLE):
        values = array.cast(pa.int64())
    else:
        found = (_whole_number(one) for one in texts)
        fits = [one if one is not None and -limit <= one < limit else None for one in found]
        return pa.array(fits, arrow_type(hive_type))
    if bits < 64:
        inside = pc.and_(pc.greater_equal(values, -limit), pc.less(values, limit))
        values = pc.if_else(inside, values, None)
    return values.cast(arrow_type(hive_type))


def _plain_decimal(digits: int, scale: int) -> str:
    fraction = rf"(\.\d{{1,{scale}}})?" if scale else ""
    return rf"^-?\d{{1,{digits}}}{fraction}$" if digits else "^$"


def _whole_number(text: str | None) -> int | None:
    """Return a number whose fraction, if there is one, is dropped."""
    if text is None or not _WHOLE.fullmatch(text):
        return None
    return int(text.partition(".")[0])


def _reader(hive_type: HiveType) -> Callable[[str], Any]:
    readers: dict[Kind, Callable[[str], Any]] = {
        Kind.BOOLEAN: lambda text: {"true": True, "false": False}.get(text.lower()),
        Kind.FLOAT: _double,
        Kind.DOUBLE: _double,
        Kind.DECIMAL: lambda text: decimal_of(text, *hive_type.arguments),
        Kind.DATE: _date,
        Kind.TIMESTAMP: _timestamp,
        Kind.BINARY: _binary,
    }
    if hive_type.kind not in readers:
        raise NotSupported(f"the type {hive_type} in a stream")
    return readers[hive_type.kind]


def _double(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def decimal_of(value: str | int | Decimal, precision: int, scale: int) -> Decimal | None:
    """Return a number rounded to the scale; None when it is none or does not fit."""
    with localcontext(Context(prec=100)):
        try:
            found = Decimal(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        except (InvalidOperation, ValueError):
            return None
        return found if abs(found) < Decimal(1).scaleb(precision - scale) else None


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def _timestamp(text: str) -> datetime.datetime | None:
    seconds, point, fraction = text.partition(".")
    try:
        value = datetime.datetime.fromisoformat(seconds)
    except ValueError:
        return None
    if not point:
        return value if value.tzinfo is None else None
    if not fraction.isdigit() or value.tzinfo is not None:
        return None
    # Nanoseconds are cut, as everywhere in HiveSQL.
    return value.replace(microsecond=int(fraction[:6].ljust(6, "0")))


def _binary(text: str) -> bytes:
    if _BASE64.fullmatch(text):
        try:
            return base64.b64decode(text)
        except binascii.Error:
            pass
    return text.encode()


def _nested(text: str, hive_type: HiveType, delimiters: Delimiters) -> Any:
    refuse_union(hive_type)
    inside = hive_type.children
    if any(one.is_nested for one in inside):
        raise NotSupported(f"the type {hive_type} in delimited or matched text")
    items = text.split(delimiters.item) if text else []
    if hive_type.kind is Kind.ARRAY:
        return _values(items, [inside[0]] * len(items), delimiters)
    if hive_type.kind is Kind.MAP:
        pairs = [one.partition(delimiters.key)[::2] for one in items]
        keys = _values([key for key, _ in pairs], [inside[0]] * len(pairs), delimiters)
        values = _values([value for _, value in pairs], [inside[1]] * len(pairs), delimiters)
        return [(key, value) for key, value in zip(keys, values, strict=True) if key is not None]
    padded = [*items, *([None] * len(inside))][: len(inside)]
    found = _values(padded, inside, delimiters)
    return {name: value for (name, _), value in zip(hive_type.fields, found, strict=True)}


def _values(texts: Texts, types: Sequence[HiveType], delimiters: Delimiters) -> list[Any]:
    nulled = [None if text == "\\N" else text for text in texts]
    return [
        typed([text], one, delimiters)[0].as_py() for text, one in zip(nulled, types, strict=True)
    ]


def refuse_union(hive_type: HiveType) -> None:
    """Refuse a union, which no stream can write."""
    if hive_type.kind is Kind.UNION:
        raise NotSupported(f"the type {hive_type} in a stream")
