"""How compactions end: recorded, aborted, tried again, forgotten. Never commits."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, insert, select, update

from hivesql_executor.metastore.database.compactions import (
    KINDS,
    STATE_NAMES,
    as_compaction,
    complete,
    new_id,
    waiting_row,
)
from hivesql_executor.metastore.database.connection import now
from hivesql_executor.metastore.database.schema import compaction_queue, completed_compactions
from hivesql_planner.compaction.initiator import Candidate
from hivesql_planner.compaction.queue import HistoryLimits, retry_pause, surplus

_CHUNK = 500
_queue = compaction_queue.c


def record_not_initiated(
    db: Connection, candidate: Candidate, error: str, initiator_id: str
) -> None:
    """Keep in the history why the initiator asked for nothing."""
    moment = now(db)
    db.execute(
        insert(completed_compactions).values(
            id=new_id(db),
            database=candidate.table.database,
            table=candidate.table.name,
            partition=candidate.partition,
            state="a",
            kind=KINDS["minor"],
            enqueued=moment,
            started=moment,
            ended=moment,
            error=error,
            initiator_id=initiator_id[:128],
        )
    )


def abort_compactions(db: Connection, ids: Collection[int]) -> dict[int, str | None]:
    """End what no worker has taken; by id the state that each was in, None for an unknown id."""
    states: dict[int, str | None] = {}
    for id_ in dict.fromkeys(ids):
        row = waiting_row(db, id_)
        if row is None:
            ended = completed_compactions.c
            state = db.scalar(select(ended.state).where(ended.id == id_))
        else:
            state = row.state
            if state == "i":
                complete(db, row, "x", "Compaction aborted by Abort Comapction request.")
        states[id_] = None if state is None else STATE_NAMES[state]
    return states


def retry_cleaning(db: Connection, id: int, error: str, *, base: float, attempts: int) -> bool:
    """Put the next cleaning off; False when it was the last attempt and the row has failed.

    Nothing where another cleaner was quicker, and has taken it out of the queue.
    """
    if (row := waiting_row(db, id)) is None:
        return True
    pause = retry_pause(row.retry_retention, base, attempts)
    if pause is None:
        complete(db, row, "f", error)
        return False
    db.execute(
        update(compaction_queue)
        .where(_queue.id == id)
        .values(retry_retention=pause, error=error, cleaner_started=None)
    )
    return True


def purge(db: Connection, limits: HistoryLimits) -> int:
    """Delete what the history need not keep."""
    history = [as_compaction(row) for row in db.execute(select(completed_compactions))]
    gone = surplus(history, limits, now(db))
    for start in range(0, len(gone), _CHUNK):
        chosen = completed_compactions.c.id.in_(gone[start : start + _CHUNK])
        db.execute(delete(completed_compactions).where(chosen))
    return len(gone)
