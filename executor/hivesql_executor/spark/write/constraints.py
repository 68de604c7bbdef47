"""Constraints that every written row must satisfy."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from hivesql_executor.spark.functions import register_called
from hivesql_planner.errors import ConstraintViolation
from hivesql_planner.model.constraints import VIOLATED, violation
from hivesql_planner.relations import Expr


def enforce_check(rows: DataFrame, check: Expr | None) -> DataFrame:
    """Let the job fail at a row whose struct ``row`` is there and breaks the check."""
    if check is None:
        return rows
    register_called(rows.sparkSession, [check.sql])
    # Being random, the filter is not moved below a join that would drop the row that breaks it.
    always = f.rand() >= f.lit(0.0)
    nanoseconds = f.col("row").isNull() | f.expr(check.sql)
    broken = f.raise_error(f.lit(VIOLATED)).cast("boolean")
    return rows.where(f.when(nanoseconds & always, f.lit(True)).otherwise(broken))


def constraint_violation(error: Exception) -> ConstraintViolation | None:
    """Return the user's error, when that is what made the job fail, else None."""
    return violation() if VIOLATED in str(error) else None
