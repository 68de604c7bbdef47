"""Names looked up in a metastore and then in ``sys`` and ``information_schema``, which it lacks.

A database of a user's own that has one of these names wins, whatever is in it.
"""

from __future__ import annotations

from hivesql_executor.metastore.api import Metastore
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.table import Database, Table, TableName
from hivesql_planner.system_tables.definitions import (
    SYSTEM_DATABASES,
    system_table,
    system_table_names,
)


def find_database(name: str, store: Metastore) -> Database:
    """Return the database of that name; NoSuchObject 10072 where there is none."""
    try:
        return store.database(name)
    except NoSuchObject:
        if name.lower() not in SYSTEM_DATABASES:
            raise
        return SYSTEM_DATABASES[name.lower()]


def is_system_database(name: str, store: Metastore) -> bool:
    """Tell whether a database is one that no metastore holds."""
    return name in SYSTEM_DATABASES and find_database(name, store) is SYSTEM_DATABASES[name]


def find_table(name: TableName, store: Metastore) -> Table:
    """Return the table of that name; NoSuchObject 10001 where there is none."""
    try:
        return store.table(name)
    except NoSuchObject:
        name = name.lower()
        if not is_system_database(name.database, store):
            raise
        table = system_table(name)
        if table is None:
            names = ", ".join(known.name for known in system_table_names(name.database))
            problem = f"Table not found: {name} ({name.database} has {names})"
            raise NoSuchObject(problem, code=10001) from None
        return table


def find_tables(database: str, store: Metastore) -> tuple[TableName, ...]:
    """Return the names of a database's tables and views."""
    if is_system_database(database.lower(), store):
        return system_table_names(database.lower())
    return store.tables(database)
