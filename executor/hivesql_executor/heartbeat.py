"""A thread that keeps a transaction alive and remembers when it was lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import HiveSqlError, TransactionLost


@dataclass(kw_only=True)
class Heartbeat:
    """Keeps a transaction alive from a thread of its own; remembers when it was lost."""

    runtime: Runtime
    txn_id: int = 0
    beat: Callable[[], None] | None = None
    """Keeps something else alive than a transaction."""
    interval: float
    lost: HiveSqlError | None = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to beat."""
        self._thread = threading.Thread(
            target=self._beat, name=f"heartbeat-{self.txn_id}", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop before commit or abort, so that no beat races them."""
        self._stop.set()
        if self._thread:
            self._thread.join()

    def check(self) -> None:
        """Raise when the transaction is gone."""
        if self.lost:
            raise self.lost

    def _beat(self) -> None:
        while not self._stop.wait(self.interval):
            try:
                if self.beat is not None:
                    self.beat()
                else:
                    self.runtime.metastore.heartbeat(self.txn_id)
            except TransactionLost as error:
                self.lost = error
                return
            except Exception as error:  # noqa: BLE001 - a missed beat is not yet a lost transaction
                self.runtime.notify(f"heartbeat of transaction {self.txn_id} failed: {error}")
