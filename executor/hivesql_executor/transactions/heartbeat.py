"""What keeps a transaction alive, beside its work, and remembers when it was lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import HiveSqlError, TransactionLost


@dataclass(kw_only=True)
class Heartbeat:
    """Keeps a transaction alive beside its work; remembers when it was lost."""

    runtime: Runtime
    txn_id: int = 0
    beat: Callable[[], None] | None = None
    """Keeps something else alive than a transaction."""
    interval: float
    lost: HiveSqlError | None = None
    _end: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin to beat."""
        repeat = self.runtime.clock.repeat
        self._end = repeat(self.interval, self._beat, f"heartbeat-{self.txn_id}")

    def stop(self) -> None:
        """Stop before commit or abort, so that no beat races them."""
        if self._end:
            self._end()

    def check(self) -> None:
        """Raise when the transaction is gone."""
        if self.lost:
            raise self.lost

    def _beat(self) -> bool:
        """Beat once; False when there is nothing to keep alive any more."""
        try:
            if self.beat is not None:
                self.beat()
            else:
                self.runtime.metastore.heartbeat(self.txn_id)
        except TransactionLost as error:
            self.lost = error
            return False
        except Exception as error:  # noqa: BLE001 - a missed beat is not yet a lost transaction
            self.runtime.notify(f"heartbeat of transaction {self.txn_id} failed: {error}")
        return True
