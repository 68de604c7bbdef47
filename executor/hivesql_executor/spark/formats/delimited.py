"""Lines of text tables as Hive's LazySimpleSerDe reads and writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
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
from hivesql_executor.spark.shapes import HOLE, Shaped, change_each
from hivesql_executor.spark.values import stored_value, value_text
from hivesql_planner.model.delimited_text import LineFormat, line_format_of
from hivesql_planner.model.hive_type import (
    STRING,
    TIMESTAMPS,
    TINYINT,
    UNION_TAG,
    HiveType,
    Kind,
    member_name,
    quote_name,
)
from hivesql_planner.model.table import Table

_FIELDS, _VALID = "__fields", "__valid"
_MILLIS = r"^\d+(?:\.\d+)?$"
# More than microseconds, without the zeros at the end.
_FINER = r":\d{1,2}(\.\d{6}\d{0,2}[1-9])0*\s*$"
_JSON_ESCAPES = (
    ("\\", "\\"), ('"', '"'), ("\b", "b"), ("\f", "f"), ("\n", "n"), ("\r", "r"), ("\t", "t"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines that are read: their format, and which of them are UTF-8."""

    format: LineFormat
    valid: Column | None
    """Where a line is no UTF-8, each byte of it is a character; None where all of them are."""
    times_as_texts: bool = False
    """Whether times inside of other types are read as texts, with all of their digits."""

    def spark_type(self, hive_type: HiveType) -> str:
        """Return Spark's type of what is read."""
        kind = hive_type.exchange(TIMESTAMPS, STRING) if self.times_as_texts else hive_type
        return kind.spark

    def original(self, text: Column) -> Column:
        """Return a part of the line as it stands in the file."""
        return text if self.valid is None else f.when(self.valid, text).otherwise(as_bytes(text))


def line_fields(table: Table, line: str) -> list[Column]:
    """Return what ``split_lines`` needs of a column of lines, computed once for all columns.

    NotSupported where the table's properties ask for more than can be done.
    """
    fields, lines = _fields(line, line_format_of(table.name, table.serde_properties))
    return [fields.alias(_FIELDS), *([] if lines.valid is None else [lines.valid.alias(_VALID)])]


def split_lines(table: Table) -> list[Shaped]:
    """Read data columns from ``line_fields``; missing and unreadable values are NULL."""
    form = line_format_of(table.name, table.serde_properties)
    lines = _Lines(form, f.col(_VALID) if form.charset is None else None)
    text = f.get(f.col(_FIELDS), f.col(HOLE))
    texts = [Shaped(column.name, text, i) for i, column in enumerate(table.columns)]
    kinds = (column.type for column in table.columns)
    return change_each(texts, kinds, lambda text, kind: _parsed(text, kind, 1, lines))


def time_texts(table: Table, line: str, columns: Collection[int]) -> list[Column]:
    """Return the texts of times in some columns; NULL where microseconds say it all.

    Of a column that holds times inside of other types, its value with texts in their places.
    """
    fields, lines = _fields(line, line_format_of(table.name, table.serde_properties))
    texts = []
    for i in columns:
        text, kind = f.get(fields, i), table.columns[i].type
        if kind.is_nested:
            texts.append(_parsed(text, kind, 1, replace(lines, times_as_texts=True)))
        else:
            texts.append(_finer_text(text, _parsed(text, kind, 1, lines), lines.format))
    return texts


def _finer_text(text: Column, time: Column, form: LineFormat) -> Column:
    """Return the time as a text with more digits than Spark's time has; NULL without such."""
    seconds = f.substring_index(time.cast("string"), ".", 1)
    is_finer = text.rlike(_FINER)
    if form.times:
        is_finer &= f.coalesce(*(_time(text, pattern) for pattern in form.times)).isNull()
    return f.when(is_finer, f.concat(seconds, f.regexp_extract(text, _FINER, 1)))


def _fields(line: str, form: LineFormat) -> tuple[Column, _Lines]:
    """Return the array of the texts between a line's separators."""
    text, valid = decoded(f.col(line), form.charset), None
    if form.charset is None:
        # Spark's functions would replace bytes that are no UTF-8; Hive's strings keep them.
        valid = is_valid_utf8(text)
        text = f.when(valid, text).otherwise(as_characters(text))
    return _split(text, form.at(0), form), _Lines(form, valid)


def _parsed(text: Column, hive_type: HiveType, level: int, lines: _Lines) -> Column:
    form, inside = lines.format, hive_type.children
    match hive_type.kind:
        case Kind.ARRAY:
            items = _split(text, form.at(level), form)
            value = f.transform(items, lambda item: _parsed(item, inside[0], level + 1, lines))
            value = f.when(text != "", value).otherwise(f.array().cast(lines.spark_type(hive_type)))
        case Kind.MAP:
            value = _parsed_map(text, hive_type, level, lines)
        case Kind.STRUCT:
            fields = _split(text, form.at(level), form)
            value = f.struct(
                *(
                    _parsed(f.get(fields, i), inner, level + 1, lines).alias(name)
                    for i, (name, inner) in enumerate(hive_type.fields)
                )
            )
        case Kind.UNION:
            value = _parsed_union(text, hive_type, level, lines)
        case Kind.TIMESTAMP if lines.times_as_texts:
            time = _parsed(text, hive_type, level, replace(lines, times_as_texts=False))
            value = f.coalesce(_finer_text(text, time, form), time.cast("string"))
        case Kind.TIMESTAMP if form.times:
            times = (_time(text, pattern) for pattern in form.times)
            value = f.coalesce(*times, lazy_value(text, hive_type))
        case Kind.BINARY:
            value = lazy_value(lines.original(text), hive_type)
        case Kind.STRING | Kind.VARCHAR | Kind.CHAR as kind:
            original = lines.original(_plain(text, form))
            value = lazy_value(original if kind is Kind.STRING else cleaned(original), hive_type)
        case _:
            value = lazy_value(text, hive_type)
    return f.when(text != f.lit(form.null), value)


def _time(text: Column, pattern: str) -> Column:
    if pattern == "millis":
        micros = (text.cast("decimal(24,6)") * 1000).cast("bigint")
        return f.when(text.rlike(_MILLIS), f.timestamp_micros(micros))
    # Hive reads milliseconds by patterns, whatever else is there.
    return f.date_trunc("millisecond", f.try_to_timestamp(text, f.lit(pattern)))


def _parsed_map(text: Column, hive_type: HiveType, level: int, lines: _Lines) -> Column:
    form, (key_type, value_type) = lines.format, hive_type.children
    before = rf"(?s)^({_token(form.at(level + 1), form)})"

    def entry(item: Column, head: Column) -> Column:
        rest = f.when(f.length(item) > f.length(head), f.substr(item, f.length(head) + f.lit(2)))
        key = _parsed(head, key_type, level + 2, lines)
        value = _bound(rest, lambda text: _parsed(text, value_type, level + 2, lines))
        return f.struct(key.alias("key"), value.alias("value"))

    def first_of_each(pairs: Column) -> Column:
        keys = f.transform(pairs, lambda pair: pair["key"])
        # Of a key given twice, Hive takes the first value and Spark the last one.
        twice = f.size(f.array_distinct(keys)) < f.size(keys)
        return f.map_from_entries(f.when(twice, f.reverse(pairs)).otherwise(pairs))

    entries = f.transform(
        _split(text, form.at(level), form),
        lambda item: _bound(f.regexp_extract(item, before, 1), lambda head: entry(item, head)),
    )
    value = _bound(f.filter(entries, lambda pair: pair["key"].isNotNull()), first_of_each)
    return f.when(text != "", value).otherwise(f.create_map().cast(lines.spark_type(hive_type)))


def _bound(value: Column, use: Callable[[Column], Column]) -> Column:
    """Return what ``use`` makes of a value that stands in the plan, and is computed, once.

    What it makes may name the value as often as it likes: each time would else be a copy of it,
    and copies inside of copies are more than Spark can analyse.
    """
    return f.get(f.transform(f.array(value), use), f.lit(0))


def _parsed_union(text: Column, hive_type: HiveType, level: int, lines: _Lines) -> Column:
    """Return the struct of a tag and of the member that stands behind it."""
    form = lines.format
    before = rf"(?s)^({_token(form.at(level), form)})"

    def member(i: int, rest: Column, tag: Column) -> Column:
        value = _parsed(rest, hive_type.children[i], level + 1, lines)
        return f.when(tag == i, value).alias(member_name(i))

    def union(tag: Column, rest: Column) -> Column:
        members = [member(i, rest, tag) for i in range(len(hive_type.children))]
        value = f.struct(tag.alias(UNION_TAG), *members).cast(hive_type.spark)
        return f.when(tag.between(0, len(members) - 1), value)

    def parts(head: Column) -> Column:
        rest = f.when(f.length(text) > f.length(head), f.substr(text, f.length(head) + f.lit(2)))
        tag = lazy_value(head, TINYINT)
        return _bound(tag, lambda tag: _bound(rest, lambda rest: union(tag, rest)))

    return _bound(f.regexp_extract(text, before, 1), parts)


def _token(separator: str, form: LineFormat) -> str:
    """Return a pattern of what goes up to the next separator that is not escaped."""
    if form.escape is None:
        return f"[^{_in_class(separator)}]*+"
    plain = f"[^{_in_class(separator)}{_in_class(form.escape)}]*+"
    return rf"{plain}(?:{re.escape(form.escape)}(?:.|$){plain})*+"


def _in_class(char: str) -> str:
    return f"\\x{{{ord(char):x}}}"


def _split(text: Column, separator: str, form: LineFormat) -> Column:
    quoted = f"\\x{{{ord(separator):x}}}"
    if form.escape is None:
        return f.split(text, quoted, -1)
    # Each match begins with a separator: a first, empty one would else swallow the second.
    begun = f.concat(f.lit(separator), text)
    pattern = f"(?s){quoted}({_token(separator, form)})"
    return f.regexp_extract_all(begun, f.lit(pattern), 1)


def _plain(text: Column, form: LineFormat) -> Column:
    """Text without its escapes; an escaped r and n end lines."""
    escape = form.escape
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


def joined_line(table: Table, times: Mapping[str, Column] | None = None) -> Column:
    """Give one line of the table's text from its data columns.

    ``times`` are texts of some columns' times, or NULL, that are written as they are.
    """
    form = line_format_of(table.name, table.serde_properties)
    texts = []
    for column in table.columns:
        value = f.col(quote_name(column.name))
        if form.nests_json and column.type.is_nested:
            text = f.coalesce(_escaped(_json(value, column.type), form), f.lit(form.null))
        else:
            text = _written(value, column.type, 1, form)
        if times and column.name in times:
            text = f.coalesce(_with_times(times[column.name], column.type, form), text)
        texts.append(text)
    return encoded(f.concat_ws(form.at(0), *texts), form.charset)


def _with_times(times: Column, hive_type: HiveType, form: LineFormat) -> Column:
    """Return the text of a value with texts in the places of its times; NULL where it has none."""
    if not hive_type.is_nested:
        return times
    if form.nests_json or form.escape is not None:
        # Texts would be escaped, and times are not.
        return f.lit(None).cast("string")
    kind = hive_type.exchange(TIMESTAMPS, STRING)
    return f.when(times.isNotNull(), _written(times, kind, 1, form))


def _written(value: Column, hive_type: HiveType, level: int, form: LineFormat) -> Column:
    """Return the text of a value; never NULL."""
    inside = hive_type.children
    match hive_type.kind:
        case Kind.ARRAY:
            items = f.transform(value, lambda item: _written(item, inside[0], level + 1, form))
            text = f.array_join(items, form.at(level))
        case Kind.MAP:
            between = f.lit(form.at(level + 1))

            def entry(pair: Column) -> Column:
                key = _written(pair["key"], inside[0], level + 2, form)
                return f.concat(key, between, _written(pair["value"], inside[1], level + 2, form))

            text = f.array_join(f.transform(f.map_entries(value), entry), form.at(level))
        case Kind.STRUCT:
            pairs = hive_type.fields
            fields = (_written(value[name], inner, level + 1, form) for name, inner in pairs)
            text = f.when(value.isNotNull(), f.concat_ws(form.at(level), *fields))
        case Kind.STRING | Kind.VARCHAR | Kind.CHAR:
            stored = stored_value(value, hive_type)
            text = _escaped(stored, form)
            if form.escape is not None:
                escaped = as_bytes(_escaped(as_characters(stored), form))
                text = f.when(is_valid_utf8(stored), text).otherwise(escaped)
        case Kind.BINARY:
            text = f.regexp_replace(f.base64(value), "=+$", "")
        case _:
            text = value_text(value, hive_type)
            text = f.concat(text, f.lit(" UTC")) if hive_type.kind is Kind.INSTANT else text
    return f.coalesce(text, f.lit(form.null))


def _json(value: Column, hive_type: HiveType) -> Column:
    """Return a value as Hive's JSON (SerDeUtils.getJSONString); NULL for NULL."""
    inside = hive_type.children

    def part(item: Column, type_: HiveType) -> Column:
        return f.coalesce(_json(item, type_), f.lit("null"))

    def around(opened: str, parts: Column, closed: str) -> Column:
        return f.concat(f.lit(opened), f.array_join(parts, ","), f.lit(closed))

    match hive_type.kind:
        case Kind.ARRAY:
            return around("[", f.transform(value, lambda item: part(item, inside[0])), "]")
        case Kind.MAP:

            def entry(pair: Column) -> Column:
                key, value = part(pair["key"], inside[0]), part(pair["value"], inside[1])
                return f.concat(key, f.lit(":"), value)

            return around("{", f.transform(f.map_entries(value), entry), "}")
        case Kind.STRUCT:
            fields = (
                f.concat(f.lit(f'"{name}":'), part(value[name], inner))
                for name, inner in hive_type.fields
            )
            return f.when(value.isNotNull(), around("{", f.array(*fields), "}"))
        case Kind.BOOLEAN | Kind.TINYINT | Kind.SMALLINT | Kind.INT | Kind.BIGINT:
            return value.cast("string")
        case Kind.FLOAT | Kind.DOUBLE | Kind.DECIMAL:
            return value_text(value, hive_type)
    is_text = hive_type.kind in (Kind.STRING, Kind.VARCHAR, Kind.CHAR)
    text = stored_value(value, hive_type) if is_text else value_text(value, hive_type)
    for character, letter in _JSON_ESCAPES:
        text = f.replace(text, f.lit(character), f.lit(f"\\{letter}"))
    return f.concat(f.lit('"'), text, f.lit('"'))


def _escaped(text: Column, form: LineFormat) -> Column:
    escape = form.escape
    if escape is None:
        return text
    special = "".join(map(_in_class, (*form.separators, escape)))
    text = f.regexp_replace(text, f"([{special}])", re.escape(escape) + "$1")
    if form.escapes_line_ends:
        text = f.replace(text, f.lit("\n"), f.lit(f"{escape}n"))
        text = f.replace(text, f.lit("\r"), f.lit(f"{escape}r"))
    return text
