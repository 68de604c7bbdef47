"""Constraints of a table as rows of KEY_CONSTRAINTS."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, insert, select

from hivesql_executor.metastore.schema import key_constraints
from hivesql_planner.table import Constraint, ConstraintKind, Table, TableName

# Hive's numbers.
_KINDS: tuple[ConstraintKind, ...] = (
    "primary key", "foreign key", "unique", "not null", "default", "check",
)  # fmt: skip
_ENABLED, _RELY = 4, 1


def add_constraints(db: Connection, table_id: int, table: Table) -> None:
    """Insert the constraints of a table that has none."""
    rows = [
        {
            "owner_id": table_id,
            "position": position,
            "name": one.name,
            "type": _KINDS.index(one.kind),
            "columns": ",".join(one.columns),
            "parent": str(one.parent) if one.parent else None,
            "parent_columns": ",".join(one.parent_columns),
            "options": _ENABLED * one.enabled + _RELY * one.rely,
            "text": one.text,
        }
        for position, one in enumerate(table.constraints)
    ]
    if rows:
        db.execute(insert(key_constraints), rows)


_OF_TABLE = (
    select(key_constraints)
    .where(key_constraints.c.owner_id == bindparam("owner"))
    .order_by(key_constraints.c.position)
)


def read_constraints(db: Connection, table_id: int) -> tuple[Constraint, ...]:
    """The constraints of a table, in their order."""
    return tuple(
        Constraint(
            kind=_KINDS[row.type],
            name=row.name,
            columns=_names(row.columns),
            text=row.text or "",
            parent=TableName(*row.parent.split(".", 1)) if row.parent else None,
            parent_columns=_names(row.parent_columns),
            enabled=bool(row.options & _ENABLED),
            rely=bool(row.options & _RELY),
        )
        for row in db.execute(_OF_TABLE, {"owner": table_id})
    )


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()
