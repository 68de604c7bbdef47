"""A metastore whose tables and partition lists are answered from memory while that is right."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.cache.counters import Counters
from hivesql_executor.metastore.cache.follower import Follower
from hivesql_executor.metastore.cache.shelf import Limits, Shelf
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.cache.entries import (
    Entry,
    answers,
    chosen,
    may_fill,
    partitions_of,
    with_listing,
)
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.model.table import DEFAULT_PARTITION, Partition, Table, TableName
from hivesql_planner.predicates.partitions import PartitionTest

# How long one list of transactions serves while tables are copied ahead.
_SHARED_SECONDS = 5.0
_Generation = tuple[int, int]


class CachingMetastore:
    """Any metastore, asked less often.

    ``table`` and ``partitions`` first read the notification log to its end, one small query, so
    what they answer from memory is what the metastore would say now. ``get_table`` and
    ``get_partitions`` ask nothing: they compare the reader's write ids with those of the copy.
    Where changes of tables need not be writes (``changes_are_writes``) they read the log too.
    All other calls go to the metastore behind. Databases are never copied.
    """

    def __init__(self, metastore: Metastore, limits: Limits = Limits()) -> None:  # noqa: B008 - frozen
        self._metastore = metastore
        self._counters = Counters()
        self._guard = threading.Lock()
        self._shelf = Shelf(limits)
        self._follower = Follower(metastore, self._shelf, self._counters, self._guard)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._metastore, name)

    @property
    def counters(self) -> Counters:
        """Tell what the cache has done so far, as of now."""
        with self._guard:
            return replace(
                self._counters, tables=len(self._shelf), partitions=self._shelf.partitions
            )

    def follow(self) -> None:
        """Apply what others have changed; afterwards copies are as new as the metastore."""
        self._follower.follow()

    # -- as the metastore is now
    def table(self, name: TableName) -> Table:
        """Return the table or view of that name."""
        name = name.lower()
        self.follow()
        if (entry := self._current(name)) is not None:
            self._count(hit=True)
            return self._metastore.completed(entry.table)
        self._count(hit=False)
        generation = self._generation(name)
        table, visible = self._metastore.described(name)
        self._fill(Entry(table=table, visible=visible), generation, visible)
        return table

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]:
        """Return the partitions of a table that pass all tests, by name; perhaps some more."""
        name = name.lower()
        self.follow()
        entry = self._current(name)
        copied = partitions_of(entry, tests) if entry is not None else None
        if copied is not None:
            self._count(hit=True)
            return copied
        return self._read_partitions(name, tests, entry)

    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None:
        """Return the partition with these values, or None."""
        if (partitions := self._whole(name)) is None:
            return self._metastore.partition(name, values)
        stored_values = tuple(
            None if value in ("", DEFAULT_PARTITION) else value for value in values
        )
        return next(
            (partition for partition in partitions if partition.values == stored_values), None
        )

    def partition_count(self, name: TableName) -> int:
        """Tell how many partitions a table has."""
        partitions = self._whole(name)
        return self._metastore.partition_count(name) if partitions is None else len(partitions)

    # -- as a snapshot has it
    def get_table(
        self,
        database: str,
        table: str,
        table_id: int = 0,
        valid_write_ids: ValidWriteIdList | None = None,
    ) -> Table:
        """Give the table as a reader with these write ids sees it; an equal copy will do.

        ``table_id`` and list come from ``table_ids``. A transactional table without a list is a
        SemanticError; other tables need none, and may be as old as the last ``follow``.
        """
        name = TableName(database, table).lower()
        entry, generation = self._look(name)
        if entry is not None and answers(entry, table_id, valid_write_ids):
            self._count(hit=True)
            return self._metastore.completed(entry.table)
        if entry is not None and entry.table.is_transactional:
            _require(valid_write_ids, name)
        self._count(hit=False)
        row, current = self._metastore.described(name)
        if row.is_transactional:
            _require(valid_write_ids, name)
        if may_fill(valid_write_ids, current, row, table_id):
            tag = valid_write_ids if row.is_transactional else None
            self._fill(Entry(table=row, visible=tag), generation, current)
        else:
            self._refuse()
        return row

    def get_partitions(
        self,
        database: str,
        table: str,
        tests: Sequence[PartitionTest] = (),
        table_id: int = 0,
        valid_write_ids: ValidWriteIdList | None = None,
    ) -> tuple[Partition, ...]:
        """Return the partitions that pass, as in ``get_table``."""
        name = TableName(database, table).lower()
        entry, _ = self._look(name)
        if entry is not None and entry.table.is_transactional:
            _require(valid_write_ids, name)
        usable = entry if entry is not None and answers(entry, table_id, valid_write_ids) else None
        copied = partitions_of(usable, tests) if usable is not None else None
        if copied is not None:
            self._count(hit=True)
            return copied
        return self._read_partitions(name, tests, usable)

    def table_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, tuple[int, ValidWriteIdList]]:
        """Return the id and the valid write ids of each table, from the metastore."""
        return self._metastore.table_ids(txns, tables)

    # -- ahead of all questions
    def warm(self, databases: Iterable[str]) -> None:
        """Copy every table of some databases; many share one list of transactions."""
        txns, since = self._metastore.valid_txns(), time.monotonic()
        for database in databases:
            for name in self._metastore.tables(database):
                if time.monotonic() - since > _SHARED_SECONDS:
                    txns, since = self._metastore.valid_txns(), time.monotonic()
                self._warm_table(name, txns)

    def _warm_table(self, name: TableName, txns: ValidTxnList) -> None:
        generation = self._generation(name)
        try:
            # The list comes first: what is newer than its list costs time, the reverse is wrong.
            visible = self._metastore.valid_write_ids(txns, [name])[name]
            table = self._metastore.table(name)
        except NoSuchObject:
            return
        tag = visible if table.is_transactional else None
        self._fill(Entry(table=table, visible=tag), generation, tag)

    def _whole(self, name: TableName) -> tuple[Partition, ...] | None:
        """All partitions, when they are copied."""
        self.follow()
        entry = self._current(name.lower())
        partitions = entry.listings.get(()) if entry is not None else None
        if partitions is not None:
            self._count(hit=True)
        return partitions

    def _read_partitions(
        self, name: TableName, tests: Sequence[PartitionTest], entry: Entry | None
    ) -> tuple[Partition, ...]:
        self._count(hit=False)
        generation = self._generation(name)
        partitions = self._metastore.partitions(name, tests)
        with self._guard:
            now = self._shelf.get(name)
            same = now is not None and entry is not None and now.visible == entry.visible
            if now is not None and same and self._shelf.generation(name) == generation:
                self._put(name, with_listing(now, tuple(tests), partitions))
        return partitions

    def _current(self, name: TableName) -> Entry | None:
        with self._guard:
            entry = self._shelf.get(name)
        return entry if entry is not None and entry.is_available else None

    def _look(self, name: TableName) -> tuple[Entry | None, _Generation]:
        if not self._metastore.changes_are_writes:
            self.follow()
        with self._guard:
            return self._shelf.get(name), self._shelf.generation(name)

    def _generation(self, name: TableName) -> _Generation:
        with self._guard:
            return self._shelf.generation(name)

    def _fill(self, new: Entry, generation: _Generation, current: ValidWriteIdList | None) -> None:
        name = new.table.name
        with self._guard:
            changed = self._shelf.generation(name) != generation
            if changed or self._follower.is_touched(name, current):
                self._counters.refused_fills += 1
                return
            self._put(name, chosen(self._shelf.get(name), new))
            self._counters.fills += 1

    def _put(self, name: TableName, entry: Entry) -> None:
        self._counters.evictions += self._shelf.put(name, entry)

    def _count(self, *, hit: bool) -> None:
        with self._guard:
            self._counters.hits += hit
            self._counters.misses += not hit

    def _refuse(self) -> None:
        with self._guard:
            self._counters.refused_fills += 1


def _require(visible: ValidWriteIdList | None, name: TableName) -> None:
    if visible is None:
        raise SemanticError(
            f"a list of valid write ids is needed to read the transactional table {name}: "
            "take it from table_ids"
        )
