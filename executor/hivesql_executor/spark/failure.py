"""What a failure of Spark means to the user."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from hivesql_executor.spark.change import cardinality_violation
from hivesql_executor.spark.checks import constraint_violation
from hivesql_planner.errors import DataError, ExecutionError, HiveSqlError

# What Spark says of a file, and what AcidReader.java and avro_rows.py say.
_FILES = (
    re.compile(r"Encountered error while reading file (.+?)\. +(.*)"),
    re.compile(r"\bhivesql cannot read (.+?): (.*)"),
)


def told(error: Exception) -> HiveSqlError | None:
    """The error for the user; None when it does not come from Spark."""
    if not isinstance(error, (PySparkException, Py4JJavaError)):
        return None
    violation = cardinality_violation(error) or constraint_violation(error)
    if violation:
        return violation
    lines = str(error).splitlines()
    caused = next((line for line in reversed(lines) if line.startswith("Caused by: ")), lines[0])
    caused = caused.removeprefix("Caused by: ")
    for pattern in _FILES:
        if file := pattern.search(str(error)):
            why = caused if caused != lines[0] else file[2]
            return DataError(f"{file[1]} cannot be read: {why}. It is damaged, or of another kind")
    return ExecutionError(f"the Spark job failed: {caused}")
