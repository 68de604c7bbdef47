"""What is kept of each write to a transactional table: who, when, by which statement, how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivesql_planner.model.table import TableName


CONVERTED = "CONVERT"
"""What the history calls it that a plain table's files became an insert-only table's write 1."""


@dataclass(slots=True, kw_only=True)
class RowCounts:
    """What one statement did to one table so far; None where nobody has counted."""

    inserted: int | None = 0
    updated: int | None = 0
    deleted: int | None = 0
    files: int | None = 0
    bytes: int | None = 0

    def add(self, more: RowCounts) -> None:
        """Count what another branch of the statement did to the same table."""
        self.inserted = _sum(self.inserted, more.inserted)
        self.updated = _sum(self.updated, more.updated)
        self.deleted = _sum(self.deleted, more.deleted)
        self.files = _sum(self.files, more.files)
        self.bytes = _sum(self.bytes, more.bytes)


def unknown_counts() -> RowCounts:
    """Return the counts of a write that nobody has counted."""
    return RowCounts(inserted=None, updated=None, deleted=None, files=None, bytes=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWrite:
    """One statement's write to a table: the version that it made is its ``write_id``.

    Times are milliseconds since the epoch. What is None is not known: of writes that another
    program has made, the metastore's own tables tell the rest.
    """

    table: TableName
    write_id: int
    operation: str
    """``INSERT``, ``INSERT OVERWRITE``, ``UPDATE``, ``DELETE``, ``MERGE``, ``RESTORE`` …."""
    counts: RowCounts
    statement: str | None = None
    """Its text, without secrets, cut where it is long."""
    user: str | None = None
    host: str | None = None
    program: str | None = None
    started: int | None = None
    duration: int | None = None
    """Milliseconds that the statement took, without what came before its transaction."""
    committed: int | None = None
    txn_id: int | None = None


@dataclass(frozen=True, slots=True)
class LaterWrites:
    """Writes of a table that were committed after a moment, by their write ids.

    Whether writes up to the id ``forgotten`` were so too, nobody knows; 0: there are none.
    """

    ids: frozenset[int]
    forgotten: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What was written to a table since its last compaction, by the history of its writes.

    Of a table with partitions, the last compaction of any of them.
    """

    table: TableName
    writes: int
    changed: int
    """Rows that were updated or deleted: each left one delete event."""
    rows: int | None
    """By the table's statistics; None where nobody has counted."""

    @property
    def deleted_share(self) -> float | None:
        """The part of delete events among all rows that a reader meets; None when not known."""
        if self.rows is None:
            return None
        met = self.rows + self.changed
        return self.changed / met if met else 0.0


def _sum(before: int | None, more: int | None) -> int | None:
    return None if before is None or more is None else before + more
