"""INSERT … ON CONFLICT, which SQLite and PostgreSQL write alike."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Select, bindparam

from hivesql_executor.metastore.database.dialects.execution import run
from hivesql_executor.metastore.database.dialects.terms import Terms
from hivesql_executor.metastore.database.schema import next_write_id

_counter = next_write_id.c


class OnConflict(Terms):
    """An RDBMS that has ON CONFLICT."""

    insert: Callable[..., Any]
    """The dialect's own INSERT, which knows ON CONFLICT; the two share no type."""

    def seed(self, db: Connection) -> None:
        """Do nothing: nothing more is needed."""

    def advance_write_ids(self, db: Connection, database: str, table: str, count: int) -> int:
        """Read and advance the counter in one statement."""
        place = {"in_database": database, "in_table": table, "count": count}
        return int(run(db, advancing(self.insert), place).scalar())

    def raise_write_id(self, db: Connection, database: str, table: str, to: int) -> None:
        """Insert the counter, or raise it, in one statement."""
        first = self.insert(next_write_id).values(database=database, table=table, next=to)
        db.execute(
            first.on_conflict_do_update(
                index_elements=[_counter.database, _counter.table],
                set_={"next": to},
                where=_counter.next < to,
            )
        )


@functools.cache
def advancing(insert: Callable[..., Any], first_row: Select[Any] | None = None) -> Any:
    """Compose what advances the counter of a table by ``:count``, and returns it.

    A query that gives the ``first_row`` decides whether it is done.
    """
    names = ("database", "table", "next")
    first = insert(next_write_id)
    if first_row is None:
        values: tuple[Any, ...] = (
            bindparam("in_database"),
            bindparam("in_table"),
            bindparam("count") + 1,
        )
        first = first.values(dict(zip(names, values, strict=True)))
    else:
        first = first.from_select(names, first_row, include_defaults=False)
    advanced = first.on_conflict_do_update(
        index_elements=[_counter.database, _counter.table],
        set_={"next": _counter.next + bindparam("count")},
    )
    return advanced.returning(_counter.next)
