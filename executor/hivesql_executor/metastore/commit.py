"""Commit: first committer wins, and what was written becomes history."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, and_, delete, exists, func, insert, literal, select, update

from hivesql_executor.metastore import statistics_changes
from hivesql_executor.metastore.api import TxnType
from hivesql_executor.metastore.catalog_values import COMMITTED, OPEN
from hivesql_executor.metastore.connection import lock_txn_table, millis_now
from hivesql_executor.metastore.idempotence import hold, record
from hivesql_executor.metastore.idempotence_api import Once
from hivesql_executor.metastore.notification_log import note
from hivesql_executor.metastore.schema import (
    compaction_queue,
    completed_txn_components,
    txn_components,
    txns,
    write_set,
)
from hivesql_executor.metastore.table_notes import TableNote, set_property
from hivesql_executor.metastore.transactions import (
    READ_ONLY,
    TYPE_CODES,
    abort_txns,
    lost,
    release,
    state_of,
)
from hivesql_planner.cache.events import Event, EventKind
from hivesql_planner.errors import AlreadyCommitted, HiveSqlError, WriteConflict
from hivesql_planner.plan import Operation
from hivesql_planner.statistics import StatisticsChange

_REPLACING = (Operation.UPDATE.value, Operation.DELETE.value)
# A commit of these types decides until when the cleaner must wait.
_ENDS_COMPACTION = (TYPE_CODES[TxnType.COMPACTION], TYPE_CODES[TxnType.SOFT_DELETE])
_WRITES_NOTHING = (
    READ_ONLY,
    TYPE_CODES[TxnType.COMPACTION],
    TYPE_CODES[TxnType.REBALANCE_COMPACTION],
)


def commit_txn(
    db: Connection,
    txn_id: int,
    *,
    exclusive_write: bool,
    once: Once | None = None,
    note: TableNote | None = None,
    changes: Collection[StatisticsChange] = (),
) -> HiveSqlError | None:
    """Commit, and count ``changes``; committing again is silent.

    A conflict, or another transaction that did the same ``once``, aborts the transaction and is
    returned, not raised: the abort has to be committed.
    """
    known, earlier = hold(db, once) if once else (False, None)
    if earlier is not None and earlier.txn_id != txn_id:
        abort_txns(db, [txn_id], "idempotency key")
        return AlreadyCommitted(str(earlier))
    conflict = _commit(db, txn_id, exclusive_write=exclusive_write, changes=changes)
    if once is not None and earlier is None and conflict is None:
        record(db, once, txn_id, known=known)
    if note is not None and conflict is None:
        set_property(db, note)
    return conflict


def _commit(
    db: Connection, txn_id: int, *, exclusive_write: bool, changes: Collection[StatisticsChange]
) -> WriteConflict | None:
    query = select(txns.c.type).where(txns.c.id == txn_id, txns.c.state == OPEN)
    found = db.execute(query.with_for_update()).one_or_none()
    if found is None:
        if state_of(db, txn_id) == COMMITTED:
            return None
        raise lost(db, txn_id)
    kind = int(found[0] or 0)
    replaces = exists().where(
        txn_components.c.txn_id == txn_id, txn_components.c.operation.in_(_REPLACING)
    )
    commit_id = None
    if kind in _ENDS_COMPACTION:
        lock_txn_table(db, "EXCLUSIVE")
        commit_id = _latest(db)
    elif kind != READ_ONLY and db.scalar(select(replaces)):
        conflict = _record_writes(db, txn_id, exclusive_write=exclusive_write)
        if conflict is not None:
            abort_txns(db, [txn_id], "write conflicts")
            return conflict
    if kind == TYPE_CODES[TxnType.REBALANCE_COMPACTION] and commit_id is None:
        # Its row ids are new ones, so it is in the write set too. Hive forgets this note.
        lock_txn_table(db, "EXCLUSIVE")
        commit_id = _latest(db)
    _record_history(db, txn_id, kind, changes)
    release(db, txn_id)
    db.execute(delete(txn_components).where(txn_components.c.txn_id == txn_id))
    db.execute(update(txns).where(txns.c.id == txn_id).values(state=COMMITTED))
    if commit_id is not None:
        db.execute(
            update(compaction_queue)
            .where(compaction_queue.c.txn_id == txn_id)
            .values(next_txn_id=commit_id, committed=millis_now())
        )
        note(db, Event(kind=EventKind.COMMIT_COMPACTION, txn_ids=(txn_id,)))
    if kind != READ_ONLY:
        note(db, Event(kind=EventKind.COMMIT_TXN, txn_ids=(txn_id,)))
    return None


def _record_writes(db: Connection, txn_id: int, *, exclusive_write: bool) -> WriteConflict | None:
    """Enter updates and deletes into the write set; the first committer wins."""
    savepoint = db.begin_nested()
    lock_txn_table(db, "EXCLUSIVE")
    commit_id, of = _latest(db), txn_components.c
    written = (
        select(of.database, of.table, of.partition, of.txn_id, literal(commit_id), of.operation)
        .where(of.txn_id == txn_id, of.operation.in_(_REPLACING))
        .distinct()
    )
    names = ["database", "table", "partition", "txn_id", "commit_id", "operation"]
    db.execute(insert(write_set).from_select(names, written))
    # With exclusive write locks no other writer can have come in between.
    conflict = None if exclusive_write else _conflict(db, txn_id)
    if conflict is None:
        savepoint.commit()
    else:
        savepoint.rollback()
    return conflict


def _conflict(db: Connection, txn_id: int) -> WriteConflict | None:
    ours, theirs = write_set.alias(), write_set.alias()
    query = (
        select(ours, theirs.c.txn_id, theirs.c.commit_id, theirs.c.operation)
        .join(
            theirs,
            and_(
                ours.c.database == theirs.c.database,
                ours.c.table == theirs.c.table,
                ours.c.partition.is_not_distinct_from(theirs.c.partition),
                ours.c.txn_id <= theirs.c.commit_id,
                theirs.c.txn_id != txn_id,
            ),
        )
        .where(
            ours.c.txn_id == txn_id,
            ours.c.operation.in_(_REPLACING),
            theirs.c.operation.in_(_REPLACING),
        )
        .order_by(theirs.c.commit_id, theirs.c.txn_id)
        .limit(1)
    )
    row = db.execute(query).one_or_none()
    if row is None:
        return None
    database, table, partition, _, commit_id, operation, other, other_commit, other_op = row
    unit = "/".join(filter(None, (database, table, partition)))
    return WriteConflict(
        f"Transaction manager has aborted the transaction txnid:{txn_id}.  Reason: "
        f"Aborting [txnid:{txn_id},{commit_id}] due to a write conflict on {unit} "
        f"committed by [txnid:{other},{other_commit}] {operation}/{other_op}"
    )


def _record_history(
    db: Connection, txn_id: int, kind: int, changes: Collection[StatisticsChange]
) -> None:
    if kind == READ_ONLY:
        return
    statistics_changes.count(db, txn_id, changes)
    if kind not in _WRITES_NOTHING:
        _complete_components(db, txn_id)


def _complete_components(db: Connection, txn_id: int) -> None:
    of = txn_components.c
    replaces = exists().where(of.txn_id == txn_id, of.operation.in_(_REPLACING))
    # The flag is the whole transaction's, as in Hive.
    flag = "Y" if db.scalar(select(replaces)) else "N"
    written = (
        select(of.txn_id, of.database, of.table, of.partition, of.write_id, literal(flag))
        .where(of.txn_id == txn_id, of.operation != Operation.COMPACT.value)
        .distinct()
    )
    names = ["txn_id", "database", "table", "partition", "write_id", "update_delete"]
    db.execute(insert(completed_txn_components).from_select(names, written))


def _latest(db: Connection) -> int:
    return int(db.scalar(select(func.max(txns.c.id))) or 0)
