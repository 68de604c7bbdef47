"""Which client asks an object store: one of this process, or Hadoop's in Spark's JVM."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hivesql_planner.settings.s3_access import s3_access

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hivesql_executor.files.hadoop import ObjectStoreFiles
    from hivesql_executor.files.s3 import S3Files


def store_files(
    location: str,
    spark: Callable[[], SparkSession],
    settings: Callable[[], Mapping[str, str] | None],
) -> ObjectStoreFiles | S3Files:
    """Return the files of a bucket by obstore, where it does all that the settings say of S3A."""
    of_hadoop = settings() if location.startswith("s3a:") and find_spec("obstore") else None
    if of_hadoop is not None:
        bucket = location.partition("://")[2].partition("/")[0]
        access = s3_access(bucket, of_hadoop, os.environ)
        if access is not None:
            from hivesql_executor.files.s3 import S3Files

            return S3Files(spark, access=access)
    from hivesql_executor.files.hadoop import ObjectStoreFiles

    return ObjectStoreFiles(spark)
