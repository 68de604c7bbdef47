"""The part of the database metastore that is about compactions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Connection

from hivesql_executor.metastore.database import compaction_history, compactions
from hivesql_executor.metastore.database.connection import now
from hivesql_executor.metastore.database.transactions import aborts, snapshots
from hivesql_planner.compaction.request import NO_DETAILS, CompactionDetails
from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import (
        AbortedWrites,
        AbortLimits,
        Compaction,
        CompactionAnswer,
    )
    from hivesql_planner.acid.write_ids import ValidWriteIdList
    from hivesql_planner.compaction.decide import Kind
    from hivesql_planner.compaction.initiator import Candidate
    from hivesql_planner.compaction.queue import HistoryLimits

T = TypeVar("T")


class CompactionCalls(ABC):
    """Calls of CompactionQueue; every method is one database transaction."""

    @abstractmethod
    def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    def _write(self, work: Callable[[Connection], T]) -> T: ...

    def enqueue_compaction(
        self, table: TableName, partition: str | None, kind: Kind, *, initiator_id: str,
        details: CompactionDetails = NO_DETAILS, run_as: str | None = None,
    ) -> CompactionAnswer:  # fmt: skip
        """Ask for a compaction."""
        name = TableName(table.database.lower(), table.name.lower())
        return self._write(
            lambda db: compactions.enqueue_compaction(
                db, name, partition, kind, initiator_id=initiator_id, details=details, run_as=run_as
            )
        )

    def record_not_initiated(self, candidate: Candidate, error: str, initiator_id: str) -> None:
        """Tell in the history why no compaction was asked for."""
        self._write(
            lambda db: compaction_history.record_not_initiated(db, candidate, error, initiator_id)
        )

    def next_compaction(
        self, worker_id: str, *, id: int | None = None, pool: str | None = None,
        pool_timeout: float | None = None,
    ) -> Compaction | None:  # fmt: skip
        """Claim the oldest waiting request of a pool, or the one with that id.

        Without a pool: of no pool, and those that waited for ``pool_timeout`` seconds (None: all).
        """
        return self._write(
            lambda db: compactions.next_compaction(db, worker_id, id, pool, pool_timeout)
        )

    def set_compaction_txn(self, id: int, txn_id: int, highest_write_id: int) -> None:
        """Record the transaction that compacts and how far its result reaches."""
        self._write(lambda db: compactions.set_compaction_txn(db, id, txn_id, highest_write_id))

    def mark_compacted(self, id: int) -> None:
        """Say that the result is written: the old directories wait for the cleaner."""
        self._write(lambda db: compactions.mark_compacted(db, id))

    def mark_failed(self, id: int, error: str, *, refused: bool = False) -> None:
        """Move a request to the history as failed or refused."""
        self._write(lambda db: compactions.mark_failed(db, id, error, refused=refused))

    def release_compactions(
        self, *, worker_id: str | None = None, silent: float | None = None
    ) -> int:
        """Queue again what a worker, or any for ``silent`` seconds, work on; how many."""
        return self._write(
            lambda db: compactions.release_compactions(db, worker_id=worker_id, silent=silent)
        )

    def ready_to_clean(self, *, delay: float = 0, limit: int = 1000) -> tuple[Compaction, ...]:
        """Compacted units whose old directories no open transaction can need.

        Those that committed less than ``delay`` seconds ago, or whose last cleaning failed a short
        time ago, are left out.
        """
        return self._read(lambda db: compactions.ready_to_clean(db, delay, limit))

    def mark_cleaned(self, id: int, *, kept: Collection[int] = ()) -> None:
        """Move a cleaned request to the history and forget the writes it covered.

        ``kept`` are aborted write ids whose rows still lie among others.
        """
        self._write(lambda db: compactions.mark_cleaned(db, id, kept))

    def retry_cleaning(self, id: int, error: str, *, base: float, attempts: int) -> bool:
        """Let a failed cleaning be tried again after a pause; False: it has failed for good."""
        return self._write(
            lambda db: compaction_history.retry_cleaning(
                db, id, error, base=base, attempts=attempts
            )
        )

    def compactions(self) -> tuple[Compaction, ...]:
        """Queue and history, latest activity first."""
        return self._read(compactions.compactions)

    def abort_compactions(self, ids: Collection[int]) -> Mapping[int, str | None]:
        """Take requests out of the queue that no worker has taken.

        By id the state that each was in; None for an unknown id. Only ``initiated`` ones are gone.
        """
        return self._write(lambda db: compaction_history.abort_compactions(db, ids))

    def purge_compactions(self, limits: HistoryLimits) -> int:
        """Forget the history beyond its limits; how many rows."""
        return self._write(lambda db: compaction_history.purge(db, limits))

    def min_open_txn(self) -> int:
        """No open transaction has anything below this id undecided in its snapshot."""
        return self._read(compactions.min_open_txn)

    def now(self) -> int:
        """Milliseconds since the epoch by the clock of the database."""
        return self._read(now)

    def compactor_write_ids(self, table: TableName) -> ValidWriteIdList:
        """Tell what a compaction may merge now."""
        name = TableName(table.database.lower(), table.name.lower())
        return self._read(lambda db: snapshots.compactor_write_ids(db, name))

    def compaction_candidates(self, *, limit: int = 1000) -> tuple[Candidate, ...]:
        """Units with committed writes that no compaction has covered yet."""
        return self._read(lambda db: aborts.written_units(db, limit))

    def aborted_units(self, limits: AbortLimits, *, limit: int = 1000) -> tuple[Candidate, ...]:
        """Units with many or old aborted writes."""
        return self._read(lambda db: aborts.aborted_units(db, limits, limit))

    def aborted_writes(self, table: TableName) -> AbortedWrites:
        """Every aborted write of a table now."""
        return self._read(lambda db: aborts.aborted_writes(db, table))

    def forget_aborted(
        self, unit: Candidate, aborted: AbortedWrites, *, kept: Collection[int] = ()
    ) -> None:
        """Forget the aborted writes of a unit whose directories are gone, all but ``kept``."""
        self._write(lambda db: aborts.forget_aborted(db, unit, aborted, kept))
