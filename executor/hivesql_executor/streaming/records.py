"""Record writers: bytes of the source as rows of text or values, column by column."""

from __future__ import annotations

import datetime
import functools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

import pyarrow as pa

from hivesql_executor.local.types import arrow_type
from hivesql_executor.streaming.texts import (
    decimal_of,
    sized,
    typed,
)
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.delimited_text import LineFormat
from hivesql_planner.model.hive_type import BITS, TEXTS, HiveType, Kind
from hivesql_planner.model.table import Column
from hivesql_planner.older_python import read_datetime
from hivesql_planner.streaming_errors import SerializationError

LINES = r"[\r\n]"
Row = Sequence[Any]
Records = Sequence[Row] | pa.Table
"""What a writer made of records, or columns as the table has them."""
Converter = Callable[[Any], Any]
_DECODER = json.JSONDecoder(parse_float=Decimal)


class RecordWriter(Protocol):
    """Understands the records of one source.

    ``rows`` gives what each record says of each column; ``column`` makes a column of the table of
    what many rows say of it. SerializationError for a record that cannot be understood.
    """

    def rows(self, data: str, columns: Sequence[Column]) -> list[Row]: ...
    def column(self, values: Sequence[Any], hive_type: HiveType) -> pa.Array: ...


def _lines(data: str, pattern: str) -> list[str]:
    # The usual pattern without an expression, which is faster.
    usual = pattern == LINES
    parts = data.replace("\r", "\n").split("\n") if usual else re.split(pattern, data)
    return [line for line in parts if line]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictDelimitedInputWriter:
    r"""Lines of delimited values in the order of the table's columns; ``\N`` is NULL.

    Values that are missing or unreadable are NULL, those after the last column are ignored.
    """

    field_delimiter: str = "\x01"
    collection_delimiter: str = "\x02"
    map_key_delimiter: str = "\x03"
    line_delimiter_pattern: str = LINES

    def rows(self, data: str, columns: Sequence[Column]) -> list[Row]:
        """Read one row a line."""
        width, delimiter = len(columns), self.field_delimiter
        rows: list[Row] = []
        for line in _lines(data, self.line_delimiter_pattern):
            parts: list[str | None] = list(line.split(delimiter))
            if len(parts) < width:
                parts += [None] * (width - len(parts))
            rows.append(parts[:width])
        return rows

    def column(self, values: Sequence[Any], hive_type: HiveType) -> pa.Array:
        """Texts as a column."""
        form = LineFormat.of_separators(
            self.field_delimiter, self.collection_delimiter, self.map_key_delimiter
        )
        texts = [None if value == form.null else value for value in values]
        return typed(texts, hive_type, form)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictRegexWriter:
    """Lines whose groups are the columns; a line that does not match is a row of NULLs."""

    regex: str
    line_delimiter_pattern: str = LINES
    _compiled: list[re.Pattern[str]] = field(default_factory=list, repr=False)

    def rows(self, data: str, columns: Sequence[Column]) -> list[Row]:
        """Read one row a line; SerializationError when the expression has other groups."""
        if not self._compiled:
            self._compiled.append(re.compile(self.regex))
        (pattern,) = self._compiled
        if pattern.groups != len(columns):
            raise SerializationError(
                f"the regular expression has {pattern.groups} groups, the table takes "
                f"{len(columns)} columns"
            )
        nothing = (None,) * len(columns)
        matches = map(pattern.fullmatch, _lines(data, self.line_delimiter_pattern))
        return [match.groups() if match else nothing for match in matches]

    def column(self, values: Sequence[Any], hive_type: HiveType) -> pa.Array:
        """Texts as a column."""
        return typed(values, hive_type, LineFormat.of_separators("\x01", "\x02", "\x03"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictJsonWriter:
    """Lines of JSON objects, whose keys are column names in any case; others are ignored."""

    line_delimiter_pattern: str = LINES

    def rows(self, data: str, columns: Sequence[Column]) -> list[Row]:
        """Read one row a line; SerializationError for a line that is none of the table."""
        fields = _fields(tuple(columns))
        return [_object(line, fields) for line in _lines(data, self.line_delimiter_pattern)]

    def column(self, values: Sequence[Any], hive_type: HiveType) -> pa.Array:
        """Convert values to a column."""
        array = pa.array(values, arrow_type(hive_type))
        return sized(array, hive_type)


@functools.lru_cache(maxsize=64)
def _fields(columns: tuple[Column, ...]) -> tuple[tuple[str, Converter], ...]:
    return tuple((column.name, converter(column.type)) for column in columns)


def _object(line: str, fields: Sequence[tuple[str, Converter]]) -> Row:
    try:
        record = _DECODER.decode(line)
        if not all(name in record for name, _ in fields):
            record = {key.lower(): value for key, value in record.items()}
        values = ((record.get(name), convert) for name, convert in fields)
        return [None if value is None else convert(value) for value, convert in values]
    except (ValueError, TypeError, AttributeError, KeyError, ArithmeticError) as error:
        raise SerializationError(
            f"{line[:200]!r} is no JSON object of the table's columns: {error}"
        ) from error


def converter(hive_type: HiveType) -> Converter:
    """Choose what makes a JSON value one of a type, and raises ValueError or TypeError otherwise.

    Decimals that do not fit are NULL, as in Hive.
    """
    kind = hive_type.kind
    if hive_type.is_nested:
        return _nested(hive_type)
    if kind in BITS:
        limit = 2 ** (BITS[kind] - 1)
        return lambda value: _within(int(value), limit)
    if kind is Kind.DECIMAL:
        precision, scale = hive_type.arguments
        return lambda value: _decimal(value, precision, scale)
    converters: dict[Kind, Converter] = {
        **dict.fromkeys(TEXTS, _text),
        Kind.FLOAT: float,
        Kind.DOUBLE: float,
        Kind.BOOLEAN: lambda value: {"true": True, "false": False}[_text(value).lower()],
        Kind.DATE: datetime.date.fromisoformat,
        Kind.TIMESTAMP: _timestamp,
    }
    if kind not in converters:
        raise NotSupported(f"the type {hive_type} in a stream of JSON")
    return converters[kind]


def _decimal(value: Any, precision: int, scale: int) -> Decimal | None:
    try:
        number = Decimal(value)
        exponent = number.as_tuple().exponent
        # Mostly there is nothing to round.
        if isinstance(exponent, int) and -scale <= exponent <= 0:
            return number if number.adjusted() < precision - scale else None
    except (ArithmeticError, ValueError):
        return None
    return decimal_of(number, precision, scale)


def _within(value: int, limit: int) -> int:
    if not -limit <= value < limit:
        raise ValueError(f"{value} does not fit")
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        raise TypeError(f"{value!r} is no text")
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _timestamp(value: str) -> datetime.datetime:
    instant = read_datetime(value)
    if instant.tzinfo is not None:
        raise ValueError(f"{value} has a time zone")
    return instant


def _nested(hive_type: HiveType) -> Converter:
    if hive_type.kind is Kind.UNION:
        raise NotSupported(f"the type {hive_type} in a stream")
    convert = [_or_null(converter(child)) for child in hive_type.children]
    if hive_type.kind is Kind.ARRAY:
        return lambda value: list(map(convert[0], value))
    if hive_type.kind is Kind.MAP:
        return lambda value: [(convert[0](key), convert[1](item)) for key, item in value.items()]
    names = [name for name, _ in hive_type.fields]

    def struct(value: Any) -> Any:
        lowered = {key.lower(): field_value for key, field_value in value.items()}
        fields = zip(names, convert, strict=True)
        return {name: field_converter(lowered.get(name)) for name, field_converter in fields}

    return struct


def _or_null(convert: Converter) -> Converter:
    return lambda value: None if value is None else convert(value)
