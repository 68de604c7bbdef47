"""Sessions on a warehouse in S3 that need no Spark, and what is stored there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import hivesql
from s3_server import BUCKET, S3Server, s3_server

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
QUICK = {"fs.s3a.retry.interval": "5ms", "fs.s3a.retry.limit": "5"}


@contextmanager
def server_without_spark() -> Iterator[S3Server]:
    """Serve an empty bucket, where no Spark runs in this process: sessions would use it."""
    if sys.modules.get("pyspark"):
        from pyspark import SparkContext

        if SparkContext._active_spark_context is not None:
            pytest.skip("sessions of a process use the Spark that runs in it")
    with s3_server() as running:
        yield running


def connect(server: S3Server, metastore: Path, name: str, **settings: str) -> hivesql.Session:
    return hivesql.connect(
        f"sqlite:///{metastore}", f"s3a://{BUCKET}/{name}",
        settings={**server.settings(), **QUICK, **settings},
    )  # fmt: skip


def keys(server: S3Server, name: str) -> dict[str, bytes]:
    """What is stored below a warehouse."""
    import boto3

    store = boto3.resource("s3", endpoint_url=server.url, region_name="us-east-1")
    stored = store.Bucket(BUCKET).objects.filter(Prefix=f"{name}/")
    return {each.key.removeprefix(f"{name}/"): each.get()["Body"].read() for each in stored}
