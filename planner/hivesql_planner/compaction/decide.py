"""What a compaction would do to one table or partition directory, and whether it is worth it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hivesql_planner.acid.layout import AcidDirectory, DirectoryKind

if TYPE_CHECKING:
    from hivesql_planner.acid.snapshot import AcidState
    from hivesql_planner.model.table import Table

Kind = Literal["minor", "major", "rebalance"]


@dataclass(frozen=True, slots=True)
class Decision:
    """``run`` the compaction, only ``clean`` what is obsolete, or ``refuse`` with a reason."""

    action: Literal["run", "clean", "refuse"]
    reason: str = ""


_NOT_ENOUGH = "None of the compaction thresholds met, compaction request is refused!"


def refusal(table: Table, kind: str) -> str | None:
    """Tell why a table is never compacted so, in Hive's words; None when it may be."""
    if table.sort_columns:
        return f"Attempt to compact sorted table {table.name}, which is not yet supported!"
    if kind == "rebalance" and table.bucket_count > 0:
        return "Cannot execute rebalancing compaction on bucketed tables."
    if kind == "rebalance" and table.is_insert_only:
        return "Cannot execute rebalancing compaction on insert-only tables."
    return None


def decide(state: AcidState, kind: Kind) -> Decision:
    """Hive's "enough to compact?" (CompactorPipeline): count what is there."""
    deltas = [entry.directory for entry in state.deltas]
    if kind == "rebalance":
        enough = bool(state.originals or deltas or state.base)
    elif kind == "major":
        enough = bool(state.originals) or len(deltas) + (state.base is not None) > 1
    else:
        pair = {delta.kind for delta in deltas}
        enough = len(deltas) > 2 or (len(deltas) == 2 and len(pair) == 1)
    if enough:
        return Decision("run")
    if state.obsolete or state.aborted:
        return Decision("clean")
    return Decision("refuse", _NOT_ENOUGH)


def results(
    state: AcidState, kind: Kind, txn_id: int, *, high_watermark: int, insert_only: bool
) -> tuple[AcidDirectory, ...]:
    """Return the directories that a compaction makes: a base, or a delta and a delete delta.

    Hive's row-by-row compactor names them after the newest write that it found, its queries after
    the compactor's high watermark.
    """
    if kind == "rebalance" or (kind == "major" and insert_only):
        return (_base(high_watermark, txn_id),)
    if kind == "major":
        return (_base(_newest(entry.directory for entry in state.directories), txn_id),)
    low = min(entry.directory.min_write_id for entry in state.deltas)
    if insert_only:
        return (AcidDirectory(DirectoryKind.DELTA, low, high_watermark, visibility_txn=txn_id),)
    high = _newest(entry.directory for entry in state.deltas)
    return (
        AcidDirectory(DirectoryKind.DELTA, low, high, visibility_txn=txn_id),
        AcidDirectory(DirectoryKind.DELETE_DELTA, low, high, visibility_txn=txn_id),
    )


def _base(write_id: int, txn_id: int) -> AcidDirectory:
    return AcidDirectory(DirectoryKind.BASE, write_id, write_id, visibility_txn=txn_id)


def _newest(directories: Iterable[AcidDirectory]) -> int:
    return max((directory.max_write_id for directory in directories), default=0)
