"""Search arguments for ORC: a predicate over the row's columns, in reader options.

ORC resolves the names of a search argument inside ``row`` when the file is an ACID file, which is
why Spark's own push-down, whose names start at the root, cannot be used.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)


def search_argument(
    spark: SparkSession, where: str, columns: Sequence[tuple[str, str]]
) -> dict[str, str]:
    """Reader options that let ORC skip stripes; empty when the predicate has no such form.

    ``columns`` are the names and Spark types of the row's columns in the file. Never changes which
    rows a query gives: the predicate is applied again above the scan.
    """
    try:
        return _options(spark, where, columns)
    except (Py4JError, PySparkException, TypeError, AttributeError) as error:
        _log.debug("no search argument for %s: %s", where, error)
        return {}


def _options(spark: SparkSession, where: str, columns: Sequence[tuple[str, str]]) -> dict[str, str]:
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    ddl = ", ".join(f"`{name}` {kind}" for name, kind in columns)
    # A frame over an RDD keeps its filter: over no rows at all it would be optimised away.
    frame = spark.createDataFrame(spark.sparkContext.emptyRDD(), ddl).where(where)
    plan: Any = frame._jdf.queryExecution().optimizedPlan()
    while plan.nodeName() != "Filter":
        if plan.children().isEmpty():
            return {}
        plan = plan.children().head()
    datasources = jvm.org.apache.spark.sql.execution.datasources
    strategy = getattr(datasources, "DataSourceStrategy$").__getattr__("MODULE$")
    translated = strategy.translateFilter(plan.condition(), True)
    if not translated.isDefined():
        return {}
    one = jvm.java.util.Collections.singletonList(translated.get())
    filters = jvm.scala.jdk.javaapi.CollectionConverters.asScala(one).toSeq()
    schema = jvm.org.apache.spark.sql.types.StructType.fromDDL(ddl)
    builder = getattr(datasources.orc, "OrcFilters$").__getattr__("MODULE$")
    default = getattr(builder, "createFilter$default$3")()
    argument = builder.createFilter(schema, filters, default)
    if not argument.isDefined():
        return {}
    conf = jvm.org.apache.hadoop.conf.Configuration(False)
    names = gateway.new_array(jvm.java.lang.String, len(columns))
    for i, (name, _) in enumerate(columns):
        names[i] = name
    jvm.org.apache.orc.mapred.OrcInputFormat.setSearchArgument(conf, argument.get(), names)
    keys = ("orc.kryo.sarg", "orc.sarg.column.names")
    return {key: conf.get(key) for key in keys}
