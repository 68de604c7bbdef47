"""Directories of managed tables must not overlap where one is transactional: rows would go lost.

Hive accepts it: dropping or compacting one table then deletes files of the other, and a reader
of one takes the other's deltas for its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select

from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.schema import dbs, partitions, sds, table_params, tbls
from hivesql_executor.metastore.database.transactions.moves import undeleted_directories
from hivesql_planner.definitions.places import directories_above, same_places, usual_location
from hivesql_planner.errors import SemanticError, StaleSnapshot
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


def refuse_undeleted_places(db: Connection, locations: Iterable[str]) -> None:
    """Fail where files of a dropped table are still to be deleted at, above or below a place.

    They would be rows again until they are, and rows that come there would go with them.
    """
    in_stores = [location for location in locations if "://" in location]
    undeleted = (
        {usual_location(place): place for place in undeleted_directories(db)} if in_stores else {}
    )
    for location in in_stores if undeleted else ():
        place, above = (
            usual_location(location),
            set(map(usual_location, directories_above(location))),
        )
        for usual, directory in undeleted.items():
            if usual == place or usual in above or usual.startswith(f"{place}/"):
                error = StaleSnapshot(
                    f"files of a dropped table could not be deleted yet, in {directory}, and would "
                    f"be rows in {location}. Run the statement again once the store lets them be "
                    "deleted"
                )
                error.needs_reaping = True
                raise error


def table_at(
    db: Connection, places: Collection[str], *, below: bool
) -> tuple[TableName, str] | None:
    """Find a table whose rows files at one of the places may be, and its directory.

    That is a transactional managed one whose directory, or a partition's, is at or above it, and
    with ``below`` also any managed one in it. None where there is no such table.
    """
    for place in places:
        path, is_local = _path(place)
        whose = _first(db, _at_or_above(path, is_local=is_local), transactional=True)
        if whose is None and below:
            whose = _first(db, _below(db, path, is_local=is_local), transactional=False)
        if whose is not None:
            return whose
    return None


_TABLES = (
    select(dbs.c.name, tbls.c.name, sds.c.location)
    .select_from(sds)
    .join(tbls, tbls.c.sd_id == sds.c.id)
    .join(dbs, dbs.c.id == tbls.c.database_id)
    .limit(1)
)
_PARTITIONS = (
    select(dbs.c.name, tbls.c.name, sds.c.location)
    .select_from(sds)
    .join(partitions, partitions.c.sd_id == sds.c.id)
    .join(tbls, tbls.c.id == partitions.c.table_id)
    .join(dbs, dbs.c.id == tbls.c.database_id)
    .limit(1)
)


def _table_at(
    db: Connection, location: str, *, but: int, any_kind: bool
) -> tuple[TableName, str] | None:
    """Return a managed table whose directory overlaps with the location, and that directory."""
    path, is_local = _path(location)
    overlaps = or_(_at_or_above(path, is_local=is_local), _below(db, path, is_local=is_local))
    return _first(db, and_(tbls.c.id != but, overlaps), transactional=not any_kind)


def _first(
    db: Connection, where: ColumnElement[bool], *, transactional: bool
) -> tuple[TableName, str] | None:
    """Find a managed table, or one of its partitions, in a directory that fulfils a condition."""
    for every in (_TABLES, _PARTITIONS):
        query = every.where(tbls.c.type == _MANAGED, where)
        row = db.execute(_transactional(query) if transactional else query).first()
        if row is not None:
            return TableName(row[0], row[1]), row[2]
    return None


def _transactional(query: Select[Any]) -> Select[Any]:
    return query.join(
        table_params,
        and_(
            table_params.c.owner_id == tbls.c.id,
            table_params.c.name == "transactional",
            table_params.c.value.in_(("true", "TRUE")),
        ),
    )


def _path(location: str) -> tuple[str, bool]:
    """Return a place without ``file:``, and whether it is one of this machine."""
    path = location.removeprefix(_LOCAL)
    return path, path.startswith("/")


def _at_or_above(path: str, *, is_local: bool) -> ColumnElement[bool]:
    return sds.c.location.in_(_spellings([path, *directories_above(path)], is_local=is_local))


def _below(db: Connection, path: str, *, is_local: bool) -> ColumnElement[bool]:
    location = terms_of(db).by_code_points(sds.c.location)
    # Behind every text that begins with the slash: the character that follows it.
    after = chr(ord("/") + 1)
    return or_(
        *(
            and_(location > f"{place}/", location < f"{place}{after}")
            for place in _spellings([path.rstrip("/")], is_local=is_local)
        )
    )


def _spellings(paths: list[str], *, is_local: bool) -> list[str]:
    """Return each place as the catalog may call it: a local one with and without ``file:``."""
    if is_local:
        return [*paths, *(f"{_LOCAL}{path}" for path in paths)]
    return [place for path in paths for place in same_places(path)]
