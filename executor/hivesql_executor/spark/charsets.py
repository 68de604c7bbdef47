"""Texts of other character sets, as Java reads and writes them: what is none of theirs is replaced.

Spark's functions know seven sets, and fail where a text does not fit; its expressions know more.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

_UNICODE = ("UTF-8", "UTF8")
_LATIN = "ISO-8859-1"


def decoded(line: Column, charset: str | None) -> Column:
    """Return the text whose bytes stand in ``line``."""
    if charset is None or charset.upper() in _UNICODE:
        return line
    return _expression("StringDecode", line.cast("binary"), charset)


def encoded(line: Column, charset: str | None) -> Column:
    """Return a string of the bytes that the text has in a character set."""
    if charset is None or charset.upper() in _UNICODE:
        return line
    return _expression("Encode", line, charset).cast("string")


def as_characters(text: Column) -> Column:
    """Text with one character for each byte, so that nothing is lost of what is no UTF-8."""
    return _expression("StringDecode", text.cast("binary"), _LATIN)


def as_bytes(text: Column) -> Column:
    """Tell what ``as_characters`` was made of."""
    return _expression("Encode", text, _LATIN).cast("string")


def cleaned(text: Column) -> Column:
    """Text with U+FFFD for bytes that are no UTF-8, as wherever Hive makes a string of Java's."""
    changed = _expression("StringDecode", text.cast("binary"), _UNICODE[0])
    return f.when(f.is_valid_utf8(text), text).otherwise(changed)


def _expression(name: str, value: Column, charset: str) -> Column:
    jvm: Any = SparkSession.active()._jvm
    spark = jvm.org.apache.spark.sql
    given = (spark.classic.ExpressionUtils.expression(one._jc) for one in (value, f.lit(charset)))
    made = getattr(spark.catalyst.expressions, name)(*given, True, True)
    return Column(spark.classic.ExpressionUtils.column(made))
