"""What keeps a transaction alive, beside its work, and remembers when it was lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from weakref import ref

from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import HiveSqlError, TransactionLost

_TRIES = 4
"""So many parts an interval has: after one of them a beat that failed is tried again."""


@dataclass(kw_only=True)
class Heartbeat:
    """Keeps a transaction alive beside its work; remembers when it was lost.

    A beat that failed is soon tried again: with two beats in the time that a transaction may be
    silent, the next one would come too late. It beats as long as somebody has it: a transaction
    that a program has let go of, and never ended, dies as that of a killed program.
    """

    runtime: Runtime
    txn_id: int = 0
    beat: Callable[[], None] | None = None
    """Keeps something else alive than a transaction."""
    interval: float
    lost: HiveSqlError | None = None
    _end: Callable[[], None] | None = None
    _due: float = 0.0
    """When the next one is due, by the runtime's clock."""

    def start(self) -> None:
        """Begin to beat."""
        clock = self.runtime.clock
        self._due = clock.monotonic() + self.interval
        self._end = clock.repeat(self.interval / _TRIES, _beating(self), f"heartbeat-{self.txn_id}")

    def stop(self) -> None:
        """Stop before commit or abort, so that no beat races them."""
        if self._end:
            self._end()

    def check(self) -> None:
        """Raise when the transaction is gone."""
        if self.lost:
            raise self.lost

    def _beat_when_due(self) -> bool:
        """Beat once if it is time; False when there is nothing to keep alive any more."""
        # Half a pause early: who wakes a moment too soon would be late by a whole one.
        if self.runtime.clock.monotonic() < self._due - self.interval / _TRIES / 2:
            return True
        return self._beat()

    def _beat(self) -> bool:
        try:
            if self.beat is not None:
                self.beat()
            else:
                self.runtime.metastore.heartbeat(self.txn_id)
        except TransactionLost as error:
            self.lost = error
            return False
        except Exception as error:  # noqa: BLE001 - a missed beat is not yet a lost transaction
            reason = self.runtime.explain(error)
            self.runtime.notify(f"heartbeat of transaction {self.txn_id} failed: {reason}")
        else:
            self._due = self.runtime.clock.monotonic() + self.interval
        return True


def _beating(heartbeat: Heartbeat) -> Callable[[], bool]:
    """Return what beats for one that it does not keep in memory."""
    weak = ref(heartbeat)

    def beat() -> bool:
        wanted = weak()
        return wanted is not None and wanted._beat_when_due()

    return beat
