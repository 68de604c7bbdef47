"""SHOW COMPACTIONS: queue and history, narrowed and sorted as asked."""

from __future__ import annotations

from hivesql_executor.metastore.api import Compaction
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_planner.compaction.request import CompactionFilter
from hivesql_planner.statements.bound import COMPACTION_COLUMNS, Show

_NOTHING = " --- "
_DEFAULT_POOL = "default"
_NUMBERS = frozenset(
    ("compactionid", "enqueuetime", "starttime", "duration", "txnid", "nexttxnid", "committime",
     "hightestwriteid")
)  # fmt: skip


def show_compactions(statement: Show, runtime: Runtime) -> Outcome:
    """Give one row per compaction in Hive's columns, the latest first unless sorted otherwise."""
    filters = statement.compactions
    matching = [
        row
        for row in runtime.metastore.compactions()
        if _is_named(row, statement) and _is_wanted(row, filters)
    ]
    rows = [_shown(row) for row in matching]
    for key in reversed(filters.order):
        at = COMPACTION_COLUMNS.index(key.column)
        present = [row for row in rows if row[at] != _NOTHING]
        missing = [row for row in rows if row[at] == _NOTHING]
        numeric = key.column in _NUMBERS

        def sort_key(row: tuple[str, ...], at: int = at, numeric: bool = numeric) -> int | str:
            return int(row[at]) if numeric else row[at]

        present.sort(key=sort_key, reverse=key.descending)
        rows = missing + present if key.puts_nulls_first else present + missing
    return Outcome.of_table(COMPACTION_COLUMNS, rows[: filters.limit])


def _is_named(row: Compaction, statement: Show) -> bool:
    if statement.table_name is not None and row.table != statement.table_name:
        return False
    if statement.database is not None and row.table.database != statement.database:
        return False
    return statement.partition is None or row.partition == statement.partition


def _is_wanted(row: Compaction, filters: CompactionFilter) -> bool:
    pairs = (
        (filters.pool, row.pool or _DEFAULT_POOL),
        (filters.kind, row.kind),
        (filters.state, row.state),
    )
    if filters.id is not None and row.id != filters.id:
        return False
    return all(expected is None or expected.lower() == own.lower() for expected, own in pairs)


def _shown(row: Compaction) -> tuple[str, ...]:
    took = row.ended - row.started if row.ended and row.started else None
    worker_host, worker = _cut(row.worker_id)
    initiator_host, initiator = _cut(row.initiator_id)
    return (
        str(row.id),
        row.table.database,
        row.table.name,
        row.partition or _NOTHING,
        row.kind.upper(),
        row.state,
        worker_host,
        worker,
        _text(row.enqueued),
        _text(row.started),
        _text(took),
        row.job_id or _NOTHING,
        row.error or _NOTHING,
        initiator_host,
        initiator,
        row.pool or _DEFAULT_POOL,
        str(row.txn_id or 0),
        str(row.next_txn_id or 0),
        str(row.committed or 0),
        _text(row.highest_write_id),
    )


def _text(number: int | None) -> str:
    return _NOTHING if number is None else str(number)


def _cut(name: str | None) -> tuple[str, str]:
    """Host and thread of ``<host>-<thread>``."""
    host, dash, thread = (name or "").rpartition("-")
    return (host, thread) if dash else (_NOTHING, name or _NOTHING)
