"""Rows of HIVE_LOCKS as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hivesql_executor.metastore.api import LockRow, LockState
from hivesql_planner.locks.lock import Lock, LockType

if TYPE_CHECKING:
    from sqlalchemy import Row

CODES = {
    LockType.SHARED_READ: "r",
    LockType.SHARED_WRITE: "w",
    LockType.EXCL_WRITE: "x",
    LockType.EXCLUSIVE: "e",
}
TYPES = {code: kind for kind, code in CODES.items()}
WAITING, ACQUIRED = "w", "a"
STATES = {WAITING: LockState.WAITING, ACQUIRED: LockState.ACQUIRED}


def as_lock(row: Row[Any]) -> Lock:
    """Return the component that was asked for."""
    return Lock(TYPES[row.type], row.database, row.table, row.partition)


def describe(row: Row[Any]) -> str:
    """Return the lock and its holder, for the one who waits."""
    where = ".".join(filter(None, (row.database, row.table, row.partition)))
    state = STATES[row.state].lower()
    return (
        f"lock {row.lock_id}.{row.internal_id} {TYPES[row.type]} ({state}) on {where} "
        f"of transaction {row.txn_id} by {row.user}@{row.host}"
    )


def lock_row(row: Any) -> LockRow:
    """Give one row of SHOW LOCKS."""
    blocker = None
    if row.blocked_by_id is not None:
        blocker = f"{row.blocked_by_id}.{row.blocked_by_internal}"
    return LockRow(
        lock_id=row.lock_id,
        internal_id=row.internal_id,
        database=row.database,
        table=row.table,
        partition=row.partition,
        state=STATES[row.state],
        blocked_by=blocker,
        type=TYPES[row.type],
        txn_id=row.txn_id,
        last_heartbeat=row.last_heartbeat,
        acquired_at=row.acquired_at,
        user=row.user,
        host=row.host,
        agent_info=row.agent_info,
    )
