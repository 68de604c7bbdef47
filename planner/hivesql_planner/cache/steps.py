"""From an event to what it does: to the notes on transactions, and to the copies of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.cache.entries import Entry
from hivesql_planner.cache.events import Event, EventKind, Write
from hivesql_planner.cache.lists import mark_aborted, mark_committed
from hivesql_planner.model.table import Table, TableName

TableWrite = tuple[TableName, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TxnNotes:
    """What the log has told of a transaction that has not ended.

    Only when its opening was ``seen`` are ``writes`` all of its writes.
    """

    seen: bool = False
    writes: frozenset[TableWrite] = frozenset()
    touched: frozenset[TableName] = frozenset()


@dataclass(frozen=True, slots=True)
class Change:
    """A table's description was changed; or only its partitions."""

    table: TableName
    table_id: int
    writes: tuple[Write, ...]
    partitions_only: bool = False


@dataclass(frozen=True, slots=True)
class Settle:
    """A write has ended."""

    table: TableName
    write: Write
    committed: bool


@dataclass(frozen=True, slots=True)
class Evict:
    """A copy can no longer be kept right."""

    table: TableName


@dataclass(frozen=True, slots=True)
class Created:
    """There is a new table of that name."""

    table: TableName
    table_id: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """A table is gone; perhaps another of that name is there already. Without id: any."""

    table: TableName
    table_id: int


@dataclass(frozen=True, slots=True)
class EvictDatabase:
    """All copies of a database are gone or wrong."""

    database: str


TableStep = Change | Settle | Evict | Created | Dropped
Step = TableStep | EvictDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What an event does: new notes by transaction (None forgets them), and steps of copies."""

    notes: Mapping[int, TxnNotes | None] = field(default_factory=dict)
    tables: tuple[Step, ...] = ()


_CHANGES = (EventKind.ALTER_TABLE, EventKind.ADD_PARTITION, EventKind.ALTER_PARTITION,
            EventKind.DROP_PARTITION)  # fmt: skip
_ENDS = (EventKind.COMMIT_TXN, EventKind.ABORT_TXN)


def unresolved(event: Event, notes: Mapping[int, TxnNotes]) -> tuple[int, ...]:
    """Return the transactions whose writes have to be looked up: their opening was not seen."""
    if event.kind not in _ENDS:
        return ()
    return tuple(
        txn_id for txn_id in event.txn_ids if txn_id not in notes or not notes[txn_id].seen
    )


def steps(
    event: Event,
    notes: Mapping[int, TxnNotes],
    unresolved_writes: Mapping[int, frozenset[TableWrite]],
) -> Steps:
    """Tell what an event does; ``unresolved_writes`` are the writes of unresolved transactions."""
    match event.kind:
        case EventKind.OPEN_TXN:
            return Steps(notes={txn_id: TxnNotes(seen=True) for txn_id in event.txn_ids})
        case EventKind.ALLOC_WRITE_ID if event.table is not None:
            return Steps(notes=_allocated(event.table, event.writes, notes))
        case EventKind.COMMIT_TXN | EventKind.ABORT_TXN:
            return _ended(event, notes, unresolved_writes)
        case EventKind.DROP_DATABASE | EventKind.ALTER_DATABASE:
            return Steps(tables=(EvictDatabase(event.database),))
        case EventKind.CREATE_TABLE if event.table is not None:
            return Steps(tables=(Created(event.table, event.table_id),))
        case EventKind.DROP_TABLE if event.table is not None:
            gone = Dropped(event.table, event.table_id)
            return Steps(notes=_forgotten(event.table, notes), tables=(gone,))
        case EventKind.ALTER_TABLE if event.table is not None and event.renamed_to is not None:
            writes = _makers(event.table, event, notes)
            return _renamed(event.table, event.renamed_to, writes, notes)
        case kind if kind in _CHANGES and event.table is not None:
            partitions_only = kind is not EventKind.ALTER_TABLE
            writes = _makers(event.table, event, notes)
            change = Change(event.table, event.table_id, writes, partitions_only)
            return Steps(notes=_touched(event.table, writes, notes), tables=(change,))
    return Steps()


def is_touched(
    table: TableName, notes: Mapping[int, TxnNotes], current: ValidWriteIdList | None
) -> bool:
    """Tell whether a transaction that has not ended has changed the table's description.

    A log may keep quiet about an end; ``current``, taken before the table was read, tells too.
    """
    return any(
        not _has_ended(table, note, current) for note in notes.values() if table in note.touched
    )


def _has_ended(table: TableName, notes: TxnNotes, current: ValidWriteIdList | None) -> bool:
    own = [write_id for name, write_id in notes.writes if name == table]
    if current is None or not own:
        return False
    return all(
        write_id <= current.high_watermark and write_id not in current.open for write_id in own
    )


def _makers(table: TableName, event: Event, notes: Mapping[int, TxnNotes]) -> tuple[Write, ...]:
    """Return the writes that make the change, or may make it as far as the log tells."""
    if event.tells_writes:
        return event.writes
    return tuple(
        (txn_id, write_id)
        for txn_id, txn_notes in notes.items()
        for name, write_id in sorted(txn_notes.writes)
        if name == table
    )


def advanced(entry: Entry, step: TableStep, content: Table | None) -> Entry | None:
    """Return the copy after a step; None when it cannot be kept.

    ``content`` is the table as the database describes it after the event.
    """
    match step:
        case Evict():
            return None
        case Created(table_id=table_id):
            return entry if entry.table.id == table_id else None
        case Dropped(table_id=table_id):
            return entry if table_id and entry.table.id != table_id else None
        case Settle():
            return _end_write(entry, step)
        case Change():
            return _changed(entry, step, content)


def _changed(entry: Entry, step: Change, content: Table | None) -> Entry | None:
    content = entry.table if step.partitions_only else content
    if content is None or (step.table_id and content.id != step.table_id):
        return None
    same_kind = content.is_transactional == entry.table.is_transactional
    if content.id != entry.table.id or not same_kind:
        return None
    if content.is_transactional and not step.writes:
        # Nobody will say when this change is complete.
        return None
    if not content.is_transactional:
        return replace(entry, table=content, listings={})
    return replace(
        entry,
        table=content,
        pending=entry.pending | frozenset(step.writes),
        listings={},
    )


def _end_write(entry: Entry, step: Settle) -> Entry | None:
    if entry.visible is None:
        return entry
    mark = mark_committed if step.committed else mark_aborted
    visible = mark(entry.visible, step.write[1])
    if visible is None:
        return None
    pending = frozenset(pair for pair in entry.pending if pair[0] != step.write[0])
    return replace(entry, visible=visible, pending=pending)


def _allocated(
    table: TableName, writes: tuple[Write, ...], notes: Mapping[int, TxnNotes]
) -> dict[int, TxnNotes]:
    def noted(txn_notes: TxnNotes, write_id: int) -> TxnNotes:
        return replace(txn_notes, writes=txn_notes.writes | {(table, write_id)})

    return {txn_id: noted(notes.get(txn_id, TxnNotes()), write_id) for txn_id, write_id in writes}


def _touched(
    table: TableName, writes: tuple[Write, ...], notes: Mapping[int, TxnNotes]
) -> dict[int, TxnNotes]:
    def noted(txn_notes: TxnNotes) -> TxnNotes:
        return replace(txn_notes, touched=txn_notes.touched | {table})

    return {txn_id: noted(notes.get(txn_id, TxnNotes())) for txn_id, _ in writes}


def _rewritten(
    notes: Mapping[int, TxnNotes], change: Callable[[TxnNotes], TxnNotes]
) -> dict[int, TxnNotes]:
    """Return the notes that the change makes others of."""
    changed = {txn_id: change(txn_notes) for txn_id, txn_notes in notes.items()}
    return {txn_id: after for txn_id, after in changed.items() if after != notes[txn_id]}


def _ended(
    event: Event,
    notes: Mapping[int, TxnNotes],
    unresolved_writes: Mapping[int, frozenset[TableWrite]],
) -> Steps:
    committed = event.kind is EventKind.COMMIT_TXN
    tables: list[Step] = []
    for txn_id in event.txn_ids:
        txn_notes = notes.get(txn_id, TxnNotes())
        writes = (
            txn_notes.writes
            if txn_notes.seen
            else txn_notes.writes | unresolved_writes.get(txn_id, frozenset())
        )
        tables += [
            Settle(table, (txn_id, write_id), committed) for table, write_id in sorted(writes)
        ]
        # What an aborted transaction did to descriptions stays, and what a transaction did whose
        # write in the table cannot be found is never known to be complete.
        resolved = {table for table, _ in writes} if committed else set()
        tables += [Evict(table) for table in sorted(txn_notes.touched - resolved)]
    return Steps(notes=dict.fromkeys(event.txn_ids), tables=tuple(tables))


def _renamed(
    table: TableName, to: TableName, writes: tuple[Write, ...], notes: Mapping[int, TxnNotes]
) -> Steps:
    """Write ids follow the new name at once, and so do the notes."""

    def moved(txn_notes: TxnNotes) -> TxnNotes:
        writes = frozenset(
            (to if name == table else name, write_id) for name, write_id in txn_notes.writes
        )
        names = frozenset(to if name == table else name for name in txn_notes.touched)
        return replace(txn_notes, writes=writes, touched=names)

    changed = _rewritten(notes, moved)
    touched = _touched(to, writes, {**notes, **changed})
    return Steps(notes=changed | touched, tables=(Evict(table), Evict(to)))


def _forgotten(table: TableName, notes: Mapping[int, TxnNotes]) -> dict[int, TxnNotes]:
    """Return a table of the same name will count its writes from 1 again."""

    def without(txn_notes: TxnNotes) -> TxnNotes:
        writes = frozenset(pair for pair in txn_notes.writes if pair[0] != table)
        return replace(txn_notes, writes=writes, touched=txn_notes.touched - {table})

    return _rewritten(notes, without)
