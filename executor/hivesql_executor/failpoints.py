"""Named places where a test may kill the process, or lose the answer of a commit.

``HIVESQL_FAIL_POINT=locks-acquired`` kills the process there the first time; ``name:2`` the second
time. Nothing happens where the variable is not set.
"""

from __future__ import annotations

import os
import signal

from hivesql_planner.errors import CommitUnknown
from hivesql_planner.older_python import StrEnum

VARIABLE = "HIVESQL_FAIL_POINT"
_reached: dict[FailPoint, int] = {}


class FailPoint(StrEnum):
    """Where a statement can be cut off, in the order in which one passes them."""

    TXN_OPENED = "txn-opened"
    WRITE_IDS_ALLOCATED = "write-ids-allocated"
    LOCKS_ACQUIRED = "locks-acquired"
    ROWS_STAGED = "rows-staged"
    FILE_PUBLISHED = "file-published"
    ROWS_PUBLISHED = "rows-published"
    PARTITIONS_RECORDED = "partitions-recorded"
    PARTITION_EMPTIED = "partition-emptied"
    """A truncated partition has its empty base, and the others perhaps not."""
    BEFORE_COMMIT = "before-commit"
    AFTER_COMMIT = "after-commit"
    """The process dies after the metastore has committed, before anyone was told."""
    COMPACTION_CLAIMED = "compaction-claimed"
    COMPACTION_STARTED = "compaction-started"
    COMPACTION_WRITTEN = "compaction-written"
    COMPACTION_MARKED = "compaction-marked"
    COMPACTION_COMMITTED = "compaction-committed"
    ENTRY_DELETED = "entry-deleted"
    """The cleaner has deleted one directory, and perhaps not all."""
    DIRECTORY_CLEANED = "directory-cleaned"
    STREAM_DATA_WRITTEN = "stream-data-written"
    """A streamed delta has grown, but its side file does not say so yet."""
    STREAM_FLUSHED = "stream-flushed"
    DIRECTORIES_MOVED = "directories-moved"
    """Directories have their new names, or are hidden, and the catalog does not say so yet."""
    DIRECTORIES_MADE = "directories-made"
    """New directories are there, and the catalog does not know what for."""
    FILES_HIDDEN = "files-hidden"
    """The files of a plain table are hidden, and no others are there instead."""
    CATALOG_CHANGED = "catalog-changed"
    """It does now, and what was hidden is not deleted yet."""
    COMMIT_ANSWER_LOST = "commit-answer-lost"
    """The metastore commits, and the process is told that the connection broke."""


def hit_failpoint(point: FailPoint) -> None:
    """Fail here if the environment says so."""
    name, _, which = os.environ.get(VARIABLE, "").partition(":")
    if name != point:
        return
    _reached[point] = _reached.get(point, 0) + 1
    if _reached[point] != int(which or 1):
        return
    if point is FailPoint.COMMIT_ANSWER_LOST:
        raise CommitUnknown("the metastore's answer to a commit was lost (fail-point)")
    os.kill(os.getpid(), signal.SIGKILL)
