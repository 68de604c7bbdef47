"""Settings with which Spark takes a long statement in a time that grows with its length.

Spark writes one Java method for a whole condition, and compiles it in a time that grows with the
square of its length, in vain where it exceeds 64 KB. Two rules of its optimizer take a time that
grows with the square or the cube of a row of operators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

_MANY = 500
"""Operators of a statement from which on Spark does without code of its own for it."""
_OPERATOR = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"
    r"|(?P<operator>\b(?:and|or|not|when|union)\b|\|\||[-+*/%=<>(](?!-))",
    re.IGNORECASE | re.DOTALL,
)
_EXCLUDED = "spark.sql.optimizer.excludedRules"
# They look through the whole row of operators again at each operator of it.
_RULES = (
    "org.apache.spark.sql.catalyst.optimizer.BooleanSimplification",
    "org.apache.spark.sql.catalyst.optimizer.ReorderAssociativeOperator",
)
_SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Spark 3.5 finds the types of a row of operators in one round for each.
    "spark.sql.analyzer.maxIterations": "100000",
    "spark.sql.constraintPropagation.enabled": "false",
    # It looks for expressions that are there twice, in a time that grows with the square.
    "spark.sql.subexpressionElimination.enabled": "false",
}


def is_long(text: str) -> bool:
    """Tell whether a statement has so many operators that compiling would take longest of all."""
    if len(text) < 2 * _MANY:
        return False
    count = 0
    for match in _OPERATOR.finditer(text):
        count += match["operator"] is not None
        if count >= _MANY:
            return True
    return False


@contextmanager
def as_long_as_it_is(spark: SparkSession, text: str) -> Iterator[None]:
    """Give the session the settings for a long statement inside the block, none for a short one."""
    if not is_long(text):
        yield
        return
    excluded = spark.conf.get(_EXCLUDED, None)
    settings = {**_SETTINGS, _EXCLUDED: ",".join(filter(None, (excluded, *_RULES)))}
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, was in before.items():
            if was is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, was)
