"""The calls about compactions that a statement or a service may make of a metastore."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hivesql_planner.compaction.queue import Compaction as Compaction
from hivesql_planner.compaction.request import NO_DETAILS, CompactionDetails

if TYPE_CHECKING:
    from hivesql_planner.acid.write_ids import ValidWriteIdList
    from hivesql_planner.compaction.decide import Kind
    from hivesql_planner.compaction.initiator import Candidate
    from hivesql_planner.compaction.queue import HistoryLimits
    from hivesql_planner.model.table import TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionAnswer:
    """Answer to a compaction request: refused when one is already scheduled."""

    id: int
    state: str
    accepted: bool
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortLimits:
    """From when on aborted writes of a unit are cleaned up: more than ``count``, or ``age`` old.

    ``age`` is in seconds; None: never for their age.
    """

    count: int
    age: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedWrites:
    """All that is known of a table's aborted writes at one moment.

    ``visible`` has every aborted write id of the table, and those that are open; ``txns`` are the
    aborted transactions, compactions among them, that wrote to it.
    """

    visible: ValidWriteIdList
    txns: frozenset[int]


class CompactionQueue(Protocol):
    """The compaction queue, its history, and what aborted transactions left behind."""

    def enqueue_compaction(
        self, table: TableName, partition: str | None, kind: Kind, *, initiator_id: str,
        details: CompactionDetails = NO_DETAILS, run_as: str | None = None,
    ) -> CompactionAnswer: ...  # fmt: skip
    def record_not_initiated(self, candidate: Candidate, error: str, initiator_id: str) -> None: ...
    def next_compaction(
        self, worker_id: str, *, id: int | None = None, pool: str | None = None,
        pool_timeout: float | None = None,
    ) -> Compaction | None: ...  # fmt: skip
    def set_compaction_txn(self, id: int, txn_id: int, highest_write_id: int) -> None: ...
    def mark_compacted(self, id: int) -> None: ...
    def mark_failed(self, id: int, error: str, *, refused: bool = False) -> None: ...
    def release_compactions(
        self, *, worker_id: str | None = None, silent: float | None = None
    ) -> int: ...
    def ready_to_clean(self, *, delay: float = 0, limit: int = 1000) -> tuple[Compaction, ...]: ...
    def mark_cleaned(self, id: int, *, kept: Collection[int] = ()) -> None: ...
    def retry_cleaning(self, id: int, error: str, *, base: float, attempts: int) -> bool: ...
    def compactions(self) -> tuple[Compaction, ...]: ...
    def abort_compactions(self, ids: Collection[int]) -> Mapping[int, str | None]: ...
    def purge_compactions(self, limits: HistoryLimits) -> int: ...
    def min_open_txn(self) -> int: ...
    def now(self) -> int: ...

    # -- who was written to, and what was aborted
    def compactor_write_ids(self, table: TableName) -> ValidWriteIdList: ...
    def compaction_candidates(self, *, limit: int = 1000) -> tuple[Candidate, ...]: ...
    def aborted_units(self, limits: AbortLimits, *, limit: int = 1000) -> tuple[Candidate, ...]: ...
    def aborted_writes(self, table: TableName) -> AbortedWrites: ...
    def forget_aborted(
        self, unit: Candidate, aborted: AbortedWrites, *, kept: Collection[int] = ()
    ) -> None: ...
