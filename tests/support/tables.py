"""Tables and rows for tests of the data plane."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivesql_planner.model.table import Column, Table, TableName

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ACID = {"transactional": "true", "bucketing_version": "2"}
# Minutes of work in tasks of a second each: Spark does not stop a task inside its tightest loops.
LONG = (
    "SELECT length(max(md5(concat(a.pos, '-', b.pos)))) FROM"
    " (SELECT pos FROM (SELECT posexplode(split(space(9999), ' ')) AS (pos, val)) e"
    " DISTRIBUTE BY pos) a"
    " CROSS JOIN (SELECT posexplode(split(space(99999), ' ')) AS (pos, val)) b"
)
INSERT_ONLY = {**ACID, "transactional_properties": "insert_only"}


def make_table(root: Path, columns: str = "a int, b string", **fields: Any) -> Table:
    defaults = {"properties": ACID, "location": str(root)}
    return Table(name=TableName("default", "t"), columns=parsed(columns), **{**defaults, **fields})


def parsed(columns: str) -> tuple[Column, ...]:
    return tuple(Column.of(*column.split(" ", 1)) for column in columns.split(", "))


def numbers(spark: SparkSession, count: int, partitions: int, *more: str) -> Any:
    rows = spark.range(0, count, 1, partitions)
    return rows.selectExpr("cast(id as int) as x", "concat('s', id) as y", *more)


def property_of(writer: int, statement_id: int = 0) -> int:
    return 1 << 29 | writer << 16 | statement_id


def operators(spark: SparkSession, *wanted: str) -> list[str]:
    """Those operators of the last job's physical plan, from the writer down."""
    store = spark._jsparkSession.sharedState().statusStore()
    plan = store.executionsList().last().physicalPlanDescription().split("== Initial Plan ==")[0]
    tree = plan.split("\n(1)")[0]
    return [name for name in re.findall(r"([A-Z]\w+) \(\d+\)", tree) if name in wanted]
