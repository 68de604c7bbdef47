"""DESCRIBE HISTORY and SHOW HISTORY: who wrote what to transactional tables, and when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Any

from hivesql_executor.metastore.api import Compaction
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_planner.compaction.queue import READY, SUCCEEDED
from hivesql_planner.model.table import TableName
from hivesql_planner.settings.session_zone import fixed_zone
from hivesql_planner.statements.bound import Show
from hivesql_planner.write_history import TableWrite

HISTORY_COLUMNS = (
    "database", "table", "version", "timestamp", "operation", "user", "host", "program",
    "statement", "rows_inserted", "rows_updated", "rows_deleted", "files", "bytes", "duration_ms",
    "compacted_by", "transaction",
)  # fmt: skip


def show_history(statement: Show, runtime: Runtime) -> Outcome:
    """Give one row per write, the latest first; a version is a write id. NULL is not known."""
    table = statement.table_name
    writes = runtime.metastore.writes(
        table=table, database=statement.database, limit=statement.limit
    )
    names = HISTORY_COLUMNS if table is None else HISTORY_COLUMNS[2:]
    rows = [
        tuple(None if value is None else str(value) for value in row)[-len(names) :]
        for row in history_rows(writes, runtime)
    ]
    return Outcome.of_table(names, rows)


def history_rows(writes: Iterable[TableWrite], runtime: Runtime) -> list[tuple[Any, ...]]:
    """Return what is told of writes, in the order of HISTORY_COLUMNS; times in the session's zone.

    A compaction is the first of those that are remembered which covers a write.
    """
    zone = fixed_zone(runtime.settings)
    done: dict[TableName, list[Compaction]] = defaultdict(list)
    for row in sorted(runtime.metastore.compactions(), key=lambda row: row.id):
        if row.state in (SUCCEEDED, READY):
            done[row.table].append(row)
    return [
        (
            write.table.database,
            write.table.name,
            write.write_id,
            None if write.committed is None else _time(write.committed, zone),
            write.operation,
            write.user,
            write.host,
            write.program,
            write.statement,
            write.counts.inserted,
            write.counts.updated,
            write.counts.deleted,
            write.counts.files,
            write.counts.bytes,
            write.duration,
            _compacted_by(write, done[write.table]),
            write.txn_id,
        )
        for write in writes
    ]


def _compacted_by(write: TableWrite, done: Iterable[Compaction]) -> str | None:
    for row in done:
        if (row.highest_write_id or 0) >= write.write_id:
            place = f" of {row.partition}" if row.partition else ""
            who = row.worker_id or row.initiator_id
            return f"{row.kind} compaction {row.id}{place}{f' by {who}' if who else ''}"
    return None


def _time(millis: int, zone: tzinfo) -> str:
    moment = datetime.fromtimestamp(millis / 1000, zone).replace(tzinfo=None)
    return moment.isoformat(sep=" ", timespec="milliseconds")
