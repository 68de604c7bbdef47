"""How old what goes on in a warehouse is, by the clock of its metastore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hivesql_executor.metastore.api import LockState
from hivesql_planner.compaction.queue import INITIATED, QUEUED, READY, WORKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivesql_executor.metastore.api import Activity, Compaction, TxnRow
    from hivesql_planner.settings.settings import Settings

_LATE = 0.75
"""Hearts beat twice in hive.txn.timeout: who was silent for this part of it has missed a beat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ages:
    """Ages are in seconds, and 0 where there is nothing of that kind."""

    oldest_transaction: float
    longest_wait: float
    """Age of the oldest transaction that waits for a lock: no lock says since when."""
    oldest_compactions: Mapping[str, float]
    """Of those in the queue, by state."""
    late: tuple[TxnRow, ...]
    """Open transactions whose heartbeat is overdue."""


def measure_ages(activity: Activity, settings: Settings) -> Ages:
    """Tell how old transactions, waits and requests are, and who was silent for too long."""
    now = activity.now
    opened = {row.txn_id: row for row in activity.transactions if row.state == "open"}
    waiting = {row.txn_id for row in activity.locks if row.state is LockState.WAITING}
    waits = [row.started for txn_id, row in opened.items() if txn_id in waiting]
    silent = settings.seconds("hive.txn.timeout") * _LATE * 1000
    return Ages(
        oldest_transaction=_age(now, [row.started for row in opened.values()]),
        longest_wait=_age(now, waits),
        oldest_compactions={
            state: _age(now, [_since(row) for row in activity.compactions if row.state == state])
            for state in QUEUED.values()
        },
        late=tuple(row for row in opened.values() if now - row.last_heartbeat > silent),
    )


def _age(now: int, moments: list[int]) -> float:
    return max(0.0, (now - min(moments)) / 1000) if moments else 0.0


def _since(row: Compaction) -> int:
    """Return since when a request is in its state."""
    moments = {INITIATED: row.enqueued, WORKING: row.started, READY: row.committed}
    return moments[row.state] or row.enqueued or 0
