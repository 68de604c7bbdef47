"""Statistics, there and back, and gone with what they are of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hivesql_executor.metastore.api import Metastore
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.hive_type import BOOLEAN, INT, STRING
from hivesql_planner.model.statistics import ColumnStatistics, Statistics
from hivesql_planner.model.table import Column, Partition, Table

MakeTable = Callable[..., Table]

NUMBER = ColumnStatistics(name="a", type=INT, nulls=1, distinct=5, low="-3", high="9")
TEXT = ColumnStatistics(name="b", type=STRING, nulls=0, distinct=2, average_length=2.5, longest=4)
TRUTH = ColumnStatistics(name="c", type=BOOLEAN, nulls=0, trues=3, falses=4)
COLUMNS = (Column.of("a", "int"), Column.of("b", "string"), Column.of("c", "boolean"))


def empty(table: Table, backend: str) -> Statistics:
    """What is known of a table that begins without rows; a Hive Metastore is told less."""
    columns = () if backend == "thrift" else tuple(sorted(table.column_names))
    return Statistics(rows=0, is_accurate=True, accurate_columns=columns)


def test_of_a_table(metastore: Metastore, make_table: MakeTable, backend: str) -> None:
    table = make_table(columns=COLUMNS)
    assert metastore.statistics(table.name) == empty(table, backend)
    found = Statistics(rows=7, files=2, bytes=300, columns=(NUMBER, TEXT, TRUTH))
    metastore.put_statistics(table.name, [found])
    assert metastore.statistics(table.name) == found
    assert "numRows" not in metastore.table(table.name).properties
    again = Statistics(rows=8, files=3, bytes=400, columns=(replace(NUMBER, high="10"),))
    metastore.put_statistics(table.name, [again])
    kept = replace(again, columns=(replace(NUMBER, high="10"), TEXT, TRUTH))
    assert metastore.statistics(table.name) == kept
    metastore.alter_table(
        table.name, replace(metastore.table(table.name), columns=(Column.of("b", "string"),))
    )
    assert metastore.statistics(table.name).columns == (TEXT,)
    metastore.drop_table(table.name)
    again_made = make_table()
    assert metastore.statistics(again_made.name) == empty(again_made, backend)


def test_of_partitions(metastore: Metastore, make_table: MakeTable) -> None:
    name = make_table(partitioned_by=("p", "q")).name
    none = Statistics(rows=0, is_accurate=True, partitions=0, known_everywhere=("a",))
    assert metastore.statistics(name) == none
    values: tuple[str | None, ...] = ("a/b", None)
    metastore.add_partitions(name, [Partition(values=values, location="")])
    found = Statistics(values=values, rows=4, files=1, bytes=10, columns=(NUMBER,))
    metastore.put_statistics(name, [found])
    assert metastore.statistics(name, values) == found
    assert metastore.statistics(name) == replace(
        found, values=None, columns=(NUMBER,), partitions=1, is_accurate=False,
        known_everywhere=(NUMBER.name,),
    )  # fmt: skip
    with pytest.raises(NoSuchObject):
        metastore.statistics(name, ("x", "y"))
    metastore.drop_partitions(name, [values])
    metastore.add_partitions(name, [Partition(values=values, location="")])
    assert metastore.statistics(name, values) == Statistics(values=values)
