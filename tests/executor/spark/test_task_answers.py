"""What tasks tell of their files comes from Spark's JVM as it was written."""

import os
from typing import Any

import pytest
from pyspark.sql import SparkSession

from hivesql_executor.jvm import new_object
from hivesql_executor.spark.task_answers import TaskAnswers
from hivesql_planner.errors import ExecutionError

pytestmark = pytest.mark.spark

ALL_BYTES = bytes(range(256))
LARGE = os.urandom(3 << 20)


def answers(spark: SparkSession, *tasks: tuple[str | bytes, ...]) -> TaskAnswers:
    """What is read of such tasks: of each its text, and the files that come with it."""
    gateway: Any = spark.sparkContext._gateway
    told = new_object(spark, "TaskAnswers")
    for task in tasks:
        array = gateway.new_array(gateway.jvm.java.lang.Object, len(task))
        for i, part in enumerate(task):
            array[i] = part
        told.add(array)
    return TaskAnswers(told)


def test_files_come_as_they_were_written(spark: SparkSession) -> None:
    told = answers(spark, ("= upload-1 =\n", ALL_BYTES, b""), ("ä\n",), ("=\n", LARGE))
    assert told.text == "= upload-1 =\nä\n=\n"
    lengths = [("=", 256), ("upload-1", 7), ("=", 0), ("=", len(LARGE))]
    read = [told.upload(word, length) for word, length in lengths]
    assert read == [ALL_BYTES, "upload-1", b"", LARGE]


@pytest.mark.parametrize("lengths", [(256, 1), (255,)], ids=["a file too many", "another length"])
def test_a_file_that_does_not_come_whole_is_an_error(
    spark: SparkSession, lengths: tuple[int, ...]
) -> None:
    told = answers(spark, ("= =\n", ALL_BYTES))
    with pytest.raises(ExecutionError, match="Run the statement again"):
        for length in lengths:
            told.upload("=", length)
