"""The databases of temporary tables: whose they are, and the end of those whose session died."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.definitions import take_steps
from hivesql_executor.transactions.reaper import is_alive
from hivesql_planner.definitions.plan_definition import drop_database
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.table import TEMPORARY
from hivesql_planner.statements.bound import DropDatabase

_PLACE, _PROCESS = "hivesql.temporary.place", "hivesql.temporary.process"


def owner_properties(runtime: Runtime) -> Mapping[str, str]:
    """Tell what a database of temporary tables says of its session."""
    return {_PLACE: _place(runtime), _PROCESS: str(os.getpid())}


def _place(runtime: Runtime) -> str:
    """Tell where a process number means this process: containers of one name count their own."""
    namespace = Path("/proc/self/ns/pid")
    return f"{runtime.host}/{namespace.stat().st_ino if namespace.exists() else 0}"


def drop_orphans(runtime: Runtime) -> None:
    """Drop temporary tables whose session was a process of this host that is no more."""
    store, place = runtime.metastore, _place(runtime)
    for name in store.databases():
        if not name.startswith(TEMPORARY):
            continue
        try:
            properties = store.database(name).properties
            if properties.get(_PLACE) == place and not is_alive(properties.get(_PROCESS, "")):
                drop_temporary(name, runtime)
        except NoSuchObject:
            # Its session, or another one that cleans, was faster.
            continue


def drop_temporary(name: str, runtime: Runtime) -> None:
    """Drop one of these databases, and the session's directory with the last of them."""
    store = runtime.metastore
    database = store.database(name)
    root = database.location.rpartition("/")[0]
    tables = tuple(map(store.table, store.tables(name)))
    dropped = DropDatabase(
        name=name, if_exists=True, cascade=True, database=database, tables=tables
    )  # fmt: skip
    take_steps(drop_database(dropped), 0, runtime)
    files = runtime.files(root)
    if not files.all_directories(root):
        files.delete(root)
