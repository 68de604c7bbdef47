"""INSERT … ON CONFLICT, which SQLite and PostgreSQL write alike."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, bindparam

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
        return int(db.execute(advancing(self.insert), place).scalar_one())

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
def advancing(insert: Callable[..., Any]) -> Any:
    """Compose what advances the counter of a table by ``:count``, and returns it."""
    first = insert(next_write_id).values(
        database=bindparam("in_database"), table=bindparam("in_table"), next=bindparam("count") + 1
    )
    advanced = first.on_conflict_do_update(
        index_elements=[_counter.database, _counter.table],
        set_={"next": _counter.next + bindparam("count")},
    )
    return advanced.returning(_counter.next)
