"""Which client asks an object store: one of this process, or Hadoop's in Spark's JVM."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hivesql_executor.files.locations import server_of
from hivesql_planner.settings.azure_access import AzureAccess, azure_access, is_flat
from hivesql_planner.settings.gcs_access import GcsAccess, gcs_access
from hivesql_planner.settings.s3_access import S3Access, s3_access

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hivesql_executor.files.hadoop import HadoopFiles
    from hivesql_executor.files.local import LocalFiles
    from hivesql_executor.files.stores.store import StoreFiles


def store_files(
    location: str,
    spark: Callable[[], SparkSession],
    settings: Callable[[], Mapping[str, str] | None],
    elsewhere: Callable[[str], LocalFiles | HadoopFiles | StoreFiles],
) -> HadoopFiles | StoreFiles:
    """Return the files of a bucket by obstore, where it does all that Hadoop's settings say.

    An Azure account has directories, unless it is said that it has none. ``elsewhere`` gives the
    file system of any place.
    """
    of_hadoop = settings()
    if of_hadoop is not None and find_spec("obstore"):
        access = _access(location, of_hadoop)
        if access is not None:
            from hivesql_executor.files.stores.store import StoreFiles

            return StoreFiles(spark, access, server_of(location), elsewhere=elsewhere)
    from hivesql_executor.files.hadoop import HadoopFiles, ObjectStoreFiles

    if location.startswith("abfs") and not is_flat(location, of_hadoop or {}):
        return HadoopFiles(spark)
    return ObjectStoreFiles(spark)


def _access(
    location: str, settings: Mapping[str, str]
) -> S3Access | GcsAccess | AzureAccess | None:
    scheme, _, place = location.partition("://")
    bucket = place.partition("/")[0]
    if scheme == "s3a":
        return s3_access(bucket, settings, os.environ)
    if scheme == "gs":
        return gcs_access(bucket, settings, os.environ)
    return azure_access(location, settings, os.environ)
