"""Delimited text as Hive's LazySimpleSerDe has it: how a line is made up, which texts are values.

Spark and, for streams, Arrow read it; what it means is decided here. What is no value of its type
is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hivesql_planner.errors import NotSupported
from hivesql_planner.model.table import TableName

NULL = "\\N"
DELIMITED_JSON = "org.apache.hadoop.hive.serde2.DelimitedJSONSerDe"
"""Hive's class that writes what is nested as JSON, and reads nothing."""
SERDE_CLASS = "serialization.lib"
"""The property that names another class than LazySimpleSerDe."""
_CHARSET = "serialization.encoding"
_TIMES = "timestamp.formats"
_TAKES_REST = "serialization.last.column.takes.rest"
_CRLF = "serialization.escape.crlf"
_DEEPER = tuple(map(chr, range(4, 9)))
"""Separators of what lies deeper than keys and values; no table has others."""

# Of whole texts, in words that Java, Python and RE2 read alike (Python with re.ASCII).
WHOLE_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
"""What is behind the point is dropped."""
NAN, INFINITY = r"\s*[+-]?NaN\s*", r"\s*[+-]?Infinity\s*"
DATE = r"\s*(-?\d{1,4})-(\d{1,2})-(\d{1,2})(?!\d)"
"""A date that a text begins with."""
TIMESTAMP = (
    r"\s*(?:\d{4}-\d{1,2}-\d{1,2} \d{1,2}:\d{1,2}:\d{1,2}|\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})"
    r"(?:\.\d{1,9})?\s*"
)
# Java's Base64 decoder: the padding may be left out, but nothing else be there.
BASE64 = r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?"
"""Other texts of a BINARY are their own bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFormat:
    """How lines are made up.

    ``separators``: of fields, of items, of keys from values, then those of what is nested deeper.
    """

    separators: tuple[str, ...]
    null: str = NULL
    escape: str | None = None
    escapes_line_ends: bool = False
    charset: str | None = None
    nests_json: bool = False
    """Whether arrays, maps and structs are written as JSON."""
    times: tuple[str, ...] = ()
    """Patterns of timestamps, tried before Hive's own; ``millis`` for a number."""

    @classmethod
    def of_separators(cls, fields: str, items: str, keys: str) -> LineFormat:
        """Return the format with these separators, and Hive's defaults for the rest."""
        return cls(separators=(fields, items, keys, *_DEEPER))

    def at(self, level: int) -> str:
        """Return the separator of a level; NotSupported where Hive has none."""
        if level >= len(self.separators):
            raise NotSupported("text columns nested more than eight levels deep")
        return self.separators[level]


def line_format_of(table: TableName, serde: Mapping[str, str]) -> LineFormat:
    """Return a table's format by its SerDe's properties; NotSupported where they ask for more."""
    if serde.get(_TAKES_REST, "").lower() == "true":
        raise NotSupported(f"{table}: text with {_TAKES_REST}")
    ends = serde.get("line.delim", "\n")
    if ends not in ("\n", "10"):
        raise NotSupported(f"{table}: lines that end in {ends!r}")
    fields = serde.get("field.delim", serde.get("serialization.format", "\x01"))
    items = serde.get("collection.delim", serde.get("colelction.delim", "\x02"))
    keys = serde.get("mapkey.delim", "\x03")
    escape = serde.get("escape.delim")
    return LineFormat(
        separators=(*map(_character, (fields, items, keys)), *_DEEPER),
        null=serde.get("serialization.null.format", NULL),
        escape=_character(escape) if escape else None,
        escapes_line_ends=serde.get(_CRLF, "").lower() == "true",
        charset=serde.get(_CHARSET),
        nests_json=serde.get(SERDE_CLASS) == DELIMITED_JSON,
        times=tuple(filter(None, serde.get(_TIMES, "").split(","))),
    )


def _character(text: str) -> str:
    """Return a delimiter as Hive reads it: one character, or its number."""
    if re.fullmatch(r"-?\d{1,3}", text):
        return chr(int(text) & 0xFF)
    return text[:1] or "\x01"
