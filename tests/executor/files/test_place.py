"""What the doctor sees of places whose file systems need no server; nothing stays there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivesql_executor.checks.place import probe_place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_what_is_written_and_read_is_gone(spark: SparkSession, tmp_path: Path) -> None:
    place = f"file:{tmp_path}/warehouse"
    looked_at = [*probe_place(spark, place)]
    assert [(one.state, one.subject) for one in looked_at] == [
        ("ok", "warehouse"), ("ok", "write"), ("ok", "write once"), ("ok", "read"), ("ok", "delete")
    ]  # fmt: skip
    assert looked_at[0].message == f"{place}, not made yet; can be listed"
    assert [*tmp_path.glob("*")] == []


def test_a_place_that_is_a_file_is_told(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    looked_at = [*probe_place(spark, f"file:{tmp_path}/file")]
    assert [(one.state, one.subject) for one in looked_at][-1] == ("failed", "write")


def test_no_connector_is_told(spark: SparkSession) -> None:
    (told,) = probe_place(spark, "s3a://bucket/warehouse")
    assert (told.state, told.subject) == ("failed", "connector")
    assert told.message == "Spark has no jar with org.apache.hadoop.fs.s3a.S3AFileSystem"
    assert told.help.startswith("Set spark.jars.packages to org.apache.hadoop:hadoop-aws:")
