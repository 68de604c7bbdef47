"""What must happen at most once: keys recorded in the database transaction of the commit."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, or_, select, update

from hivesql_executor.metastore.api import Done, Once
from hivesql_executor.metastore.database.connection import millis_now, now
from hivesql_executor.metastore.database.schema import idempotence
from hivesql_planner.errors import SemanticError


def done(db: Connection, once: Once) -> Done | None:
    """Tell who has done it; None when nobody has.

    SemanticError when the key belongs to another statement.
    """
    return _meaning(db.execute(_row(once)).one_or_none(), once)


def claim_key(db: Connection, once: Once) -> tuple[bool, Done | None]:
    """Tell whether the key is known, and who has done it or None; nobody changes that meanwhile."""
    row = db.execute(_row(once).with_for_update()).one_or_none()
    return row is not None, _meaning(row, once)


def record(db: Connection, once: Once, txn_id: int, *, is_claimed: bool) -> None:
    """Note who did it.

    Two that race for a new key cannot both insert it, and the one that fails is run again.
    """
    values = {"number": once.number, "digest": once.digest, "txn_id": txn_id,
              "committed": millis_now()}  # fmt: skip
    if is_claimed:
        db.execute(update(idempotence).where(idempotence.c.key == once.key).values(values))
    else:
        db.execute(insert(idempotence).values(values | {"key": once.key}))


def _row(once: Once) -> Select[Any]:
    of = idempotence.c
    return select(of.number, of.digest, of.txn_id, of.committed).where(of.key == once.key)


def _meaning(row: Row[Any] | None, once: Once) -> Done | None:
    if row is None:
        return None
    earlier = Done(txn_id=row.txn_id, committed=row.committed)
    if once.number is not None:
        return earlier if row.number is not None and row.number >= once.number else None
    if row.digest != once.digest:
        raise SemanticError(
            f"transaction {row.txn_id} has committed another statement under the idempotency key "
            f"{once.key!r}. Give a new key, or forget this one to run the statement"
        )
    return earlier


def forget_key(db: Connection, key: str) -> int:
    """Forget a key and those below it (``key/…``); how many there were."""
    of = idempotence.c
    below = or_(of.key == key, of.key.startswith(f"{key}/", autoescape=True))
    return db.execute(delete(idempotence).where(below)).rowcount


def forget_keys(db: Connection, seconds: float) -> None:
    """Forget keys older than that; the last batch of a stream is kept."""
    of = idempotence.c
    oldest = now(db) - int(seconds * 1000)
    db.execute(delete(idempotence).where(of.number.is_(None), of.committed < oldest))
