"""Paths that look like patterns: Spark reads each file once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivesql_executor.jvm import java_strings
from hivesql_executor.spark.file_paths import literal_paths

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_each_file_is_read_once_and_no_other(spark: SparkSession, tmp_path: Path) -> None:
    names = ["plain", "a?b", "a*b", "a[xy]b", "a{x,y}b", "a\\b", "a\\?b", "a%20b", "a#b c", "aéb"]
    for name in (*names, "axb"):
        (tmp_path / name).mkdir()
        for file in ("1", "2", "3"):
            (tmp_path / name / file).write_text(f"{name} {file}\n")
    for name in names:
        paths, options = literal_paths([f"{tmp_path}/{name}/{file}" for file in "12"])
        found = [row[0] for row in spark.read.options(**options).text(paths).collect()]
        assert sorted(found) == [f"{name} 1", f"{name} 2"]


@pytest.mark.spark
@pytest.mark.parametrize(
    "texts", [[], [""], ["a", "", "b"], ["", ""], ["a\nb", "\t é 日 \U0001f600", "$1\\"]]
)
def test_texts_come_to_java_as_they_are(spark: SparkSession, texts: list[str]) -> None:
    assert list(java_strings(spark, texts)) == texts
