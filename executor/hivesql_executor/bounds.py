"""Which directories may be deleted because their table, partition or database is dropped."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from hivesql_executor.runtime import Runtime
from hivesql_planner.model.table import Database


def may_delete(location: str, database: str, runtime: Runtime) -> bool:
    """Whether a directory may go with what is dropped; when not, the user is told that it stays.

    A catalog that other programs wrote may hold paths that lead out of their database, or that
    hold the whole of it: nobody who drops one table wants to lose those.
    """
    reason = _reason(location, _homes(database, runtime))
    if reason is not None:
        runtime.notify(f"{location} {reason}: its files were left. Remove them by hand")
    return reason is None


def _homes(database: str, runtime: Runtime) -> Iterable[str]:
    store = runtime.metastore
    for found in (store.database("default"), store.database(database)):
        yield from _places(found)


def _places(database: Database) -> Iterable[str]:
    return filter(None, (database.location, database.managed_location))


def _reason(location: str, homes: Iterable[str]) -> str | None:
    parts = _parts(location)
    if ".." in parts:
        return "leads out of its directory by '..'"
    if any(_parts(home)[: len(parts)] == parts for home in homes):
        return "holds a whole database"
    return None


def _parts(location: str) -> tuple[str, ...]:
    """The parts of a path; that of a local file does not depend on how it is written."""
    return PurePosixPath(location.removeprefix("file://").removeprefix("file:")).parts
