"""The Spark session that ACID tables need: UTC, non-ANSI, Hive-compatible ORC."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

# Pushed-down filters of nested ACID columns would reach ORC under names it resolves against the
# row struct, so Spark's own push-down stays off and scans carry a search argument of their own.
SQL_SETTINGS: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.orc.filterPushdown": "false",
    "spark.sql.orc.impl": "native",
    "spark.sql.orc.enableVectorizedReader": "true",
    "spark.sql.orc.enableNestedColumnVectorizedReader": "true",
    "spark.sql.hive.convertMetastoreOrc": "false",
    "spark.sql.storeAssignmentPolicy": "LEGACY",
    "spark.sql.legacy.charVarcharAsString": "true",
    "spark.sql.autoBroadcastJoinThreshold": "64m",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.sources.default": "orc",
}
# ORC turns timestamps into wall clock by the JVM's zone: writer and reader must both be UTC.
_JVM_OPTIONS = "-Duser.timezone=UTC"
CORE_SETTINGS: Mapping[str, str] = {
    "spark.driver.extraJavaOptions": _JVM_OPTIONS,
    "spark.executor.extraJavaOptions": _JVM_OPTIONS,
    "spark.sql.catalogImplementation": "in-memory",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
}


def start_spark(
    *, master: str | None = None, app_name: str = "hivesql", conf: Mapping[str, str] | None = None
) -> SparkSession:
    """Start (or join) a Spark session with the settings above; ``conf`` wins over them."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(app_name)
    if master:
        builder = builder.master(master)
    settings = {**CORE_SETTINGS, **SQL_SETTINGS, **(conf or {})}
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
