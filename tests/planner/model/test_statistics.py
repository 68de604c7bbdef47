"""The query that counts, and what its cells mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import STRING, HiveType
from hivesql_planner.model.statistics import (
    ColumnStatistics,
    Statistics,
    StatisticsChange,
    added_up,
    changed,
    changed_columns,
    column_statistics,
    combined,
    is_simple,
    of_partition_column,
    overlay_statistics,
    read_basics,
    read_stated_statistics,
    statistics_sql,
    written_basics,
)
from hivesql_planner.model.table import Column, TableName
from memory_catalog import table

T = TableName("d", "t")
TEN = Statistics(rows=10, files=2, bytes=300, is_accurate=True, accurate_columns=("a",))
CHANGES: dict[str, tuple[Statistics, dict[str, Any], bool, tuple[int | None, int, int, bool]]] = {
    "rows are added": (TEN, {"rows": 5, "files": 1, "bytes": 50}, True, (15, 3, 350, True)),
    "or taken away": (TEN, {"rows": -4, "files": 1, "bytes": 50}, True, (6, 3, 350, True)),
    "an overwrite counts alone": (
        replace(TEN, is_accurate=False), {"rows": 5, "files": 1, "bytes": 50, "replaces": True},
        True, (5, 1, 50, True),
    ),
    "nobody has counted": (TEN, {"rows": None, "files": 1, "bytes": 50}, True, (10, 3, 350, False)),
    "nobody has counted an overwrite": (
        TEN, {"rows": None, "files": 1, "bytes": 50, "replaces": True}, True, (10, 1, 50, False),
    ),
    "it is not known what is there": (
        replace(TEN, is_accurate=False), {"rows": 5, "files": 1, "bytes": 50}, True,
        (15, 3, 350, False),
    ),
    "writes have overtaken each other": (
        TEN, {"rows": 5, "files": 1, "bytes": 50}, False, (15, 3, 350, False),
    ),
    "more is taken away than was known": (TEN, {"rows": -11}, True, (0, 2, 300, False)),
    "nothing was ever counted": (Statistics(), {"rows": 5, "files": 1}, True, (5, 1, 0, False)),
}  # fmt: skip


@pytest.mark.parametrize(("known", "change", "in_order", "expected"), CHANGES.values(), ids=CHANGES)
def test_what_is_known_after_a_commit(
    known: Statistics, change: dict[str, Any], in_order: bool, expected: tuple[Any, ...]
) -> None:
    now = changed(known, StatisticsChange(table=T, **change), in_order=in_order)
    assert (now.rows, now.files, now.bytes, now.is_accurate) == expected
    assert now.accurate_columns == ()


def test_other_files_leave_what_is_known_of_columns() -> None:
    change = StatisticsChange(table=T, files=-1, bytes=-100, keeps_values=True)
    assert changed(TEN, change, in_order=True) == replace(TEN, files=1, bytes=200)


def test_statements_of_one_transaction_make_one_change() -> None:
    def one(partition: str | None, **counts: Any) -> StatisticsChange:
        return StatisticsChange(table=T, partition=partition, **counts)

    found = combined(
        [
            one("p=1", rows=3, files=1, bytes=30),
            one("p=2", rows=1),
            one("p=1", rows=-2, files=1, bytes=5),
            one("p=2", rows=7, replaces=True),
            one("p=2", rows=2),
            one("p=3", rows=2),
            one("p=3", rows=None),
            one(None),
        ]
    )
    assert found == {
        (T, "p=1"): one("p=1", rows=1, files=2, bytes=35),
        (T, "p=2"): one("p=2", rows=9, replaces=True),
        (T, "p=3"): one("p=3", rows=None),
        (T, None): one(None),
    }
    assert [key for key, value in found.items() if value.is_nothing] == [(T, None)]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, Statistics()),
        (
            {"numRows": "7", "numFiles": "2", "totalSize": "9",
             "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true"}}'},
            Statistics(rows=7, files=2, bytes=9, is_accurate=True, accurate_columns=("a",)),
        ),
        ({"numRows": "-1", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}, Statistics()),
        ({"numRows": "7", "COLUMN_STATS_ACCURATE": "true"}, Statistics(rows=7)),
        ({"numRows": "7", "COLUMN_STATS_ACCURATE": "{"}, Statistics(rows=7)),
        ({"numRows": "7", "COLUMN_STATS_ACCURATE": '{"COLUMN_STATS":{"a":"true"}}'},
         Statistics(rows=7)),
    ],
)  # fmt: skip
def test_hives_parameters(parameters: dict[str, str], expected: Statistics) -> None:
    assert read_basics(parameters) == expected
    assert read_basics(written_basics(expected)) == expected


def test_one_row_per_partition_and_six_cells_per_column() -> None:
    parted = table("p", "a int, s string, b boolean", "ds string, hr int")
    sql = statistics_sql(parted, "view", parted.columns)
    assert sql.startswith(
        "SELECT `ds`, `hr`, count(*), count(`a`), "
        "hll_sketch_estimate(hll_sketch_agg("
        "CASE WHEN `a` IS NOT NULL THEN xxhash64(`a`) END, 14)), "
    )
    assert sql.endswith("FROM `view` GROUP BY `ds`, `hr`")
    assert "max(coalesce(length(`s`), 0))" in sql
    assert "CAST(count_if(`b`) AS STRING)" in sql
    assert statistics_sql(table("t", "a int"), "v", ()) == "SELECT count(*) FROM `v`"


@pytest.mark.parametrize(
    ("type_", "cells", "expected"),
    [
        ("int", (8, 5, "1", "9", None, None), {"nulls": 2, "distinct": 5, "low": "1", "high": "9"}),
        ("varchar(3)", (10, 4, None, None, 1.5, 3),
         {"nulls": 0, "distinct": 4, "average_length": 1.5, "longest": 3}),
        ("boolean", (9, 2, "6", None, None, None), {"nulls": 1, "trues": 6, "falses": 3}),
        ("boolean", (0, 0, None, None, None, None), {"nulls": 10, "trues": 0, "falses": 0}),
        # HiveDecimal has no zeros behind the point.
        ("decimal(5,2)", (9, 2, "-1.50", "100.00", None, None),
         {"nulls": 1, "distinct": 2, "low": "-1.5", "high": "100"}),
        ("decimal(5,0)", (9, 2, "0", "100", None, None),
         {"nulls": 1, "distinct": 2, "low": "0", "high": "100"}),
        ("decimal(5,2)", (0, 0, None, None, None, None), {"nulls": 10, "distinct": 0}),
        ("double", (9, 2, "1.0", "1.0E10", None, None),
         {"nulls": 1, "distinct": 2, "low": "1.0", "high": "1.0E10"}),
    ],
)  # fmt: skip
def test_what_the_cells_mean(type_: str, cells: Any, expected: dict[str, Any]) -> None:
    found = column_statistics(Column.of("c", type_), 10, cells)
    assert found == ColumnStatistics(name="c", type=HiveType.parse(type_), **expected)


def test_commits_keep_what_writes_have_measured() -> None:
    def of(low: str, high: str, distinct: int = 2, nulls: int = 1) -> ColumnStatistics:
        return ColumnStatistics(
            name="a", type=HiveType.parse("int"), nulls=nulls, distinct=distinct, low=low, high=high
        )

    def change(*columns: ColumnStatistics, **more: Any) -> StatisticsChange:
        return StatisticsChange(table=T, rows=5, files=1, bytes=9, columns=columns, **more)

    new, other = of("3", "7"), replace(of("3", "7"), name="b")
    empty = Statistics(rows=0, is_accurate=True, accurate_columns=("a", "b", "n"))
    cases = {
        "the first rows": (empty, change(new, other), (), ("a", "b"), (new, other)),
        "an overwrite": (TEN, change(new, replaces=True), [of("1", "2")], ("a",), (new,)),
        "more rows": (TEN, change(new, other), [of("5", "9", 4)], ("a",), (of("3", "9", 4, 2),)),
        "apart from others": (TEN, change(new), [of("8", "9", 4)], ("a",), (of("3", "9", 6, 2),)),
        "beside unmeasured rows": (
            replace(TEN, accurate_columns=()), change(new), [of("5", "9")], (), (),
        ),
        "unmeasured rows": (TEN, change(), [of("5", "9")], (), ()),
    }  # fmt: skip
    for case, (stored, one, measured, accurate, columns) in cases.items():
        assert changed(stored, one, in_order=True).accurate_columns == accurate, case
        assert changed_columns(stored, measured, one) == columns, case
    both = combined([change(new), StatisticsChange(table=T), change(of("8", "9", 4), other)])
    assert [one.columns for one in both.values()] == [(of("3", "9", 6, 2),)]


def test_nested_columns_have_none() -> None:
    assert [is_simple(Column.of("c", text)) for text in ("int", "decimal(5,2)", "array<int>")] == [
        True, True, False,
    ]  # fmt: skip


def test_what_a_user_tells_of_a_column_goes_over_what_is_known() -> None:
    column = Column.of("s", "string")
    first = overlay_statistics(
        read_stated_statistics(column, {"numDVs": "5", "maxColLen": "9"}), ()
    )
    assert first == ColumnStatistics(name="s", type=STRING, nulls=0, distinct=5, longest=9)
    then = read_stated_statistics(column, {"numNulls": "3", "avgColLen": "1.5", "bitVector": "x"})
    both = overlay_statistics(then, (first,))
    assert both == replace(first, nulls=3, average_length=1.5)
    assert overlay_statistics(read_stated_statistics(column, {"numDVs": "6"}), (both,)).nulls == 3
    for type_, text, shown in (
        ("float", "8.00", "8.0"), ("timestamp", "1357030924", "2013-01-01 09:02:04"),
        ("int", "8", "8"), ("date", "2013-01-01", "2013-01-01"),
    ):  # fmt: skip
        told = read_stated_statistics(Column.of("c", type_), {"lowValue": text})
        assert told.low == shown
    for values, type_ in (({"foo": "1"}, "int"), ({"numDVs": "x"}, "int"), ({}, "array<int>")):
        with pytest.raises(SemanticError):
            read_stated_statistics(Column.of("n", type_), values)


def test_columns_of_partitions_are_added_up() -> None:
    def of(name: str, type_: str, nulls: int, **fields: Any) -> ColumnStatistics:
        return ColumnStatistics(name=name, type=HiveType.parse(type_), nulls=nulls, **fields)

    first = [
        of("b", "boolean", 1, trues=2, falses=0),
        of("n", "int", 0, distinct=3, low="-7", high="9"),
    ]
    second = [
        of("b", "boolean", 2, trues=1, falses=4),
        of("n", "int", 2, distinct=5, low="-10", high="8"),
    ]
    assert added_up([first, second, []]) == (
        of("b", "boolean", 3, trues=3, falses=4),
        of("n", "int", 2, distinct=5, low="-10", high="9"),
    )
    number = of_partition_column(Column.of("p", "int"), ["2", "10", None])
    assert (number.low, number.high, number.distinct, number.nulls) == ("2", "10", 2, 1)
    text = of_partition_column(Column.of("p", "string"), ["a", "b"])
    assert (text.low, text.distinct, text.average_length, text.longest) == (None, 2, 100.0, 100)
