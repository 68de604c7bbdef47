"""The tables of ``sys`` and ``information_schema`` have the columns that Hive 4.1 gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivesql_planner.model.table import TableName
from hivesql_planner.system_tables.definitions import (
    HISTORY,
    LAYOUT,
    SETTINGS,
    SYSTEM_DATABASES,
    system_table,
    system_table_names,
)
from hivesql_planner.system_tables.views import Viewer, stored_tables_of, system_rows

HIVE = dict(
    line.split(": ")
    for line in (Path(__file__).parent / "hive-columns.txt").read_text().splitlines()
)
"""Columns of Hive's schema tool, by full name of the table."""
NAMES = [name for database in SYSTEM_DATABASES for name in system_table_names(database)]


@pytest.mark.parametrize("name", HIVE)
def test_a_table_has_the_columns_of_hives(name: str) -> None:
    table = system_table(TableName(*name.split(".")))
    assert table is not None
    assert " ".join(table.column_names) == HIVE[name]


def test_only_three_tables_are_not_hives() -> None:
    assert {str(name) for name in NAMES} - HIVE.keys() == {*map(str, (HISTORY, LAYOUT, SETTINGS))}


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_a_table_is_read_only_and_of_known_types(name: TableName) -> None:
    table = system_table(name)
    assert table is not None
    assert table.is_system
    assert table.is_frame, "it takes no locks"
    assert all(column.type.is_known for column in table.columns)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name not in (HISTORY, LAYOUT, SETTINGS)], ids=str
)
def test_a_metastore_without_rows_gives_none(name: TableName) -> None:
    table = system_table(name)
    assert table is not None
    rows = system_rows(table, dict.fromkeys(stored_tables_of(name), ()), Viewer())
    assert len(rows) == (name.name == "version")


def test_a_name_that_is_not_there_is_no_table() -> None:
    assert system_table(TableName("sys", "skewed_values")) is None
    assert system_table(TableName("other", "tables")) is None
