"""Rows between a statement and its client."""

from __future__ import annotations

import decimal
import errno
import os
from typing import Any

import pyarrow as pa
import pytest

from faults import files_limited_to
from hivesql import Result
from hivesql.server.column_types import thrift_column, wire_array, wire_column
from hivesql.server.operation import Operation
from hivesql.server.row_spool import ResultLimits, ResultMemory, RowSpool
from hivesql_planner.errors import Cancelled, ExecutionError
from hivesql_planner.model.hive_type import HiveType

WIDE = "x" * 10_000


def spool_of(count: int, most_bytes: int = 2**30, memory: ResultMemory | None = None) -> RowSpool:
    limits = ResultLimits(most_bytes, memory or ResultMemory(2**30))
    spool = RowSpool([HiveType.parse("int"), HiveType.parse("string")], limits)
    spool.add_rows((i, WIDE) for i in range(count))
    spool.end()
    return spool


@pytest.mark.parametrize("count", [0, 1, 1500, 2500], ids=str)
def test_rows_are_read_where_they_are_asked_for(count: int) -> None:
    spool = spool_of(count)
    numbers: list[int] = []
    while len(part := spool.read(len(numbers), 700, 2**30)[0]):
        assert len(part) <= 700
        numbers += part.to_pylist()
    assert numbers == list(range(count)) and spool.row_count == count
    if count > 1400:
        assert spool.read(1400, 3, 2**30)[0].to_pylist() == [1400, 1401, 1402]
        # At least one batch's rows, and no more batches than bytes.
        assert len(spool.read(0, count, 1)[0]) == 1000
    spool.close()
    assert spool.read(0, 10, 2**30)[0].to_pylist() == []


def test_results_share_memory() -> None:
    memory = ResultMemory(250_000)
    spools = [spool_of(10, memory=memory) for _ in range(5)]
    # Two have room; the others' rows are in files, and are the same.
    assert [spool._file is None for spool in spools] == [True, True, False, False, False]
    assert 200_000 < memory.taken <= 250_000
    for spool in spools:
        assert spool.read(0, 20, 2**30)[0].to_pylist() == [*range(10)]
    spools[0].close()
    spools[0].close()
    later = spool_of(10, memory=memory)
    assert later._file is None
    # One that grows out of memory leaves it to others.
    large = spool_of(1500, memory=(own := ResultMemory(2**30)))
    assert own.taken == 0
    for spool in (*spools, later, large):
        spool.close()
    assert memory.taken == 0


def test_a_result_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ExecutionError, match="--max-result-bytes"):
        spool_of(1500, most_bytes=2**20)

    def full(*arguments: Any, **named: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(ExecutionError, match="no room for the result: No space left"):
        spool_of(1500)


def test_who_closes_a_result_whose_rows_still_come_leaves_nothing_of_it() -> None:
    memory = ResultMemory(2**30)
    spool = RowSpool([HiveType.parse("int")], ResultLimits(2**30, memory))
    spool.add_rows([(1,)])
    spool.close()
    with pytest.raises(Cancelled):
        spool.add_rows([(2,)])
    spool.end()
    assert memory.taken == 0 and spool.read(0, 10, 2**30)[0].to_pylist() == []


@pytest.mark.parametrize("is_wanted", [True, False], ids=["wanted", "closed"])
def test_a_statement_ends_whose_last_rows_have_no_room(*, is_wanted: bool) -> None:
    operation = Operation("EXECUTE_STATEMENT", limits=ResultLimits(2**30, ResultMemory(0)))
    rows = Result(statement="SELECT", columns=("i",), types=("int",), rows=[(1,)])
    with files_limited_to(0):
        if not is_wanted:
            operation.close()
        with pytest.raises(ExecutionError, match="no room for the result") as failure:
            operation.finish(rows)
        assert operation.is_running
        operation.fail(failure.value)
        assert operation.ended.is_set() and operation.answerable.is_set()
        assert operation.state == ("ERROR" if is_wanted else "CLOSED")
        operation.close()


@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [
        ("float", [1.1, float("inf"), None], [1.1, float("inf"), None]),
        ("decimal(10,2)", [decimal.Decimal("-1.5"), None], ["-1.50", None]),
        ("decimal(12,9)", [decimal.Decimal("1E-9"), None], ["0.000000001", None]),
        ("array<float>", [[1.1, None], None], ["[1.1,null]", None]),
        ("map<string,array<int>>", [[("a", [1])], None], ['{"a":[1]}', None]),
        ("struct<x:float,y:map<int,int>>", [{"x": 1.1, "y": [(1, 2)]}], ['{"x":1.1,"y":{1:2}}']),
        ("void", [None, None], [None, None]),
        ("date", [-719528, 2932897, None], ["0000-01-01", "+10000-01-01", None]),
        (
            "timestamp",
            [-62167219200500000, 253402300800000000, None],
            ["-0001-12-31 23:59:59.5", "+10000-01-01 00:00:00", None],
        ),
    ],
)
def test_columns_of_arrow_as_they_travel(kind: str, values: list[Any], texts: list[Any]) -> None:
    from hivesql_executor.local.types import arrow_type

    type_ = HiveType.parse(kind)
    arrow = pa.array(values, pa.null() if kind == "void" else arrow_type(type_))
    assert wire_column(arrow, type_).to_pylist() == texts


def test_nulls_are_bits_from_the_lowest_on() -> None:
    type_ = HiveType.parse("bigint")
    column = thrift_column(wire_array([None, 1, None, *range(6), None], type_)).i64Val
    assert column.nulls == bytes([0b00000101, 0b00000010])
    assert column.values == [0, 1, 0, *range(6), 0]
