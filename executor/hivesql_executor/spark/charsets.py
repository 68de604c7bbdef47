"""Texts of other character sets, as Java reads and writes them: what is none of theirs is replaced.

Spark's functions know seven sets, and fail where a text does not fit; its expressions know more.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.jvm import call_static

_UNICODE = ("UTF-8", "UTF8")
_LATIN = "ISO-8859-1"


def decoded(line: Column, charset: str | None) -> Column:
    """Return the text whose bytes stand in ``line``."""
    if charset is None or charset.upper() in _UNICODE:
        return line
    return _changed("decoded", line.cast("binary"), charset)


def encoded(line: Column, charset: str | None) -> Column:
    """Return a string of the bytes that the text has in a character set."""
    if charset is None or charset.upper() in _UNICODE:
        return line
    return _changed("encoded", line, charset).cast("string")


def as_characters(text: Column) -> Column:
    """Text with one character for each byte, so that nothing is lost of what is no UTF-8."""
    return _changed("decoded", text.cast("binary"), _LATIN)


def as_bytes(text: Column) -> Column:
    """Tell what ``as_characters`` was made of."""
    return _changed("encoded", text, _LATIN).cast("string")


def cleaned(text: Column) -> Column:
    """Text with U+FFFD for bytes that are no UTF-8, as wherever Hive makes a string of Java's."""
    return f.when(is_valid_utf8(text), text).otherwise(_made_utf8(text))


def is_valid_utf8(text: Column) -> Column:
    """Tell whether all bytes of a text are UTF-8."""
    # Spark 3.5 has no function for it.
    builtin = getattr(f, "is_valid_utf8", None)
    return text == _made_utf8(text) if builtin is None else builtin(text)


def _made_utf8(text: Column) -> Column:
    return _changed("decoded", text.cast("binary"), _UNICODE[0])


def _changed(how: str, value: Column, charset: str) -> Column:
    untyped: Any = value  # the JVM's column has no public name
    return Column(
        call_static(SparkSession.active(), "ColumnExpressions", how, untyped._jc, charset)
    )
