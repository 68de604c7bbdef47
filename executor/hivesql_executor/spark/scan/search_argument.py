"""Search arguments for ORC: a predicate over the row's columns, in reader options.

ORC resolves the names of a search argument inside ``row`` when the file is an ACID file, which is
why Spark's own push-down, whose names start at the root, cannot be used.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from hivesql_executor.jvm import new_object
from hivesql_executor.orc.types import spark_type
from hivesql_planner.model.table import Column
from hivesql_planner.model.types import text_limit

_log = logging.getLogger(__name__)


def search_argument(
    spark: SparkSession, where: str, columns: Sequence[Column], types: Sequence[str]
) -> dict[str, str]:
    """Reader options that let ORC skip stripes; empty when the predicate has no such form.

    ``columns`` are the row's columns in the file, ``types`` what they are there. Never changes
    which rows a query gives: the predicate is applied again above the scan, and parts of it that
    ORC cannot judge are left out.
    """
    try:
        return _options(spark, where, columns, types)
    except (Py4JError, PySparkException, TypeError, AttributeError) as error:
        _log.debug("no search argument for %s: %s", where, error)
        return {}


def _options(
    spark: SparkSession, where: str, columns: Sequence[Column], types: Sequence[str]
) -> dict[str, str]:
    jvm: Any = spark._jvm
    ddl = ", ".join(f"`{column.name}` {spark_type(column.type)}" for column in columns)
    # A frame over an RDD keeps its filter: over no rows at all it would be optimised away.
    frame = spark.createDataFrame(spark.sparkContext.emptyRDD(), ddl).where(where)
    plan: Any = frame._jdf.queryExecution().optimizedPlan()
    while plan.nodeName() != "Filter":
        if plan.children().isEmpty():
            return {}
        plan = plan.children().head()
    unusable = {
        column.name
        for column, kind in zip(columns, types, strict=False)
        if _differs(text_limit(column.type), text_limit(kind))
    }
    filters = jvm.java.util.ArrayList()
    skipping = new_object(spark, "StripeSkipping")
    for condition in _conjuncts(plan.condition()):
        translated = _filter(jvm, condition)
        if translated is None or unusable & set(translated.references()):
            continue
        if skipping.isSound(translated):
            filters.append(translated)
    argument = skipping.searchArgument(filters, ddl)
    if argument is None:
        return {}
    conf = jvm.org.apache.hadoop.conf.Configuration(False)
    gateway: Any = spark.sparkContext._gateway
    names = gateway.new_array(jvm.java.lang.String, len(columns))
    for i, column in enumerate(columns):
        names[i] = column.name
    jvm.org.apache.orc.mapred.OrcInputFormat.setSearchArgument(conf, argument, names)
    keys = ("orc.kryo.sarg", "orc.sarg.column.names")
    return {key: conf.get(key) for key in keys}


def _differs(wanted: tuple[str, int] | None, found: tuple[str, int] | None) -> bool:
    """Tell whether values compare otherwise than they stand in the file."""
    if wanted is None:
        return False
    # CHAR is padded there, and VARCHAR may be longer than it is read.
    return wanted[0] == "char" or found is None or found[1] > wanted[1]


def _conjuncts(condition: Any) -> Iterator[Any]:
    if condition.nodeName() == "And":
        yield from _conjuncts(condition.left())
        yield from _conjuncts(condition.right())
    else:
        yield condition


def _filter(jvm: Any, condition: Any) -> Any:
    """Spark's data source filter for one condition, or None."""
    datasources = jvm.org.apache.spark.sql.execution.datasources
    strategy = getattr(datasources, "DataSourceStrategy$").__getattr__("MODULE$")
    translated = strategy.translateFilter(condition, True)
    return translated.get() if translated.isDefined() else None
