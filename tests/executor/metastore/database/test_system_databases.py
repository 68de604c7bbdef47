"""``sys`` and ``information_schema`` beside databases that have these names."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from executor.metastore.conftest import Store
from hivesql_executor.metastore.database.schema import sds
from hivesql_executor.metastore.system_databases import (
    find_database,
    find_table,
    find_tables,
    is_system_database,
)
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.table import Column, Database, Table, TableName
from hivesql_planner.system_tables.definitions import SYSTEM_DATABASES

DBS = TableName("sys", "dbs")
COLUMNS = (Column.of("mine", "int"),)


@pytest.mark.parametrize("name", SYSTEM_DATABASES)
def test_they_are_there_where_the_metastore_has_none(store: Store, name: str) -> None:
    assert is_system_database(name, store.calls)
    assert find_database(name.upper(), store.calls).name == name
    assert all(find_table(table, store.calls).is_system for table in find_tables(name, store.calls))
    with pytest.raises(NoSuchObject, match=r"no_such .* has .*transactions"):
        find_table(TableName(name, "no_such"), store.calls)
    assert name not in store.calls.databases()


def test_a_database_of_ones_own_wins(store: Store) -> None:
    store.calls.create_database(Database(name="sys", location="/s"))
    assert find_tables("sys", store.calls) == ()
    with pytest.raises(NoSuchObject):
        find_table(DBS, store.calls)
    store.calls.create_table(Table(name=DBS, columns=COLUMNS, location=""))
    assert find_table(DBS, store.calls).columns == COLUMNS
    assert is_system_database("information_schema", store.calls)


def test_those_of_hives_schema_tool_do_not(store: Store) -> None:
    for name in SYSTEM_DATABASES:
        store.calls.create_database(Database(name=name, location=f"/{name}"))
    store.calls.create_table(Table(name=DBS, columns=COLUMNS, location=""))
    # A storage handler has neither an input format nor a directory.
    store.rdbms.write(lambda db: db.execute(update(sds).values(input_format=None)))
    view = Table(
        name=TableName("information_schema", "tables"), columns=COLUMNS, location="",
        type="VIRTUAL_VIEW", format="textfile",
        view_text="SELECT 1 AS `mine` WHERE NOT restrict_information_schema()",
    )  # fmt: skip
    store.calls.create_table(view)
    assert is_system_database("sys", store.calls)
    assert find_table(DBS, store.calls).is_system
    assert find_table(view.name, store.calls).is_system


def test_other_names_are_the_metastores(store: Store) -> None:
    with pytest.raises(NoSuchObject) as database:
        find_database("nowhere", store.calls)
    with pytest.raises(NoSuchObject) as table:
        find_table(TableName("default", "nothing"), store.calls)
    assert (database.value.code, table.value.code) == (10072, 10001)
