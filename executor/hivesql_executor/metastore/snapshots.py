"""Which transactions and write ids a transaction sees, and the giving out of write ids."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Select,
    and_,
    case,
    delete,
    func,
    insert,
    null,
    or_,
    select,
    update,
)
from sqlalchemy import Table as SqlTable

from hivesql_executor.metastore.catalog_values import ABORTED, COMMITTED, OPEN
from hivesql_executor.metastore.connection import millis_now, open_window
from hivesql_executor.metastore.notification_log import note
from hivesql_executor.metastore.schema import (
    completed_txn_components,
    next_write_id,
    txn_components,
    txn_to_write_id,
    txns,
)
from hivesql_executor.metastore.transactions import READ_ONLY, require_open
from hivesql_planner.acid.write_ids import ListMode, ValidTxnList, ValidWriteIdList
from hivesql_planner.cache.events import Event, EventKind
from hivesql_planner.errors import ExecutionError
from hivesql_planner.table import TableName


def valid_txns(db: Connection, txn_id: int) -> ValidTxnList:
    """What the transaction sees: itself, and all below it that have ended well.

    0 asks for the current state. Readers (READ_ONLY) are left out: they write nothing.
    """
    opened: set[int] = set()
    aborted: set[int] = set()
    previous = 0
    for id_, state, kind, gaps_after in db.execute(_recent_and_unfinished(open_window(db))):
        if gaps_after is not None and id_ > gaps_after:
            # A missing id may belong to an opening that is not committed yet.
            opened.update(range(max(previous, gaps_after) + 1, id_))
        previous = id_
        if state == OPEN and kind != READ_ONLY:
            opened.add(id_)
        elif state == ABORTED:
            aborted.add(id_)
    if txn_id <= 0:
        return ValidTxnList(previous, frozenset(opened), frozenset(aborted))
    return ValidTxnList(
        min(txn_id, previous),
        frozenset(id_ for id_ in opened if id_ < txn_id),
        frozenset(id_ for id_ in aborted if id_ < txn_id),
    )


def valid_write_ids(db: Connection, txns_seen: ValidTxnList, table: TableName) -> ValidWriteIdList:
    """Translate a list of transactions into the table's write ids (Hive's getValidWriteIds)."""
    owned = txn_to_write_id.c
    here = and_(owned.database == table.database, owned.table == table.name)
    highest = db.scalar(
        select(func.max(owned.write_id)).where(here, owned.txn_id <= txns_seen.high_watermark)
    )
    if highest is None:
        highest = (_next(db, table) or 1) - 1
    opened: set[int] = set()
    aborted: set[int] = set()
    found_valid = False
    query = select(owned.txn_id, owned.write_id).where(here, owned.write_id <= highest)
    for txn_id, write_id in db.execute(query):
        if txns_seen.sees(txn_id):
            found_valid = True
        elif txns_seen.is_aborted(txn_id):
            aborted.add(write_id)
        else:
            opened.add(write_id)
    if not found_valid and (opened or aborted):
        # Nothing above the first invalid id is known to be committed.
        highest = min(opened | aborted)
        opened, aborted = opened & {highest}, aborted & {highest}
    return ValidWriteIdList(int(highest), frozenset(opened), frozenset(aborted), str(table))


def writes_after(db: Connection, table: TableName, moment: datetime) -> frozenset[int]:
    """Writes of a table that were committed after a moment (with its zone), to the second.

    What a cleaned compaction covers is no longer known.
    """
    done = completed_txn_components.c
    # The column is filled by the database: in UTC in SQLite, in the session's zone elsewhere.
    bound: Any = moment.astimezone(UTC).replace(tzinfo=None)
    if db.dialect.name != "sqlite":
        bound = func.timezone(func.current_setting("TimeZone"), moment)
    here = and_(done.database == table.database, done.table == table.name)
    found = db.scalars(select(done.write_id).where(here, done.timestamp > bound))
    return frozenset(int(one) for one in found if one is not None)


def compactor_write_ids(db: Connection, table: TableName) -> ValidWriteIdList:
    """What a compaction may merge: all below the first open write id, less the aborted ones."""
    now_valid = valid_write_ids(db, valid_txns(db, 0), table)
    highest = now_valid.high_watermark
    if now_valid.min_open is not None:
        highest = min(highest, now_valid.min_open - 1)
    aborted = frozenset(id_ for id_ in now_valid.aborted if id_ <= highest)
    return ValidWriteIdList(highest, frozenset(), aborted, str(table), ListMode.COMPACTOR)


def allocate_write_id(db: Connection, txn_id: int, table: TableName, *, again: bool) -> int:
    """The transaction's write id in the table; ``again`` gives a new, larger one."""
    if require_open(db, txn_id) == READ_ONLY:
        raise ExecutionError(
            f"Write ID allocation failed on {table} as not all input txns in open state or "
            f"read-only: {{{txn_id},read-only}}"
        )
    owned = txn_to_write_id.c
    mine = and_(owned.txn_id == txn_id, owned.database == table.database, owned.table == table.name)
    if again:
        db.execute(delete(txn_to_write_id).where(mine))
    else:
        held = db.scalar(select(owned.write_id).where(mine))
        if held is not None:
            return int(held)
    # One statement reads and advances the counter, so two transactions never share a write id.
    counter = next_write_id.c
    first = _insert(db, next_write_id).values(database=table.database, table=table.name, next=2)
    advance = first.on_conflict_do_update(
        index_elements=[counter.database, counter.table], set_={"next": counter.next + 1}
    )
    write_id = int(db.execute(advance.returning(counter.next)).scalar_one()) - 1
    db.execute(
        insert(txn_to_write_id).values(
            txn_id=txn_id, database=table.database, table=table.name, write_id=write_id
        )
    )
    # Locks asked for before, or under the earlier write id, write under this one.
    written = txn_components.c
    db.execute(
        update(txn_components)
        .where(
            written.txn_id == txn_id,
            written.database == table.database,
            written.table == table.name,
        )
        .values(write_id=write_id)
    )
    given = Event(
        kind=EventKind.ALLOC_WRITE_ID,
        database=table.database,
        table=table,
        writes=((txn_id, write_id),),
    )
    note(db, given)
    return write_id


def seed_write_id(db: Connection, table: TableName, next_id: int) -> None:
    """Let the table's write ids go on from ``next_id``, unless they are past it."""
    counter = next_write_id.c
    first = _insert(db, next_write_id).values(
        database=table.database, table=table.name, next=next_id
    )
    db.execute(
        first.on_conflict_do_update(
            index_elements=[counter.database, counter.table],
            set_={"next": next_id},
            where=counter.next < next_id,
        )
    )


def _recent_and_unfinished(window: int) -> Select[Any]:
    """Open and aborted transactions and the latest; with a window, all since its first one.

    The last column is the id above which a missing id may still appear, or null. One statement,
    so that ids and states are of one moment.
    """
    latest = select(func.max(txns.c.id)).scalar_subquery()
    unfinished = or_(txns.c.state != COMMITTED, txns.c.id == latest)
    columns = (txns.c.id, txns.c.state, txns.c.type)
    if not window:
        return select(*columns, null()).where(unfinished).order_by(txns.c.id)
    young, old = txns.alias(), txns.alias()
    first = (
        select(func.min(young.c.id))
        .where(young.c.started > millis_now() - window)
        .scalar_subquery()
    )
    last = select(func.max(old.c.id)).where(old.c.id < first).scalar_subquery()
    gaps_after = case((first.is_(None), None), else_=func.coalesce(last, 0))
    recent = txns.c.id >= func.coalesce(last, first)
    return select(*columns, gaps_after).where(or_(unfinished, recent)).order_by(txns.c.id)


def _next(db: Connection, table: TableName) -> int | None:
    counter = next_write_id.c
    return db.scalar(
        select(counter.next).where(counter.database == table.database, counter.table == table.name)
    )


def _insert(db: Connection, table: SqlTable) -> Any:
    """An INSERT that knows ON CONFLICT; its two dialects share no type."""
    if db.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)
