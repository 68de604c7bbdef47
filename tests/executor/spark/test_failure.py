"""What users are translate_spark_error when Spark fails."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import SparkSession, functions

from hivesql_executor.spark.failure import translate_spark_error
from hivesql_planner.errors import ExecutorsLost

pytestmark = pytest.mark.spark


def test_an_error_without_a_cause_says_itself_what_it_is(spark: SparkSession) -> None:
    assert spark._jvm is not None
    with pytest.raises(Py4JJavaError) as raised:
        spark._jvm.java.util.ArrayList().get(3)
    assert str(raised.value).startswith("An error occurred while calling o")
    assert str(translate_spark_error(raised.value)) == (
        "the Spark job failed: java.lang.IndexOutOfBoundsException: "
        "Index 3 out of bounds for length 0"
    )


def test_of_several_causes_the_last_one_is_told(spark: SparkSession) -> None:
    with pytest.raises(Py4JJavaError) as raised:
        assert spark._jvm is not None
        jvm = spark._jvm
        jvm.java.util.concurrent.CompletableFuture.failedFuture(
            jvm.java.io.IOException("no space left")
        ).get()
    assert (
        str(translate_spark_error(raised.value))
        == "the Spark job failed: java.io.IOException: no space left"
    )


def test_of_a_python_function_the_end_of_its_traceback_is_told(spark: SparkSession) -> None:
    def fail(number: int) -> int:
        raise ValueError(f"not {number}")

    with pytest.raises(PythonException) as raised:
        spark.range(1).select(functions.udf(fail, "int", useArrow=False)("id")).collect()
    assert str(translate_spark_error(raised.value)) == "the Spark job failed: ValueError: not 0"


@pytest.mark.parametrize(
    ("error", "advice"),
    [("OutOfMemoryError", "spark.driver.memory"), ("StackOverflowError", "-Xss64m")],
)
def test_what_the_jvm_has_too_little_of_is_told_with_its_setting(
    spark: SparkSession, error: str, advice: str
) -> None:
    assert spark._jvm is not None
    jvm = spark._jvm
    with pytest.raises(Py4JJavaError) as raised:
        failure = getattr(jvm.java.lang, error)("of a test")
        jvm.java.util.concurrent.CompletableFuture.failedFuture(failure).get()
    assert advice in str(translate_spark_error(raised.value))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (SELECT id FROM range(2))",
        "SELECT id FROM range(2) WHERE id = (SELECT id FROM range(2))",
    ],
)
def test_a_value_of_several_rows_is_told_in_the_words_of_hive(
    spark: SparkSession, query: str
) -> None:
    with pytest.raises((Py4JJavaError, PySparkException)) as raised:
        spark.sql(query).collect()
    assert str(translate_spark_error(raised.value)).startswith(
        "Scalar subquery expression returns more than one row: "
    )


def test_a_statement_whose_executors_were_lost_may_run_again(spark: SparkSession) -> None:
    assert spark._jvm is not None
    jvm = spark._jvm
    with pytest.raises(Py4JJavaError) as raised:
        failure = jvm.java.io.IOException(
            "[CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND] Checkpoint block rdd_46_1 not found!"
        )
        jvm.java.util.concurrent.CompletableFuture.failedFuture(failure).get()
    error = translate_spark_error(raised.value)
    assert isinstance(error, ExecutorsLost) and error.retryable
    assert "rdd_46_1 not found!. Nothing that it wrote is visible: run it again" in str(error)
