"""Directories in which rows of transactional tables lie, and which nothing else may change.

Hive writes, empties and moves away whatever a statement names: a table whose directory it was has
lost its rows then, or has some more, and nobody is told.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator

from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.table import Table, TableName

_LOCAL = "file:"


def require_unowned(place: str, what: str, runtime: Runtime, *, below: bool = False) -> None:
    """Refuse a place at or below a transactional table's; ``below`` tells that all in it goes.

    Then no managed table may be in it either. ``what`` says what the statement would do there.
    """
    owner = _owner(place, runtime, below=below)
    if owner is not None:
        name, location = owner
        raise SemanticError(
            f"{what} {place} would change or destroy rows of {name}, whose directory is "
            f"{location}. Name another directory, or change the table by statements that name it"
        )


def require_own_places(
    table: Table, directories: Collection[str], runtime: Runtime, *, replaces: bool
) -> None:
    """Refuse to write files of a plain table into directories of transactional ones.

    Managed tables have none of those. ``replaces`` tells that files which are there go.
    """
    if table.type != "EXTERNAL_TABLE" or not table.id:
        return
    what = f"{'replacing' if replaces else 'adding'} files of {table.name} in"
    for place in _roots(table, directories):
        if not _is_no_others(table, place, runtime):
            require_unowned(place, what, runtime, below=replaces)


def owned_by(place: str, table: Table, runtime: Runtime) -> TableName | None:
    """Return the other table whose rows would go with a directory of a table without write ids.

    None where no rows would.
    """
    if table.type != "EXTERNAL_TABLE" or _is_no_others(table, place, runtime):
        return None
    owner = _owner(place, runtime, below=True)
    return owner and owner[0]


def _roots(table: Table, directories: Collection[str]) -> Iterator[str]:
    """Yield the table's directory for all that are in it, and others by themselves."""
    home = table.location
    if any(f"{directory}/".startswith(f"{home}/") for directory in directories):
        yield home
    yield from (path for path in directories if not f"{path}/".startswith(f"{home}/"))


def _is_no_others(table: Table, place: str, runtime: Runtime) -> bool:
    """Tell whether a place is where the table would be without LOCATION, for a Hive Metastore.

    It finds other tables by such names alone, in many calls; there all plain tables are external.
    """
    if runtime.metastore.keeps_rows:
        return False
    database = runtime.metastore.database(table.name.database)
    return place in (
        database.home_of(table.name.name, managed=managed) for managed in (False, True)
    )


def _owner(place: str, runtime: Runtime, *, below: bool) -> tuple[TableName, str] | None:
    return runtime.metastore.table_at([*_names(place, runtime)], below=below)


def _names(place: str, runtime: Runtime) -> Iterator[str]:
    """Yield what the catalog may call a place: links of this machine lead to the same one."""
    yield place
    path = place.removeprefix(_LOCAL)
    if not path.startswith("/"):
        return
    real = os.path.realpath(path)
    if real != path:
        yield real
    for home in _local_homes(runtime):
        linked = os.path.realpath(home)
        if linked != home and f"{real}/".startswith(f"{linked}/"):
            yield home + real[len(linked) :]
        elif linked != home and f"{linked}/".startswith(f"{real}/"):
            # The database as a whole is in it.
            yield home


def _local_homes(runtime: Runtime) -> Iterable[str]:
    """Return the directories of databases on this machine."""
    homes: dict[str, None] = {}
    for home in filter(None, _homes(runtime)):
        path = home.removeprefix(_LOCAL)
        if path.startswith("/"):
            homes[path.rstrip("/")] = None
    return homes


def _homes(runtime: Runtime) -> Iterator[str | None]:
    store = runtime.metastore
    if store.keeps_rows:
        # One call for all of them, before each write of a plain table that may need it.
        for row in store.stored_rows(["dbs"])["dbs"]:
            yield from (row["db_location_uri"], row["db_managed_location_uri"])
        return
    for name in store.databases():
        database = store.database(name)
        yield from (database.location, database.managed_location)
