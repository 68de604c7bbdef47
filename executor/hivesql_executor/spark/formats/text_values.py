"""Primitive values from text, as Hive's lazy objects parse them: what is none of its type is NULL.

Spark's own casts differ in blanks, special numbers, lengths of years and what may follow a date.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_executor.orc.types import instants, spark_type
from hivesql_planner.model.types import text_limit

_INTEGER = r"^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$"
_DATE = r"^\s*(-?\d{1,4})-(\d{1,2})-(\d{1,2})(?!\d)"
_TIME = (
    r"^\s*(?:\d{4}-\d{1,2}-\d{1,2} \d{1,2}:\d{1,2}:\d{1,2}|\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})"
    r"(?:\.\d{1,9})?\s*$"
)
_NAN, _INFINITY = r"^\s*[+-]?NaN\s*$", r"^\s*[+-]?Infinity\s*$"
# Java's Base64 decoder: the padding may be left out, but nothing else be there.
_BASE64 = r"^(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$"


def lazy_value(text: Column, hive_type: str) -> Column:
    """Return the value of a text that is not Hive's NULL; CHAR without the blanks that pad it."""
    kind = spark_type(hive_type)
    match kind.partition("(")[0]:
        case "string":
            return sized_text(text, hive_type)
        case "tinyint" | "smallint" | "int" | "bigint":
            return f.when(text.rlike(_INTEGER), text.cast(kind))
        case "float" | "double":
            return _floating(text, kind)
        case "boolean":
            lowered = f.lower(text)
            return f.when(lowered == "true", f.lit(True)).when(lowered == "false", f.lit(False))
        case "date":
            return lazy_date(text)
        case "timestamp":
            if is_instant(hive_type):
                return text.cast("timestamp")
            return f.when(text.rlike(_TIME), text.cast("timestamp"))
        case "binary":
            return lazy_binary(text)
    return text.cast(kind)


def sized_text(text: Column, hive_type: str) -> Column:
    """Text cut to the length of its type; CHAR without the blanks that pad it."""
    limit = text_limit(hive_type)
    if limit is None:
        return text
    cut = f.substring(text, 1, limit[1])
    return f.rtrim(cut) if limit[0] == "char" else cut


def lazy_date(text: Column) -> Column:
    """Return a date that the text begins with."""
    year, month, day = (f.regexp_extract(text, _DATE, i).cast("int") for i in (1, 2, 3))
    return f.make_date(year, month, day)


def lazy_binary(text: Column) -> Column:
    """Bytes of a text that is Base64, else the text's own."""
    decoded = f.unbase64(text)
    return f.when(text.rlike(_BASE64), decoded).otherwise(text.cast("binary"))


def is_instant(hive_type: str) -> bool:
    """Tell whether it is TIMESTAMP WITH LOCAL TIME ZONE."""
    return bool(instants([hive_type], 0))


def _floating(text: Column, kind: str) -> Column:
    named = text.rlike("(?i)nan|inf")
    return (
        f.when(text.rlike(_NAN), f.lit("NaN").cast(kind))
        .when(named & ~text.rlike(_INFINITY), f.lit(None).cast(kind))
        .otherwise(text.cast(kind))
    )
