"""Rows of the compaction queue and its history, and what is decided from them alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from hivesql_planner.compaction.decide import Kind

INITIATED, WORKING, READY = "initiated", "working", "ready for cleaning"
FAILED, SUCCEEDED, REFUSED = "failed", "succeeded", "refused"
NOT_INITIATED, ABORTED = "did not initiate", "aborted"
# As a metastore writes them down.
KINDS: Mapping[str, Kind] = {"i": "minor", "a": "major", "r": "rebalance"}
QUEUED = {"i": INITIATED, "w": WORKING, "r": READY}
"""The states of what is in COMPACTION_QUEUE."""
ENDED = {"f": FAILED, "s": SUCCEEDED, "a": NOT_INITIATED, "c": REFUSED, "x": ABORTED}
"""The states of what is in COMPLETED_COMPACTIONS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """One row of COMPACTION_QUEUE or COMPLETED_COMPACTIONS; times in milliseconds."""

    id: int
    table: TableName
    partition: str | None
    kind: Kind
    state: str
    """initiated, working, ready for cleaning, failed, succeeded, did not initiate, refused."""
    worker_id: str | None = None
    enqueued: int | None = None
    started: int | None = None
    ended: int | None = None
    committed: int | None = None
    highest_write_id: int | None = None
    txn_id: int | None = None
    next_txn_id: int | None = None
    error: str | None = None
    initiator_id: str | None = None
    job_id: str | None = None
    pool: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    bucket_count: int | None = None
    order: str | None = None
    retained_until: int = 0
    """Until when no cleaner deletes what the result has replaced; 0: one may come at any time."""

    @property
    def unit(self) -> Unit:
        """The table or partition that it is about."""
        return self.table, self.partition


Unit = tuple[TableName, str | None]


def fails_too_often(
    history: Iterable[Compaction], *, threshold: int, retry_after: float, now: int
) -> bool:
    """Tell whether a unit failed so often in a row that the initiator leaves it alone for a while.

    ``history`` is of that unit. True when the newest ``threshold`` of its successes and failures
    are all failures and the youngest was asked for less than ``retry_after`` seconds ago.
    """
    ended = [row for row in history if row.state in (SUCCEEDED, FAILED)]
    newest = sorted(ended, key=lambda row: row.id, reverse=True)[:threshold]
    if not newest or len(newest) < threshold or any(row.state != FAILED for row in newest):
        return False
    youngest = max(row.enqueued or 0 for row in newest)
    return retry_after <= 0 or youngest + retry_after * 1000 > now


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLimits:
    """How many rows of each state are kept per unit, and for how long (seconds) the useless."""

    per_state: Mapping[str, int] = field(
        default_factory=lambda: {SUCCEEDED: 3, FAILED: 3, NOT_INITIATED: 2, REFUSED: 3},
        hash=False,
    )
    timeout: float = 7 * 86400


def surplus(history: Sequence[Compaction], limits: HistoryLimits, now: int) -> tuple[int, ...]:
    """Ids of the rows that the history need not keep, ascending.

    Rows that did not succeed go early once a newer success makes them pointless: a MAJOR one, or a
    MINOR one for a MINOR row. Aborted requests are never purged.
    """
    by_unit: dict[Unit, list[Compaction]] = defaultdict(list)
    for row in history:
        by_unit[row.unit].append(row)
    gone: list[int] = []
    for rows in by_unit.values():
        counts: dict[str, int] = defaultdict(int)
        successes: set[str] = set()
        for row in sorted(rows, key=lambda request: request.id, reverse=True):
            if row.state not in limits.per_state:
                continue
            counts[row.state] += 1
            old = (row.started or 0) < now - limits.timeout * 1000
            outdone = "major" in successes or (row.kind == "minor" and "minor" in successes)
            if counts[row.state] > limits.per_state[row.state] or (
                row.state != SUCCEEDED and old and outdone
            ):
                gone.append(row.id)
            if row.state == SUCCEEDED:
                successes.add(row.kind)
    return tuple(sorted(gone))


def retry_pause(retention: int, base: float, attempts: int) -> int | None:
    """Milliseconds until the cleaner tries again after a failure; None: it gives up.

    ``retention`` is the pause before, 0 for the first failure. Each is twice the last, from
    ``base`` seconds on; after ``attempts`` pauses (0: never) the row has failed.
    """
    first = max(1, int(base * 1000))
    if retention <= 0:
        return first
    doublings = max(1, (retention // first).bit_length())
    if attempts > 0 and doublings >= attempts:
        return None
    return first << doublings
