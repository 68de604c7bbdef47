"""Heartbeats and the reaper. Functions take an open ``db`` and never commit."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select, update

from hivesql_executor.metastore import schema as s
from hivesql_executor.metastore import transactions
from hivesql_planner.errors import TransactionLost

_tx, _hl = s.txns.c, s.hive_locks.c


def heartbeat(db: Connection, txn_id: int, lock_id: int, now: int) -> None:
    """Note that the owner of a transaction (0: none) and of a lock (0: none) is alive."""
    if txn_id:
        transactions.check_open(db, txn_id)
        mine = _tx.TXN_ID == txn_id
        db.execute(update(s.txns).where(mine).values(TXN_LAST_HEARTBEAT=now))
    if lock_id:
        query = update(s.hive_locks).where(_hl.HL_LOCK_EXT_ID == lock_id)
        touched = db.execute(query.values(HL_LAST_HEARTBEAT=now))
        if touched.rowcount == 0:
            raise TransactionLost(f"No such lock: lockid:{lock_id}", code=10270)


def reap(db: Connection, now: int, timeout: int) -> tuple[int, ...]:
    """Abort what has not been heard of for ``timeout`` milliseconds; which transactions."""
    limit = now - timeout
    db.execute(delete(s.hive_locks).where(_hl.HL_TXNID == 0, _hl.HL_LAST_HEARTBEAT < limit))
    expired = select(_tx.TXN_ID).where(_tx.TXN_STATE == "o", _tx.TXN_LAST_HEARTBEAT < limit)
    gone = tuple(int(one) for one in db.scalars(expired))
    for txn_id in gone:
        transactions.abort_txn(db, txn_id, "heartbeat time-out")
    return gone
