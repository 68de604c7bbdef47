"""Our writer beside Spark's own: the same values in the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyorc
import pytest
from pyspark.sql import SparkSession

from acid_files import check_file, events
from hivesql_executor.spark.write.event_files import EventColumns, write_events
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.plan import Write, WriteKind
from memory_catalog import table

pytestmark = pytest.mark.spark

# Of each type: its least and greatest, what lies before a change of calendar or the epoch, NULL.
VALUES: dict[str, tuple[str, ...]] = {
    "boolean": ("true", "false"),
    "tinyint": ("-128", "127"),
    "smallint": ("-32768", "32767"),
    "int": ("-2147483648", "2147483647"),
    "bigint": ("-9223372036854775807L", "9223372036854775807L"),
    "float": ("1.5", "'nan'", "'-infinity'"),
    "double": ("0.1D", "'nan'", "'-infinity'"),
    "string": ("''", "'é𝄞'", "repeat('x', 5000)"),
    "binary": ("x''", "x'00ff'"),
    "date": ("'0100-01-01'", "'1500-02-28'", "'1582-10-04'", "'1582-10-15'", "'1969-12-31'"),
    "timestamp": (
        "'0100-01-01 00:00:00'",
        "'1582-10-04 23:59:59.999999'",
        "'1582-10-15 00:00:00'",
        "'1899-12-31 23:59:59.000001'",
        "'1969-12-31 23:59:59.999999'",
        "'2020-02-29 12:00:00.5'",
    ),
    "decimal(10,2)": ("-99999999.99", "0.01"),
    "decimal(18,0)": ("999999999999999999", "-1"),
    "decimal(38,18)": ("-12345678901234567890.123456789012345678", "0.1"),
    "array<int>": ("array()", "array(1, null, 3)"),
    "array<string>": ("array('a', null)", "array()"),
    "map<string,decimal(20,3)>": ("map('k', 1.5, 'n', null)", "map()"),
    "struct<a:int,b:array<struct<c:timestamp,d:date>>>": (
        "named_struct('a', 1, 'b', "
        "array(named_struct('c', timestamp'1500-01-01 00:00:00', 'd', null)))",
        "named_struct('a', null, 'b', null)",
    ),
}


def read_raw(path: Path) -> list[Any]:
    with path.open("rb") as file:
        return [row[0] for row in pyorc.Reader(file)]


@pytest.mark.parametrize("hive_type", VALUES)
def test_values_are_those_of_sparks_writer(
    spark: SparkSession, hive_type: str, tmp_path: Path
) -> None:
    kind = HiveType.parse(hive_type).spark
    given = ", ".join(f"(cast({value} as {kind}))" for value in (*VALUES[hive_type], "null"))
    # A batch has 1,024 rows: the values come again in later ones.
    rows = spark.sql(
        f"SELECT c FROM VALUES {given} v(c) LATERAL VIEW explode(sequence(1, 600)) x"
    ).coalesce(1)
    rows.write.orc(f"{tmp_path}/spark")
    (spark_file,) = (tmp_path / "spark").glob("*.orc")
    (file,) = write_events(
        rows,
        EventColumns(),
        (Write(kind=WriteKind.DELTA, table=table("t", f"c {hive_type}")),),
        write_id=3,
        directory=f"{tmp_path}/ours",
    )
    ours = events(tmp_path / "ours" / file.name)
    assert [repr(event[5][0]) for event in ours] == list(map(repr, read_raw(spark_file)))
    assert [event[:5] for event in ours] == [
        (0, 3, 1 << 29, number, 3) for number in range(file.rows)
    ]


def test_the_key_index_has_every_stripe(spark: SparkSession, tmp_path: Path) -> None:
    small = table("t", "a bigint, s string", properties={"orc.stripe.size": "65536"})
    rows = spark.range(0, 40_000, 1, 1).selectExpr("id", "sha2(cast(id as string), 256)")
    directory = tmp_path / "delta_0000003_0000003_0002"
    (file,) = write_events(
        rows,
        EventColumns(),
        (Write(kind=WriteKind.DELTA, table=small, statement_id=2),),
        write_id=3,
        directory=str(directory),
    )
    path = (directory / file.name).rename(directory / "bucket_00000")
    (directory / "_orc_acid_version").write_text("2")
    with path.open("rb") as opened:
        assert pyorc.Reader(opened).num_of_stripes > 2
    check_file(path)
