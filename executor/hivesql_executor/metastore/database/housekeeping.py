"""What time does to transactions: expire the silent ones, forget the ended ones."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Exists,
    bindparam,
    delete,
    exists,
    func,
    or_,
    select,
)

from hivesql_executor.metastore.database.catalog.catalog_values import due_since
from hivesql_executor.metastore.database.compactions import release_lost
from hivesql_executor.metastore.database.connection import millis_now, now
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.notification_schema import notification_log
from hivesql_executor.metastore.database.schema import (
    completed_txn_components,
    hive_locks,
    min_history_level,
    txn_components,
    txn_to_write_id,
    txns,
    write_set,
)
from hivesql_executor.metastore.database.transactions import moves, object_locks
from hivesql_executor.metastore.database.transactions.openings import low_watermark, lowest_open
from hivesql_executor.metastore.database.transactions.transactions import (
    IS_OPEN,
    IS_UNENDED,
    abort_txns,
)
from hivesql_executor.metastore.database.transactions.txn_rows import ABORTED, COMMITTED

# Hive aborts at most so many in one pass.
_MAX_EXPIRED = 50_000


def is_due(db: Connection, timeout: float, time_to_live: float) -> bool:
    """Tell if anything is worth writing: someone silent, old events, much that has ended."""
    return bool(db.scalar(DUE, due_since(now(db), timeout, time_to_live)))


def _any(*conditions: ColumnElement[bool]) -> Exists:
    return exists().where(*conditions)


_OLDEST = bindparam("oldest", type_=BigInteger())
DUE = select(
    or_(
        _any(hive_locks.c.txn_id == 0, hive_locks.c.last_heartbeat < _OLDEST),
        _any(object_locks.is_silent(_OLDEST)),
        _any(IS_OPEN, txns.c.last_heartbeat < _OLDEST),
        _any(moves.are_lost(_OLDEST)),
        _any(notification_log.c.time < bindparam("logged", type_=BigInteger())),
        select(func.count()).select_from(txns).scalar_subquery() > bindparam("many"),
    ).label("found")
)
"""Whether anything is worth writing, since the moments of ``due_since``."""


def reap(db: Connection, timeout: float) -> tuple[int, ...]:
    """Abort transactions, and delete locks without one, silent for ``timeout`` seconds.

    Whose directories are still half moved keeps its locks: its table's rows are elsewhere, and
    what others would write in their place could not be told from them.
    """
    oldest = millis_now() - int(timeout * 1000)
    locks = hive_locks.c
    db.execute(delete(hive_locks).where(locks.txn_id == 0, locks.last_heartbeat < oldest))
    object_locks.reap(db, now(db) - int(timeout * 1000))
    # Held until the abort: a heartbeat that comes meanwhile is answered with the loss.
    silent = (
        select(txns.c.id)
        .where(IS_OPEN, txns.c.last_heartbeat < oldest)
        .where(~exists().where(moves.moves.c.txn_id == txns.c.id))
        .order_by(txns.c.id)
        .limit(_MAX_EXPIRED)
        .with_for_update()
    )
    gone = abort_txns(db, db.scalars(silent).all(), "heartbeat time-out")
    release_lost(db, gone)
    return gone


def clean_txns(db: Connection) -> None:
    """Forget ended transactions that left nothing behind, and history that nobody needs."""
    _forget_ended(db)
    db.execute(delete(write_set).where(write_set.c.commit_id < lowest_open(db)))
    _forget_write_ids(db)
    _forget_duplicates(db)


def _forget_ended(db: Connection) -> None:
    # The latest row stays: it is the high watermark of snapshots.
    db.execute(
        delete(txns).where(
            txns.c.state.in_((ABORTED, COMMITTED)),
            txns.c.id < low_watermark(db),
            ~exists().where(txn_components.c.txn_id == txns.c.id),
        )
    )


def _forget_write_ids(db: Connection) -> None:
    """Forget write ids of transactions that everybody sees: without a row they count as committed.

    A transaction may get its write id after younger ones have got theirs. As long as one of these
    is remembered, so is a greater id: it is how far snapshots reach.
    """
    latest = int(db.scalar(select(func.max(txns.c.id))) or 0)
    limits = [
        latest + 1,
        db.scalar(select(func.min(txns.c.id)).where(IS_UNENDED, txns.c.state == ABORTED)),
        db.scalar(select(func.min(min_history_level.c.min_open))),
    ]
    lowest = min(limit for limit in limits if limit is not None)
    ours, newer = txn_to_write_id.c, terms_of(db).reread(txn_to_write_id)
    reached = exists().where(
        newer.c.database == ours.database,
        newer.c.table == ours.table,
        newer.c.txn_id >= lowest,
        newer.c.write_id < ours.write_id,
    )
    db.execute(delete(txn_to_write_id).where(ours.txn_id < lowest, ~reached))


def _forget_duplicates(db: Connection) -> None:
    """Keep of each unit the newest write and the newest update or delete."""
    ours, newer = completed_txn_components.c, terms_of(db).reread(completed_txn_components)
    db.execute(
        delete(completed_txn_components).where(
            exists().where(
                newer.c.database == ours.database,
                newer.c.table == ours.table,
                newer.c.partition.is_not_distinct_from(ours.partition),
                newer.c.write_id > ours.write_id,
                or_(ours.update_delete == "N", newer.c.update_delete == "Y"),
            )
        )
    )
