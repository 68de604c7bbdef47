"""What a metastore's notification log tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hivesql_planner.model.table import TableName
from hivesql_planner.older_python import StrEnum

Write = tuple[int, int]
"""A transaction and its write id in a table."""


class EventKind(StrEnum):
    """Hive's names of the events that matter to a copy of the catalog; all others are OTHER."""

    OPEN_TXN = "OPEN_TXN"
    ALLOC_WRITE_ID = "ALLOC_WRITE_ID_EVENT"
    COMMIT_TXN = "COMMIT_TXN"
    ABORT_TXN = "ABORT_TXN"
    CREATE_TABLE = "CREATE_TABLE"
    ALTER_TABLE = "ALTER_TABLE"
    DROP_TABLE = "DROP_TABLE"
    ADD_PARTITION = "ADD_PARTITION"
    ALTER_PARTITION = "ALTER_PARTITION"
    DROP_PARTITION = "DROP_PARTITION"
    CREATE_DATABASE = "CREATE_DATABASE"
    ALTER_DATABASE = "ALTER_DATABASE"
    DROP_DATABASE = "DROP_DATABASE"
    COMMIT_COMPACTION = "COMMIT_COMPACTION_EVENT"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry of the log.

    ``writes`` are, of ALLOC_WRITE_ID, what was given out; of a change to a table, the write that
    makes it, and nothing when it belongs to none. A log that does not tell them leaves
    ``tells_writes`` off: then any open write of the table may have made the change.
    """

    id: int = 0
    kind: EventKind
    database: str = ""
    table: TableName | None = None
    table_id: int = 0
    renamed_to: TableName | None = None
    txn_ids: tuple[int, ...] = ()
    writes: tuple[Write, ...] = ()
    tells_writes: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """Events after some id in their order, not all when there are many, and the latest id."""

    events: tuple[Event, ...]
    latest: int


def has_gap(last: int, page: LogPage) -> bool:
    """Tell whether events after ``last`` are gone, or the log is another than was read before."""
    if not page.events:
        return page.latest != last
    return [event.id for event in page.events] != _following(last, page.events)


def _following(last: int, events: Sequence[Event]) -> list[int]:
    return list(range(last + 1, last + 1 + len(events)))
