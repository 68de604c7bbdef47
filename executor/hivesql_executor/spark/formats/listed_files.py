"""Reading ORC files that a snapshot has listed already.

``spark.read`` would ask the file system for each of them once more, by a job of one task a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.jvm import new_object

_NEVER = 2**62
# Below this many bytes, where a file is does not matter as much as asking for it costs.
_LOCATED = 8 * 1024 * 1024


def read_listed(
    spark: SparkSession,
    schema: str,
    files: Iterable[tuple[str, int, int]],
    options: Mapping[str, str],
) -> DataFrame:
    """Read the rows of ORC files: path, length in bytes, and a number that their rows tell of them.

    Paths are meant as they stand: brackets and stars are no patterns.
    """
    text = "".join(f"{path}\0{length}\0{number}\0" for path, length, number in files)
    context: Any = spark.sparkContext
    located = _NEVER if context.master.startswith("local") else _LOCATED
    configuration = context._jsc.hadoopConfiguration()
    listed = new_object(spark, "ListedFiles", text, configuration, located)
    jvm: Any = spark._jvm
    java_options = jvm.java.util.HashMap()
    for key, value in options.items():
        java_options.put(key, value)
    session: Any = spark._jsparkSession
    return DataFrame(listed.frame(session, schema, java_options), spark)


def listed_number() -> Column:
    """Return the number of the file that a row is in."""
    return f.unix_millis("_metadata.file_modification_time").cast("int")
