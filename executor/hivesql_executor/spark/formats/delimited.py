"""Lines of text tables as Hive's LazySimpleSerDe reads and writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_executor.spark.charsets import (
    as_bytes,
    as_characters,
    cleaned,
    decoded,
    encoded,
    is_valid_utf8,
)
from hivesql_executor.spark.formats.text_values import lazy_value
from hivesql_executor.spark.values import stored_value, value_text
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import HiveType, Kind
from hivesql_planner.model.table import Table

_REFUSED = ("quote.delim",)
_CHARSET = "serialization.encoding"
_TIMES = "timestamp.formats"
_MILLIS = r"^\d+(?:\.\d+)?$"
_TAKES_REST = "serialization.last.column.takes.rest"
_CRLF = "serialization.escape.crlf"
_LEVELS = 8


@dataclass(frozen=True, slots=True)
class Delimiters:
    """How a table's lines are made up.

    ``separators``: of fields, of items, of keys from values, then those of what is nested deeper.
    """

    separators: tuple[str, ...]
    null: str
    escape: str | None
    escapes_line_ends: bool
    charset: str | None
    times: tuple[str, ...]
    """Patterns of timestamps, tried before Hive's own; ``millis`` for a number."""
    valid: Column | None = None
    """Whether a line is UTF-8; where it is none, each byte of it is a character."""

    def original(self, text: Column) -> Column:
        """Return a part of the line as it stands in the file."""
        return text if self.valid is None else f.when(self.valid, text).otherwise(as_bytes(text))

    def at(self, level: int) -> str:
        """Return the separator of a level; NotSupported where Hive has none."""
        if level >= len(self.separators):
            raise NotSupported("text columns nested more than eight levels deep")
        return self.separators[level]


def delimiters_of(table: Table) -> Delimiters:
    """Return the table's delimiters, or Hive's; NotSupported where the properties ask for more."""
    serde = table.serde_properties
    for key in _REFUSED:
        if serde.get(key):
            raise NotSupported(f"{table.name}: text with {key}")
    if serde.get(_TAKES_REST, "").lower() == "true":
        raise NotSupported(f"{table.name}: text with {_TAKES_REST}")
    ends = serde.get("line.delim", "\n")
    if ends not in ("\n", "10"):
        raise NotSupported(f"{table.name}: lines that end in {ends!r}")
    fields = serde.get("field.delim", serde.get("serialization.format", "\x01"))
    items = serde.get("collection.delim", serde.get("colelction.delim", "\x02"))
    keys = serde.get("mapkey.delim", "\x03")
    deeper = map(chr, range(4, _LEVELS + 1))
    escape = serde.get("escape.delim")
    return Delimiters(
        separators=(*map(_character, (fields, items, keys)), *deeper),
        null=serde.get("serialization.null.format", "\\N"),
        escape=_character(escape) if escape else None,
        escapes_line_ends=serde.get(_CRLF, "").lower() == "true",
        charset=serde.get(_CHARSET),
        times=tuple(filter(None, serde.get(_TIMES, "").split(","))),
    )


def _character(text: str) -> str:
    """Return a delimiter as Hive reads it: one character, or its number."""
    if re.fullmatch(r"-?\d{1,3}", text):
        return chr(int(text) & 0xFF)
    return text[:1] or "\x01"


def split_lines(table: Table, line: str) -> list[Column]:
    """Read data columns from a column of lines; missing and unreadable values are NULL.

    NotSupported where the table's properties ask for more than can be done.
    """
    delimiters = delimiters_of(table)
    text = decoded(f.col(line), delimiters.charset)
    if delimiters.charset is None:
        # Spark's functions would replace bytes that are no UTF-8; Hive's strings keep them.
        valid = is_valid_utf8(text)
        delimiters = replace(delimiters, valid=valid)
        text = f.when(valid, text).otherwise(as_characters(text))
    fields = _split(text, delimiters.at(0), delimiters)
    return [
        _parsed(f.get(fields, i), column.type, 1, delimiters).alias(column.name)
        for i, column in enumerate(table.columns)
    ]


def _parsed(text: Column, hive_type: HiveType, level: int, about: Delimiters) -> Column:
    inside = hive_type.children
    match hive_type.kind:
        case Kind.ARRAY:
            items = _split(text, about.at(level), about)
            value = f.transform(items, lambda one: _parsed(one, inside[0], level + 1, about))
            value = f.when(text != "", value).otherwise(f.array().cast(hive_type.spark))
        case Kind.MAP:
            value = _parsed_map(text, hive_type, level, about)
        case Kind.STRUCT:
            fields = _split(text, about.at(level), about)
            value = f.struct(
                *(
                    _parsed(f.get(fields, i), inner, level + 1, about).alias(name)
                    for i, (name, inner) in enumerate(hive_type.fields)
                )
            )
        case Kind.TIMESTAMP if about.times:
            found = (_time(text, pattern) for pattern in about.times)
            value = f.coalesce(*found, lazy_value(text, hive_type))
        case Kind.BINARY:
            value = lazy_value(about.original(text), hive_type)
        case Kind.STRING | Kind.VARCHAR | Kind.CHAR as kind:
            said = about.original(_plain(text, about))
            value = lazy_value(said if kind is Kind.STRING else cleaned(said), hive_type)
        case _:
            value = lazy_value(text, hive_type)
    return f.when(text != f.lit(about.null), value)


def _time(text: Column, pattern: str) -> Column:
    if pattern == "millis":
        micros = (text.cast("decimal(24,6)") * 1000).cast("bigint")
        return f.when(text.rlike(_MILLIS), f.timestamp_micros(micros))
    return f.try_to_timestamp(text, f.lit(pattern))


def _parsed_map(text: Column, hive_type: HiveType, level: int, about: Delimiters) -> Column:
    key_type, value_type = hive_type.children
    before = rf"(?s)^({_token(about.at(level + 1), about)})"

    def entry(one: Column) -> Column:
        raw = f.regexp_extract(one, before, 1)
        rest = f.when(f.length(one) > f.length(raw), f.substr(one, f.length(raw) + f.lit(2)))
        key = _parsed(raw, key_type, level + 2, about)
        return f.struct(
            key.alias("key"), _parsed(rest, value_type, level + 2, about).alias("value")
        )

    entries = f.transform(_split(text, about.at(level), about), entry)
    known = f.filter(entries, lambda one: one["key"].isNotNull())
    keys = f.transform(known, lambda one: one["key"])
    # Of a key given twice, Hive takes the first value and Spark the last one.
    twice = f.size(f.array_distinct(keys)) < f.size(keys)
    value = f.map_from_entries(f.when(twice, f.reverse(known)).otherwise(known))
    return f.when(text != "", value).otherwise(f.create_map().cast(hive_type.spark))


def _token(separator: str, about: Delimiters) -> str:
    """Return a pattern of what goes up to the next separator that is not escaped."""
    if about.escape is None:
        return f"[^{_in_class(separator)}]*+"
    plain = f"[^{_in_class(separator)}{_in_class(about.escape)}]*+"
    return rf"{plain}(?:{re.escape(about.escape)}(?:.|$){plain})*+"


def _in_class(char: str) -> str:
    return f"\\x{{{ord(char):x}}}"


def _split(text: Column, separator: str, about: Delimiters) -> Column:
    quoted = f"\\x{{{ord(separator):x}}}"
    if about.escape is None:
        return f.split(text, quoted, -1)
    # Each match begins with a separator: a first, empty one would else swallow the second.
    begun = f.concat(f.lit(separator), text)
    pattern = f"(?s){quoted}({_token(separator, about)})"
    return f.regexp_extract_all(begun, f.lit(pattern), 1)


def _plain(text: Column, about: Delimiters) -> Column:
    """Text without its escapes; an escaped r and n end lines."""
    escape = about.escape
    if escape is None:
        return text
    pieces = f.regexp_extract_all(
        text, f.lit(f"(?s){re.escape(escape)}.|[^{_in_class(escape)}]++|."), 0
    )

    def meant(piece: Column) -> Column:
        after = f.substring(piece, 2, 1)
        escaped = piece.startswith(escape) & (f.length(piece) > 1)
        letter = f.when(after == "r", "\r").when(after == "n", "\n").otherwise(after)
        return f.when(escaped, letter).otherwise(piece)

    joined = f.array_join(f.transform(pieces, meant), "")
    return f.when(text.contains(escape), joined).otherwise(text)


def joined_line(table: Table) -> Column:
    """Give one line of the table's text from its data columns."""
    about = delimiters_of(table)
    texts = (_written(f.col(f"`{c.name}`"), c.type, 1, about) for c in table.columns)
    return encoded(f.concat_ws(about.at(0), *texts), about.charset)


def _written(value: Column, hive_type: HiveType, level: int, about: Delimiters) -> Column:
    """Return the text of a value; never NULL."""
    inside = hive_type.children
    match hive_type.kind:
        case Kind.ARRAY:
            items = f.transform(value, lambda one: _written(one, inside[0], level + 1, about))
            text = f.array_join(items, about.at(level))
        case Kind.MAP:
            between = f.lit(about.at(level + 1))

            def entry(one: Column) -> Column:
                key = _written(one["key"], inside[0], level + 2, about)
                return f.concat(key, between, _written(one["value"], inside[1], level + 2, about))

            text = f.array_join(f.transform(f.map_entries(value), entry), about.at(level))
        case Kind.STRUCT:
            pairs = hive_type.fields
            fields = (_written(value[name], inner, level + 1, about) for name, inner in pairs)
            text = f.when(value.isNotNull(), f.concat_ws(about.at(level), *fields))
        case Kind.STRING | Kind.VARCHAR | Kind.CHAR:
            stored = stored_value(value, hive_type)
            text = _escaped(stored, about)
            if about.escape is not None:
                escaped = as_bytes(_escaped(as_characters(stored), about))
                text = f.when(is_valid_utf8(stored), text).otherwise(escaped)
        case Kind.BINARY:
            text = f.regexp_replace(f.base64(value), "=+$", "")
        case _:
            text = value_text(value, hive_type)
            text = f.concat(text, f.lit(" UTC")) if hive_type.kind is Kind.INSTANT else text
    return f.coalesce(text, f.lit(about.null))


def _escaped(text: Column, about: Delimiters) -> Column:
    escape = about.escape
    if escape is None:
        return text
    special = "".join(map(_in_class, (*about.separators, escape)))
    text = f.regexp_replace(text, f"([{special}])", re.escape(escape) + "$1")
    if about.escapes_line_ends:
        text = f.replace(text, f.lit("\n"), f.lit(f"{escape}n"))
        text = f.replace(text, f.lit("\r"), f.lit(f"{escape}r"))
    return text
