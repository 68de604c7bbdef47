"""Locations of a warehouse that was moved: what begins with the old path gets the new one."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, Connection, String, func, literal, or_, select, update

from hivesql_executor.metastore.database.schema import (
    dbs,
    function_resources,
    sds,
    serde_params,
    table_params,
)
from hivesql_executor.metastore.database.transactions.moves import moves
from hivesql_planner.errors import NoSuchObject

_SCHEMA_PLACE = "avro.schema.url"
_LOCAL = ("", "file:", "file://")
"""How places on a disk of the host may begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocated:
    """How many locations were changed, or would be."""

    databases: int
    tables: int
    """Locations of tables and partitions."""
    others: int
    """Jars of functions, Avro schemas, and files on their way when a program died."""


def relocate(db: Connection, old: str, new: str, *, dry_run: bool = False) -> Relocated:
    """Let every location at ``old`` or below be at ``new``; NoSuchObject where there is none.

    Both are complete, without a slash at the end. A path of the host's disks counts with ``file:``
    before it too. As Hive's ``metatool -updateLocation``, which knows no place of a jar.
    """
    counts = Relocated(
        databases=_count(db, dbs.c.location, old, new, dry_run=dry_run)
        + _count(db, dbs.c.managed_location, old, new, dry_run=dry_run),
        tables=_count(db, sds.c.location, old, new, dry_run=dry_run),
        others=_count(db, function_resources.c.place, old, new, dry_run=dry_run)
        + _count(db, moves.c.source, old, new, dry_run=dry_run)
        + _count(db, moves.c.target, old, new, dry_run=dry_run)
        + sum(
            _count(
                db, params.c.value, old, new, where=params.c.name == _SCHEMA_PLACE, dry_run=dry_run
            )
            for params in (table_params, serde_params)
        ),
    )
    if not (counts.databases or counts.tables or counts.others):
        homes = db.execute(select(dbs.c.location).order_by(dbs.c.location).limit(3)).scalars()
        raise NoSuchObject(
            f"no location is {old} or below it. Databases are at {', '.join(homes)}: name the "
            "directory as the catalog has it"
        )
    return counts


def _count(
    db: Connection,
    column: Column[str | None],
    old: str,
    new: str,
    *,
    where: ColumnElement[bool] | None = None,
    dry_run: bool,
) -> int:
    """Change a column's locations, if it is not to be tried only; how many there are."""
    count = 0
    for before, after in _spellings(old, new):
        is_meant = or_(
            column == before, func.substr(column, 1, len(before) + 1) == f"{before}/"
        )  # not LIKE, for which letters of either case are alike in some databases
        chosen = is_meant if where is None else is_meant & where
        if dry_run:
            counted = select(func.count()).select_from(column.table).where(chosen)
            count += db.execute(counted).scalar_one()
            continue
        rest = func.substr(column, len(before) + 1, type_=String())
        moved = update(column.table).where(chosen).values({column: literal(after).concat(rest)})
        count += db.execute(moved).rowcount
    return count


def _spellings(old: str, new: str) -> list[tuple[str, str]]:
    """Pair the ways in which the catalog may have written the old place with the new one."""
    if not old.startswith("/"):
        return [(old, new)]
    return [(scheme + old, (scheme if new.startswith("/") else "") + new) for scheme in _LOCAL]
