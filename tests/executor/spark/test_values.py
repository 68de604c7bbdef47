"""Values as Hive stores and names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hivesql_executor.spark.values import partition_text
from hivesql_planner.model.hive_type import HiveType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("value", "hive_type", "text"),
    [
        ("true", "boolean", "true"),
        ("date'2020-01-02'", "date", "2020-01-02"),
        ("timestamp'2020-01-01 00:00:00'", "timestamp", "2020-01-01 00:00:00"),
        ("timestamp'2020-01-01 00:00:00.500'", "timestamp", "2020-01-01 00:00:00.5"),
        ("1D", "double", "1.0"),
        ("cast(1.5 as float)", "float", "1.5"),
        ("1.50", "decimal(5,2)", "1.5"),
        ("1.00", "decimal(5,2)", "1"),
        ("100", "decimal(5,0)", "100"),
        ("0", "decimal(20,10)", "0"),
        ("0.0000000010", "decimal(20,10)", "0.000000001"),
        ("-12345678901234567890.5", "decimal(38,8)", "-12345678901234567890.5"),
        ("'ab '", "char(5)", "ab   "),
        ("''", "char(2)", "  "),
        ("'ab '", "varchar(5)", "ab "),
        ("'abc'", "varchar(2)", "ab"),
        ("'01'", "int", "1"),
        ("'01'", "string", "01"),
        ("''", "string", "__HIVE_DEFAULT_PARTITION__"),
        ("null", "string", "__HIVE_DEFAULT_PARTITION__"),
        ("'x'", "int", "__HIVE_DEFAULT_PARTITION__"),
    ],
)
def test_partition_text(spark: SparkSession, value: str, hive_type: str, text: str) -> None:
    from pyspark.sql import functions as f

    frame = spark.range(1).select(
        partition_text(f.expr(value), HiveType.parse(hive_type)).alias("p")
    )
    assert frame.collect() == [(text,)]
    assert not frame.schema["p"].nullable
