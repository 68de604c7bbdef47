"""Locks on objects, for sessions under DummyTxnManager: no queue, all or nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, update

from hivesql_executor.metastore.api import ObjectLockRow
from hivesql_executor.metastore.database.connection import millis_now, now
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.schema import object_locks as table
from hivesql_planner.locks.lock import ObjectLock

_MUTEX = "ObjectLocks"
_CHUNK = 500


def take(db: Connection, locks: Sequence[ObjectLock], row: ObjectLockRow) -> ObjectLockRow | None:
    """Take all of ``locks`` or none; the lock that stands against the first that fails.

    ``row`` tells who asks; those of a statement (not explicit) must be kept alive.
    """
    # Imported late: only DummyTxnManager has such locks.
    from hivesql_planner.locks.object_locks import blocks

    terms_of(db).hold_mutex(db, _MUTEX)
    names = [lock.name for lock in locks]
    there = [other for other in _rows(db, names) if other.query_id != row.query_id]
    for requested in locks:
        for other in there:
            if blocks(requested, ObjectLock((other.name,), other.exclusive)):
                return other
    moment = now(db)
    values = [
        {
            "name": lock.name,
            "exclusive": lock.exclusive,
            "explicit": row.explicit,
            "query_id": row.query_id,
            "query_text": row.query_text,
            "user": row.user[:128],
            "host": row.host[:128],
            "taken": moment,
            "last_heartbeat": 0 if row.explicit else moment,
        }
        for lock in locks
    ]
    db.execute(insert(table), values)
    return None


def release(db: Connection, query_id: str) -> None:
    """Free the locks of a statement."""
    db.execute(delete(table).where(table.c.query_id == query_id, ~table.c.explicit))


def unlock(db: Connection, name: str) -> bool:
    """Free the explicit locks on an object, whoever took them; False when there are none."""
    mine = delete(table).where(table.c.name == name, table.c.explicit)
    return bool(db.execute(mine).rowcount)


def beat(db: Connection, query_id: str) -> None:
    """Keep the locks of a statement alive."""
    mine = update(table).where(table.c.query_id == query_id, ~table.c.explicit)
    db.execute(mine.values(last_heartbeat=millis_now()))


def reap(db: Connection, oldest: int) -> None:
    """Free the locks of statements that have been silent since before ``oldest``."""
    db.execute(delete(table).where(is_silent(oldest)))


def is_silent(oldest: int | ColumnElement[int]) -> ColumnElement[bool]:
    """Locks of statements that have been silent since before ``oldest``."""
    return and_(~table.c.explicit, table.c.last_heartbeat < oldest)


def locks(db: Connection) -> tuple[ObjectLockRow, ...]:
    """All locks, by name, exclusive ones first."""
    return tuple(sorted(_rows(db, None), key=lambda row: (row.name, not row.exclusive)))


def _rows(db: Connection, names: Collection[str] | None) -> list[ObjectLockRow]:
    query = select(table)
    queries = [query]
    if names is not None:
        listed = list(names)
        queries = [
            query.where(table.c.name.in_(listed[start : start + _CHUNK]))
            for start in range(0, len(listed), _CHUNK)
        ]
    return [
        ObjectLockRow(
            name=row.name,
            exclusive=row.exclusive,
            explicit=row.explicit,
            query_id=row.query_id,
            query_text=row.query_text,
            user=row.user,
            host=row.host,
            taken=row.taken,
        )
        for query in queries
        for row in db.execute(query)
    ]
