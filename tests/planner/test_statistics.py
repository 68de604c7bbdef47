"""The query that counts, and what its cells mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.statistics import (
    ColumnStatistics,
    Statistics,
    column_statistics,
    is_accurate,
    is_simple,
    statistics_sql,
)
from hivesql_planner.table import Column
from memory_catalog import table

ACCURATE = {
    "the same writes and files": ("d.t:5:9223372036854775807::", "5:", [1, 2], True),
    "an aborted write is no difference": ("d.t:5:9223372036854775807::", "6:6", [1, 2], True),
    "another write has committed": ("d.t:5:9223372036854775807::", "6:", [1, 2], False),
    "other files": ("d.t:5:9223372036854775807::", "5:", [3], False),
    "as many bytes in other files": ("d.t:5:9223372036854775807::", "5:", [1, 1, 1], False),
    "nobody knows": ("", "5:", [1, 2], False),
}


@pytest.mark.parametrize(("writes", "now", "sizes", "expected"), ACCURATE.values(), ids=ACCURATE)
def test_is_accurate(writes: str, now: str, sizes: list[int], expected: bool) -> None:
    high, _, aborted = now.partition(":")
    visible = ValidWriteIdList(
        int(high), aborted=frozenset(map(int, filter(None, [aborted]))), table="d.t"
    )
    known = Statistics(rows=7, files=2, bytes=3, writes=writes)
    assert is_accurate(known, visible, sizes) is expected
    assert not is_accurate(replace(known, rows=None), visible, sizes)


def test_one_row_per_partition_and_six_cells_per_column() -> None:
    parted = table("p", "a int, s string, b boolean", "ds string, hr int")
    sql = statistics_sql(parted, "view", parted.columns)
    assert sql.startswith("SELECT `ds`, `hr`, count(*), count(`a`), approx_count_distinct(`a`), ")
    assert sql.endswith("FROM `view` GROUP BY `ds`, `hr`")
    assert "max(length(`s`))" in sql
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
    ],
)  # fmt: skip
def test_what_the_cells_mean(type_: str, cells: Any, expected: dict[str, Any]) -> None:
    found = column_statistics(Column("c", type_), 10, cells)
    assert found == ColumnStatistics(name="c", type=type_, **expected)


def test_nested_columns_have_none() -> None:
    assert [is_simple(Column("c", text)) for text in ("int", "decimal(5,2)", "array<int>")] == [
        True, True, False,
    ]  # fmt: skip
