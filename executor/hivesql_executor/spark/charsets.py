"""Texts of other character sets, as Java reads and writes them: what is none of theirs is replaced.

Spark's functions know seven sets, and fail where a text does not fit; its expressions know more.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

_UNICODE = ("UTF-8", "UTF8")


def decoded(line: Column, charset: str | None) -> Column:
    """The text whose bytes stand in ``line``."""
    if charset is None or charset.upper() in _UNICODE:
        return line
    return _expression("StringDecode", line.cast("binary"), charset)


def encoded(line: Column, charset: str | None) -> Column:
    """A string of the bytes that the text has in a character set."""
    if charset is None or charset.upper() in _UNICODE:
        return line
    return _expression("Encode", line, charset).cast("string")


def _expression(name: str, value: Column, charset: str) -> Column:
    jvm: Any = SparkSession.active()._jvm
    spark = jvm.org.apache.spark.sql
    given = (spark.classic.ExpressionUtils.expression(one._jc) for one in (value, f.lit(charset)))
    made = getattr(spark.catalyst.expressions, name)(*given, True, True)
    return Column(spark.classic.ExpressionUtils.column(made))
