"""The tables of a metastore's database, read as they are."""

from __future__ import annotations

import pytest

from executor.metastore.conftest import Store
from hivesql_executor.metastore.database.schema import metadata
from hivesql_planner.model.table import Column, Table, TableName
from hivesql_planner.system_tables.definitions import SYSTEM_DATABASES, system_table_names
from hivesql_planner.system_tables.views import stored_tables_of


def test_rows_tell_what_was_put_into_the_catalog(store: Store) -> None:
    name = TableName("default", "rows")
    columns = (Column.of("a", "int"), Column.of("b", "decimal(5,2)"))
    store.calls.create_table(Table(name=name, columns=columns, location=""))
    rows = store.calls.stored_rows(["tbls", "columns_v2", "dbs"])
    (table,) = [row for row in rows["tbls"] if row["tbl_name"] == "rows"]
    assert table["is_rewrite_enabled"] is False
    assert {row["db_id"]: row["name"] for row in rows["dbs"]}[table["db_id"]] == "default"
    described = [(row["column_name"], row["type_name"]) for row in rows["columns_v2"]]
    assert described[-2:] == [("a", "int"), ("b", "decimal(5,2)")]


@pytest.mark.parametrize("database", SYSTEM_DATABASES)
def test_every_system_table_can_be_made_of_what_is_stored(store: Store, database: str) -> None:
    names = {name for table in system_table_names(database) for name in stored_tables_of(table)}
    names -= {"hivesql_history", "hivesql_table_layout", "hivesql_settings"}
    assert {name.upper() for name in names} <= metadata.tables.keys()
    assert store.calls.stored_rows(names).keys() == names
