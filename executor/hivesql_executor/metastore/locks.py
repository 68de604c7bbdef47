"""Lock requests: enqueue, check in order of arrival, release, show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, insert, or_, select, update

from hivesql_executor.metastore.api import LockAnswer, LockRow, LockState
from hivesql_executor.metastore.connection import millis_now, now
from hivesql_executor.metastore.schema import (
    hive_locks,
    next_lock_id,
    txn_components,
    txn_to_write_id,
    write_set,
)
from hivesql_executor.metastore.transactions import require_open
from hivesql_planner.errors import ExecutionError
from hivesql_planner.locks import STRENGTH, conflicts, merge
from hivesql_planner.plan import Lock, LockType, Operation

_CODES = {
    LockType.SHARED_READ: "r",
    LockType.SHARED_WRITE: "w",
    LockType.EXCL_WRITE: "x",
    LockType.EXCLUSIVE: "e",
}
_TYPES = {code: kind for kind, code in _CODES.items()}
_WAITING, _ACQUIRED = "w", "a"
_STATES = {_WAITING: LockState.WAITING, _ACQUIRED: LockState.ACQUIRED}
_REPLACING = (Operation.UPDATE, Operation.DELETE)
_of = hive_locks.c


def enqueue_locks(
    db: Connection,
    txn_id: int,
    locks: Sequence[Lock],
    *,
    user: str,
    host: str,
    agent_info: str,
) -> int:
    """Queue a request for all of ``locks`` together and record what they will write; its id."""
    locks = [_lower(lock) for lock in locks]
    if txn_id:
        require_open(db, txn_id)
        _record_components(db, txn_id, locks)
    # The id is given out and the rows become visible together: a later request never overtakes.
    counter = next_lock_id.c.next
    lock_id = db.execute(update(next_lock_id).values(next=counter + 1).returning(counter))
    new_id = int(lock_id.scalar_one()) - 1
    beat = 0 if txn_id else now(db)
    rows = [
        {
            "lock_id": new_id,
            "internal_id": position,
            "txn_id": txn_id,
            "database": lock.database,
            "table": lock.table,
            "partition": lock.partition,
            "state": _WAITING,
            "type": _CODES[lock.type],
            "last_heartbeat": beat,
            "user": user[:128],
            "host": host[:128],
            "agent_info": agent_info[:128] or None,
        }
        for position, lock in enumerate(merge(locks), start=1)
    ]
    if rows:
        db.execute(insert(hive_locks), rows)
    return new_id


def check_lock(
    db: Connection, lock_id: int, *, zero_wait_read: bool = False, exclusive_ctas: bool = False
) -> LockAnswer:
    """Grant the whole request unless an earlier one, granted or waiting, stands against it."""
    query = select(hive_locks).where(_of.lock_id == lock_id).order_by(_of.internal_id)
    txn_id = db.scalar(select(_of.txn_id).where(_of.lock_id == lock_id).limit(1))
    if txn_id:
        require_open(db, txn_id)
    # All checks and enqueues take turns here, else two requests could each be granted first.
    db.execute(select(next_lock_id).with_for_update())
    mine = db.execute(query).all()
    if not mine:
        raise ExecutionError(
            f"No such lock: lockid:{lock_id}. It timed out or was released; run the statement "
            "again",
            code=10270,
        )
    blocked = _blocked(db, lock_id, mine)
    if blocked is None:
        granted = {"state": _ACQUIRED, "acquired_at": now(db), "blocked_by_id": None}
        beat = 0 if mine[0].txn_id else millis_now()
        db.execute(
            update(hive_locks)
            .where(_of.lock_id == lock_id, _of.state == _WAITING)
            .values(granted | {"blocked_by_internal": None, "last_heartbeat": beat})
        )
        return LockAnswer(lock_id=lock_id, state=LockState.ACQUIRED)
    own, other = blocked
    reason = _refusal(own, other, zero_wait_read=zero_wait_read, exclusive_ctas=exclusive_ctas)
    if reason and own.txn_id:
        db.execute(delete(hive_locks).where(_of.lock_id == lock_id))
        return LockAnswer(lock_id=lock_id, state=LockState.NOT_ACQUIRED, reason=reason)
    this = and_(_of.lock_id == lock_id, _of.internal_id == own.internal_id)
    clear = update(hive_locks).where(_of.lock_id == lock_id)
    db.execute(clear.values(blocked_by_id=None, blocked_by_internal=None))
    db.execute(
        update(hive_locks)
        .where(this)
        .values(blocked_by_id=other.lock_id, blocked_by_internal=other.internal_id)
    )
    reason = f"blocked by {_describe(other)}"
    return LockAnswer(lock_id=lock_id, state=LockState.WAITING, reason=reason)


def unlock(db: Connection, lock_id: int) -> None:
    """Give up a request that waits or belongs to no transaction; unknown ones are ignored."""
    query = select(_of.txn_id, _of.state).where(_of.lock_id == lock_id).with_for_update()
    rows = db.execute(query).all()
    if any(txn_id and state == _ACQUIRED for txn_id, state in rows):
        raise ExecutionError(
            f"Unlocking locks associated with transaction not permitted: lockid:{lock_id} "
            f"txnid:{rows[0][0]}. Commit or abort the transaction"
        )
    db.execute(delete(hive_locks).where(_of.lock_id == lock_id))


def locks(
    db: Connection, database: str | None, table: str | None, partition: str | None
) -> tuple[LockRow, ...]:
    """Locks in the order of SHOW LOCKS: held ones first, weak before strong, then by id."""
    query = select(hive_locks)
    if database is not None:
        query = query.where(_of.database == database.lower())
    if table is not None:
        query = query.where(_of.table == table.lower())
    if partition is not None:
        query = query.where(_of.partition == partition)
    rows = (_lock_row(row) for row in db.execute(query))
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                row.state is not LockState.ACQUIRED,
                STRENGTH[row.type],
                row.lock_id,
                row.internal_id,
            ),
        )
    )


def newer_writer(db: Connection, txn_id: int, locks: Sequence[Lock]) -> int | None:
    """The latest transaction that changed, after ours began, what our write locks cover.

    Inserts do not count on either side, as in Hive's getLatestTxnIdInConflict.
    """
    units = [
        and_(
            write_set.c.database == lock.database,
            write_set.c.table == lock.table,
            *([] if lock.partition is None else [write_set.c.partition == lock.partition]),
        )
        for lock in map(_lower, locks)
        if lock.type in (LockType.EXCLUSIVE, LockType.EXCL_WRITE) and lock.operation in _REPLACING
    ]
    found: list[int] = []
    for start in range(0, len(units), 200):
        query = select(write_set.c.txn_id).where(
            or_(*units[start : start + 200]),
            write_set.c.txn_id != txn_id,
            write_set.c.commit_id >= txn_id,
            write_set.c.operation.in_([operation.value for operation in _REPLACING]),
        )
        found += db.scalars(query).all()
    return max(found, default=None)


def _record_components(db: Connection, txn_id: int, locks: Sequence[Lock]) -> None:
    """One TXN_COMPONENTS row per unit written; without partition when those are not known yet."""
    units: dict[tuple[str, str, str | None], Operation] = {}
    for lock in locks:
        if lock.operation not in (Operation.INSERT, *_REPLACING) or lock.table is None:
            continue
        partition = None if lock.dynamic_partition else lock.partition
        unit = (lock.database, lock.table, partition)
        if units.get(unit) not in _REPLACING:
            units[unit] = lock.operation
    owned = txn_to_write_id.c
    query = select(owned.database, owned.table, owned.write_id).where(owned.txn_id == txn_id)
    write_ids = {(database, table): id_ for database, table, id_ in db.execute(query)}
    rows = [
        {
            "txn_id": txn_id,
            "database": database,
            "table": table,
            "partition": partition,
            "operation": operation.value,
            "write_id": write_ids.get((database, table)),
        }
        for (database, table, partition), operation in units.items()
    ]
    if rows:
        db.execute(insert(txn_components), rows)


def _lower(lock: Lock) -> Lock:
    return replace(lock, database=lock.database.lower(), table=lock.table and lock.table.lower())


def _blocked(
    db: Connection, lock_id: int, mine: Sequence[Row[Any]]
) -> tuple[Row[Any], Row[Any]] | None:
    """My first component that has to wait, and the earlier one for which it waits."""
    txn_id = mine[0].txn_id
    foreign = or_(_of.txn_id == 0, _of.txn_id != txn_id)
    earlier = db.execute(
        select(hive_locks)
        .where(_of.lock_id < lock_id, _of.database.in_({row.database for row in mine}), foreign)
        .order_by(_of.lock_id, _of.internal_id)
    ).all()
    for own in mine:
        for other in earlier:
            if conflicts(_as_lock(own), _as_lock(other)):
                return own, other
    return None


def _as_lock(row: Row[Any]) -> Lock:
    return Lock(_TYPES[row.type], row.database, row.table, row.partition)


def _refusal(
    own: Row[Any], other: Row[Any], *, zero_wait_read: bool, exclusive_ctas: bool
) -> str | None:
    if exclusive_ctas:
        return (
            "Failed to initiate a concurrent CTAS operation with the same table name, "
            f"lockInfo : {{{_describe(other)}}}"
        )
    if zero_wait_read and _TYPES[own.type] is LockType.SHARED_READ:
        return (
            f"Unable to acquire read lock due to an existing exclusive lock {{{_describe(other)}}}"
        )
    return None


def _describe(row: Row[Any]) -> str:
    where = ".".join(filter(None, (row.database, row.table, row.partition)))
    state = _STATES[row.state].lower()
    return (
        f"lock {row.lock_id}.{row.internal_id} {_TYPES[row.type]} ({state}) on {where} "
        f"of transaction {row.txn_id} by {row.user}@{row.host}"
    )


def _lock_row(row: Row[Any]) -> LockRow:
    blocker = None
    if row.blocked_by_id is not None:
        blocker = f"{row.blocked_by_id}.{row.blocked_by_internal}"
    return LockRow(
        lock_id=row.lock_id,
        internal_id=row.internal_id,
        database=row.database,
        table=row.table,
        partition=row.partition,
        state=_STATES[row.state],
        blocked_by=blocker,
        type=_TYPES[row.type],
        txn_id=row.txn_id,
        last_heartbeat=row.last_heartbeat,
        acquired_at=row.acquired_at,
        user=row.user,
        host=row.host,
        agent_info=row.agent_info,
    )
