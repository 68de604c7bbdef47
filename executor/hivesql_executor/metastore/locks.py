"""HIVE_LOCKS: enqueue, check, release, show. Functions take an open ``db`` and never commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from hivesql_executor.metastore import schema as s
from hivesql_executor.metastore import transactions
from hivesql_executor.metastore.api import LockAnswer, LockRow, LockState
from hivesql_planner.locks import STRENGTH, conflicts
from hivesql_planner.plan import Lock, LockType

_CODES = {
    LockType.SHARED_READ: "r",
    LockType.SHARED_WRITE: "w",
    LockType.EXCL_WRITE: "x",
    LockType.EXCLUSIVE: "e",
}
_TYPES = {code: kind for kind, code in _CODES.items()}
_hl = s.hive_locks.c


def enqueue(
    db: Connection, txn_id: int, locks: Sequence[Lock], now: int, *, user: str, host: str,
    agent_info: str,
) -> int:  # fmt: skip
    """Write a request, waiting; its id. What it is going to change is recorded with it."""
    if txn_id:
        transactions.check_open(db, txn_id)
        transactions.record_components(db, txn_id, locks)
    lock_id = int(db.scalar(select(s.next_lock_id.c.NL_NEXT)) or 1)
    db.execute(update(s.next_lock_id).values(NL_NEXT=lock_id + 1))
    rows = [
        {
            "HL_LOCK_EXT_ID": lock_id,
            "HL_LOCK_INT_ID": number,
            "HL_TXNID": txn_id,
            "HL_DB": lock.database,
            "HL_TABLE": lock.table,
            "HL_PARTITION": lock.partition,
            "HL_LOCK_STATE": "w",
            "HL_LOCK_TYPE": _CODES[lock.type],
            "HL_LAST_HEARTBEAT": 0 if txn_id else now,
            "HL_USER": user[:128],
            "HL_HOST": host[:128],
            "HL_AGENT_INFO": agent_info[:128],
        }
        for number, lock in enumerate(locks, 1)
    ]
    db.execute(insert(s.hive_locks), rows)
    return lock_id


def _lock(row: Mapping[str, Any]) -> Lock:
    return Lock(_TYPES[row["HL_LOCK_TYPE"]], row["HL_DB"], row["HL_TABLE"], row["HL_PARTITION"])


def check(db: Connection, lock_id: int, now: int) -> LockAnswer:
    """Grant the whole request unless any earlier request, granted or waiting, is in its way.

    Only earlier requests block, so locks are fair and a single-statement transaction cannot
    deadlock.
    """
    mine = db.execute(select(s.hive_locks).where(_hl.HL_LOCK_EXT_ID == lock_id)).mappings().all()
    if not mine:
        raise transactions.TransactionLost(
            f"No such lock: lockid:{lock_id}. It timed out or its transaction was aborted; "
            "run the statement again",
            code=10270,
        )
    txn_id = mine[0]["HL_TXNID"]
    if txn_id:
        transactions.check_open(db, txn_id)
    if all(row["HL_LOCK_STATE"] == "a" for row in mine):
        return LockAnswer(lock_id=lock_id, state=LockState.ACQUIRED)
    earlier = select(s.hive_locks).where(
        _hl.HL_LOCK_EXT_ID < lock_id, _hl.HL_DB.in_({row["HL_DB"] for row in mine})
    )
    others = [
        row
        for row in db.execute(earlier.order_by(_hl.HL_LOCK_EXT_ID)).mappings()
        if not (txn_id and row["HL_TXNID"] == txn_id)
    ]
    for row in mine:
        for other in others:
            if conflicts(_lock(row), _lock(other)):
                return _wait(db, row, other)
    granted = {
        "HL_LOCK_STATE": "a",
        "HL_ACQUIRED_AT": now,
        "HL_LAST_HEARTBEAT": 0 if txn_id else now,
        "HL_BLOCKEDBY_EXT_ID": None,
        "HL_BLOCKEDBY_INT_ID": None,
    }
    db.execute(update(s.hive_locks).where(_hl.HL_LOCK_EXT_ID == lock_id).values(granted))
    return LockAnswer(lock_id=lock_id, state=LockState.ACQUIRED)


def _wait(db: Connection, row: Mapping[str, Any], other: Mapping[str, Any]) -> LockAnswer:
    db.execute(
        update(s.hive_locks)
        .where(
            _hl.HL_LOCK_EXT_ID == row["HL_LOCK_EXT_ID"],
            _hl.HL_LOCK_INT_ID == row["HL_LOCK_INT_ID"],
        )
        .values(
            HL_BLOCKEDBY_EXT_ID=other["HL_LOCK_EXT_ID"],
            HL_BLOCKEDBY_INT_ID=other["HL_LOCK_INT_ID"],
        )
    )
    state = "holds" if other["HL_LOCK_STATE"] == "a" else "waits for"
    reason = (
        f"transaction {other['HL_TXNID']} ({other['HL_USER']}@{other['HL_HOST']}) {state} "
        f"{_lock(other)}, we want {_lock(row)}"
    )
    return LockAnswer(lock_id=row["HL_LOCK_EXT_ID"], state=LockState.WAITING, reason=reason)


def unlock(db: Connection, lock_id: int) -> None:
    """Release a request that waits or belongs to no transaction; others end with theirs."""
    row = db.execute(select(s.hive_locks).where(_hl.HL_LOCK_EXT_ID == lock_id)).mappings().first()
    if row is None:
        return
    if row["HL_TXNID"] and row["HL_LOCK_STATE"] == "a":
        raise transactions.ExecutionError(
            f"lock {lock_id} belongs to open transaction {row['HL_TXNID']}: commit or abort it"
        )
    db.execute(delete(s.hive_locks).where(_hl.HL_LOCK_EXT_ID == lock_id))


def locks(
    db: Connection, database: str | None, table: str | None, partition: str | None
) -> tuple[LockRow, ...]:
    """Rows of SHOW LOCKS: acquired first, then by type, then by id."""
    query = select(s.hive_locks)
    for column, wanted in ((_hl.HL_DB, database), (_hl.HL_TABLE, table)):
        if wanted is not None:
            query = query.where(column == wanted.lower())
    if partition is not None:
        query = query.where(_hl.HL_PARTITION == partition)
    rows = [_shown(row) for row in db.execute(query).mappings()]
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


def _shown(row: Mapping[str, Any]) -> LockRow:
    blocked = row["HL_BLOCKEDBY_EXT_ID"]
    return LockRow(
        lock_id=row["HL_LOCK_EXT_ID"],
        internal_id=row["HL_LOCK_INT_ID"],
        database=row["HL_DB"],
        table=row["HL_TABLE"],
        partition=row["HL_PARTITION"],
        state=LockState.ACQUIRED if row["HL_LOCK_STATE"] == "a" else LockState.WAITING,
        blocked_by=f"{blocked}.{row['HL_BLOCKEDBY_INT_ID']}" if blocked else None,
        type=_TYPES[row["HL_LOCK_TYPE"]],
        txn_id=row["HL_TXNID"],
        last_heartbeat=row["HL_LAST_HEARTBEAT"],
        acquired_at=row["HL_ACQUIRED_AT"],
        user=row["HL_USER"],
        host=row["HL_HOST"],
        agent_info=row["HL_AGENT_INFO"],
    )
