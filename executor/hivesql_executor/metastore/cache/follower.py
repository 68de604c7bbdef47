"""The notification log, read to its end and applied to the copies."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.cache.counters import Counters
from hivesql_executor.metastore.cache.shelf import Shelf
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.cache.events import Event, EventKind, LogPage, has_gap
from hivesql_planner.cache.steps import (
    EvictDatabase,
    Settle,
    Step,
    TableWrite,
    TxnNotes,
    advanced,
    is_touched,
    steps,
    unresolved,
)
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.table import Table, TableName


class Follower:
    """Where the log has been read to, and what it told of transactions that have not ended.

    ``guard`` is held for every look at the shelf and never while the metastore is asked.
    """

    def __init__(
        self, metastore: Metastore, shelf: Shelf, counters: Counters, guard: threading.Lock
    ) -> None:
        self._metastore, self._shelf = metastore, shelf
        self._counters, self._guard = counters, guard
        self._turn = threading.Lock()
        self._notes: dict[int, TxnNotes] = {}
        self._last = metastore.keep_log()

    def follow(self) -> None:
        """Apply every event that is committed now."""
        with self._turn:
            while True:
                page = self._metastore.events_after(self._last)
                if has_gap(self._last, page):
                    self._start_again(page)
                    return
                if page.events:
                    self._apply_page(page)
                if self._last >= page.latest:
                    return

    def is_touched(self, name: TableName, current: ValidWriteIdList | None) -> bool:
        """Tell whether a transaction is known to have changed the table and not to have ended.

        ``current`` are the table's write ids from before it was read.
        """
        return is_touched(name, self._notes, current)

    def _start_again(self, page: LogPage) -> None:
        with self._guard:
            self._shelf.clear()
            self._notes.clear()
            self._counters.resets += 1
        self._last = page.latest

    def _apply_page(self, page: LogPage) -> None:
        contents = self._contents(page.events)
        for event in page.events:
            writes: dict[int, frozenset[TableWrite]] = {}
            for txn_id in unresolved(event, self._notes):
                writes[txn_id] = self._metastore.writes_of(txn_id)
            with self._guard:
                self._counters.lookups += len(writes)
                self._apply(event, writes, contents)
                self._counters.events += 1
            self._last = event.id

    def _contents(self, events: Iterable[Event]) -> dict[TableName, Table]:
        """Return the tables of the page's events that have a copy, as they are after the page."""
        with self._guard:
            copied = set(self._shelf)
        altered = (event for event in events if event.kind is EventKind.ALTER_TABLE)
        named = {event.table for event in altered if event.table in copied}
        tables: dict[TableName, Table] = {}
        for name in named:
            assert name is not None
            try:
                tables[name] = self._metastore.table(name)
            except HiveSqlError:
                # It is gone, or stored as nothing known here: whoever asks for it is told.
                continue
        return tables

    def _apply(
        self,
        event: Event,
        unresolved_writes: dict[int, frozenset[TableWrite]],
        contents: dict[TableName, Table],
    ) -> None:
        effect = steps(event, self._notes, unresolved_writes)
        for txn_id, notes in effect.notes.items():
            if notes is None:
                self._notes.pop(txn_id, None)
            else:
                self._notes[txn_id] = notes
        for step in effect.tables:
            self._take(step, contents)

    def _take(self, step: Step, contents: dict[TableName, Table]) -> None:
        if isinstance(step, EvictDatabase):
            for name in self._shelf:
                if name.database == step.database:
                    self._shelf.change(name, None)
                    self._counters.evictions += 1
            return
        name, old = step.table, self._shelf.get(step.table)
        new = advanced(old, step, contents.get(name)) if old is not None else None
        self._counters.evictions += old is not None and new is None
        if isinstance(step, Settle):
            # The description is what it was: who reads it now may put it here.
            self._shelf.settle(name, new)
        else:
            self._shelf.change(name, new)
