"""What a compaction would do to one table or partition directory, and whether it is worth it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hivesql_planner.acid.layout import AcidDirectory, DirectoryKind
from hivesql_planner.acid.snapshot import AcidState

Kind = Literal["minor", "major"]


@dataclass(frozen=True, slots=True)
class Decision:
    """``run`` the compaction, only ``clean`` what is obsolete, or ``refuse`` with a reason."""

    action: Literal["run", "clean", "refuse"]
    reason: str = ""


def decide(state: AcidState, kind: Kind) -> Decision:
    """Hive's "enough to compact?" (CompactorPipeline): count what is there."""
    deltas = [entry.directory for entry in state.deltas]
    if kind == "major":
        enough = bool(state.originals) or len(deltas) + (state.base is not None) > 1
    else:
        pair = {delta.kind for delta in deltas}
        enough = len(deltas) > 2 or (len(deltas) == 2 and len(pair) == 1)
    if enough:
        return Decision("run")
    if state.obsolete or state.aborted:
        return Decision("clean")
    return Decision(
        "refuse", "None of the compaction thresholds met, compaction request is refused!"
    )


def major_result(state: AcidState, txn_id: int) -> AcidDirectory:
    """``base_<newest write id>_v<txn>``."""
    newest = max(
        [entry.directory.max_write_id for entry in state.deltas]
        + ([state.base.directory.max_write_id] if state.base else [0])
    )
    return AcidDirectory(DirectoryKind.BASE, newest, newest, visibility_txn=txn_id)


def minor_results(state: AcidState, txn_id: int) -> tuple[AcidDirectory, AcidDirectory]:
    """The delta and the delete delta; both span all selected deltas of either kind."""
    low = min(entry.directory.min_write_id for entry in state.deltas)
    high = max(entry.directory.max_write_id for entry in state.deltas)
    return (
        AcidDirectory(DirectoryKind.DELTA, low, high, visibility_txn=txn_id),
        AcidDirectory(DirectoryKind.DELETE_DELTA, low, high, visibility_txn=txn_id),
    )
