"""Where tests kill a process."""

from __future__ import annotations

from hivesql_executor.failpoints import FailPoint

COMPACTION_PLACES = (
    FailPoint.COMPACTION_CLAIMED,
    FailPoint.COMPACTION_STARTED,
    FailPoint.COMPACTION_WRITTEN,
    FailPoint.COMPACTION_MARKED,
    FailPoint.COMPACTION_COMMITTED,
    FailPoint.ENTRY_DELETED,
    FailPoint.DIRECTORY_CLEANED,
)
