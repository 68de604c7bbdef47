"""Lock requests: enqueue, check in order of arrival, release, show."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    bindparam,
    case,
    delete,
    insert,
    null,
    or_,
    select,
    update,
)

from hivesql_executor.metastore.api import LockAnswer, LockOwner, LockRow, LockState
from hivesql_executor.metastore.database.connection import millis_now, now
from hivesql_executor.metastore.database.dialects.execution import (
    Statement,
    run,
    run_all,
    run_later,
    run_many,
)
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.schema import (
    hive_locks,
    next_lock_id,
    txn_components,
    txns,
    write_set,
)
from hivesql_executor.metastore.database.transactions.deadlocks import break_deadlock
from hivesql_executor.metastore.database.transactions.lock_rows import (
    ACQUIRED,
    CODES,
    TYPES,
    WAITING,
    as_lock,
    describe,
    lock_row,
)
from hivesql_executor.metastore.database.transactions.snapshots import ALLOCATED_WRITE_ID
from hivesql_executor.metastore.database.transactions.transactions import (
    asking_whether_open,
    note_whether_open,
    require_open,
)
from hivesql_executor.metastore.database.transactions.txn_rows import OPEN
from hivesql_planner.errors import ExecutionError
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.locks.rules import LocksByPlace, conflicts, covers, merge

_REPLACING = (Operation.UPDATE, Operation.DELETE)
_of = hive_locks.c


def _in_databases(count: int) -> ColumnElement[bool]:
    of = _of.database
    return of.in_([bindparam(f"database_{place}", type_=of.type) for place in range(count)])


@functools.cache
def _earlier_in(count: int) -> Select[Any]:
    """Select what others asked for before in some databases."""
    return (
        select(hive_locks)
        .where(
            _of.lock_id < bindparam("before"),
            _in_databases(count),
            or_(_of.txn_id == 0, _of.txn_id != bindparam("owner")),
        )
        .order_by(_of.lock_id, _of.internal_id)
    )


_TAKE_NUMBER = update(next_lock_id).values(next=next_lock_id.c.next + 1)
# With the row of what is written, where it is one alone and the database can.
_of_row = txn_components.c
_TAKE_NUMBER_AND_RECORD = _TAKE_NUMBER.add_cte(
    insert(txn_components)
    .from_select(
        ["txn_id", "database", "table", "partition", "operation", "write_id"],
        select(
            *(
                bindparam(name, type_=_of_row[name].type)
                for name in ("txn_id", "database", "table", "partition", "operation")
            ),
            ALLOCATED_WRITE_ID.scalar_subquery(),
        ),
        include_defaults=False,
    )
    .cte("component")
)
_HOLD_NUMBER = select(next_lock_id).with_for_update()


@functools.cache
def _line(count: int) -> Select[Any]:
    """Select all that is asked for in some databases, beside the next free number."""
    return (
        select(next_lock_id.c.next.label("following"), hive_locks)
        .select_from(next_lock_id.outerjoin(hive_locks, _in_databases(count)))
        .order_by(_of.lock_id, _of.internal_id)
    )


_REQUEST_ID: ColumnElement[Any] = bindparam("asked")
# The row of the transaction that asked, held if it is open.
_ASKER = (
    select(txns.c.type, txns.c.started)
    .where(
        txns.c.id
        == select(_of.txn_id).where(_of.lock_id == _REQUEST_ID).limit(1).scalar_subquery(),
        txns.c.state == OPEN,
    )
    .with_for_update()
)
_waiter = hive_locks.alias()
_UP_TO = (
    select(hive_locks)
    .where(
        _of.lock_id <= _REQUEST_ID,
        _of.database.in_(select(_waiter.c.database).where(_waiter.c.lock_id == _REQUEST_ID)),
    )
    .order_by(_of.lock_id, _of.internal_id)
)
_WAITING = insert(hive_locks).inline()
_GRANTED = insert(hive_locks).inline().values(acquired_at=millis_now())
_GRANT = (
    update(hive_locks)
    .where(_of.lock_id == _REQUEST_ID, _of.state == WAITING)
    .values(
        state=ACQUIRED,
        acquired_at=millis_now(),
        last_heartbeat=case((_of.txn_id == 0, millis_now()), else_=0),
        blocked_by_id=null(),
        blocked_by_internal=null(),
    )
)
# By what it is blocked its first component alone tells that has to wait.
_BLOCK = (
    update(hive_locks)
    .where(_of.lock_id == _REQUEST_ID)
    .values(
        {
            column: case((_of.internal_id == bindparam("own"), bindparam(name, type_=column.type)))
            for column, name in ((_of.blocked_by_id, "other"), (_of.blocked_by_internal, "part"))
        }
    )
)
# Under the write id that the transaction has already, if it has one.
_COMPONENT = insert(txn_components).inline().values(write_id=ALLOCATED_WRITE_ID.scalar_subquery())
_CHANGED_SINCE = select(write_set.c.txn_id, write_set.c.partition).where(
    write_set.c.database == bindparam("database"),
    write_set.c.table == bindparam("table"),
    write_set.c.txn_id != bindparam("own"),
    write_set.c.commit_id >= bindparam("own"),
    or_(*(write_set.c.operation == operation.value for operation in _REPLACING)),
)


def enqueue_locks(
    db: Connection,
    txn_id: int,
    locks: Sequence[Lock],
    owner: LockOwner,
    *,
    zero_wait_read: bool,
    exclusive_ctas: bool,
) -> LockAnswer:
    """Queue a request for all of ``locks`` together, record what they will write, and check it.

    What the transaction holds already is not asked for again: behind a stranger's waiting request
    it would wait for its own locks. The answer's id is 0 when nothing is left to ask for.
    """
    locks = merge(_lower(lock) for lock in locks)
    written = _components(txn_id, locks) if txn_id else []
    if txn_id and (written or not locks):
        # It must be held before what it writes is recorded.
        require_open(db, txn_id)
    if not locks:
        return LockAnswer(lock_id=0, state=LockState.ACQUIRED)
    # The id is given out and the rows become visible together: a later request never overtakes.
    # Until then all other requests and checks wait here, so that what is found now stays true.
    databases = _databases(locks)
    opened = asking_whether_open(db, txn_id) if txn_id else ()
    taken = _taking_number(db, written)
    *states, _, line = run_all(db, *opened, taken, (_line(len(databases)), databases))
    for state in states:
        note_whether_open(db, txn_id, state)
    new_id = int(line[0].following) - 1
    others: list[Row[Any]] = []
    acquired: list[Lock] = []
    for row in line:
        if txn_id and row.txn_id == txn_id:
            if row.state == ACQUIRED:
                acquired.append(as_lock(row))
        elif row.lock_id is not None:
            others.append(row)
    by_place = LocksByPlace((lock, None) for lock in acquired)
    locks = [
        lock
        for lock in locks
        if not any(covers(mine, lock) for _, mine, _ in by_place.meeting(lock))
    ]
    if not locks:
        return LockAnswer(lock_id=0, state=LockState.ACQUIRED)
    free = _first_conflict(locks, others) is None
    beat = 0 if txn_id else now(db)
    rows = [
        {
            "lock_id": new_id,
            "internal_id": position,
            "txn_id": txn_id,
            "database": lock.database,
            "table": lock.table,
            "partition": lock.partition,
            "state": ACQUIRED if free else WAITING,
            "type": CODES[lock.type],
            "last_heartbeat": beat,
            "user": owner.user[:128],
            "host": owner.host[:128],
            "agent_info": owner.agent_info[:128] or None,
        }
        for position, lock in enumerate(locks, start=1)
    ]
    run_many(db, _GRANTED if free else _WAITING, rows)
    if free:
        return LockAnswer(lock_id=new_id, state=LockState.ACQUIRED)
    return check_lock(db, new_id, zero_wait_read=zero_wait_read, exclusive_ctas=exclusive_ctas)


def _taking_number(db: Connection, written: Sequence[dict[str, Any]]) -> Statement:
    """Record what is written, and compose what takes the next number, held from then on."""
    if len(written) == 1 and terms_of(db).has_changing_queries:
        return terms_of(db).holding_briefly(db, _TAKE_NUMBER_AND_RECORD, written[0])
    run_many(db, _COMPONENT, written)
    return terms_of(db).holding_briefly(db, _TAKE_NUMBER)


def check_lock(
    db: Connection, lock_id: int, *, zero_wait_read: bool = False, exclusive_ctas: bool = False
) -> LockAnswer:
    """Grant the whole request unless an earlier one, granted or waiting, stands against it.

    A deadlock is broken here; ABORTED when that ended the asking transaction.
    """
    # All checks and enqueues take turns here, else two requests could each be granted first.
    holding = terms_of(db).holding_briefly(db, _HOLD_NUMBER)
    request = {"asked": lock_id}
    opened, _, line = run_all(db, (_ASKER, request), holding, (_UP_TO, request))
    mine = [row for row in line if row.lock_id == lock_id]
    if not mine:
        raise ExecutionError(
            f"No such lock: lockid:{lock_id}. It timed out or was released; run the statement "
            "again",
            code=10270,
        )
    txn_id = mine[0].txn_id
    if txn_id:
        note_whether_open(db, txn_id, opened)
    requested = [as_lock(row) for row in mine]
    earlier = [
        row for row in line if row.lock_id != lock_id and not (txn_id and row.txn_id == txn_id)
    ]
    blocked = _first_conflict(requested, earlier)
    while blocked is not None and txn_id and (broken := break_deadlock(db, txn_id)):
        if broken.victim == txn_id:
            return LockAnswer(lock_id=lock_id, state=LockState.ABORTED, reason=broken.reason)
        blocked = _blocked(db, lock_id, txn_id, requested)
    if blocked is None:
        run_later(db, _GRANT, request)
        return LockAnswer(lock_id=lock_id, state=LockState.ACQUIRED)
    own, other = mine[blocked[0]], blocked[1]
    reason = _refusal(own, other, zero_wait_read=zero_wait_read, exclusive_ctas=exclusive_ctas)
    if reason and own.txn_id:
        db.execute(delete(hive_locks).where(_of.lock_id == lock_id))
        return LockAnswer(lock_id=lock_id, state=LockState.NOT_ACQUIRED, reason=reason)
    run_later(
        db,
        _BLOCK,
        request | {"own": own.internal_id, "other": other.lock_id, "part": other.internal_id},
    )
    reason = f"blocked by {describe(other)}"
    return LockAnswer(lock_id=lock_id, state=LockState.WAITING, reason=reason)


def requests_before(db: Connection, lock_id: int) -> int:
    """Tell how many earlier requests stand against one that waits; 0 as well where it is gone."""
    rows = run(db, _UP_TO, {"asked": lock_id})
    mine = [row for row in rows if row.lock_id == lock_id]
    if not mine:
        return 0
    requested = LocksByPlace((as_lock(row), None) for row in mine)
    owner = mine[0].txn_id
    before: set[int] = set()
    for row in rows:
        is_mine = row.lock_id == lock_id or (row.txn_id != 0 and row.txn_id == owner)
        if is_mine or row.lock_id in before:
            continue
        other = as_lock(row)
        if any(conflicts(own, other) for _, own, _ in requested.meeting(other)):
            before.add(row.lock_id)
    return len(before)


def unlock(db: Connection, lock_id: int) -> None:
    """Give up a request that waits or belongs to no transaction; unknown ones are ignored."""
    query = select(_of.txn_id, _of.state).where(_of.lock_id == lock_id).with_for_update()
    rows = db.execute(query).all()
    if any(txn_id and state == ACQUIRED for txn_id, state in rows):
        raise ExecutionError(
            f"Unlocking locks associated with transaction not permitted: lockid:{lock_id} "
            f"txnid:{rows[0][0]}. Commit or abort the transaction"
        )
    db.execute(delete(hive_locks).where(_of.lock_id == lock_id))


def locks(
    db: Connection,
    database: str | None = None,
    table: str | None = None,
    partition: str | None = None,
) -> tuple[LockRow, ...]:
    """Locks, filtered by equality, in the order of SHOW LOCKS."""
    place = {
        "in_database": database and database.lower(),
        "in_table": table and table.lower(),
        "in_partition": partition,
    }
    rows = (lock_row(row) for row in db.execute(ACQUIRED_IN, place))
    return tuple(sorted(rows, key=lambda row: row.rank))


def _is(column: Column[Any], name: str) -> ColumnElement[bool]:
    """Tell whether a column is as asked; NULL asks for nothing."""
    pattern = bindparam(name, type_=column.type)
    return or_(pattern.is_(None), column == pattern)


ACQUIRED_IN = select(*(column.label(column.key) for column in hive_locks.c)).where(
    _is(_of.database, "in_database"), _is(_of.table, "in_table"), _is(_of.partition, "in_partition")
)
"""Requests for locks, and locks, in a place."""


def newer_writer(db: Connection, txn_id: int, locks: Sequence[Lock]) -> int | None:
    """Return the latest transaction that changed, after ours began, what our write locks cover.

    None where there is none. Inserts do not count on either side, as in Hive's
    getLatestTxnIdInConflict.
    """
    units: dict[tuple[str, str | None], set[str | None]] = defaultdict(set)
    for lock in map(_lower, locks):
        if may_be_stale(lock):
            units[lock.database, lock.table].add(lock.partition)
    writers: list[int] = []
    for (database, table), partitions in units.items():
        unit = {"database": database, "table": table, "own": txn_id}
        writers += [
            int(writer)
            for writer, partition in run(db, _CHANGED_SINCE, unit)
            if None in partitions or partition in partitions
        ]
    return max(writers, default=None)


def may_be_stale(lock: Lock) -> bool:
    """Tell whether others may have changed what it covers while it was waited for."""
    writes = lock.type in (LockType.EXCLUSIVE, LockType.EXCL_WRITE)
    return writes and lock.operation in _REPLACING


def _components(txn_id: int, locks: Sequence[Lock]) -> list[dict[str, Any]]:
    """Give one TXN_COMPONENTS row per unit written; without partition when those are not known."""
    units: dict[tuple[str, str, str | None], Operation] = {}
    for lock in locks:
        if lock.operation not in (Operation.INSERT, *_REPLACING) or lock.table is None:
            continue
        partition = None if lock.dynamic_partition else lock.partition
        unit = (lock.database, lock.table, partition)
        if units.get(unit) not in _REPLACING:
            units[unit] = lock.operation
    return [
        {
            "txn_id": txn_id,
            "database": database,
            "table": table,
            "partition": partition,
            "operation": operation.value,
            "owner": txn_id,
            "in_database": database,
            "in_table": table,
        }
        for (database, table, partition), operation in units.items()
    ]


def _lower(lock: Lock) -> Lock:
    database, table = lock.database.lower(), lock.table and lock.table.lower()
    if (database, table) == (lock.database, lock.table):
        return lock
    return replace(lock, database=database, table=table)


def _blocked(
    db: Connection, lock_id: int, txn_id: int, mine: Sequence[Lock]
) -> tuple[int, Row[Any]] | None:
    """My first component that has to wait, by its place, and the earlier one that it waits for."""
    return _first_conflict(mine, _earlier(db, lock_id, txn_id, mine))


def _first_conflict(
    mine: Sequence[Lock], earlier: Sequence[Row[Any]]
) -> tuple[int, Row[Any]] | None:
    others = LocksByPlace((as_lock(row), row) for row in earlier)
    for place, own in enumerate(mine):
        other = others.first_conflict(own)
        if other is not None:
            return place, other
    return None


def _earlier(db: Connection, lock_id: int, txn_id: int, mine: Sequence[Lock]) -> Sequence[Row[Any]]:
    """Tell what others asked for before, in the databases of my locks."""
    databases = _databases(mine)
    parameters = {"before": lock_id, "owner": txn_id, **databases}
    return run(db, _earlier_in(len(databases)), parameters)


def _databases(locks: Sequence[Lock]) -> dict[str, Any]:
    """Return the databases of locks as what ``_in_databases`` looks for."""
    names = sorted({lock.database for lock in locks})
    return {f"database_{place}": name for place, name in enumerate(names)}


def _refusal(
    own: Row[Any], other: Row[Any], *, zero_wait_read: bool, exclusive_ctas: bool
) -> str | None:
    if exclusive_ctas:
        return (
            "Failed to initiate a concurrent CTAS operation with the same table name, "
            f"lockInfo : {{{describe(other)}}}"
        )
    if zero_wait_read and TYPES[own.type] is LockType.SHARED_READ:
        return (
            f"Unable to acquire read lock due to an existing exclusive lock {{{describe(other)}}}"
        )
    return None
