"""Transactions, write ids and snapshots. Functions take an open ``db`` and never commit."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, and_, delete, func, insert, literal, or_, select, update

from hivesql_executor.metastore import schema as s
from hivesql_executor.metastore.api import TxnRow, TxnType
from hivesql_planner.acid.write_ids import ListMode, ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import ExecutionError, SemanticError, TransactionLost
from hivesql_planner.plan import Lock, LockType, Operation
from hivesql_planner.table import TableName

TXN_TYPES = {
    TxnType.DEFAULT: 0,
    TxnType.READ_ONLY: 2,
    TxnType.COMPACTION: 3,
    TxnType.SOFT_DELETE: 5,
    TxnType.REBALANCE_COMPACTION: 6,
}
_CHANGES = (Operation.UPDATE.value, Operation.DELETE.value)
_tx, _tc, _own, _ws = s.txns.c, s.txn_components.c, s.txn_to_write_id.c, s.write_set.c


def open_txns(
    db: Connection, count: int, user: str, host: str, kind: TxnType, now: int
) -> tuple[int, ...]:
    """Open ``count`` transactions; each remembers the lowest one open at that moment."""
    if count <= 0:
        raise SemanticError(f"Invalid input for number of txns: {count}")
    row = {
        "TXN_STATE": "o",
        "TXN_STARTED": now,
        "TXN_LAST_HEARTBEAT": now,
        "TXN_USER": user[:128],
        "TXN_HOST": host[:128],
        "TXN_TYPE": TXN_TYPES[kind],
    }
    ids = tuple(
        int(db.execute(insert(s.txns).values(row)).inserted_primary_key[0]) for _ in range(count)
    )
    lowest = db.scalar(select(func.min(_tx.TXN_ID)).where(_tx.TXN_STATE == "o"))
    history = [{"MHL_TXNID": one, "MHL_MIN_OPEN_TXNID": min(lowest, one)} for one in ids]
    db.execute(insert(s.min_history_level), history)
    return ids


def state_of(db: Connection, txn_id: int) -> str | None:
    """``o``, ``a``, ``c``, or None for an unknown transaction."""
    return db.scalar(select(_tx.TXN_STATE).where(_tx.TXN_ID == txn_id))


def check_open(db: Connection, txn_id: int) -> None:
    """Raise TransactionLost unless the transaction is open."""
    state = state_of(db, txn_id)
    if state == "o":
        return
    if state == "a":
        reason = db.scalar(select(_tx.TXN_META_INFO).where(_tx.TXN_ID == txn_id))
        raise TransactionLost(
            f"Transaction txnid:{txn_id} already aborted"
            + (f" ({reason}). Run the statement again" if reason else "")
        )
    if state == "c":
        raise TransactionLost(f"Transaction txnid:{txn_id} is already committed.", code=10262)
    raise TransactionLost(f"No such transaction txnid:{txn_id}", code=10262)


def valid_txns(db: Connection, txn_id: int) -> ValidTxnList:
    """The snapshot of a transaction (of nobody when 0): its own writes are visible to it."""
    newest = db.scalar(select(func.max(_tx.TXN_ID))) or 0
    high = min(txn_id, newest) if txn_id else newest
    query = select(_tx.TXN_ID, _tx.TXN_STATE).where(
        _tx.TXN_STATE.in_(("o", "a")), _tx.TXN_ID <= high, _tx.TXN_ID != txn_id
    )
    rows = db.execute(query).all()
    return ValidTxnList(
        high,
        frozenset(int(one) for one, state in rows if state == "o"),
        frozenset(int(one) for one, state in rows if state == "a"),
    )


def allocate_write_id(db: Connection, txn_id: int, table: TableName, *, again: bool) -> int:
    """Give the transaction its write id in the table; asking again returns the same one."""
    check_open(db, txn_id)
    kind = db.scalar(select(_tx.TXN_TYPE).where(_tx.TXN_ID == txn_id))
    if kind == TXN_TYPES[TxnType.READ_ONLY]:
        raise ExecutionError(
            f"Write ID allocation failed on {table} as not all input txns in open state or "
            f"read-only: {{{txn_id},read-only}}"
        )
    mine = and_(
        _own.T2W_TXNID == txn_id, _own.T2W_DATABASE == table.database, _own.T2W_TABLE == table.name
    )
    if again:
        db.execute(delete(s.txn_to_write_id).where(mine))
    held = db.scalar(select(_own.T2W_WRITEID).where(mine))
    if held is not None:
        return int(held)
    counter = s.next_write_id.c
    key = and_(counter.NWI_DATABASE == table.database, counter.NWI_TABLE == table.name)
    write_id = db.scalar(select(counter.NWI_NEXT).where(key))
    if write_id is None:
        write_id = 1
        db.execute(insert(s.next_write_id).values((table.database, table.name, 2)))
    else:
        db.execute(update(s.next_write_id).where(key).values(NWI_NEXT=write_id + 1))
    row = (txn_id, table.database, table.name, write_id)
    db.execute(insert(s.txn_to_write_id).values(row))
    return int(write_id)


def seed_write_id(db: Connection, table: TableName, next_write_id: int) -> None:
    """Set the next write id of a table that was converted."""
    counter = s.next_write_id.c
    key = and_(counter.NWI_DATABASE == table.database, counter.NWI_TABLE == table.name)
    db.execute(delete(s.next_write_id).where(key))
    db.execute(insert(s.next_write_id).values((table.database, table.name, next_write_id)))


def valid_write_ids(db: Connection, txns: ValidTxnList, table: TableName) -> ValidWriteIdList:
    """What a snapshot sees of one table (TxnHandler.getValidWriteIds)."""
    of_table = and_(_own.T2W_DATABASE == table.database, _own.T2W_TABLE == table.name)
    high = db.scalar(
        select(func.max(_own.T2W_WRITEID)).where(of_table, _own.T2W_TXNID <= txns.high_watermark)
    )
    if high is None:
        counter = s.next_write_id.c
        following = db.scalar(
            select(counter.NWI_NEXT).where(
                counter.NWI_DATABASE == table.database, counter.NWI_TABLE == table.name
            )
        )
        high = (following or 1) - 1
    rows = db.execute(
        select(_own.T2W_WRITEID, _own.T2W_TXNID).where(of_table, _own.T2W_WRITEID <= high)
    ).all()
    hidden = sorted((int(w), int(t)) for w, t in rows if not txns.sees(t))
    aborted = frozenset(w for w, t in hidden if txns.is_aborted(t))
    if hidden and len(hidden) == len(rows):
        # Nothing visible is recorded: only what lies below the first hidden id may be seen.
        high = hidden[0][0]
        hidden = hidden[:1]
        aborted &= {high}
    unseen = frozenset(w for w, _ in hidden) - aborted
    return ValidWriteIdList(int(high), unseen, aborted, str(table))


def compactor_write_ids(db: Connection, table: TableName) -> ValidWriteIdList:
    """The compactor's list: nothing at or above the lowest open write id."""
    now = valid_write_ids(db, valid_txns(db, 0), table)
    low = now.min_open
    high = now.high_watermark if low is None else low - 1
    aborted = frozenset(one for one in now.aborted if one <= high)
    return ValidWriteIdList(high, frozenset(), aborted, str(table), ListMode.COMPACTOR)


def record_components(db: Connection, txn_id: int, locks: Sequence[Lock]) -> None:
    """Note what a lock request is going to write (EnqueueLockFunction)."""
    dynamic: dict[tuple[str, str | None], str] = {}
    rows = []
    for lock in locks:
        if lock.operation not in (Operation.INSERT, Operation.UPDATE, Operation.DELETE):
            continue
        if lock.dynamic_partition:
            key = (lock.database, lock.table)
            changes = lock.operation is not Operation.INSERT or dynamic.get(key) == "u"
            dynamic[key] = "u" if changes else "i"
            continue
        rows.append(_component(db, txn_id, lock, lock.partition, lock.operation.value))
    for (database, table), operation in dynamic.items():
        lock = Lock(LockType.SHARED_READ, database, table)
        rows.append(_component(db, txn_id, lock, None, operation))
    if rows:
        db.execute(insert(s.txn_components), rows)


def _component(
    db: Connection, txn_id: int, lock: Lock, partition: str | None, operation: str
) -> dict[str, object]:
    write_id = db.scalar(
        select(_own.T2W_WRITEID).where(
            _own.T2W_TXNID == txn_id,
            _own.T2W_DATABASE == lock.database,
            _own.T2W_TABLE == lock.table,
        )
    )
    return {
        "TC_TXNID": txn_id,
        "TC_DATABASE": lock.database,
        "TC_TABLE": lock.table,
        "TC_PARTITION": partition,
        "TC_OPERATION_TYPE": operation,
        "TC_WRITEID": write_id,
    }


def add_dynamic_partitions(
    db: Connection, txn_id: int, table: TableName, names: Collection[str], operation: Operation
) -> None:
    """Replace the table-level component by one per partition that was written."""
    check_open(db, txn_id)
    lock = Lock(LockType.SHARED_READ, table.database, table.name)
    rows = [_component(db, txn_id, lock, name, operation.value) for name in names]
    if rows:
        db.execute(insert(s.txn_components), rows)
    db.execute(
        delete(s.txn_components).where(
            _tc.TC_TXNID == txn_id,
            _tc.TC_DATABASE == table.database,
            _tc.TC_TABLE == table.name,
            _tc.TC_PARTITION.is_(None),
        )
    )


def newer_writer(db: Connection, txn_id: int, locks: Collection[Lock]) -> int | None:
    """A transaction that changed what our write locks cover and committed after we opened."""
    changing = [
        lock
        for lock in locks
        if lock.table
        and lock.type in (LockType.EXCL_WRITE, LockType.EXCLUSIVE)
        and lock.operation in (Operation.UPDATE, Operation.DELETE)
    ]
    newest: int | None = None
    for lock in changing:
        conditions = [
            _ws.WS_DATABASE == lock.database,
            _ws.WS_TABLE == lock.table,
            _ws.WS_TXNID != txn_id,
            literal(txn_id) <= _ws.WS_COMMIT_ID,
            _ws.WS_OPERATION_TYPE.in_(_CHANGES),
        ]
        if lock.partition is not None:
            conditions.append(or_(_ws.WS_PARTITION == lock.partition, _ws.WS_PARTITION.is_(None)))
        found = db.scalar(select(func.max(_ws.WS_TXNID)).where(*conditions))
        if found is not None:
            newest = max(newest or 0, int(found))
    return newest


def commit_txn(db: Connection, txn_id: int, now: int, *, exclusive_write: bool) -> str | None:
    """Commit, or abort and return why: another transaction committed a conflicting write first."""
    state = state_of(db, txn_id)
    if state == "c":
        return None
    check_open(db, txn_id)
    kind = db.scalar(select(_tx.TXN_TYPE).where(_tx.TXN_ID == txn_id))
    compaction = kind in (TXN_TYPES[TxnType.COMPACTION], TXN_TYPES[TxnType.REBALANCE_COMPACTION])
    commit_id = db.scalar(select(func.max(_tx.TXN_ID)))
    changed = False
    if compaction:
        queue = s.compaction_queue
        db.execute(
            update(queue)
            .where(queue.c.CQ_TXN_ID == txn_id)
            .values(CQ_NEXT_TXN_ID=commit_id, CQ_COMMIT_TIME=now)
        )
    else:
        conflict, changed = _check_write_set(db, txn_id, commit_id, exclusive_write)
        if conflict:
            abort_txn(db, txn_id, "write conflicts")
            return conflict
        _complete(db, txn_id, now, "Y" if changed else "N")
    db.execute(delete(s.txn_components).where(_tc.TC_TXNID == txn_id))
    _forget(db, txn_id)
    db.execute(update(s.txns).where(_tx.TXN_ID == txn_id).values(TXN_STATE="c"))
    return None


def _check_write_set(
    db: Connection, txn_id: int, commit_id: int, exclusive_write: bool
) -> tuple[str | None, bool]:
    """Record what changed; the message of the first conflict, and whether anything changed."""
    unit = (_tc.TC_DATABASE, _tc.TC_TABLE, _tc.TC_PARTITION)
    mine = db.execute(
        select(*unit, _tc.TC_OPERATION_TYPE)
        .where(_tc.TC_TXNID == txn_id, _tc.TC_OPERATION_TYPE.in_(_CHANGES))
        .distinct()
    ).all()
    for database, table, partition, operation in mine if not exclusive_write else ():
        same = _ws.WS_PARTITION.is_(None) if partition is None else _ws.WS_PARTITION == partition
        other = db.execute(
            select(_ws.WS_TXNID, _ws.WS_COMMIT_ID, _ws.WS_OPERATION_TYPE).where(
                _ws.WS_DATABASE == database,
                _ws.WS_TABLE == table,
                same,
                _ws.WS_TXNID != txn_id,
                literal(txn_id) <= _ws.WS_COMMIT_ID,
                _ws.WS_OPERATION_TYPE.in_(_CHANGES),
            )
        ).first()
        if other:
            where = "/".join(filter(None, (database, table, partition)))
            return (
                f"Aborting [txnid:{txn_id},{commit_id}] due to a write conflict on {where} "
                f"committed by [txnid:{other[0]},{other[1]}] {other[2]}/{operation}"
            ), True
    if mine:
        rows = [
            {
                "WS_DATABASE": row[0],
                "WS_TABLE": row[1],
                "WS_PARTITION": row[2],
                "WS_TXNID": txn_id,
                "WS_COMMIT_ID": commit_id,
                "WS_OPERATION_TYPE": row[3],
            }
            for row in mine
        ]
        db.execute(insert(s.write_set), rows)
    return None, bool(mine)


def _complete(db: Connection, txn_id: int, now: int, changed: str) -> None:
    columns = ["CTC_TXNID", "CTC_DATABASE", "CTC_TABLE", "CTC_PARTITION", "CTC_WRITEID",
               "CTC_TIMESTAMP", "CTC_UPDATE_DELETE"]  # fmt: skip
    rows = select(
        _tc.TC_TXNID, _tc.TC_DATABASE, _tc.TC_TABLE, _tc.TC_PARTITION, _tc.TC_WRITEID,
        literal(now), literal(changed),
    ).where(_tc.TC_TXNID == txn_id, _tc.TC_OPERATION_TYPE != Operation.COMPACT.value)  # fmt: skip
    db.execute(insert(s.completed_txn_components).from_select(columns, rows))


def _forget(db: Connection, txn_id: int) -> None:
    history = s.min_history_level
    db.execute(delete(s.hive_locks).where(s.hive_locks.c.HL_TXNID == txn_id))
    db.execute(delete(history).where(history.c.MHL_TXNID == txn_id))


def abort_txn(db: Connection, txn_id: int, reason: str) -> None:
    """Abort an open transaction; its components and write ids stay for the cleaner."""
    _forget(db, txn_id)
    db.execute(
        update(s.txns)
        .where(_tx.TXN_ID == txn_id, _tx.TXN_STATE == "o")
        .values(TXN_STATE="a", TXN_META_INFO=reason[:128])
    )


def transactions(db: Connection) -> tuple[TxnRow, ...]:
    """Open and aborted transactions by id."""
    query = select(s.txns).where(_tx.TXN_STATE.in_(("o", "a"))).order_by(_tx.TXN_ID)
    return tuple(
        TxnRow(
            txn_id=row["TXN_ID"],
            state="open" if row["TXN_STATE"] == "o" else "aborted",
            started=row["TXN_STARTED"],
            last_heartbeat=row["TXN_LAST_HEARTBEAT"],
            user=row["TXN_USER"],
            host=row["TXN_HOST"],
        )
        for row in db.execute(query).mappings()
    )


def min_open_txn(db: Connection) -> int:
    """The lowest open transaction, or one past the newest when none is open."""
    lowest = db.scalar(select(func.min(_tx.TXN_ID)).where(_tx.TXN_STATE == "o"))
    if lowest is not None:
        return int(lowest)
    return int(db.scalar(select(func.max(_tx.TXN_ID))) or 0) + 1
