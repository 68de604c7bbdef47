"""Reading files that have been listed already.

``spark.read`` would ask the file system for each of them once more, by a job of one task a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.jvm import know_our_file_systems, new_object
from hivesql_planner.model.hive_type import quote_name

_NEVER = 2**62
# Below this many bytes, where a file is does not matter as much as asking for it costs.
_LOCATED = 8 * 1024 * 1024
FileGroup = tuple[Sequence[str | None], Sequence[tuple[str, int]]]
"""Values of partition columns, and the paths and lengths of files whose rows have them."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """How files are read: Spark's name of their format, the schema of their rows, and options."""

    format: str
    schema: str
    options: Mapping[str, str] = field(default_factory=dict)


def read_listed(
    spark: SparkSession,
    schema: str,
    files: Iterable[tuple[str, int, int]],
    options: Mapping[str, str],
) -> DataFrame:
    """Read the rows of ORC files: path, length in bytes, and a number that their rows tell of them.

    Paths are meant as they stand: brackets and stars are no patterns.
    """
    return _read(spark, FileKind("orc", schema, options), files)


def read_grouped(
    spark: SparkSession,
    kind: FileKind,
    groups: Sequence[FileGroup],
    partition_names: Sequence[str] = (),
    session: Any = None,
) -> DataFrame:
    """Read the rows of files, and texts of their partitions' values as last columns.

    ``session`` is Java's whose settings the read goes by, where it is not that of ``spark``.
    """
    files = ((path, length, 0) for _, group in groups for path, length in group)
    return _read(spark, kind, files, partition_names, groups, session)


def _read(
    spark: SparkSession,
    kind: FileKind,
    files: Iterable[tuple[str, int, int]],
    partition_names: Sequence[str] = (),
    groups: Sequence[FileGroup] = (),
    session: Any = None,
) -> DataFrame:
    text = "".join(f"{path}\0{length}\0{number}\0" for path, length, number in files)
    know_our_file_systems(spark)
    context: Any = spark.sparkContext
    located = _NEVER if context.master.startswith("local") else _LOCATED
    configuration = context._jsc.hadoopConfiguration()
    java_session = session or spark._jsparkSession
    columns = ", ".join(f"{quote_name(name)} string" for name in partition_names)
    values = json.dumps([[str(len(group)), *texts] for texts, group in groups])
    listed = new_object(
        spark, "ListedFiles", java_session, text, configuration, located, columns, values
    )
    jvm: Any = spark._jvm
    java_options = jvm.java.util.HashMap()
    for key, value in kind.options.items():
        java_options.put(key, value)
    return DataFrame(listed.frame(java_session, kind.format, kind.schema, java_options), spark)


def listed_number() -> Column:
    """Return the number of the file that a row is in."""
    return f.unix_millis("_metadata.file_modification_time").cast("int")
