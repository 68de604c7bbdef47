"""COMPACTION_QUEUE and its history. Functions take an open ``db`` and never commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, or_, select, update

from hivesql_executor.metastore import schema as s
from hivesql_executor.metastore import transactions
from hivesql_executor.metastore.api import Compaction, CompactionAnswer
from hivesql_planner.plan import Operation
from hivesql_planner.table import TableName

_KINDS = {"a": "major", "i": "minor", "r": "rebalance"}
_KIND_CODES = {kind: code for code, kind in _KINDS.items()}
_STATES = {
    "i": "initiated",
    "w": "working",
    "r": "ready for cleaning",
    "f": "failed",
    "s": "succeeded",
    "a": "did not initiate",
    "c": "refused",
    "x": "aborted",
}
_cq, _tc, _tx = s.compaction_queue.c, s.txn_components.c, s.txns.c
_own, _done = s.txn_to_write_id.c, s.completed_txn_components.c


def enqueue(
    db: Connection, table: TableName, partition: str | None, kind: str, initiator: str, now: int
) -> CompactionAnswer:
    """Queue a request, unless the unit has one that has not run or would find nothing new."""
    high = transactions.compactor_write_ids(db, table).high_watermark
    row = db.execute(
        select(_cq.CQ_ID, _cq.CQ_STATE).where(
            _cq.CQ_DATABASE == table.database,
            _cq.CQ_TABLE == table.name,
            _cq.CQ_PARTITION.is_(None) if partition is None else _cq.CQ_PARTITION == partition,
            or_(
                _cq.CQ_STATE.in_(("i", "w")),
                (_cq.CQ_STATE == "r") & (_cq.CQ_HIGHEST_WRITE_ID == high),
            ),
        )
    ).first()
    if row:
        state = _STATES[row[1]]
        error = f"Compaction is already scheduled with state='{state}' and id={row[0]}"
        return CompactionAnswer(id=-1, state="refused", accepted=False, error=error)
    number = int(db.scalar(select(s.next_compaction_id.c.NCQ_NEXT)) or 1)
    db.execute(update(s.next_compaction_id).values(NCQ_NEXT=number + 1))
    values = {
        "CQ_ID": number,
        "CQ_DATABASE": table.database,
        "CQ_TABLE": table.name,
        "CQ_PARTITION": partition,
        "CQ_STATE": "i",
        "CQ_TYPE": _KIND_CODES[kind],
        "CQ_ENQUEUE_TIME": now,
        "CQ_INITIATOR_ID": initiator,
    }
    db.execute(insert(s.compaction_queue).values(values))
    return CompactionAnswer(id=number, state="initiated", accepted=True)


def claim(db: Connection, worker: str, wanted: int | None, now: int) -> Compaction | None:
    """Take the oldest request (or a certain one) to work on."""
    query = select(s.compaction_queue).where(_cq.CQ_STATE == "i").order_by(_cq.CQ_ID)
    if wanted is not None:
        query = query.where(_cq.CQ_ID == wanted)
    row = db.execute(query.limit(1)).mappings().first()
    if row is None:
        return None
    values = {"CQ_STATE": "w", "CQ_WORKER_ID": worker, "CQ_START": now}
    db.execute(update(s.compaction_queue).where(_cq.CQ_ID == row["CQ_ID"]).values(values))
    return _compaction({**row, **values}, "CQ")


def set_txn(db: Connection, number: int, txn_id: int, highest: int) -> None:
    """Note the compactor's transaction and how far it reads."""
    row = db.execute(select(s.compaction_queue).where(_cq.CQ_ID == number)).mappings().one()
    db.execute(
        update(s.compaction_queue)
        .where(_cq.CQ_ID == number)
        .values(CQ_TXN_ID=txn_id, CQ_HIGHEST_WRITE_ID=highest)
    )
    # Keeps an aborted compactor's transaction known until its directory is cleaned.
    component = {
        "TC_TXNID": txn_id,
        "TC_DATABASE": row["CQ_DATABASE"],
        "TC_TABLE": row["CQ_TABLE"],
        "TC_PARTITION": row["CQ_PARTITION"],
        "TC_OPERATION_TYPE": Operation.COMPACT.value,
        "TC_WRITEID": highest,
    }
    db.execute(insert(s.txn_components).values(component))


def mark_compacted(db: Connection, number: int) -> None:
    """The new directories are written; the old ones may go once the commit is through."""
    db.execute(
        update(s.compaction_queue)
        .where(_cq.CQ_ID == number)
        .values(CQ_STATE="r", CQ_WORKER_ID=None)
    )


def retire(db: Connection, number: int, state: str, error: str | None, now: int) -> None:
    """Move a request to the history."""
    row = db.execute(select(s.compaction_queue).where(_cq.CQ_ID == number)).mappings().first()
    if row is None:
        return
    values = {key.replace("CQ_", "CC_", 1): value for key, value in row.items()}
    values |= {"CC_STATE": state, "CC_END": now, "CC_ERROR_MESSAGE": error}
    db.execute(insert(s.completed_compactions).values(values))
    db.execute(delete(s.compaction_queue).where(_cq.CQ_ID == number))


def ready_to_clean(db: Connection) -> tuple[Compaction, ...]:
    """Requests that no open transaction older than their commit holds back, lowest first."""
    limit = transactions.min_open_txn(db)
    query = (
        select(s.compaction_queue)
        .where(
            _cq.CQ_STATE == "r",
            or_(_cq.CQ_NEXT_TXN_ID.is_(None), _cq.CQ_NEXT_TXN_ID < limit),
            _cq.CQ_TXN_ID.is_(None) | _cq.CQ_TXN_ID.in_(
                select(_tx.TXN_ID).where(_tx.TXN_STATE == "c")
            ),
        )
        .order_by(_cq.CQ_HIGHEST_WRITE_ID, _cq.CQ_ID)
    )  # fmt: skip
    return tuple(_compaction(row, "CQ") for row in db.execute(query).mappings())


def mark_cleaned(db: Connection, number: int, now: int) -> None:
    """The old directories are gone; forget what the compaction has taken in."""
    row = db.execute(select(s.compaction_queue).where(_cq.CQ_ID == number)).mappings().first()
    if row is None:
        return
    database, table, partition = row["CQ_DATABASE"], row["CQ_TABLE"], row["CQ_PARTITION"]
    highest = row["CQ_HIGHEST_WRITE_ID"]
    if highest is not None:
        completed = s.completed_txn_components
        db.execute(
            delete(completed).where(
                _done.CTC_DATABASE == database,
                _done.CTC_TABLE == table,
                _done.CTC_PARTITION.is_(None)
                if partition is None
                else _done.CTC_PARTITION == partition,
                _done.CTC_WRITEID <= highest,
            )
        )
        aborted = select(_tx.TXN_ID).where(_tx.TXN_STATE == "a")
        db.execute(
            delete(s.txn_components).where(
                _tc.TC_DATABASE == database,
                _tc.TC_TABLE == table,
                _tc.TC_PARTITION.is_(None) if partition is None else _tc.TC_PARTITION == partition,
                _tc.TC_WRITEID <= highest,
                _tc.TC_TXNID.in_(aborted),
            )
        )
    retire(db, number, "s", None, now)


def compactions(db: Connection) -> tuple[Compaction, ...]:
    """Queue and history, oldest first."""
    rows = [_compaction(r, "CQ") for r in db.execute(select(s.compaction_queue)).mappings()]
    history = db.execute(select(s.completed_compactions)).mappings()
    rows += [_compaction(row, "CC") for row in history]
    return tuple(sorted(rows, key=lambda row: row.id))


def _compaction(row: Mapping[str, Any] | Any, prefix: str) -> Compaction:
    return Compaction(
        id=row[f"{prefix}_ID"],
        table=TableName(row[f"{prefix}_DATABASE"], row[f"{prefix}_TABLE"]),
        partition=row[f"{prefix}_PARTITION"],
        kind=_KINDS[row[f"{prefix}_TYPE"]],
        state=_STATES[row[f"{prefix}_STATE"]],
        worker_id=row[f"{prefix}_WORKER_ID"],
        enqueued=row[f"{prefix}_ENQUEUE_TIME"],
        started=row[f"{prefix}_START"],
        ended=row[f"{prefix}_END"],
        highest_write_id=row[f"{prefix}_HIGHEST_WRITE_ID"],
        txn_id=row[f"{prefix}_TXN_ID"],
        next_txn_id=row[f"{prefix}_NEXT_TXN_ID"],
        error=row[f"{prefix}_ERROR_MESSAGE"],
        initiator_id=row[f"{prefix}_INITIATOR_ID"],
    )


_UNITS: tuple[tuple[Table, str, str, str | None], ...] = (
    (s.txn_components, "TC_DATABASE", "TC_TABLE", "TC_PARTITION"),
    (s.completed_txn_components, "CTC_DATABASE", "CTC_TABLE", "CTC_PARTITION"),
    (s.compaction_queue, "CQ_DATABASE", "CQ_TABLE", "CQ_PARTITION"),
    (s.completed_compactions, "CC_DATABASE", "CC_TABLE", "CC_PARTITION"),
    (s.txn_to_write_id, "T2W_DATABASE", "T2W_TABLE", None),
    (s.next_write_id, "NWI_DATABASE", "NWI_TABLE", None),
)
_RENAMED = (
    *_UNITS,
    (s.hive_locks, "HL_DB", "HL_TABLE", None),
    (s.write_set, "WS_DATABASE", "WS_TABLE", None),
)


def forget_table(db: Connection, table: TableName, partitions: tuple[str, ...] | None) -> None:
    """Drop a table's (or partitions') traces, so that a new one of the name starts afresh."""
    for rows, database, name, part in _UNITS:
        if partitions is not None and part is None:
            continue
        query = delete(rows).where(rows.c[database] == table.database, rows.c[name] == table.name)
        if partitions is not None and part is not None:
            query = query.where(rows.c[part].in_(partitions))
        db.execute(query)


def rename_table(db: Connection, old: TableName, new: TableName) -> None:
    """Carry a table's traces over to its new name."""
    for rows, database, name, _ in _RENAMED:
        db.execute(
            update(rows)
            .where(rows.c[database] == old.database, rows.c[name] == old.name)
            .values({database: new.database, name: new.name})
        )


def clean_txns(db: Connection) -> None:
    """Forget ended transactions that left nothing behind, and history nobody can ask for."""
    newest = db.scalar(select(func.max(_tx.TXN_ID))) or 0
    lowest = transactions.min_open_txn(db)
    with_parts = select(_tc.TC_TXNID)
    db.execute(delete(s.write_set).where(s.write_set.c.WS_COMMIT_ID < lowest))
    aborted = db.scalar(select(func.min(_tx.TXN_ID)).where(_tx.TXN_STATE == "a"))
    history = db.scalar(select(func.min(s.min_history_level.c.MHL_MIN_OPEN_TXNID)))
    floor = min(one for one in (newest + 1, aborted, history) if one is not None)
    db.execute(delete(s.txn_to_write_id).where(_own.T2W_TXNID < floor))
    db.execute(
        delete(s.txns).where(
            _tx.TXN_STATE.in_(("a", "c")),
            _tx.TXN_ID < newest,
            _tx.TXN_ID.not_in(with_parts),
            # A write id whose owner is unknown counts as committed: aborted owners must stay.
            or_(_tx.TXN_STATE == "c", _tx.TXN_ID.not_in(select(_own.T2W_TXNID))),
        )
    )
