"""The keys of Hive's page on transactions, and those of its lock managers."""

from __future__ import annotations

from collections.abc import Mapping

from hivesql_planner.settings.setting import Row

DB_TXN_MANAGER = "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager"
DUMMY_TXN_MANAGER = "org.apache.hadoop.hive.ql.lockmgr.DummyTxnManager"

TRANSACTION_KEYS: tuple[Row, ...] = (
    ("hive.txn.manager", DB_TXN_MANAGER, "text",
     "DbTxnManager, or DummyTxnManager: no transactions, and locks on objects."),
    ("hive.lock.query.string.max.length", "1000000", "int",
     "The longest query text kept with a lock of DummyTxnManager.", "characters"),
    ("hive.support.concurrency", "true", "bool", "Take locks."),
    ("hive.txn.xlock.write", "true", "bool",
     "UPDATE and DELETE exclude each other; false makes the first committer win."),
    ("hive.txn.xlock.iow", "true", "bool", "INSERT OVERWRITE excludes readers too."),
    ("hive.txn.xlock.mergeinsert", "false", "bool",
     "An inserting MERGE counts as an update, so that two of them exclude each other."),
    ("hive.txn.xlock.ctas", "true", "bool",
     "CREATE TABLE AS SELECT locks its table; a second one of that name fails at once."),
    ("hive.txn.strict.locking.mode", "true", "bool",
     "INSERT into a table without ACID takes an exclusive lock."),
    ("hive.txn.ext.locking.enabled", "false", "bool", "Lock external tables as well."),
    ("hive.txn.read.locks", "true", "bool", "Reads take locks."),
    ("hive.txn.nonacid.read.locks", "true", "bool", "Reads of tables without ACID take locks."),
    ("hive.txn.readonly.enabled", "false", "bool",
     "Queries open read-only transactions, which other snapshots need not list."),
    ("hive.txn.timeout", "300s", "duration",
     "A transaction without heartbeats for this long is aborted."),
    ("hive.txn.max.open.batch", "1000", "int", "The most transactions that one call opens.",
     "transactions"),
    ("hive.max.open.txns", "100000", "int",
     "With so many transactions open, no more are opened until a tenth of them has ended.",
     "transactions"),
    ("hive.txn.retrysnapshot.max.count", "5", "int",
     "How often a statement is planned anew because its snapshot was outdated (1 to 20).",
     "attempts"),
    ("hive.txn.manager.dump.lock.state.on.acquire.timeout", "false", "bool",
     "Show all locks when a statement gives up waiting for its own."),
    ("hive.locks.max.partitions", "-1", "int",
     "From this many partition locks on, lock the table instead; -1 for never.", "locks"),
    ("hive.lock.numretries", "100", "int", "How often to ask for locks before giving up.",
     "attempts"),
    ("hive.lock.sleep.between.retries", "60s", "duration",
     "Longest pause between two tries for a lock."),
    ("hive.lock.mapred.only.operation", "false", "bool",
     "Statements that only the metastore carries out take no locks."),
    ("hive.query.exclusive.lock", "", "text",
     "Names, separated by commas, that this session's statements lock exclusively."),
)  # fmt: skip

TRANSACTION_KEYS_WITHOUT_EFFECT: tuple[Row, ...] = (
    ("hive.lock.manager", "org.apache.hadoop.hive.ql.lockmgr.zookeeper.ZooKeeperHiveLockManager",
     "text", "the lock manager of DummyTxnManager; here locks are always in the metastore."),
    ("hive.lock.file.move.protect", "all", "text",
     "which moves of files are protected by locks; here all are."),
    ("hive.repl.txn.timeout", "11d", "duration", "the time-out of replicated transactions."),
    ("hive.txn.heartbeat.threadpool.size", "5", "int",
     "threads that send heartbeats; here each transaction has its own.", "threads"),
    ("hive.txn.retryable.sqlex.regex", "", "text", "errors of the database worth another try."),
    ("hive.txn.use.minhistorylevel", "true", "bool",
     "opening a transaction records the oldest one it must not see."),
    ("hive.txn.stats.enabled", "true", "bool", "statistics follow transactions; here they do."),
    ("hive.timedout.txn.reaper.start", "100000ms", "duration", "when the reaper begins."),
    ("hive.timedout.txn.reaper.interval", "180000ms", "duration",
     "pause between runs of the reaper."),
    ("hive.count.open.txns.interval", "1s", "duration",
     "how old the count of open transactions may be; here it is always exact."),
)  # fmt: skip

ALIASES_OF_TRANSACTIONS: Mapping[str, str] = {
    f"metastore.{name}": f"hive.{name}"
    for name in (
        "count.open.txns.interval", "lock.numretries", "lock.sleep.between.retries",
        "max.open.txns", "repl.txn.timeout", "timedout.txn.reaper.interval", "txn.max.open.batch",
        "txn.retryable.sqlex.regex", "txn.timeout", "txn.use.minhistorylevel",
    )
}  # fmt: skip
"""The names that a metastore of Hive's own has for some of them."""
