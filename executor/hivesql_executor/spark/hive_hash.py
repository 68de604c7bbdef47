"""Hive's hashes as functions of a Spark session, made when a text calls them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

from hivesql_planner.plan import Change

_CALL = re.compile(r"\bhive_hash_([12])_([a-z]+)\(")


def register_hashes(spark: SparkSession, texts: Iterable[str]) -> None:
    """Make the session know each ``hive_hash_<version>_<type>`` that is called."""
    for version, kind in {call for text in texts for call in _CALL.findall(text)}:
        from hivesql_executor.spark.write.buckets import hash_function

        spark.udf.register(f"hive_hash_{version}_{kind}", hash_function(kind, int(version)))


def texts_of(change: Change) -> Iterator[str]:
    """Every expression of a change."""
    given = [change.on, change.check]
    for branch in change.branches:
        given += [branch.condition, *branch.values]
    return (one.sql for one in given if one is not None)
