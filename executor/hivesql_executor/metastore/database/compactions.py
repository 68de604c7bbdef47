"""The compaction queue and its states; functions take an open connection and never commit."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, func, insert, or_, select, update
from sqlalchemy import Table as SqlTable

from hivesql_executor.metastore.api import Compaction, CompactionAnswer
from hivesql_executor.metastore.database.connection import now
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.schema import (
    compaction_queue,
    completed_compactions,
    completed_txn_components,
    min_history_level,
    next_compaction_id,
    txn_components,
    txns,
)
from hivesql_executor.metastore.database.transactions.openings import lowest_open
from hivesql_executor.metastore.database.transactions.snapshots import (
    compactor_write_ids,
    valid_write_ids,
)
from hivesql_executor.metastore.database.transactions.txn_rows import ABORTED, OPEN
from hivesql_planner.acid.write_ids import ValidTxnList
from hivesql_planner.compaction.decide import Kind
from hivesql_planner.compaction.queue import ENDED, QUEUED
from hivesql_planner.compaction.queue import KINDS as KIND_NAMES
from hivesql_planner.compaction.request import (
    NO_DETAILS,
    CompactionDetails,
    format_properties,
    parse_properties,
)
from hivesql_planner.errors import ExecutionError
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.table import TableName

KINDS: dict[Kind, str] = {kind: code for code, kind in KIND_NAMES.items()}
_INITIATED, _WORKING, _READY = "i", "w", "r"
_FAILED, _SUCCEEDED, _REFUSED = "f", "s", "c"
STATE_NAMES = {**QUEUED, **ENDED}
_queue = compaction_queue.c
_CHUNK = 500


def enqueue_compaction(
    db: Connection, table: TableName, partition: str | None, kind: Kind, *, initiator_id: str,
    details: CompactionDetails = NO_DETAILS, run_as: str | None = None,
) -> CompactionAnswer:  # fmt: skip
    """Ask for a compaction; refused when the same one is queued or would find nothing new."""
    table = table.lower()
    terms_of(db).hold_mutex(db, "CompactionScheduler")
    highest = compactor_write_ids(db, table).high_watermark
    covers = and_(_queue.state == _READY, _queue.highest_write_id == highest)
    query = select(_queue.id, _queue.state).where(
        *_same_unit(compaction_queue, table, partition),
        or_(_queue.state.in_((_INITIATED, _WORKING)), covers),
    )
    scheduled = db.execute(query.order_by(_queue.id).limit(1)).one_or_none()
    if scheduled is not None:
        id_, state = scheduled
        error = f"Compaction is already scheduled with state='{STATE_NAMES[state]}' and id={id_}"
        return CompactionAnswer(id=-1, state="refused", accepted=False, error=error)
    queued = new_id(db)
    db.execute(
        insert(compaction_queue).values(
            id=queued,
            database=table.database,
            table=table.name,
            partition=partition,
            state=_INITIATED,
            kind=KINDS[kind],
            enqueued=now(db),
            initiator_id=initiator_id[:128],
            run_as=run_as and run_as[:128],
            properties=format_properties(details.properties),
            pool=details.pool,
            bucket_count=details.bucket_count,
            order_by=details.order_text,
        )
    )
    return CompactionAnswer(id=queued, state=STATE_NAMES[_INITIATED], accepted=True)


def new_id(db: Connection) -> int:
    """Return the next id of a compaction."""
    following = terms_of(db).advance(db, next_compaction_id.c.next)
    assert following is not None
    return following - 1


def next_compaction(
    db: Connection, worker_id: str, *, id: int | None = None, pool: str | None = None,
    pool_timeout: float | None = None,
) -> Compaction | None:  # fmt: skip
    """Claim the oldest waiting request of a pool, or the one with that id; None without one.

    Without a pool: of no pool, and those that waited for ``pool_timeout`` seconds (None: all).
    """
    query = select(_queue.id).where(_queue.state == _INITIATED).order_by(_queue.id)
    if id is not None:
        query = query.where(_queue.id == id)
    elif pool is not None:
        query = query.where(_queue.pool == pool)
    elif pool_timeout is not None:
        late = _queue.enqueued < now(db) - int(pool_timeout * 1000)
        query = query.where(or_(_queue.pool.is_(None), late))
    for waiting in db.scalars(query).all():
        claimed = db.execute(
            update(compaction_queue)
            .where(_queue.id == waiting, _queue.state == _INITIATED)
            .values(state=_WORKING, worker_id=worker_id[:128], started=now(db))
        )
        if claimed.rowcount:
            return as_compaction(locked_row(db, waiting))
    return None


def release_compactions(
    db: Connection, *, worker_id: str | None = None, silent: float | None = None
) -> int:
    """Queue again what a worker, or any since ``silent`` seconds, works on; how many."""
    query = update(compaction_queue).where(_queue.state == _WORKING)
    if worker_id is not None:
        query = query.where(_queue.worker_id == worker_id)
    if silent is not None:
        query = query.where(_queue.started < now(db) - int(silent * 1000))
    released = query.values(state=_INITIATED, worker_id=None, started=None, txn_id=None)
    return db.execute(released).rowcount


def release_lost(db: Connection, txn_ids: Collection[int]) -> None:
    """Queue again what was worked on under transactions that are lost: they cannot commit."""
    for start in range(0, len(txn_ids), _CHUNK):
        lost = _queue.txn_id.in_(list(txn_ids)[start : start + _CHUNK])
        db.execute(
            update(compaction_queue)
            .where(_queue.state == _WORKING, lost)
            .values(state=_INITIATED, worker_id=None, started=None, txn_id=None)
        )


def set_compaction_txn(db: Connection, id: int, txn_id: int, highest_write_id: int) -> None:
    """Record the transaction that compacts and how far its result will reach."""
    row = locked_row(db, id)
    db.execute(
        update(compaction_queue)
        .where(_queue.id == id)
        .values(txn_id=txn_id, highest_write_id=highest_write_id)
    )
    # As long as this row lives, an aborted compactor is remembered and its result is not seen.
    db.execute(
        insert(txn_components).values(
            txn_id=txn_id,
            database=row.database,
            table=row.table,
            partition=row.partition,
            operation=Operation.COMPACT.value,
            write_id=highest_write_id,
        )
    )


def mark_compacted(db: Connection, id: int, *, hold: float = 0) -> None:
    """Say that the result is written: the old directories wait for the cleaner.

    It comes no sooner than ``hold`` seconds after the commit, and Hive's neither.
    """
    if locked_row(db, id).state != _WORKING:
        raise ExecutionError(f"compaction {id} was taken from this worker, which was silent")
    db.execute(
        update(compaction_queue)
        .where(_queue.id == id)
        .values(state=_READY, worker_id=None, retry_retention=int(hold * 1000))
    )


def retained_compactions(db: Connection) -> tuple[Compaction, ...]:
    """Compacted units whose old directories wait on purpose, not since a cleaning failed."""
    waits = select(compaction_queue).where(
        _queue.state == _READY, _queue.retry_retention > 0, _queue.error.is_(None)
    )
    return tuple(as_compaction(row) for row in db.execute(waits.order_by(_queue.id)))


def end_retention(db: Connection, id: int) -> None:
    """Let the cleaner come as soon as it likes."""
    db.execute(
        update(compaction_queue)
        .where(_queue.id == id, _queue.state == _READY, _queue.error.is_(None))
        .values(retry_retention=0)
    )


def mark_failed(db: Connection, id: int, error: str, *, refused: bool = False) -> None:
    """Move a request to the history as failed or refused."""
    complete(db, locked_row(db, id), _REFUSED if refused else _FAILED, error)


def min_open_txn(db: Connection) -> int:
    """No open transaction has anything below this id undecided in its snapshot."""
    oldest_snapshot = db.scalar(select(func.min(min_history_level.c.min_open)))
    lowest = lowest_open(db)
    return lowest if oldest_snapshot is None else min(int(oldest_snapshot), lowest)


def ready_to_clean(
    db: Connection, *, delay: float = 0, limit: int = 1000
) -> tuple[Compaction, ...]:
    """Compacted units whose old directories no open transaction can need; the lowest of each.

    Those that committed less than ``delay`` seconds ago, or whose last cleaning failed a short
    time ago, are left out.
    """
    unfinished = select(txns.c.id).where(txns.c.state == OPEN)
    # Hive compares with <=, and then finds nothing to delete while its reader is open.
    ended = or_(
        _queue.next_txn_id < min_open_txn(db),
        and_(_queue.next_txn_id.is_(None), _queue.txn_id.is_(None)),
        and_(_queue.next_txn_id.is_(None), _queue.txn_id.not_in(unfinished)),
    )
    waiting = compaction_queue.alias()
    lower = select(waiting.c.id).where(
        waiting.c.state == _READY,
        waiting.c.database == _queue.database,
        waiting.c.table == _queue.table,
        waiting.c.partition.is_not_distinct_from(_queue.partition),
        or_(
            waiting.c.highest_write_id < _queue.highest_write_id,
            and_(
                waiting.c.highest_write_id == _queue.highest_write_id,
                waiting.c.id < _queue.id,
            ),
        ),
    )
    due = or_(
        _queue.committed.is_(None),
        _queue.committed + _queue.retry_retention <= now(db) - int(delay * 1000),
    )
    query = select(compaction_queue).where(_queue.state == _READY, ended, due, ~lower.exists())
    return tuple(as_compaction(row) for row in db.execute(query.order_by(_queue.id).limit(limit)))


def mark_cleaned(db: Connection, id: int, *, retained: Collection[int] = ()) -> None:
    """Move a cleaned request to the history and forget the writes that it covered.

    ``retained`` are aborted write ids whose rows still lie among others. What is not in the queue
    any more was cleaned by another cleaner meanwhile, or its table was dropped.
    """
    if (row := waiting_row(db, id)) is None:
        return
    table = TableName(row.database, row.table)
    completed = delete(completed_txn_components).where(
        *_same_unit(completed_txn_components, table, row.partition)
    )
    if row.highest_write_id:
        completed = completed.where(completed_txn_components.c.write_id <= row.highest_write_id)
    db.execute(completed)
    if row.next_txn_id is not None and row.highest_write_id:
        _forget_aborted(db, row, table, retained)
    complete(db, row, _SUCCEEDED, row.error)


def compactions(db: Connection) -> tuple[Compaction, ...]:
    """Queue and history, latest activity first (the order of SHOW COMPACTIONS)."""
    rows = [
        *db.execute(select(compaction_queue)).all(),
        *db.execute(select(completed_compactions)).all(),
    ]

    def order(row: Row[Any]) -> tuple[int, int, int]:
        ended = row._mapping.get(completed_compactions.c.ended)
        latest = max(ended or 0, row.started or 0, row.committed or 0)
        return -latest, row.enqueued or 0, row.id

    return tuple(as_compaction(row) for row in sorted(rows, key=order))


def _forget_aborted(
    db: Connection, row: Row[Any], table: TableName, retained: Collection[int]
) -> None:
    """Forget aborted writes whose directories the cleaner has deleted.

    Only such ids as the cleaner's own list could name: an aborted transaction that is forgotten
    while its files remain would count as committed.
    """
    before = row.next_txn_id
    ids = db.scalars(select(txns.c.id).where(txns.c.state == ABORTED, txns.c.id < before)).all()
    valid = valid_write_ids(
        db, ValidTxnList(min_open_txn(db) - 1, frozenset(), frozenset(ids)), table
    )
    highest = min(row.highest_write_id, valid.high_watermark)
    gone = select(txns.c.id).where(txns.c.state == ABORTED, txns.c.id < before)
    db.execute(
        delete(txn_components).where(
            *_same_unit(txn_components, table, row.partition),
            txn_components.c.txn_id.in_(gone),
            txn_components.c.write_id <= highest,
            txn_components.c.write_id.not_in(retained),
        )
    )


def complete(db: Connection, row: Row[Any], state: str, error: str | None) -> None:
    """Move a row of the queue to the history."""
    shared = set(completed_compactions.c.keys()) & set(compaction_queue.c.keys())
    values = {key: getattr(row, key) for key in shared}
    values |= {"state": state, "error": error, "ended": now(db)}
    db.execute(insert(completed_compactions).values(values))
    db.execute(delete(compaction_queue).where(_queue.id == row.id))


def waiting_row(db: Connection, id_: int) -> Row[Any] | None:
    """Return a row of the queue, held until the end of the database transaction, if it is there."""
    waiting = select(compaction_queue).where(_queue.id == id_).with_for_update()
    return db.execute(waiting).one_or_none()


def locked_row(db: Connection, id_: int) -> Row[Any]:
    """Return a row of the queue, held until the end of the database transaction."""
    if (row := waiting_row(db, id_)) is None:
        raise ExecutionError(
            f"compaction {id_} is not in the queue: it has ended, or its table was dropped"
        )
    return row


def _same_unit(table: SqlTable, name: TableName, partition: str | None) -> tuple[Any, ...]:
    return (
        table.c.database == name.database,
        table.c.table == name.name,
        table.c.partition.is_not_distinct_from(partition),
    )


def as_compaction(row: Row[Any]) -> Compaction:
    """Return a row of queue or history."""
    return Compaction(
        id=row.id,
        table=TableName(row.database, row.table),
        partition=row.partition,
        kind=KIND_NAMES[row.kind],
        state=STATE_NAMES[row.state],
        worker_id=row.worker_id,
        enqueued=row.enqueued,
        started=row.started,
        ended=row._mapping.get(completed_compactions.c.ended),
        highest_write_id=row.highest_write_id,
        txn_id=row.txn_id,
        next_txn_id=row.next_txn_id,
        committed=row.committed,
        error=row.error,
        initiator_id=row.initiator_id,
        job_id=row.job_id,
        pool=row.pool,
        properties=parse_properties(row.properties),
        bucket_count=row.bucket_count,
        order=row.order_by,
        retained_until=_retained_until(row),
    )


def _retained_until(row: Row[Any]) -> int:
    hold = row._mapping.get(_queue.retry_retention)
    # After an error it is the pause until the next attempt: the first may have deleted something.
    is_held = hold and row.state == _READY and row.error is None and row.committed is not None
    return int(row.committed + hold) if is_held else 0
