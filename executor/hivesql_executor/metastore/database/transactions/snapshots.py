"""Which transactions and write ids a transaction sees, and the giving out of write ids."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import (
    BigInteger,
    CompoundSelect,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    null,
    select,
    true,
    union_all,
    update,
)

from hivesql_executor.metastore.database.connection import millis_now
from hivesql_executor.metastore.database.dialects.execution import (
    Rows,
    Statement,
    run,
    run_all,
    run_many,
)
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.dialects.terms import Terms
from hivesql_executor.metastore.database.notification_log import asking_for_log, learn_of_log, note
from hivesql_executor.metastore.database.schema import (
    completed_txn_components,
    history,
    next_write_id,
    txn_components,
    txn_to_write_id,
    txns,
)
from hivesql_executor.metastore.database.transactions.transactions import (
    IS_UNENDED,
    READ_ONLY,
    chunks,
    lost,
    note_open,
    require_all_open,
)
from hivesql_executor.metastore.database.transactions.txn_rows import ABORTED, OPEN
from hivesql_planner.acid.write_ids import (
    CONVERTED_NEXT_WRITE_ID,
    NONE_OPEN,
    ListMode,
    ValidTxnList,
    ValidWriteIdList,
)
from hivesql_planner.cache.events import Event, EventKind
from hivesql_planner.errors import ExecutionError
from hivesql_planner.model.table import TableName
from hivesql_planner.write_history import CONVERTED, LaterWrites

# What was seen right after the opening of a transaction, by its id, until it is asked for.
_seen: WeakKeyDictionary[Connection, dict[int, Rows]] = WeakKeyDictionary()


def note_seen(db: Connection, txn_ids: Sequence[int], rows: Rows) -> None:
    """Note what transactions see that the database transaction has just opened."""
    _seen[db] = dict.fromkeys(txn_ids, rows)


def valid_txns(db: Connection, txn_id: int = 0) -> ValidTxnList:
    """Tell what the transaction sees: itself, and all below it that have ended well.

    0 asks for the current state. Readers (READ_ONLY) are left out: they write nothing.
    """
    opened: set[int] = set()
    aborted: set[int] = set()
    latest = 0
    rows = _seen.get(db, {}).pop(txn_id, None)
    if rows is None:
        rows = run(db, latest_and_unended(terms_of(db).open_window))
    for id_, state, kind, previous in rows:
        if previous is not None:
            # A missing id may belong to an opening that is not committed yet.
            opened.update(range(previous + 1, id_))
        latest = max(latest, id_ or 0)
        if state == OPEN and kind != READ_ONLY:
            opened.add(id_)
        elif state == ABORTED:
            aborted.add(id_)
    if txn_id <= 0:
        return ValidTxnList(latest, frozenset(opened), frozenset(aborted))
    return ValidTxnList(
        min(txn_id, latest),
        frozenset(id_ for id_ in opened if id_ < txn_id),
        frozenset(id_ for id_ in aborted if id_ < txn_id),
    )


_FOREVER = 2**62
_of = txn_to_write_id.c
_OF_TABLE = and_(_of.database == bindparam("in_database"), _of.table == bindparam("in_table"))


def _unseen_value(name: str) -> Any:
    """Return a parameter that a server does not see while it plans: else it plans anew for each."""
    return select(bindparam(name, type_=BigInteger())).scalar_subquery()


_MOST_OLD = 8
_OLD = tuple(f"old_{i}" for i in range(_MOST_OLD))
"""Parameters: the oldest transactions that are open or aborted, as far as there are so many.

One that is open for hours would let every snapshot ask for all that was written since it began.
"""
_OLD_VALUES = [_unseen_value(name) for name in _OLD]
_DOUBTFUL = _unseen_value("doubtful")


@functools.cache
def _writes(*, some_old: bool) -> CompoundSelect[Any]:
    """Compose what asks for the greatest write id of what is seen, and for the others one by one.

    Each part has one index that leads to its few rows, whatever the server believes of a table
    that was empty a minute ago: else it reads all writes of the table.
    """
    seen = [_OF_TABLE, _of.txn_id < _DOUBTFUL]
    # Of what lies between two bounds PostgreSQL expects few, and uses the index.
    doubtful = _of.txn_id.between(_DOUBTFUL, _FOREVER)
    parts = [select(_of.txn_id, _of.write_id).where(_OF_TABLE, doubtful)]
    if some_old:
        seen.append(_of.txn_id.not_in(_OLD_VALUES))
        parts += [
            select(_of.txn_id, _of.write_id).where(_OF_TABLE, _of.txn_id == old)
            for old in _OLD_VALUES
        ]
    greatest = select(_of.write_id).where(*seen).order_by(_of.write_id.desc()).limit(1)
    first = select(null().label("txn_id"), greatest.scalar_subquery().label("write_id"))
    return union_all(first, *parts)


def valid_write_ids(db: Connection, txns_seen: ValidTxnList, table: TableName) -> ValidWriteIdList:
    """Translate a list of transactions into the table's write ids (Hive's getValidWriteIds)."""
    return valid_in_tables(db, txns_seen, (table,))[table]


def valid_in_tables(
    db: Connection, txns_seen: ValidTxnList, tables: Collection[TableName]
) -> dict[TableName, ValidWriteIdList]:
    """Translate a list of transactions into write ids of each of some tables."""
    return _valid_by(db, txns_seen, tables, run_all(db, *_asking_writes(txns_seen, tables)))


def _asking_writes(txns_seen: ValidTxnList, tables: Collection[TableName]) -> Iterator[Statement]:
    """Compose what ``valid_in_tables`` asks of each table."""
    # What is below and none of the old ones is seen, and need not be told of write by write.
    high = txns_seen.high_watermark
    unseen = sorted(id_ for id_ in txns_seen.open | txns_seen.aborted if id_ <= high)
    doubtful = min(*unseen[_MOST_OLD : _MOST_OLD + 1], high + 1, NONE_OPEN)
    values: dict[str, int] = {"doubtful": doubtful}
    if unseen:
        values |= dict.fromkeys(_OLD, -1) | dict(zip(_OLD, unseen, strict=False))
    query = _writes(some_old=bool(unseen))
    return ((query, _place(table.lower()) | values) for table in tables)


def _valid_by(
    db: Connection,
    txns_seen: ValidTxnList,
    tables: Collection[TableName],
    answers: Sequence[Rows],
) -> dict[TableName, ValidWriteIdList]:
    return {
        table: _valid_of(db, txns_seen, table.lower(), rows)
        for table, rows in zip(tables, answers, strict=True)
    }


def _valid_of(
    db: Connection, txns_seen: ValidTxnList, table: TableName, rows: Rows
) -> ValidWriteIdList:
    allocated = [
        int(write_id)
        for txn_id, write_id in rows
        if write_id is not None and (txn_id or 0) <= txns_seen.high_watermark
    ]
    highest = max(allocated) if allocated else (_next(db, table) or 1) - 1
    opened: set[int] = set()
    aborted: set[int] = set()
    found_valid = False
    for txn_id, write_id in rows:
        if write_id is None or write_id > highest:
            continue
        if txn_id is None or txns_seen.sees(txn_id):
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


def writes_after(db: Connection, table: TableName, moment: datetime) -> LaterWrites:
    """List writes of a table that were committed after a moment, which has its zone.

    Those of other programs are known to the second. What a cleaned compaction covers, what was
    forgotten with the history, and of their writes to the same place all but the latest are not.
    Nor is what a table had before it was made transactional: its conversion tells of what came
    after, not before.
    """
    table = table.lower()
    logged, completed = history.c, completed_txn_components.c
    bound = terms_of(db).noted_time(moment)
    is_late = logged.committed > round(moment.timestamp() * 1000)
    known = select(logged.write_id, is_late).where(
        logged.database == table.database,
        logged.table == table.name,
        ~(is_late & (logged.operation == CONVERTED)),
    )
    others = select(completed.write_id, completed.timestamp > bound).where(
        completed.database == table.database,
        completed.table == table.name,
        completed.write_id.is_not(None),
        completed.write_id.not_in(known.with_only_columns(logged.write_id)),
    )
    later: set[int] = set()
    earlier: set[int] = set()
    for write_id, is_later in db.execute(union_all(known, others)):
        (later if is_later else earlier).add(int(write_id))
    first = min(later, default=CONVERTED_NEXT_WRITE_ID)
    is_whole = earlier or first == CONVERTED_NEXT_WRITE_ID
    return LaterWrites(frozenset(later), 0 if is_whole else first - 1)


def compactor_write_ids(db: Connection, table: TableName) -> ValidWriteIdList:
    """Tell what a compaction may merge: all below the first open write id but the aborted ones."""
    table = table.lower()
    now_valid = valid_write_ids(db, valid_txns(db), table)
    highest = now_valid.high_watermark
    if now_valid.min_open is not None:
        highest = min(highest, now_valid.min_open - 1)
    aborted = frozenset(id_ for id_ in now_valid.aborted if id_ <= highest)
    return ValidWriteIdList(highest, frozenset(), aborted, str(table), ListMode.COMPACTOR)


_MINE = and_(_of.txn_id == bindparam("owner"), _OF_TABLE)
ALLOCATED_WRITE_ID = select(_of.write_id).where(_MINE)
"""The write id that a transaction (owner) has in a table (in_database, in_table)."""
# Whoever asks holds the transaction's row from then on.
_OPEN_AND_ALLOCATED = (
    select(txns.c.type, txns.c.started, ALLOCATED_WRITE_ID.scalar_subquery().label("write_id"))
    .where(txns.c.id == bindparam("owner"), txns.c.state == OPEN)
    .with_for_update()
)
_ALLOCATED_BY_MANY = select(_of.txn_id, _of.write_id).where(
    _of.txn_id.in_(bindparam("owners", expanding=True)), _OF_TABLE
)
_FORGET = delete(txn_to_write_id).where(_MINE)
_ALLOCATE = insert(txn_to_write_id).inline()
_IS_WRITTEN = and_(
    txn_components.c.txn_id == bindparam("owner"),
    txn_components.c.database == bindparam("in_database"),
    txn_components.c.table == bindparam("in_table"),
)
_WRITE_UNDER = update(txn_components).where(_IS_WRITTEN).values(write_id=bindparam("now"))


def allocate_write_id(db: Connection, txn_id: int, table: TableName, *, again: bool) -> int:
    """Return the transaction's write id in the table; ``again`` gives a new, larger one."""
    if terms_of(db).has_changing_queries and not again:
        return _allocated_id(db, txn_id, table, run_all(db, _allocating(db, txn_id, table))[0])
    mine = _place(table) | {"owner": txn_id}
    row = run(db, _OPEN_AND_ALLOCATED, mine).one_or_none()
    if row is None:
        raise lost(db, txn_id)
    _require_writer(txn_id, note_open(db, txn_id, row), table)
    if row.write_id is not None:
        if not again:
            return int(row.write_id)
        run(db, _FORGET, mine)
    return _give_out(db, [txn_id], table)[txn_id]


def take_write_ids(
    db: Connection,
    txn_id: int,
    written: Collection[TableName],
    txns_seen: ValidTxnList,
    tables: Collection[TableName],
) -> tuple[dict[TableName, int], dict[TableName, ValidWriteIdList]]:
    """Return the transaction's write ids in what is ``written``, and what it sees in ``tables``."""
    # All take their counters in the same order.
    names = sorted(written, key=str)
    if not terms_of(db).has_changing_queries:
        write_ids = {
            name: allocate_write_id(db, txn_id, name.lower(), again=False) for name in names
        }
        return write_ids, valid_in_tables(db, txns_seen, tables)
    giving = (_allocating(db, txn_id, name.lower()) for name in names)
    answers = run_all(db, *giving, *_asking_writes(txns_seen, tables))
    write_ids = {
        name: _allocated_id(db, txn_id, name.lower(), rows)
        for name, rows in zip(names, answers[: len(names)], strict=True)
    }
    return write_ids, _valid_by(db, txns_seen, tables, answers[len(names) :])


def _allocating(db: Connection, txn_id: int, table: TableName) -> Statement:
    return _giving(terms_of(db)), _place(table) | {"owner": txn_id, "count": 1}


def _allocated_id(db: Connection, txn_id: int, table: TableName, rows: Rows) -> int:
    """Take the write id from the answer to what ``_allocating`` composes."""
    row = rows.one_or_none()
    if row is None:
        raise lost(db, txn_id)
    _require_writer(txn_id, note_open(db, txn_id, row), table)
    learn_of_log(db, row)
    if row.fresh is None:
        return int(row.write_id)
    _note_allocation(db, {txn_id: int(row.fresh)}, table)
    return int(row.fresh)


@functools.cache
def _giving(terms: Terms) -> Select[Any]:
    """Look as ``_OPEN_AND_ALLOCATED`` does, and give who writes and has none a write id at once."""
    database, table, owner = (
        bindparam(name, type_=txn_components.c[key].type)
        for name, key in (("in_database", "database"), ("in_table", "table"), ("owner", "txn_id"))
    )
    asker = _OPEN_AND_ALLOCATED.cte("asker")
    advanced = terms.advancing_write_ids(
        select(database, table, bindparam("count", type_=BigInteger()) + 1)
        .select_from(asker)
        .where(asker.c.write_id.is_(None), func.coalesce(asker.c.type, 0) != READ_ONLY)
    )
    fresh = (advanced.c.next - 1).label("fresh")
    allocated = insert(txn_to_write_id).from_select(
        ["txn_id", "database", "table", "write_id"],
        select(owner, database, table, fresh),
        include_defaults=False,
    )
    under = (
        update(txn_components)
        .where(_IS_WRITTEN, exists(select(advanced)))
        .values(write_id=select(fresh).scalar_subquery())
    )
    return asking_for_log(
        select(asker.c.type, asker.c.started, asker.c.write_id, fresh)
        .select_from(asker.outerjoin(advanced, true()))
        .add_cte(allocated.cte("allocated"), under.cte("under"))
    )


def allocate_write_ids(db: Connection, txn_ids: Sequence[int], table: TableName) -> tuple[int, ...]:
    """Return the write id of each transaction in the table, in the transactions' order.

    Those of transactions that had none are consecutive: nobody else's lies between them.
    """
    for txn_id, kind in require_all_open(db, txn_ids).items():
        _require_writer(txn_id, kind, table)
    allocated = {
        txn_id: write_id
        for part in chunks(txn_ids)
        for txn_id, write_id in db.execute(_ALLOCATED_BY_MANY, _place(table) | {"owners": part})
    }
    without = [txn_id for txn_id in txn_ids if txn_id not in allocated]
    fresh = _give_out(db, without, table) if without else {}
    return tuple(int((allocated | fresh)[txn_id]) for txn_id in txn_ids)


def owners_of_write_ids(db: Connection, table: TableName, low: int, high: int) -> Mapping[int, int]:
    """Return the transactions that own the write ids ``low`` to ``high``, as far as is known.

    Old write ids are forgotten once every reader sees them.
    """
    table = table.lower()
    query = select(_of.write_id, _of.txn_id).where(_OF_TABLE, _of.write_id.between(low, high))
    return {int(write_id): int(txn_id) for write_id, txn_id in db.execute(query, _place(table))}


def _require_writer(txn_id: int, kind: int, table: TableName) -> None:
    if kind == READ_ONLY:
        raise ExecutionError(
            f"Write ID allocation failed on {table} as not all input txns in open state or "
            f"read-only: {{{txn_id},read-only}}"
        )


def _give_out(db: Connection, txn_ids: Sequence[int], table: TableName) -> dict[int, int]:
    place, count, terms = _place(table), len(txn_ids), terms_of(db)
    # The counter is held from then on, so two transactions never share a write id.
    first = terms.advance_write_ids(db, table.database, table.name, count) - count
    write_ids = dict(zip(txn_ids, range(first, first + count), strict=True))
    unit = {"database": table.database, "table": table.name}
    rows = [
        unit | {"txn_id": txn_id, "write_id": write_id} for txn_id, write_id in write_ids.items()
    ]
    run_many(db, _ALLOCATE, rows)
    # Locks asked for before, or under the earlier write id, write under this one.
    under = [place | {"owner": txn_id, "now": write_id} for txn_id, write_id in write_ids.items()]
    run_many(db, _WRITE_UNDER, under)
    _note_allocation(db, write_ids, table)
    return write_ids


def _note_allocation(db: Connection, write_ids: Mapping[int, int], table: TableName) -> None:
    event = Event(
        kind=EventKind.ALLOC_WRITE_ID,
        database=table.database,
        table=table,
        writes=tuple(write_ids.items()),
    )
    note(db, event)


def seed_write_id(db: Connection, table: TableName, next_id: int) -> None:
    """Let the table's write ids go on from ``next_id``, unless they are past it."""
    table = table.lower()
    terms_of(db).raise_write_id(db, table.database, table.name, next_id)


@functools.cache
def latest_and_unended(window: int) -> CompoundSelect[Any]:
    """Open and aborted transactions and the latest; with a window, those after a gap in its ids.

    The last column is the id before a gap, in which an id may still appear, or null. One statement,
    so that ids and states are of one moment.
    """
    unended = select(txns.c.id, txns.c.state, txns.c.type, null()).where(IS_UNENDED)
    latest = select(func.max(txns.c.id), null(), null(), null())
    if not window:
        return union_all(unended, latest)
    # The time is asked for once, and added to nothing: else no index leads to what is young.
    since = select(millis_now() - window).scalar_subquery()
    young, old = txns.alias(), txns.alias()
    # Of what lies between two bounds PostgreSQL expects few, and uses the index.
    is_young = and_(young.c.started > since, young.c.started < _FOREVER)
    first = select(func.min(young.c.id + 0).label("id")).where(is_young).cte("first")
    last = select(func.max(old.c.id)).where(old.c.id < first.c.id).scalar_subquery()
    edge = select(first.c.id.label("first"), last.label("last")).cte("edge")
    # Nearly always there is no gap, and counting takes much less time than looking for one.
    start = select(
        case((edge.c.first.is_not(None), func.coalesce(edge.c.last, 0)))
    ).scalar_subquery()
    later = txns.alias()
    has_gap = (
        select(func.max(later.c.id) - start != func.count())
        .where(later.c.id > start)
        .scalar_subquery()
    )
    before = func.lag(txns.c.id).over(order_by=txns.c.id)
    least = case((edge.c.last.is_(None), 0), else_=txns.c.id - 1)
    recent = (
        select(txns.c.id, txns.c.state, txns.c.type, func.coalesce(before, least).label("previous"))
        .select_from(edge.join(txns, txns.c.id >= func.coalesce(edge.c.last, edge.c.first)))
        .where(has_gap)
        .cte("recent")
    )
    # The first one tells of what type the columns are.
    return union_all(select(recent).where(recent.c.previous < recent.c.id - 1), unended, latest)


_NEXT = select(next_write_id.c.next).where(
    next_write_id.c.database == bindparam("in_database"),
    next_write_id.c.table == bindparam("in_table"),
)


def _next(db: Connection, table: TableName) -> int | None:
    following = run(db, _NEXT, _place(table)).scalar()
    return None if following is None else int(following)


def _place(table: TableName) -> dict[str, Any]:
    """Return the parameters of the queries above that are about one table."""
    return {"in_database": table.database, "in_table": table.name}
