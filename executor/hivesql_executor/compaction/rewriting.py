"""What a compaction does with files: new directories beside the old, and no metastore asked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hivesql_executor.compaction.merge import merge
from hivesql_executor.compaction.unit import Place
from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.metastore.api import Compaction
from hivesql_executor.orc.hidden_deltas import require_none_hidden
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import acid_state, check_versions, visible_sizes
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.compaction.decide import decide


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """A compaction of a directory, and all that has to be known of the metastore for it."""

    compaction: Compaction
    place: Place
    visible: ValidWriteIdList
    txns: ValidTxnList
    txn_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """Why it was refused, or None; and in how many more or fewer files and bytes rows lie."""

    refused: str | None = None
    files: int = 0
    bytes: int = 0


def rewrite(work: Rewriting, runtime: Runtime) -> Rewritten:
    """Write the directories that readers will see when the transaction has committed."""
    compaction, place = work.compaction, work.place
    files = runtime.files(place.location)
    state = acid_state(files, place.location, work.visible, work.txns)
    if place.table.is_insert_only:
        # Readers of insert-only tables do not look at files outside ACID directories.
        state = replace(state, originals=())
    require_none_hidden(files, place.location, state)
    decision = decide(state, compaction.kind)
    if decision.action == "refuse":
        return Rewritten(refused=decision.reason)
    if decision.action != "run":
        return Rewritten()
    check_versions(files, place.location, state)
    merge(compaction, place, state, work.visible, work.txn_id, runtime)
    hit_failpoint(FailPoint.COMPACTION_WRITTEN)
    # Our own transaction sees what it has written.
    state_after = acid_state(files, place.location, work.visible, work.txns)
    before, after = visible_sizes(state), visible_sizes(state_after)
    return Rewritten(files=len(after) - len(before), bytes=sum(after) - sum(before))
