"""The rows of a metastore's own tables as they are, for whoever asks for them by SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, LargeBinary, select

from hivesql_executor.metastore.database.schema import metadata


def stored_rows(
    db: Connection, names: Collection[str]
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return all rows of some tables at one moment; tables and columns by lower-case names."""
    rows: dict[str, Sequence[Mapping[str, Any]]] = {}
    for name in names:
        table = metadata.tables[name.upper()]
        columns = [column for column in table.c if not isinstance(column.type, LargeBinary)]
        keys = [column.name.lower() for column in columns]
        ordered = select(*columns).order_by(*table.primary_key.columns)
        rows[name] = [dict(zip(keys, row, strict=True)) for row in db.execute(ordered)]
    return rows
