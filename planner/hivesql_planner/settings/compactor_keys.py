"""The keys of Hive's compactor: honoured or without effect."""

from __future__ import annotations

from collections.abc import Mapping

from hivesql_planner.settings.setting import Row

COMPACTOR_KEYS: tuple[Row, ...] = (
    ("hive.compactor.check.interval", "300s", "duration", "Pause between initiator cycles."),
    ("hive.compactor.abortedtxn.threshold", "1000", "int",
     "More aborted writes than this in a table or partition are cleaned up.", "writes"),
    ("hive.compactor.aborted.txn.time.threshold", "12h", "duration",
     "An aborted write older than this is cleaned up; negative: never for its age."),
    ("hive.compactor.delta.num.threshold", "10", "int",
     "More deltas than this start a minor compaction, or a major one without a base.",
     "directories"),
    ("hive.compactor.delta.pct.threshold", "0.1", "float",
     "Deltas larger than this share of the base start a major compaction.", "share of 1"),
    ("hive.compactor.max.num.delta", "500", "int",
     "More files than this are not merged in order at once: their rows are shuffled and sorted.",
     "files"),
    ("hive.compactor.compact.insert.only", "true", "bool", "Compact insert-only tables."),
    ("hive.compactor.gather.stats", "true", "bool",
     "A major compaction gathers the statistics of columns again that have some."),
    ("hive.compactor.worker.timeout", "86400s", "duration",
     "A compaction that takes longer is stopped and has failed; 0: no limit."),
    ("hive.compactor.worker.sleep.time", "10800ms", "duration", "Pause of an idle worker."),
    ("hive.compactor.worker.max.sleep.time", "320000ms", "duration",
     "Longest pause of a worker whose compactions fail; it doubles from the idle one."),
    ("hive.compactor.wait.timeout", "300000ms", "duration",
     "Longest pause between two looks of COMPACT … AND WAIT."),
    ("hive.compactor.request.queue", "1", "int",
     "So many tables or partitions the initiator looks at at a time.", "tables or partitions"),
    ("hive.compactor.cleaner.threads.num", "1", "int",
     "So many tables or partitions the cleaner works on at a time.", "tables or partitions"),
    ("hive.compactor.cleaner.run.interval", "5000ms", "duration", "Pause between cleaner cycles."),
    ("hive.compactor.delayed.cleanup.enabled", "false", "bool",
     "The cleaner leaves old directories a while longer."),
    ("hive.compactor.cleaner.retention.time.seconds", "300s", "duration",
     "How long a delayed cleaner waits after the compaction's commit."),
    ("hive.compactor.cleaner.retry.retention.time", "300s", "duration",
     "First pause after a failed cleaning; each later one is twice as long."),
    ("hive.compactor.cleaner.retry.maxattempts", "5", "int",
     "Pauses after failed cleanings before the compaction has failed; 0: no end.", "attempts"),
    ("metastore.compactor.initiator.on", "true", "bool",
     "`hivesql services` runs the initiator."),
    ("metastore.compactor.cleaner.on", "true", "bool",
     "`hivesql services` runs the cleaner."),
    ("metastore.compactor.worker.threads", "1", "int", "Workers of `hivesql services`.", "workers"),
    ("metastore.compactor.fetch.size", "1000", "int",
     "The most units that one cycle of initiator or cleaner looks at.", "tables or partitions"),
    ("metastore.compactor.clean.aborts.using.cleaner", "true", "bool",
     "The cleaner removes aborted writes; false: the initiator asks for compactions."),
    ("metastore.compactor.initiator.failed.compacts.threshold", "2", "int",
     "So many failures in a row stop automatic compactions of a table or partition.",
     "compactions"),
    ("metastore.compactor.initiator.failed.retry.time", "7d", "duration",
     "When a unit whose compactions failed is tried again."),
    ("metastore.compactor.worker.pool.timeout", "12h", "duration",
     "A request of another pool that waited for this long is taken by the default workers."),
    ("metastore.compactor.history.retention.succeeded", "3", "int",
     "Successful compactions remembered per table or partition.", "compactions"),
    ("metastore.compactor.history.retention.failed", "3", "int",
     "Failed compactions remembered per table or partition.", "compactions"),
    ("metastore.compactor.history.retention.did.not.initiate", "2", "int",
     "Compactions not asked for that are remembered per table or partition.", "compactions"),
    ("metastore.compactor.history.retention.refused", "3", "int",
     "Refused compactions remembered per table or partition.", "compactions"),
    ("metastore.compactor.history.retention.timeout", "7d", "duration",
     "Failures older than this are forgotten once a newer compaction succeeded."),
    ("metastore.compactor.run.as.user", "", "text",
     "Who compactions run as; by default who runs the service."),
    ("metastore.acid.housekeeper.interval", "60s", "duration",
     "Pause between rounds that end silent transactions and forget ended ones."),
    ("metastore.compaction.housekeeper.interval", "300s", "duration",
     "Pause between rounds that purge the history of compactions."),
)  # fmt: skip

COMPACTOR_WITHOUT_EFFECT: tuple[Row, ...] = (
    ("hive.compactor.crud.query.based", "false", "bool", "compact full ACID tables by query."),
    ("hive.compactor.job.queue", "", "text", "queue of the compaction's Hadoop job."),
    ("hive.compaction.merge.enabled", "false", "bool", "copy stripes only where all can be."),
)  # fmt: skip

_NOT_INITIATED = "metastore.compactor.history.retention.did.not.initiate"
_OLD = {
    key: key.replace("metastore.compactor.", "hive.compactor.", 1)
    for key, *_ in COMPACTOR_KEYS
    if key.startswith("metastore.compactor.")
}
ALIASES_OF_COMPACTOR: Mapping[str, str] = {old: key for key, old in _OLD.items()} | {
    "hive.metastore.acid.housekeeper.interval": "metastore.acid.housekeeper.interval",
    "hive.metastore.compaction.housekeeper.interval": "metastore.compaction.housekeeper.interval",
    "hive.compactor.history.reaper.interval": "metastore.compaction.housekeeper.interval",
    "hive.compactor.history.retention.attempted": _NOT_INITIATED,
}
"""Hive's older names of some keys."""
