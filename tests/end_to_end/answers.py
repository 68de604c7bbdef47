"""What the catalog and the queries of a session answer, in a form that can be compared."""

from __future__ import annotations

from typing import Any

import hivesql
from hivesql_planner.model.table import Table, TableName


def rows(session: hivesql.Session, sql: str) -> list[tuple[Any, ...]]:
    """A query's rows, sorted."""
    return sorted(tuple(row) for row in session.sql(sql).rows)


def table_of(session: hivesql.Session, name: str) -> Table:
    """A table of the catalog; of ``default`` when the name says no database."""
    database, _, short = name.rpartition(".")
    return session.runtime.metastore.table(TableName(database or "default", short))
