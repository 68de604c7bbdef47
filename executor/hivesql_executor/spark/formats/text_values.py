"""Primitive values from text, as Hive's lazy objects parse them: what is none of its type is NULL.

Spark's own casts differ in blanks, special numbers, lengths of years and what may follow a date.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_planner.model.delimited_text import (
    BASE64,
    DATE,
    INFINITY,
    NAN,
    TIMESTAMP,
    WHOLE_NUMBER,
)
from hivesql_planner.model.hive_type import HiveType, Kind

_INTEGER, _TIME, _NAN, _INFINITY, _BASE64 = (
    f"^(?:{pattern})$" for pattern in (WHOLE_NUMBER, TIMESTAMP, NAN, INFINITY, BASE64)
)
_DATE = f"^{DATE}"


def lazy_value(text: Column, hive_type: HiveType) -> Column:
    """Return the value of a text that is not Hive's NULL; CHAR without the blanks that pad it."""
    match hive_type.kind:
        case Kind.STRING | Kind.VARCHAR | Kind.CHAR:
            return sized_text(text, hive_type)
        case Kind.TINYINT | Kind.SMALLINT | Kind.INT | Kind.BIGINT:
            return f.when(text.rlike(_INTEGER), text.cast(hive_type.spark))
        case Kind.FLOAT | Kind.DOUBLE:
            return _floating(text, hive_type.spark)
        case Kind.BOOLEAN:
            lowered = f.lower(text)
            return f.when(lowered == "true", f.lit(True)).when(lowered == "false", f.lit(False))
        case Kind.DATE:
            return lazy_date(text)
        case Kind.TIMESTAMP:
            return f.when(text.rlike(_TIME), text.cast("timestamp"))
        case Kind.BINARY:
            return lazy_binary(text)
    return text.cast(hive_type.spark)


def sized_text(text: Column, hive_type: HiveType) -> Column:
    """Text cut to the length of its type; CHAR without the blanks that pad it."""
    if hive_type.length is None:
        return text
    cut = f.substring(text, 1, hive_type.length)
    return f.rtrim(cut) if hive_type.kind is Kind.CHAR else cut


def lazy_date(text: Column) -> Column:
    """Return a date that the text begins with."""
    year, month, day = (f.regexp_extract(text, _DATE, i).cast("int") for i in (1, 2, 3))
    return f.make_date(year, month, day)


def lazy_binary(text: Column) -> Column:
    """Bytes of a text that is Base64, else the text's own."""
    decoded = f.unbase64(text)
    return f.when(text.rlike(_BASE64), decoded).otherwise(text.cast("binary"))


def _floating(text: Column, kind: str) -> Column:
    named = text.rlike("(?i)nan|inf")
    return (
        f.when(text.rlike(_NAN), f.lit("NaN").cast(kind))
        .when(named & ~text.rlike(_INFINITY), f.lit(None).cast(kind))
        .otherwise(text.cast(kind))
    )
