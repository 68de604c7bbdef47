"""Steps of a frame as texts, in one call of the JVM and one analysis.

A DataFrame's own methods call the JVM several times for every column, and analyse the whole plan
after each step: together they took longer than the job of a small statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pyspark.sql import DataFrame, SparkSession

from hivesql_executor.jvm import gateway, new_object

Step = (
    tuple[Literal["alias", "where"], str]
    | tuple[Literal["select", "sort", "rebalance"], Sequence[str]]
)  # fmt: skip
"""``alias`` names the frame; ``sort`` is ascending, NULLs first, within partitions; ``rebalance``
brings rows of the same values together, as far as few partitions of one size allow."""

_SETS = re.compile(r"\b(?:rollup|cube|sets)\b", re.IGNORECASE)


def after(rows: DataFrame, *steps: Step) -> DataFrame:
    """Apply some steps, in Spark's SQL, to a frame; errors are those of the DataFrame's methods."""
    spark = rows.sparkSession
    return DataFrame(gateway(spark).after(rows._jdf, json.dumps(steps)), spark)


def acid_rows(spark: SparkSession, plan: str, columns: str, *steps: Step) -> DataFrame:
    """Return a frame of AcidTable's rows after some steps; ``columns`` as in CREATE TABLE."""
    return DataFrame(gateway(spark).scan(plan, columns, json.dumps(steps)), spark)


def query_over(spark: SparkSession, sql: str, rows: Mapping[str, DataFrame]) -> DataFrame:
    """Run a query in Spark's SQL, in which relations of these names are these frames."""
    substitution = new_object(spark, "RelationSubstitution", spark._jsparkSession)
    for name, frame in rows.items():
        substitution.put(name, frame._jdf)
    return DataFrame(substitution.query(sql), spark)


def with_grand_totals(rows: DataFrame, sql: str) -> DataFrame:
    """Run a query; over no rows GROUP BY with an empty set gives one group, as in Hive."""
    if not _SETS.search(sql):
        return rows
    spark = rows.sparkSession
    return DataFrame(new_object(spark, "GrandTotals").added(rows._jdf), spark)
