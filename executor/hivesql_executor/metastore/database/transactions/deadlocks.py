"""Find transactions that wait for each other in a circle, and abort the youngest."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from hivesql_executor.metastore.database.schema import hive_locks
from hivesql_executor.metastore.database.transactions.lock_rows import WAITING, as_lock
from hivesql_executor.metastore.database.transactions.transactions import DEADLOCK, abort_txns
from hivesql_planner.locks.deadlock import Queued, cycle, victim


@dataclass(frozen=True, slots=True)
class Broken:
    """A deadlock that was ended by aborting ``victim``."""

    victim: int
    reason: str


def break_deadlock(db: Connection, txn_id: int) -> Broken | None:
    """Abort the youngest of the transactions in a circle with ``txn_id``, if there is one.

    A transaction with a single request waits only for earlier ones and cannot close a circle; the
    one with the later request in a circle finds it when it asks.
    """
    of = hive_locks.c
    requests = select(func.count(of.lock_id.distinct())).where(of.txn_id == txn_id)
    if int(db.scalar(requests) or 0) < 2:
        return None
    queue = [
        Queued(
            request=row.lock_id,
            txn_id=row.txn_id,
            lock=as_lock(row),
            waiting=row.state == WAITING,
        )
        for row in db.execute(select(hive_locks))
    ]
    circle = cycle(queue, txn_id)
    if not circle:
        return None
    chosen = victim(circle)
    reason = f"{DEADLOCK}: transactions {', '.join(map(str, circle))} wait for each other"
    abort_txns(db, [chosen], reason)
    return Broken(chosen, reason)
