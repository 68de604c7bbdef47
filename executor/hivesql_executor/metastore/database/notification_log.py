"""Hive's notification log: what changed, written by the database transaction that changes it.

It is kept from the moment when somebody first asks for it, a cache: NOTIFICATION_SEQUENCE has no
row before.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    Connection,
    Insert,
    Row,
    Select,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    false,
    func,
    insert,
    select,
    true,
    update,
)

from hivesql_executor.metastore.database.connection import millis_now
from hivesql_executor.metastore.database.dialects.execution import run, run_many
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.notification_schema import (
    notification_log,
    notification_sequence,
)
from hivesql_executor.metastore.database.schema import completed_txn_components, txn_to_write_id
from hivesql_planner.cache.events import Event, EventKind, LogPage
from hivesql_planner.model.table import TableName

T = TypeVar("T")

PAGE = 1000
"""The most events of one page."""
_NOTES = "hivesql_events"
_FORMAT = "hivesql-1"
_FIRST = 1
_SECONDS = cast(millis_now() / 1000, BigInteger)
_ADD = insert(notification_log).inline().values(time=_SECONDS)
_HAS_LOG = exists(select(notification_sequence)).label("is_logged")
_FIELDS = ("type", "database", "table", "message", "format")
_KINDS = {kind.value: kind for kind in EventKind}


def logged(db: Connection, work: Callable[[Connection], T]) -> T:
    """Do the work of one database transaction, and write what it notes at its very end.

    Only then is the sequence held, so that writers wait for each other as briefly as possible.
    Work inside such work is a part of it.
    """
    # A connection that breaks has none any more, and asking for it would hide what broke.
    info = db.info
    if _NOTES in info:
        return work(db)
    info[_NOTES] = []
    try:
        result = work(db)
        write_noted(db)
    finally:
        info.pop(_NOTES, None)
    return result


def write_noted(db: Connection) -> None:
    """Write what was noted, and hold the sequence until the end of the database transaction."""
    if notes := db.info.get(_NOTES):
        db.info[_NOTES] = []
        _write(db, notes)


def asking_for_log(query: Select[Any]) -> Select[Any]:
    """Let a query tell whether a log is kept, where it may have parts that change rows.

    What deletes nothing locks the table all the same: ``keep_log`` waits for the transaction.
    """
    passing = delete(notification_sequence).where(false()).cte("passing")
    return query.add_columns(_HAS_LOG).add_cte(passing)


def learn_of_log(db: Connection, row: Row[Any]) -> bool:
    """Note nothing where a row of ``asking_for_log`` says that no log is kept; whether one is."""
    if not row.is_logged and _NOTES in db.info:
        db.info[_NOTES] = None
    return bool(row.is_logged)


def note(db: Connection, event: Event) -> None:
    """Let an event be written with the database transaction."""
    notes = db.info.get(_NOTES)
    if notes is not None:
        notes.append(event)


def note_change(
    db: Connection,
    kind: EventKind,
    name: TableName,
    table_id: int,
    *,
    renamed_to: TableName | None = None,
    txn_id: int = 0,
) -> None:
    """Note that a table or its partitions change, and by which transaction's write."""
    owned = txn_to_write_id.c
    query = select(owned.write_id).where(
        owned.txn_id == txn_id, owned.database == name.database, owned.table == name.name
    )
    write_ids = db.scalars(query) if txn_id else ()
    writes = tuple((txn_id, int(write_id)) for write_id in write_ids)
    event = Event(
        kind=kind,
        database=name.database,
        table=name,
        table_id=table_id,
        renamed_to=renamed_to,
        writes=writes,
    )
    note(db, event)


def _write(db: Connection, notes: list[Event]) -> None:
    terms = terms_of(db)
    terms.pass_log(db)
    rows = [_row(event) for event in notes]
    if terms.has_changing_queries:
        if sum([run(db, _add_next(), row).changed for row in rows]):
            # A follower of the log must not hear of what may be forgotten: the number would be
            # another event's.
            terms.hold_until_durable(db)
        return
    following = terms.advance(db, notification_sequence.c.next, len(rows))
    if following is not None:
        first = following - len(rows)
        run_many(db, _ADD, [row | {"event_id": first + i} for i, row in enumerate(rows)])


@functools.cache
def _add_next() -> Insert:
    """Advance the sequence and add an event, where there is a sequence."""
    following = notification_sequence.c.next
    advanced = update(notification_sequence).values({following: following + 1})
    taken = advanced.returning((following - 1).label("event_id")).cte("taken")
    log = notification_log.c
    parameters = [bindparam(name, type_=log[name].type) for name in _FIELDS]
    event = select(taken.c.event_id, _SECONDS, *parameters)
    added = insert(notification_log).from_select(
        ["event_id", "time", *_FIELDS], event, include_defaults=False
    )
    return added.add_cte(taken)


def _row(event: Event) -> dict[str, Any]:
    message: dict[str, Any] = {}
    if event.txn_ids:
        message["txns"] = event.txn_ids
    if event.writes:
        message["writes"] = event.writes
    if event.table_id:
        message["tableId"] = event.table_id
    if event.renamed_to:
        message["to"] = [event.renamed_to.database, event.renamed_to.name]
    return {
        "type": event.kind.value,
        "database": event.database or None,
        "table": event.table.name if event.table else None,
        "message": json.dumps(message, separators=(",", ":")),
        "format": _FORMAT,
    }


def keep_log(db: Connection) -> int:
    """Let the log be kept from now on; the id of the latest event."""
    latest = latest_event(db)
    if latest is not None:
        return latest
    terms_of(db).begin_log(db)
    latest = latest_event(db)
    if latest is None:
        db.execute(insert(notification_sequence).values(id=1, next=_FIRST))
    return _FIRST - 1 if latest is None else latest


def latest_event(db: Connection) -> int | None:
    """Return the id of the latest event; None while no log is kept."""
    following = db.scalar(select(notification_sequence.c.next))
    return None if following is None else int(following) - 1


def events_after(db: Connection, last: int) -> LogPage:
    """Return the first events after an id; an older log than that has another latest id."""
    sequence, log = notification_sequence.c, notification_log.c
    query = (
        select(sequence.next, notification_log)
        .select_from(notification_sequence)
        .join(notification_log, and_(true(), log.event_id > last), isouter=True)
        .order_by(log.event_id)
        .limit(PAGE)
    )
    rows = db.execute(query).all()
    latest = int(rows[0].next) - 1 if rows else 0
    return LogPage(
        events=tuple(_event(row) for row in rows if row.event_id is not None), latest=latest
    )


def _event(row: Row[Any]) -> Event:
    message = json.loads(row.message)
    to = message.get("to")
    return Event(
        id=row.event_id,
        kind=_KINDS.get(row.type, EventKind.OTHER),
        database=row.database or "",
        table=TableName(row.database, row.table) if row.table else None,
        table_id=message.get("tableId", 0),
        renamed_to=TableName(*to) if to else None,
        txn_ids=tuple(message.get("txns", ())),
        writes=tuple((txn, write) for txn, write in message.get("writes", ())),
    )


def writes_of(db: Connection, txn_id: int) -> frozenset[tuple[TableName, int]]:
    """All writes of a transaction, as far as they are still known."""
    owned, completed = txn_to_write_id.c, completed_txn_components.c
    current = select(owned.database, owned.table, owned.write_id).where(owned.txn_id == txn_id)
    rows = db.execute(current).all()
    if not rows:
        past = select(completed.database, completed.table, completed.write_id)
        rows = db.execute(
            past.where(completed.txn_id == txn_id, completed.write_id.is_not(None))
        ).all()
    return frozenset(
        (TableName(database, table), int(write_id)) for database, table, write_id in rows
    )


def purge_events(db: Connection, seconds: float) -> int:
    """Forget events older than so many seconds; how many."""
    oldest = cast(millis_now() / 1000, BigInteger) - int(seconds)
    gone = db.execute(delete(notification_log).where(notification_log.c.time < oldest))
    return gone.rowcount


def count_events(db: Connection) -> int:
    """Tell how many events the log holds."""
    return int(db.scalar(select(func.count()).select_from(notification_log)) or 0)
