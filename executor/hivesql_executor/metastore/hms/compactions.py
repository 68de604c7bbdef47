"""The compaction queue of a Hive Metastore, as a worker outside of it may use it.

Initiator, cleaner and housekeepers run in the metastore itself; what only they need is not there.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from hivesql_executor.metastore.api import AbortedWrites, AbortLimits, Compaction, CompactionAnswer
from hivesql_executor.metastore.hms.catalog import lower
from hivesql_executor.metastore.hms.client import idl
from hivesql_executor.metastore.hms.failures import UNREACHABLE
from hivesql_executor.metastore.hms.locks import LockCalls
from hivesql_planner.compaction.decide import Kind
from hivesql_planner.compaction.initiator import Candidate
from hivesql_planner.compaction.queue import HistoryLimits
from hivesql_planner.compaction.request import NO_DETAILS, CompactionDetails, parse_properties
from hivesql_planner.errors import CommitUnknown, ExecutionError, NotSupported
from hivesql_planner.model.table import TableName

_KINDS: tuple[Kind, ...] = ("minor", "major", "rebalance")


class CompactionCalls(LockCalls):
    """Calls of CompactionQueue."""

    def __init__(self) -> None:
        super().__init__()
        self._claimed: dict[int, Any] = {}

    def enqueue_compaction(
        self, table: TableName, partition: str | None, kind: Kind, *, initiator_id: str,
        details: CompactionDetails = NO_DETAILS, run_as: str | None = None,
    ) -> CompactionAnswer:  # fmt: skip
        """Ask for a compaction."""
        if kind == "rebalance" and self._client.is_old:
            raise NotSupported("COMPACT 'rebalance' with a Hive Metastore before 4.0")
        wire, name = idl(), lower(table)
        request = wire.CompactionRequest(
            dbname=name.database,
            tablename=name.name,
            partitionname=partition,
            type=wire.CompactionType._NAMES_TO_VALUES[kind.upper()],
            runas=run_as,
            properties=dict(details.properties) or None,
            initiatorId=initiator_id,
            poolName=details.pool,
            numberOfBuckets=details.bucket_count,
            orderByClause=details.order_text,
        )
        # The same request is refused while the first one is queued.
        answer = self._client.call("compact2", request)
        return CompactionAnswer(
            id=answer.id,
            state=answer.state,
            accepted=bool(answer.accepted),
            error=answer.errormessage,
        )

    def next_compaction(
        self, worker_id: str, *, id: int | None = None, pool: str | None = None,
        pool_timeout: float | None = None,
    ) -> Compaction | None:  # fmt: skip
        """Claim the oldest waiting request of a pool; one of its own choice nobody can claim."""
        if id is not None:
            raise NotSupported("hivesql.compactor.inline with a Hive Metastore")
        if self._client.is_old:
            raise NotSupported("compaction workers beside a Hive Metastore before 4.0")
        request = idl().FindNextCompactRequest(
            workerId=worker_id, workerVersion=self._client.version, poolName=pool
        )
        # Not asked again: a claim whose answer was lost comes back when the metastore's own
        # worker timeout has passed.
        try:
            claim = self._client.call("find_next_compact2", request).ci
        except CommitUnknown as error:
            raise ExecutionError(
                "the connection was cut, or no answer came, while the metastore was asked for "
                f"the next compaction ({error.__cause__}). Nothing was compacted; a request that "
                "was given out all the same waits again after its hive.compactor.worker.timeout",
                code=UNREACHABLE,
            ) from error
        if claim is None:
            return None
        self._claimed[claim.id] = claim
        return _of_claim(claim, worker_id)

    def set_compaction_txn(self, id: int, txn_id: int, highest_write_id: int) -> None:
        """Record the transaction that compacts and how far its result reaches."""
        claim = self._claim(id)
        claim.highestWriteId = highest_write_id
        self._client.call("update_compactor_state", claim, txn_id)

    def mark_compacted(self, id: int, *, hold: float = 0) -> None:
        """Say that the result is written: the old directories wait for the metastore's cleaner.

        No call tells it to wait longer.
        """
        self._client.call("mark_compacted", self._claim(id), again=True)

    def mark_failed(self, id: int, error: str, *, refused: bool = False) -> None:
        """Move a request to the history as failed or refused."""
        claim = self._claim(id)
        claim.errorMessage = error
        self._client.call("mark_refused" if refused else "mark_failed", claim)
        del self._claimed[id]

    def compactions(self) -> tuple[Compaction, ...]:
        """Queue and history, latest activity first."""
        answer = self._client.call("show_compact", idl().ShowCompactRequest(), again=True)
        return tuple(_of_row(row) for row in answer.compacts if row.type in _known_kinds())

    def abort_compactions(self, ids: Collection[int]) -> Mapping[int, str | None]:
        """Take requests out of the queue that no worker has taken; the state each was in."""
        states: dict[int, str | None] = {
            compaction.id: compaction.state for compaction in self.compactions()
        }
        if self._client.is_old:
            raise NotSupported("ABORT COMPACTIONS with a Hive Metastore before 4.1")
        self._client.call(
            "abort_Compactions", idl().AbortCompactionRequest(compactionIds=list(ids))
        )
        return {id_: states.get(id_) for id_ in ids}

    def now(self) -> int:
        """Milliseconds since the epoch by this machine's clock: the metastore tells none."""
        return int(time.time() * 1000)

    # -- what the metastore does itself
    def record_not_initiated(self, candidate: Candidate, error: str, initiator_id: str) -> None:
        """Nothing: the metastore's own initiator writes its own history."""

    def release_compactions(
        self, *, worker_id: str | None = None, silent: float | None = None
    ) -> int:
        """Nothing: the metastore hands on what a worker was silent about for too long."""
        return 0

    def retained_compactions(self) -> tuple[Compaction, ...]:
        """None: the metastore's cleaner comes when it likes."""
        return ()

    def end_retention(self, id: int) -> None:
        """Nothing, for the same reason."""

    def ready_to_clean(self, *, delay: float = 0, limit: int = 1000) -> tuple[Compaction, ...]:
        """None: the metastore's cleaner has them."""
        return ()

    def mark_cleaned(self, id: int, *, retained: Collection[int] = ()) -> None:
        """Refused: cleaning is the metastore's."""
        _refuse_cleaning()

    def retry_cleaning(self, id: int, error: str, *, base: float, attempts: int) -> bool:
        """Refused: cleaning is the metastore's."""
        _refuse_cleaning()

    def purge_compactions(self, limits: HistoryLimits) -> int:
        """Nothing: the metastore shortens its history itself."""
        return 0

    def compaction_candidates(self, *, limit: int = 1000) -> tuple[Candidate, ...]:
        """None: the metastore's initiator looks for them."""
        return ()

    def aborted_units(self, limits: AbortLimits, *, limit: int = 1000) -> tuple[Candidate, ...]:
        """None: the metastore's cleaner has them."""
        return ()

    def aborted_writes(self, table: TableName) -> AbortedWrites:
        """Refused: cleaning is the metastore's."""
        _refuse_cleaning()

    def forget_aborted(
        self, unit: Candidate, aborted: AbortedWrites, *, retained: Collection[int] = ()
    ) -> None:
        """Refused: cleaning is the metastore's."""
        _refuse_cleaning()

    def _claim(self, id: int) -> Any:
        try:
            return self._claimed[id]
        except KeyError:
            raise ExecutionError(f"compaction {id} is not worked on here") from None


def _refuse_cleaning() -> NoReturn:
    raise NotSupported("a cleaner beside that of the Hive Metastore")


def _known_kinds() -> dict[int, Kind]:
    values = idl().CompactionType._NAMES_TO_VALUES
    return {values[kind.upper()]: kind for kind in _KINDS}


def _of_claim(claim: Any, worker_id: str) -> Compaction:
    return Compaction(
        id=claim.id,
        table=TableName(claim.dbname, claim.tablename),
        partition=claim.partitionname,
        kind=_known_kinds()[claim.type],
        state="working",
        worker_id=worker_id,
        enqueued=claim.enqueueTime or None,
        pool=claim.poolname,
        properties=parse_properties(claim.properties),
        bucket_count=claim.numberOfBuckets or None,
        order=claim.orderByClause,
    )


def _of_row(row: Any) -> Compaction:
    return Compaction(
        id=row.id,
        table=TableName(row.dbname, row.tablename),
        partition=row.partitionname,
        kind=_known_kinds()[row.type],
        state=row.state,
        worker_id=row.workerid,
        enqueued=row.enqueueTime,
        started=row.start,
        ended=row.endTime,
        committed=row.commitTime,
        highest_write_id=row.hightestWriteId,
        txn_id=row.txnId or None,
        next_txn_id=row.nextTxnId or None,
        error=row.errorMessage,
        initiator_id=row.initiatorId,
        job_id=row.hadoopJobId,
        pool=row.poolName,
    )
