"""Names looked up in a metastore and then in ``sys`` and ``information_schema``, which it lacks.

A database of a user's own that has one of these names wins, whatever is in it; those that Hive's
schema tool has made do not, as their tables read by JDBC what ours show.
"""

from __future__ import annotations

from hivesql_executor.metastore.api import Metastore
from hivesql_planner.errors import DataError, NoSuchObject
from hivesql_planner.model.table import Database, Table, TableName
from hivesql_planner.system_tables.definitions import (
    INFORMATION_SCHEMA,
    SYS,
    SYSTEM_DATABASES,
    system_table,
    system_table_names,
)

_RESTRICTED = "restrict_information_schema()"
"""What all views of Hive's ``information_schema`` ask."""


def find_database(name: str, store: Metastore) -> Database:
    """Return the database of that name; NoSuchObject 10072 where there is none."""
    system = SYSTEM_DATABASES.get(name.lower())
    try:
        database = store.database(name)
    except NoSuchObject:
        if system is None:
            raise
        return system
    return database if system is None or not _is_hives(system.name, store) else system


def _is_hives(database: str, store: Metastore) -> bool:
    """Tell whether a database is the work of Hive's schema tool, by a table that each has."""
    try:
        if database == SYS:
            store.table(TableName(SYS, "dbs"))
            return False
        view = store.table(TableName(INFORMATION_SCHEMA, "tables"))
    except NoSuchObject:
        return False
    except DataError:
        # By a storage handler it has no format.
        return database == SYS
    return view.is_view and _RESTRICTED in (view.view_text or "")


def is_system_database(name: str, store: Metastore) -> bool:
    """Tell whether a database is one that no metastore holds."""
    return name in SYSTEM_DATABASES and find_database(name, store) is SYSTEM_DATABASES[name]


def find_table(name: TableName, store: Metastore) -> Table:
    """Return the table of that name; NoSuchObject 10001 where there is none."""
    lower = name.lower()
    if not is_system_database(lower.database, store):
        return store.table(name)
    table = system_table(lower)
    if table is None:
        names = ", ".join(known.name for known in system_table_names(lower.database))
        problem = f"Table not found: {lower} ({lower.database} has {names})"
        raise NoSuchObject(problem, code=10001)
    return table


def find_tables(database: str, store: Metastore) -> tuple[TableName, ...]:
    """Return the names of a database's tables and views."""
    if is_system_database(database.lower(), store):
        return system_table_names(database.lower())
    return store.tables(database)
