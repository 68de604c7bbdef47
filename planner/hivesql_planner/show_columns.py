"""Columns of SHOW statements whose names other clauses may speak of."""

from __future__ import annotations

COMPACTION_COLUMNS = (
    "compactionid", "dbname", "tabname", "partname", "type", "state", "workerhost", "workerid",
    "enqueuetime", "starttime", "duration", "hadoopjobid", "errormessage", "initiatorhost",
    "initiatorid", "poolname", "txnid", "nexttxnid", "committime", "hightestwriteid",
)  # fmt: skip
"""As in Hive, the misspelt last one included."""
