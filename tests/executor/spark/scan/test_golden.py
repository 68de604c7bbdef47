"""The rows and row ids that we read are those that real Hive showed, in every golden table."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as f

from golden_tables import GoldenTable, as_we_show, golden_tables, shown
from hivesql_executor.jvm import spark_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TABLES = golden_tables()
VARIED = {
    "b_part_bucket/final/p",
    "c_types/final/c",
    "e_original/stage2_dml/o",
    "f_compact_query/stage1_minor_before_clean/f",
    "g_load/stage2/g",
    "k_aborted/stage2_minor/k",
}
SHOWN = [one for one in TABLES if one.rows is not None]


def test_no_golden_table_is_forgotten() -> None:
    assert len(TABLES) == 60
    assert {str(one) for one in TABLES if one.rows is None} == {
        "a_example/final/src",
        "c_tsltz/final/z",
        "d_insert_only/final/io_pq",
        "d_insert_only/stage1_before_compaction/io_pq",
        "g_load/stage1/g",
        "l_merge/final/s",
    }


def expected_rows(golden: GoldenTable) -> list[dict[str, str]]:
    """CHAR comes without the blanks that Hive pads it with for show: that is how it compares."""
    columns = {column.name: str(column.type) for column in golden.table.all_columns}
    if golden.table.is_full_acid:
        columns["row__id"] = ""
    rows = [as_we_show(row) for row in golden.rows or ()]
    return [
        {name: row[name].rstrip(" ") if kind.startswith("char") else row[name]
         for name, kind in columns.items()}
        for row in rows
    ]  # fmt: skip


@pytest.mark.parametrize("golden", SHOWN, ids=str)
def test_rows_and_row_ids_are_hives(spark: SparkSession, golden: GoldenTable) -> None:
    rows = shown(golden.read(spark))
    assert sorted(map(repr, rows)) == sorted(map(repr, expected_rows(golden)))


@pytest.mark.parametrize("golden", [one for one in SHOWN if str(one) in VARIED], ids=str)
def test_no_pruning_changes_a_row(spark: SparkSession, golden: GoldenTable) -> None:
    expected = expected_rows(golden)
    read = golden.read(spark)
    assert read.count() == len(expected)
    assert golden.read(spark, with_row_id=False).count() == len(expected)
    for name in read.columns:
        alone = [row[name] for row in shown(read.select(name))]
        assert sorted(alone) == sorted(row[name] for row in expected), name


@pytest.mark.parametrize("golden", [one for one in SHOWN if str(one) in VARIED], ids=str)
def test_no_filter_in_the_reader_changes_a_row(spark: SparkSession, golden: GoldenTable) -> None:
    plain, read = golden.read(spark, filter_rows=-1), golden.read(spark)
    (some, *_) = plain.collect()
    for name, kind in plain.dtypes:
        conditions = [f.col(name).isNull()]
        if not kind.startswith(("map", "array", "struct")):
            conditions += [f.col(name) == some[name], f.col(name) != some[name]]
        for condition in conditions:
            found = sorted(map(repr, shown(read.where(condition))))
            assert found == sorted(map(repr, shown(plain.where(condition)))), condition


def named(name: str) -> GoldenTable:
    return next(one for one in TABLES if str(one) == name)


def test_rows_that_hive_did_not_show(spark: SparkSession) -> None:
    if spark_line() >= (4, 2):
        (row,) = named("c_tsltz/final/z").read(spark).select("ts").collect()
        # Hive meant 2024 and stored this; other ORC readers see the same.
        assert row.ts == datetime.datetime(1970, 1, 1)
    assert named("d_insert_only/final/io_pq").read(spark).collect() == []
    rows = shown(named("g_load/stage1/g").read(spark, with_row_id=False))
    assert sorted(row["id"] + row["v"] for row in rows) == ["100pre", "1a", "2B"]
    rows = shown(named("a_example/final/src").read(spark))
    assert {row["name"] for row in rows} == {"uno", "x", "nine", "ten"}
    rows = shown(named("l_merge/final/s").read(spark))
    assert sorted(row["id"] for row in rows) == ["1", "2", "9"]
