"""Transactions open, beat, commit and abort; functions take an open connection, never commit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    and_,
    bindparam,
    case,
    delete,
    exists,
    insert,
    literal_column,
    not_,
    or_,
    select,
    update,
)

from hivesql_executor.metastore.api import TxnRow, TxnType
from hivesql_executor.metastore.database.connection import (
    millis_now,
)
from hivesql_executor.metastore.database.dialects.execution import (
    Rows,
    Statement,
    run,
    run_all,
)
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.notification_log import note
from hivesql_executor.metastore.database.schema import (
    completed_txn_components,
    hive_locks,
    min_history_level,
    txn_components,
    txns,
)
from hivesql_executor.metastore.database.transactions.txn_rows import (
    ABORTED,
    COMMITTED,
    OPEN,
    txn_row,
)
from hivesql_planner.cache.events import Event, EventKind
from hivesql_planner.errors import Deadlock, ExecutionError, TransactionLost
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.table import TableName

# How the reason of such an abort begins.
DEADLOCK = "deadlock"
TYPE_CODES = {
    TxnType.DEFAULT: 0,
    TxnType.READ_ONLY: 2,
    TxnType.COMPACTION: 3,
    TxnType.SOFT_DELETE: 5,
    TxnType.REBALANCE_COMPACTION: 6,
}
READ_ONLY = TYPE_CODES[TxnType.READ_ONLY]
# With constants in the text, else no database sees that an index has just these rows.
IS_UNENDED = txns.c.state != literal_column("'c'")
"""Whether a transaction has not committed."""
IS_OPEN = and_(txns.c.state == literal_column("'o'"), IS_UNENDED)
# How many one statement of SQL names.
Key = TypeVar("Key", int, str)
_CHUNK = 1000


_OPEN_FOR_UPDATE = (
    select(txns.c.type, txns.c.started)
    .where(txns.c.id == bindparam("txn_id"), txns.c.state == OPEN)
    .with_for_update()
)
# What a database transaction has found open, and holds: it need not ask again. By its connection,
# which SQLAlchemy makes anew for each.
_open_types: WeakKeyDictionary[Connection, dict[int, int]] = WeakKeyDictionary()


def require_open(db: Connection, txn_id: int) -> int:
    """Hold the open transaction's row until the end of the database transaction; its type.

    TransactionLost 10263 when it was aborted, 10262 when it is unknown or committed.
    """
    for rows in run_all(db, *asking_whether_open(db, txn_id)):
        note_whether_open(db, txn_id, rows)
    return _open_types[db][txn_id]


def asking_whether_open(db: Connection, txn_id: int) -> tuple[Statement, ...]:
    """Compose what ``require_open`` asks; () where the database transaction has found it open."""
    is_known = txn_id in _open_types.get(db, {})
    return () if is_known else ((_OPEN_FOR_UPDATE, {"txn_id": txn_id}),)


def note_whether_open(db: Connection, txn_id: int, rows: Rows) -> None:
    """Raise, or note that it is open, by the answer to that."""
    row = rows.one_or_none()
    if row is None:
        raise lost(db, txn_id)
    note_open(db, txn_id, row)


def note_open(db: Connection, txn_id: int, row: Any) -> int:
    """Note that the database transaction holds the row of an open transaction; its type.

    TransactionLost 10262 when the row is another's, to whom the id was given again later.
    """
    if row.started > _starts_of(db).get(txn_id, row.started):
        raise TransactionLost(f"No such transaction txnid:{txn_id}", code=10262)
    _open_types.setdefault(db, {})[txn_id] = int(row.type or 0)
    return int(row.type or 0)


# When this process's own transactions began, by the dialect of their database: an opening need not
# be on the disk when it is answered, so that after a crash somebody else may be given the id.
_starts: WeakKeyDictionary[Dialect, OrderedDict[int, int]] = WeakKeyDictionary()
# Whoever has opened so many others since then has either seen its own on the disk, or not at all.
_MOST_STARTS = 20_000


def _starts_of(db: Connection) -> OrderedDict[int, int]:
    return _starts.setdefault(db.dialect, OrderedDict())


def ids_from_before(db: Connection, txn_ids: Sequence[int]) -> list[int]:
    """Return those of the ids that this process was given once, before a crash forgot it."""
    starts = _starts_of(db)
    return [txn_id for txn_id in txn_ids if txn_id in starts]


def note_start(db: Connection, txn_ids: Collection[int], moment: int) -> None:
    """Note when transactions were opened, by which they are known again."""
    starts = _starts_of(db)
    starts.update(dict.fromkeys(txn_ids, moment))
    while len(starts) > _MOST_STARTS:
        starts.popitem(last=False)


def note_ended(db: Connection, txn_id: int) -> None:
    """Note that the database transaction has ended a transaction."""
    _open_types.get(db, {}).pop(txn_id, None)


_ALL_OPEN_FOR_UPDATE = (
    select(txns.c.id, txns.c.type, txns.c.started)
    .where(txns.c.id.in_(bindparam("txn_ids", expanding=True)), txns.c.state == OPEN)
    .order_by(txns.c.id)
    .with_for_update()
)


def require_all_open(db: Connection, txn_ids: Sequence[int]) -> dict[int, int]:
    """Hold the rows of open transactions as ``require_open`` does; the type of each."""
    kinds: dict[int, int] = {}
    for part in chunks(txn_ids):
        kinds |= {
            int(row.id): note_open(db, int(row.id), row)
            for row in db.execute(_ALL_OPEN_FOR_UPDATE, {"txn_ids": part})
        }
    for txn_id in txn_ids:
        if txn_id not in kinds:
            raise lost(db, txn_id)
    return kinds


def chunks(ids: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """Cut ids, or names, into as many as one statement of SQL names."""
    return (ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK))


_BEAT_ALL = (
    update(txns)
    .where(txns.c.id.in_(bindparam("txn_ids", expanding=True)), txns.c.state == OPEN)
    .values(last_heartbeat=millis_now())
)


def heartbeat_txns(db: Connection, txn_ids: Sequence[int]) -> None:
    """Keep transactions alive; TransactionLost when one of them is not open."""
    for part in chunks(txn_ids):
        if db.execute(_BEAT_ALL, {"txn_ids": part}).rowcount != len(part):
            require_all_open(db, part)


def heartbeat(db: Connection, txn_id: int, lock_id: int = 0) -> None:
    """Keep a transaction and a lock outside transactions alive; 0 stands for none."""
    if txn_id:
        beat = update(txns).where(txns.c.id == txn_id, txns.c.state == OPEN)
        if not db.execute(beat.values(last_heartbeat=millis_now())).rowcount:
            raise lost(db, txn_id)
    if lock_id:
        beat = update(hive_locks).where(hive_locks.c.lock_id == lock_id)
        alive = case((hive_locks.c.txn_id == 0, millis_now()), else_=0)
        if not db.execute(beat.values(last_heartbeat=alive)).rowcount:
            raise ExecutionError(f"No such lock: lockid:{lock_id}", code=10270)


def abort_txns(db: Connection, txn_ids: Collection[int], reason: str) -> tuple[int, ...]:
    """Abort those that are open and return them; others are passed over.

    What they wrote stays recorded until the cleaner has deleted it.
    """
    ids = sorted(set(txn_ids))
    aborted: list[int] = []
    for part in chunks(ids):
        chosen = _own(db, part)
        abort = (
            update(txns)
            .where(chosen, txns.c.state == OPEN)
            .values(state=ABORTED, meta_info=reason[:128])
        )
        ended = terms_of(db).change_for_ids(db, abort, txns.c.id)
        for txn_id in ended:
            note_ended(db, txn_id)
            release(db, txn_id)
        aborted += ended
    if aborted:
        note(db, Event(kind=EventKind.ABORT_TXN, txn_ids=tuple(sorted(aborted))))
    return tuple(sorted(aborted))


def _own(db: Connection, txn_ids: Sequence[int]) -> ColumnElement[bool]:
    """Choose transactions by their ids, but not another's to whom one was given again."""
    starts = _starts_of(db)
    own = {txn_id: starts[txn_id] for txn_id in txn_ids if txn_id in starts}
    if not own:
        return txns.c.id.in_(txn_ids)
    again = [and_(txns.c.id == txn_id, txns.c.started > start) for txn_id, start in own.items()]
    return and_(txns.c.id.in_(txn_ids), not_(or_(*again)))


def add_dynamic_partitions(
    db: Connection,
    txn_id: int,
    write_id: int,
    table: TableName,
    partitions: Collection[str],
    operation: Operation,
) -> None:
    """Record the partitions really written, in place of "some partition of the table"."""
    table = table.lower()
    require_open(db, txn_id)
    rows = [
        {
            "txn_id": txn_id,
            "database": table.database,
            "table": table.name,
            "partition": partition,
            "operation": operation.value,
            "write_id": write_id,
        }
        for partition in partitions
    ]
    if rows:
        db.execute(insert(txn_components), rows)
    db.execute(
        delete(txn_components).where(
            txn_components.c.txn_id == txn_id,
            txn_components.c.database == table.database,
            txn_components.c.table == table.name,
            txn_components.c.partition.is_(None),
        )
    )


def transactions(db: Connection) -> tuple[TxnRow, ...]:
    """Open and aborted transactions, by id."""
    return tuple(txn_row(row) for row in db.execute(UNENDED))


UNENDED = (
    select(*(column.label(column.key) for column in txns.c)).where(IS_UNENDED).order_by(txns.c.id)
)
"""Transactions that are open or aborted."""


FREE = tuple(
    delete(locked).where(locked.c.txn_id == bindparam("ended"))
    for locked in (hive_locks, min_history_level)
)
"""What frees the locks and the history of ``:ended``."""


def release(db: Connection, txn_id: int) -> None:
    """Free the locks of a transaction that ends, and the history kept for it."""
    for statement in FREE:
        run(db, statement, {"ended": txn_id})


def state_of(db: Connection, txn_id: int) -> str | None:
    """Return a transaction's state; of one that is gone, committed if it left writes, or None."""
    state = db.scalar(select(txns.c.state).where(txns.c.id == txn_id))
    if state is None:
        of = completed_txn_components.c
        if db.scalar(select(exists().where(of.txn_id == txn_id))):
            return COMMITTED
    return state


def lost(db: Connection, txn_id: int) -> TransactionLost:
    """Tell why a transaction that is not open cannot go on, in Hive's words."""
    state = state_of(db, txn_id)
    if state == ABORTED:
        reason = db.scalar(select(txns.c.meta_info).where(txns.c.id == txn_id))
        because = f": {reason}" if reason else ""
        text = f"Transaction txnid:{txn_id} already aborted{because}. Run it again"
        kind = Deadlock if (reason or "").startswith(DEADLOCK) else TransactionLost
        return kind(text)
    if state == COMMITTED:
        text = f"Transaction txnid:{txn_id} is already committed."
        return TransactionLost(text, code=10262)
    return TransactionLost(f"No such transaction txnid:{txn_id}", code=10262)
