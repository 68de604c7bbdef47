"""Increments of a table: what has happened since a version, and the version to go on from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from hivesql.dbapi_literals import literal
from hivesql_executor.snapshot.versions import decided_writes, version_at
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.settings.session_zone import fixed_zone

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from hivesql_executor.runtime import Runtime
    from hivesql_planner.model.table import TableName


class TableChanges(NamedTuple):
    """Rows with ``_change_type`` and ``_write_id``; ``version`` is the last that they tell of."""

    rows: DataFrame
    version: int


def starting_version(table: TableName, since: int | datetime, runtime: Runtime) -> int:
    """Return the version after which changes are wanted; a time without zone is the session's."""
    if isinstance(since, datetime):
        zone = since.tzinfo or fixed_zone(runtime.settings)
        return version_at(table, since.replace(tzinfo=zone), runtime)
    if isinstance(since, bool) or not isinstance(since, int) or since < 0:
        raise SemanticError(f"a version is a number from 0 on, or a time, and not {since!r}")
    return since


def changes_since(
    table: TableName, since: int | datetime, key: str | Sequence[str], runtime: Runtime
) -> tuple[str, int]:
    """Return the query of the changes after a version, and the version that they lead to."""
    after = starting_version(table, since, runtime)
    last = decided_writes(table, runtime).high_watermark
    if after > last:
        raise SemanticError(
            f"{table} has no changes since version {after}: its versions go to {last}. A table "
            "that was made anew begins again: changes(…, since=0)"
        )
    return changes_text(table, after, last, key), last


def changes_text(
    table: TableName, after: int, last: int, key: str | Sequence[str], columns: Iterable[str] = ()
) -> str:
    """Return the query of the changes after one version up to another; without columns all."""
    wanted = ", ".join(map(quote_name, columns)) or "*"
    names = (key,) if isinstance(key, str) else key
    keys = "".join(f", {literal(name)}" for name in names)
    return f"SELECT {wanted} FROM table_changes({literal(str(table))}, {after + 1}, {last}{keys})"
