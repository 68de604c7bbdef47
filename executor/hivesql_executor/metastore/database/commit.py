"""Commit: first committer wins, and what was written becomes history."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    Delete,
    Insert,
    Row,
    Select,
    Update,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from hivesql_executor.metastore.api import (
    NO_ENTRIES,
    CommitEntries,
    NewColumns,
    Once,
    TableNote,
    TxnType,
)
from hivesql_executor.metastore.database.catalog import statistics_changes
from hivesql_executor.metastore.database.catalog.tables import change_columns, set_property
from hivesql_executor.metastore.database.connection import millis_now
from hivesql_executor.metastore.database.dialects.execution import run, run_later
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.notification_log import asking_for_log, learn_of_log, note
from hivesql_executor.metastore.database.schema import (
    compaction_queue,
    completed_txn_components,
    txn_components,
    txns,
    write_set,
)
from hivesql_executor.metastore.database.transactions import history
from hivesql_executor.metastore.database.transactions.idempotence import claim_key, record
from hivesql_executor.metastore.database.transactions.moves import settle_txn
from hivesql_executor.metastore.database.transactions.servers import (
    asking_server,
    require_same_server,
)
from hivesql_executor.metastore.database.transactions.transactions import (
    FREE,
    READ_ONLY,
    TYPE_CODES,
    abort_txns,
    lost,
    note_ended,
    note_open,
    release,
    state_of,
)
from hivesql_executor.metastore.database.transactions.txn_rows import COMMITTED, OPEN
from hivesql_planner.cache.events import Event, EventKind
from hivesql_planner.errors import AlreadyCommitted, HiveSqlError, WriteConflict
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.statistics import StatisticsChange
from hivesql_planner.model.table import TableName

_REPLACING = (Operation.UPDATE.value, Operation.DELETE.value)
_WRITING = (Operation.INSERT.value, *_REPLACING)
# A commit of these types decides until when the cleaner must wait.
_ENDS_COMPACTION = (TYPE_CODES[TxnType.COMPACTION], TYPE_CODES[TxnType.SOFT_DELETE])
_WRITES_NOTHING = (
    READ_ONLY,
    TYPE_CODES[TxnType.COMPACTION],
    TYPE_CODES[TxnType.REBALANCE_COMPACTION],
)

Part = Insert | Delete
_of = txn_components.c
_MINE = _of.txn_id == bindparam("owner")
# The transaction's row, if it is open, is held from then on.
_OPEN_AND_WRITTEN = (
    select(txns.c.type, txns.c.started, _of.database, _of.table, _of.partition, _of.operation)
    .select_from(txns.outerjoin(txn_components, _of.txn_id == txns.c.id))
    .where(txns.c.id == bindparam("owner"), txns.c.state == OPEN)
    .with_for_update(of=txns)
)
_LATEST = select(func.max(txns.c.id))
_ENTER = insert(write_set).from_select(
    ["database", "table", "partition", "txn_id", "commit_id", "operation"],
    select(
        _of.database, _of.table, _of.partition, _of.txn_id, _LATEST.scalar_subquery(), _of.operation
    )
    .where(_MINE, or_(*(_of.operation == operation for operation in _REPLACING)))
    .distinct(),
)
_COMPLETE = insert(completed_txn_components).from_select(
    ["txn_id", "database", "table", "partition", "write_id", "update_delete"],
    select(
        _of.txn_id, _of.database, _of.table, _of.partition, _of.write_id,
        bindparam("flag", type_=completed_txn_components.c.update_delete.type),
    )
    .where(_MINE, _of.operation != Operation.COMPACT.value)
    .distinct(),
)  # fmt: skip
_FORGET = delete(txn_components).where(_MINE)
_END = update(txns).where(txns.c.id == bindparam("ended")).values(state=COMMITTED)


def commit_txn(
    db: Connection,
    txn_id: int,
    *,
    exclusive_write: bool,
    once: Once | None = None,
    entries: CommitEntries = NO_ENTRIES,
    settles: bool = False,
) -> HiveSqlError | None:
    """Commit, with its entries; committing again is silent.

    What the transaction has noted of its files is settled, if it ``settles`` any.

    A conflict, or another transaction that did the same ``once``, aborts the transaction and is
    returned, not raised: the abort has to be committed.
    """
    is_claimed, earlier = claim_key(db, once) if once else (False, None)
    if earlier is not None and earlier.txn_id != txn_id:
        abort_txns(db, [txn_id], "idempotency key")
        return AlreadyCommitted(str(earlier))
    asks = terms_of(db).has_changing_queries
    query = _asking_open_and_written() if asks else _OPEN_AND_WRITTEN
    query = terms_of(db).forgetting(db, asking_server(db, query))
    rows: Sequence[Any] = run(db, query, {"owner": txn_id})
    if not rows:
        if state_of(db, txn_id) == COMMITTED:
            # The first time did all of it, and another may have finished what was settled then.
            return None
        raise lost(db, txn_id)
    if asks:
        learn_of_log(db, rows[0])
    kind = note_open(db, txn_id, rows[0])
    if kind != READ_ONLY:
        require_same_server(db, txn_id, rows[0])
    written = [row for row in dict.fromkeys(rows) if row.database is not None]
    conflict = _commit(
        db, txn_id, kind, written, exclusive_write=exclusive_write, changes=entries.changes
    )
    if once is not None and earlier is None and conflict is None:
        record(db, once, txn_id, is_claimed=is_claimed)
    if conflict is None:
        _change_table(db, entries.note)
    if settles and conflict is None:
        settle_txn(db, txn_id)
    if conflict is None:
        history.enter(db, txn_id, entries.writes)
    return conflict


@functools.cache
def _asking_open_and_written() -> Select[Any]:
    return asking_for_log(_OPEN_AND_WRITTEN)


def _change_table(db: Connection, note: TableNote | NewColumns | None) -> None:
    match note:
        case TableNote():
            set_property(db, note)
        case NewColumns():
            change_columns(db, note)


def _commit(
    db: Connection,
    txn_id: int,
    kind: int,
    written: Sequence[Row[Any]],
    *,
    exclusive_write: bool,
    changes: Collection[StatisticsChange],
) -> WriteConflict | None:
    commit_id = None
    if kind in _ENDS_COMPACTION:
        terms_of(db).lock_txn_table(db, shared=False)
        commit_id = _latest(db)
    elif kind != READ_ONLY and any(row.operation in _REPLACING for row in written):
        conflict = _record_writes(db, txn_id, exclusive_write=exclusive_write)
        if conflict is not None:
            abort_txns(db, [txn_id], "write conflicts")
            return conflict
    if kind == TYPE_CODES[TxnType.REBALANCE_COMPACTION] and commit_id is None:
        # Its row ids are new ones, so it is in the write set too. Hive forgets this note.
        terms_of(db).lock_txn_table(db, shared=False)
        commit_id = _latest(db)
    _count(db, txn_id, kind, written, changes)
    _end(db, txn_id, kind, written)
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
    if exclusive_write:
        # With exclusive write locks no other writer can have come in between.
        terms_of(db).lock_txn_table(db, shared=False)
        run_later(db, _ENTER, {"owner": txn_id})
        return None
    savepoint = db.begin_nested()
    terms_of(db).lock_txn_table(db, shared=False)
    run(db, _ENTER, {"owner": txn_id})
    conflict = _conflict(db, txn_id)
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


def _end(db: Connection, txn_id: int, kind: int, written: Sequence[Row[Any]]) -> None:
    """Let what was written be history, free the locks, and end the transaction."""
    owner: dict[str, Any] = {"owner": txn_id}
    parts: list[Part] = [_FORGET] if written else []
    if written and kind not in _WRITES_NOTHING:
        # The flag is the whole transaction's, as in Hive.
        owner["flag"] = "Y" if any(row.operation in _REPLACING for row in written) else "N"
        parts.insert(0, _COMPLETE)
    if terms_of(db).has_changing_queries:
        run_later(db, _ended_at_once(len(parts)), owner | {"ended": txn_id})
    else:
        for statement in parts:
            run_later(db, statement, owner)
        release(db, txn_id)
        run_later(db, _END, {"ended": txn_id})
    note_ended(db, txn_id)


@functools.cache
def _ended_at_once(count: int) -> Update:
    """Compose one statement; of what was written it takes none, the last, or both parts.

    All parts read what was there before: what becomes history is not forgotten too early.
    """
    parts = (*(_COMPLETE, _FORGET)[2 - count :], *FREE)
    return _END.add_cte(*(part.cte(f"part_{place}") for place, part in enumerate(parts)))


def _count(
    db: Connection,
    txn_id: int,
    kind: int,
    written: Sequence[Any],
    changes: Collection[StatisticsChange],
) -> None:
    if kind == READ_ONLY:
        return
    units = [
        (TableName(row.database, row.table or "").lower(), row.partition)
        for row in written
        if row.operation in _WRITING
    ]
    statistics_changes.count(db, txn_id, changes, dict.fromkeys(units))


def _latest(db: Connection) -> int:
    return int(run(db, _LATEST).scalar() or 0)
