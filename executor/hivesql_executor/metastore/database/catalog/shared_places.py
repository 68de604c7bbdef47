"""Directories of managed tables must not overlap where one is transactional: rows would go lost.

Hive accepts it: dropping or compacting one table then deletes files of the other, and a reader
of one takes the other's deltas for its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from sqlalchemy import Connection, and_, or_, select

from hivesql_executor.metastore.database.schema import dbs, sds, table_params, tbls
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.table import Table, TableName

_MANAGED = "MANAGED_TABLE"
_LOCAL = "file:"


def refuse_shared_place(
    db: Connection, table: Table, locations: Iterable[str], *, but: int = 0
) -> None:
    """Refuse locations at, above or below another managed table, if one is transactional.

    ``but`` is the id of the table itself, 0 while it has none.
    """
    if table.type != _MANAGED:
        return
    for location in locations:
        other = _table_at(db, location, but=but, any_kind=table.is_transactional)
        if other is not None:
            name, place = other
            raise SemanticError(
                f"the location {location} of {table.name} overlaps with {place} of {name}: "
                "dropping or compacting one of them would delete files of the other. "
                "Name another directory, or make the table EXTERNAL to read files there"
            )


def _table_at(
    db: Connection, location: str, *, but: int, any_kind: bool
) -> tuple[TableName, str] | None:
    """Return a managed table whose directory overlaps with the location, and that directory."""
    path = location.removeprefix(_LOCAL)
    is_local = path.startswith("/")
    above = [str(parent) for parent in PurePosixPath(path).parents] if is_local else _above(path)
    query = (
        select(dbs.c.name, tbls.c.name, sds.c.location)
        .join(dbs, dbs.c.id == tbls.c.database_id)
        .join(sds, sds.c.id == tbls.c.sd_id)
        .where(
            tbls.c.type == _MANAGED,
            tbls.c.id != but,
            or_(
                sds.c.location.in_(_spellings([path, *above], is_local=is_local)),
                *(
                    sds.c.location.startswith(f"{place}/", autoescape=True)
                    for place in _spellings([path], is_local=is_local)
                ),
            ),
        )
        .limit(1)
    )
    if not any_kind:
        query = query.join(
            table_params,
            and_(
                table_params.c.owner_id == tbls.c.id,
                table_params.c.name == "transactional",
                table_params.c.value.in_(("true", "TRUE")),
            ),
        )
    row = db.execute(query).first()
    return row and (TableName(row[0], row[1]), row[2])


def _above(path: str) -> list[str]:
    """Return the directories above one of another file system, without its root."""
    scheme, slashes, rest = path.partition("://")
    parents = PurePosixPath(rest).parents
    return [f"{scheme}{slashes}{parent}" for parent in parents if str(parent) != "."]


def _spellings(paths: list[str], *, is_local: bool) -> list[str]:
    """Return each place with and without ``file:``, which mean the same."""
    return [*paths, *(f"{_LOCAL}{path}" for path in paths)] if is_local else paths
