"""What a failure of Spark means to the user."""

from __future__ import annotations

import re
from itertools import takewhile
from urllib.parse import unquote

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, PythonException

from hivesql_executor.files.refusals import refusal_of
from hivesql_executor.spark.session import STACK_OPTION
from hivesql_executor.spark.write.change import cardinality_violation
from hivesql_executor.spark.write.changes_by_row_id import moved_row
from hivesql_executor.spark.write.constraints import constraint_violation
from hivesql_planner.errors import (
    DataError,
    ExecutionError,
    ExecutorsLost,
    HiveSqlError,
    SemanticError,
)
from hivesql_planner.model.table import LONGEST_FILE_NAME

FAILURES = (PySparkException, Py4JJavaError)
_TOO_DEEP = ("java.lang.StackOverflowError", "FAILED_TO_PARSE_TOO_COMPLEX")
_TOO_MANY_ROWS = "SCALAR_SUBQUERY_TOO_MANY_ROWS"
_NO_MEMORY = re.compile(r"\bjava\.lang\.OutOfMemoryError(?:: (.*))?|\bSparkOutOfMemoryError\b")
_NO_DIRECTORY = re.compile(r"\bMkdirs failed to create (\S.*?)(?: \(exists=|$)", re.MULTILINE)
# Of what was kept in an executor, and of a task whose executors were lost as often as is allowed.
_EXECUTOR_LOST = re.compile(
    r"(\bCHECKPOINT_RDD_BLOCK_ID_NOT_FOUND\b|\bCheckpoint block \w+ not found)"
    r"|\bExecutorLostFailure\b"
)
# What Spark says of a file, and what AcidReader.java and avro_rows.py say.
_ENCODED = re.compile(r"Encountered error while reading file (.+?)\. +(.*)")
_PLAIN = re.compile(r"\bhivesql cannot read (.+?): (.*)")
# Spark 3.5 does not say which file it was reading, but some readers do.
_OF_ORC = re.compile(r"\bProblem opening stripe \d+ footer in (.+)\.()$", re.MULTILINE)
_OF_PARQUET = re.compile(r"\b(\w+:/.+?) (is not a Parquet file)\b")
# What ORC and Spark say of a column whose type was changed since.
_NOT_CONVERTED = re.compile(
    r"\bIllegalEvolutionException: .* file type (.+) \(\d+\) to reader type (.+) \(\d+\)"
    r"|\bSchemaColumnConvertNotSupportedException: .*physicalType: (\w+), logicalType: ([^ ,]+)"
)


def translate_spark_error(error: Exception) -> HiveSqlError | None:
    """Return the error for the user; None when it does not come from Spark."""
    if not isinstance(error, FAILURES):
        return None
    if (refusal := _of_statement(error)) is not None:
        return refusal
    violation = cardinality_violation(error) or constraint_violation(error) or moved_row(error)
    if violation:
        return violation
    if (value := _too_long(error)) is not None:
        return SemanticError(
            f"the partition value {value[:60]}… would make a directory with a name of more than "
            f"{LONGEST_FILE_NAME} bytes (its characters are escaped). Use a shorter value"
        )
    if (refusal := refusal_of(str(error))) is not None:
        return refusal
    if match := _NO_DIRECTORY.search(str(error)):
        return ExecutionError(
            f"Spark cannot make the directory {bare_path(match[1])}. Give its processes the right "
            "to, make room, or choose a place that all of Spark's machines have",
            code=40000,
        )
    file = unreadable(error)
    if file is not None:
        path, why = file
        if match := _NOT_CONVERTED.search(why):
            stored, wanted = (kind for kind in match.groups() if kind)
            return DataError(
                f"{path} cannot be read: a column that is {wanted} in the table has {stored} "
                "there, and values of that are not converted. Give the column its type of before "
                "(ALTER TABLE … CHANGE), and the rows in a new table"
            )
        return DataError(f"{path} cannot be read: {why}. It is damaged, or of another kind")
    if match := _EXECUTOR_LOST.search(str(error)):
        # A task that was lost as often may be what ends them: the user decides about that.
        loss = (ExecutorsLost if match[1] else ExecutionError)(
            f"executors were lost with what the statement needs: {_cause(error) or _said(error)}. "
            "Nothing that it wrote is visible: run it again; where that does not help, the log of "
            "the executors says why they ended"
        )
        loss.retryable = True
        return loss
    return ExecutionError(f"the Spark job failed: {_cause(error) or _said(error)}")


def _of_statement(error: Exception) -> ExecutionError | None:
    """Say what the statement is too much of; None where the cause lies elsewhere."""
    if any(word in str(error) for word in _TOO_DEEP):
        return ExecutionError(
            "the statement is nested too deeply, has too many operators in a row, or a pattern "
            "that repeats too often, for the stack of Spark's threads: cut it into several, or "
            "start Spark with a larger one "
            f"(spark.driver.extraJavaOptions and spark.executor.extraJavaOptions = {STACK_OPTION})"
        )
    if match := _NO_MEMORY.search(str(error)):
        what = f" ({match[1]})" if match[1] else ""
        return ExecutionError(
            f"Spark has too little memory for the statement{what}: start Spark with more "
            "(spark.driver.memory; on a cluster spark.executor.memory too), or cut it into several"
        )
    if _TOO_MANY_ROWS in str(error):
        return ExecutionError(
            "Scalar subquery expression returns more than one row: where a value stands, a "
            "subquery may give one row at most. Name that row in its WHERE, ask for max, min or "
            "another aggregate of them, or compare with IN"
        )
    return None


def _too_long(error: Exception) -> str | None:
    """Find the partition value by whose length a directory cannot be made; None if none is."""
    match = _NO_DIRECTORY.search(str(error))
    for part in match[1].split("/") if match else ():
        if "=" in part and len(part.encode()) > LONGEST_FILE_NAME:
            return unquote(part.partition("=")[2])
    return None


def unreadable(error: Exception) -> tuple[str, str] | None:
    """Find the file that could not be read, without ``file:``, and why; None if it was not that."""
    for pattern in (_ENCODED, _PLAIN, _OF_ORC, _OF_PARQUET):
        if match := pattern.search(str(error)):
            path = unquote(match[1]) if pattern is _ENCODED else match[1]
            return bare_path(path), _cause(error) or match[2]
    return None


def bare_path(path: str) -> str:
    """Return a path as users write it: on the local disk, without a scheme."""
    return f"/{path.removeprefix('file:').lstrip('/')}" if path.startswith("file:") else path


def _cause(error: Exception) -> str | None:
    lines = reversed(str(error).splitlines())
    cause = next((line for line in lines if line.startswith("Caused by: ")), None)
    return cause.removeprefix("Caused by: ") if cause else None


def _said(error: Exception) -> str:
    """Return its first line, but not the one in which Py4J says which object was called.

    Of a failed Python function it is the last one of the traceback.
    """
    lines = str(error).splitlines()
    if isinstance(error, PythonException):
        traceback = takewhile(lambda line: not line.startswith("JVM stacktrace"), lines)
        return next((line for line in reversed([*traceback]) if line.strip()), lines[0])
    if isinstance(error, Py4JJavaError) and len(lines) > 1:
        return lines[1].removeprefix(": ")
    return lines[0]
