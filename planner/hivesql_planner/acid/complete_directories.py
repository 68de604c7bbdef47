"""Which ACID directories have all the files that they will ever have."""

from __future__ import annotations

from hivesql_planner.acid.layout import AcidDirectory
from hivesql_planner.acid.write_ids import NONE_OPEN, ValidTxnList, ValidWriteIdList


def is_complete(directory: AcidDirectory, write_ids: ValidWriteIdList, txns: ValidTxnList) -> bool:
    """Tell whether a directory stays as it is until a cleaner removes it, as a snapshot knows.

    Files are there before their write, or their compaction, commits. A streaming writer's batch
    goes on growing after some of its writes have; and who was aborted may still be at work.
    """
    if directory.may_grow:
        return False
    if directory.visibility_txn:
        return txns.high_watermark < NONE_OPEN and txns.sees(directory.visibility_txn)
    return write_ids.high_watermark < NONE_OPEN and write_ids.sees(directory.max_write_id)
