"""What Hadoop's file systems refuse, as errors that say what to do."""

from __future__ import annotations

import re

from hivesql_planner.errors import ExecutionError

# What a file system of Hadoop refuses: the class of the exception and what it says.
_REFUSED = re.compile(r"\borg\.apache\.hadoop\.\S*?\b(\w+)Exception\)?: *(.*)")
SHORTER_NAME = "Choose a shorter name, or shorter values of partition columns"
NEEDS_RIGHT = "Give yourself the right to it, or choose another place"
_REMEDIES = {
    "PathComponentTooLong": SHORTER_NAME,
    "AccessControl": NEEDS_RIGHT,
    "MaxDirectoryItemsExceeded": "Make fewer partitions in one directory, or raise "
    "dfs.namenode.fs-limits.max-directory-items",
    "NSQuotaExceeded": "Make room in the directory's quota of names, then run it again",
    "DSQuotaExceeded": "Make room in the directory's quota of space, then run it again",
    "QuotaByStorageTypeExceeded": "Make room in the directory's quota, then run it again",
    "SafeMode": "Wait until the name node takes writes (hdfs dfsadmin -safemode wait), then run it "
    "again",
    "Standby": "Name the active name node, or the name service (dfs.nameservices)",
}


def refusal_of(report: str) -> ExecutionError | None:
    """Return the error for what a file system refused; None if the report tells of no refusal.

    ``report`` is the text of a Java exception with its causes. Retryable where only the moment was
    wrong.
    """
    for kind, why in reversed(_REFUSED.findall(report)):
        if kind in _REMEDIES:
            reason = why.rstrip(". ")
            refusal = ExecutionError(
                f"the file system refused it: {reason}. {_REMEDIES[kind]}", code=40000
            )
            refusal.retryable = kind == "SafeMode"
            return refusal
    return None
