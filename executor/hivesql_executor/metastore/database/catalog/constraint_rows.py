"""Constraints of a table as rows of KEY_CONSTRAINTS."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, insert, select

from hivesql_executor.metastore.database.catalog.catalog_values import (
    CONSTRAINT_KINDS,
    ENABLED,
    RELY,
)
from hivesql_executor.metastore.database.schema import key_constraints
from hivesql_planner.model.names import join_names
from hivesql_planner.model.table import Table


def add_constraints(db: Connection, table_id: int, table: Table) -> None:
    """Insert the constraints of a table that has none."""
    rows = [
        {
            "owner_id": table_id,
            "position": position,
            "name": constraint.name,
            "type": CONSTRAINT_KINDS.index(constraint.kind),
            "columns": join_names(constraint.columns),
            "parent": str(constraint.parent) if constraint.parent else None,
            "parent_columns": join_names(constraint.parent_columns),
            "options": ENABLED * constraint.enabled + RELY * constraint.rely,
            "text": constraint.text,
        }
        for position, constraint in enumerate(table.constraints)
    ]
    if rows:
        db.execute(insert(key_constraints), rows)


CONSTRAINTS = (
    select(*(column.label(column.key) for column in key_constraints.c))
    .where(key_constraints.c.owner_id == bindparam("owner"))
    .order_by(key_constraints.c.position)
)
