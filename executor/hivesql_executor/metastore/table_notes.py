"""A property of a table that is set by a commit: what a stream has consumed, say."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert

from hivesql_executor.metastore.database.catalog import tables as catalog
from hivesql_executor.metastore.database.notification_log import note_change
from hivesql_executor.metastore.database.schema import table_params
from hivesql_planner.cache.events import EventKind
from hivesql_planner.model.table import TableName


@dataclass(frozen=True, slots=True)
class TableNote:
    """The property's new value."""

    table: TableName
    key: str
    value: str


def set_property(db: Connection, note: TableNote) -> None:
    """Set it, in the database transaction that commits."""
    owner = catalog.table_id(db, note.table)
    rows = table_params
    db.execute(delete(rows).where(rows.c.owner_id == owner, rows.c.name == note.key))
    note_change(db, EventKind.ALTER_TABLE, note.table, owner)
    db.execute(insert(rows).values(owner_id=owner, name=note.key, value=note.value))
