"""The rows of a partition in few tasks, since each task makes a file for each partition it has.

Spark's rebalancing goes by what was shuffled: a partition of very many rows still is written by
several tasks, and small ones share one. Where tasks have few partitions it would cost more than
it saves, which a look at the first rows tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame

from hivesql_executor.spark.steps import after

NEVER, ALWAYS = -1, 1
"""Of hive.optimize.sort.dynamic.partition.threshold; 0 leaves it to us."""
_FEW = 8
_SAMPLE = 2_000
# A look at the first rows of anything else might run all of it.
_SOON_READ = {
    "Project", "SubqueryAlias", "View", "Union", "LogicalRelation", "DataSourceV2Relation",
    "LocalRelation", "OneRowRelation", "Range",
}  # fmt: skip
_THROUGH = {"Project", "SubqueryAlias", "View"}
_ARRANGED = {"RepartitionByExpression", "Repartition", "RebalancePartitions", "Sort"}


def gathered(rows: DataFrame, keys: Sequence[str], threshold: int) -> DataFrame:
    """Bring rows of the same ``keys`` (quoted names) to few tasks where that is worth it.

    What DISTRIBUTE BY, SORT BY and ORDER BY have arranged stays as it is.
    """
    if not keys or threshold == NEVER or not _is_worth_it(rows, keys, threshold):
        return rows
    return after(rows, ("rebalance", keys))


def _is_worth_it(rows: DataFrame, keys: Sequence[str], threshold: int) -> bool:
    plan: Any = rows._jdf.queryExecution().analyzed()
    if _is_arranged(plan):
        return False
    if threshold == ALWAYS or not set(_names(plan)) <= _SOON_READ:
        return True
    most = threshold or _FEW
    sample = rows.select(*keys).limit(max(_SAMPLE, 4 * most)).collect()
    return len(set(sample)) > most


def _is_arranged(plan: Any) -> bool:
    while (name := plan.nodeName()) in _THROUGH:
        plan = plan.children().head()
    return name in _ARRANGED


def _names(plan: Any) -> Iterator[str]:
    yield plan.nodeName()
    children = plan.children()
    for i in range(children.size()):
        yield from _names(children.apply(i))
