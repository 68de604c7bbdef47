"""Hive types as Spark types."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

from hivesql_executor.orc.tail_bytes import StoredType
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.types import parts_of, text_limit

_INSTANT = re.compile(r"\btimestamp with local time zone\b|\btimestamplocaltz\b(?! ?:)")
_SIZED_TEXT = re.compile(r"\b(?:var)?char ?\( ?\d+ ?\)")
# A name before a colon is a field's name, whatever it is called.
_SYNONYM = re.compile(r"\b(?:integer|double precision|numeric|dec)\b(?! ?:)")
_SYNONYMS = {
    "integer": "int",
    "double precision": "double",
    "numeric": "decimal",
    "dec": "decimal",
}
_BARE_DECIMAL = re.compile(r"\bdecimal\b(?! ?[(:])")
_MARK = "\x01"
_UNION = re.compile(r"\buniontype ?<")


def spark_type(hive_type: str) -> str:
    """Return the Spark DDL text of a Hive type, lower case: CHAR and VARCHAR are strings there.

    Both of Hive's timestamps are Spark's TIMESTAMP. NotSupported for union types.
    """
    return _SIZED_TEXT.sub("string", _INSTANT.sub("timestamp", _plain(hive_type)))


@functools.lru_cache(maxsize=10_000)
def orc_type(hive_type: str) -> str:
    """Return the type in ORC files of ACID tables."""
    text = _BARE_DECIMAL.sub("decimal(10,0)", _INSTANT.sub(_MARK, _plain(hive_type)))
    return text.replace(" ", "").replace(_MARK, "timestamp with local time zone")


def converted_type(hive_type: str) -> str:
    """Return the type to which ORC is to convert a column that files have by another type.

    Both of Hive's timestamps are one: Spark's has no zone to it.
    """
    parts = [(name, converted_type(kind)) for name, kind in parts_of(hive_type)]
    match hive_type.strip().lower().partition("<")[0].strip():
        case "struct":
            fields = ",".join(f"`{name}`:{kind}" for name, kind in parts)
            return f"struct<{fields}>"
        case "array" | "map" as outer:
            return f"{outer}<{','.join(kind for _, kind in parts)}>"
    return orc_type(hive_type).replace("timestamp with local time zone", "timestamp")


def _plain(hive_type: str) -> str:
    text = " ".join(hive_type.lower().split())
    if _UNION.search(text):
        raise NotSupported(f"the type {hive_type}: Spark has no unions")
    return _SYNONYM.sub(lambda match: _SYNONYMS[match[0]], text)


def stored_types(hive_types: Iterable[str], first: int) -> dict[int, StoredType]:
    """Return the columns of an ORC file that Spark or Arrow gives a plainer type, by their ids.

    These are TIMESTAMP WITH LOCAL TIME ZONE, CHAR and VARCHAR. ORC numbers types in the order of
    their text; ``first`` is the id of the first column.
    """
    types = {}
    kinds = (kind for hive_type in hive_types for kind in _kinds(hive_type.lower().strip()))
    for i, kind in enumerate(kinds):
        if _INSTANT.fullmatch(kind):
            types[first + i] = StoredType("timestamp with local time zone")
        elif limit := text_limit(kind):
            types[first + i] = StoredType(*limit)
    return types


def instants(hive_types: Iterable[str], first: int) -> dict[int, StoredType]:
    """Return the TIMESTAMP WITH LOCAL TIME ZONE columns among ``stored_types``."""
    types = stored_types(hive_types, first)
    return {column: stored for column, stored in types.items() if stored.length is None}


def _kinds(text: str) -> Iterator[str]:
    """Yield a type and the types inside it, in order."""
    yield text.partition("<")[0].strip()
    for _, part in parts_of(text):
        yield from _kinds(part)


def has_sized_text(hive_type: str) -> bool:
    """Tell whether there is a CHAR or VARCHAR in the type."""
    return bool(_SIZED_TEXT.search(hive_type.lower()))


def has_instant(hive_type: str) -> bool:
    """Tell whether there is a TIMESTAMP WITH LOCAL TIME ZONE in the type."""
    return bool(_INSTANT.search(_plain(hive_type)))


def decimal_scale(hive_type: str) -> int | None:
    """Digits after the point of a decimal type (``decimal`` alone has none), else None."""
    match = re.fullmatch(r"decimal(?: ?\( ?\d+ ?(?:, ?(\d+) ?)?\))?", spark_type(hive_type))
    return int(match[1] or 0) if match else None


def is_nested(hive_type: str) -> bool:
    """Tell whether it is an array, a map or a struct."""
    return spark_type(hive_type).startswith(("array", "map", "struct"))


def hive_type(spark_name: str) -> str:
    """Give a Spark column's Hive type, for CREATE TABLE AS SELECT; a bare NULL becomes string."""
    return re.sub(r"\bvoid\b", "string", spark_name.replace("timestamp_ntz", "timestamp"))
