"""Every setting: name, default, kind and meaning; read in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from hivesql_planner.errors import SemanticError

Kind = Literal["bool", "int", "float", "text", "duration"]
_UNITS = {
    "": 1.0,
    "ns": 1e-9, "nsec": 1e-9,
    "us": 1e-6, "usec": 1e-6,
    "ms": 1e-3, "msec": 1e-3,
    "s": 1.0, "sec": 1.0,
    "m": 60.0, "min": 60.0,
    "h": 3600.0, "hour": 3600.0,
    "d": 86400.0, "day": 86400.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """One key; ``default`` is text as in Hive's documentation."""

    name: str
    default: str
    kind: Kind
    meaning: str


def _table(*rows: tuple[str, str, Kind, str]) -> dict[str, Setting]:
    return {row[0]: Setting(*row) for row in rows}


_WITHOUT_EFFECT: tuple[tuple[str, str, Kind, str], ...] = (
    ("hive.max.open.txns", "100000", "int", "how many transactions may be open."),
    ("hive.txn.max.open.batch", "1000", "int", "how many transactions one call may open."),
    ("hive.txn.readonly.enabled", "false", "bool", "queries open read-only transactions."),
    ("hive.txn.retrysnapshot.max.count", "5", "int",
     "how often an outdated snapshot is taken anew."),
    ("hive.repl.txn.timeout", "11d", "duration", "timeout of replicated transactions."),
    ("hive.acid.createtable.softdelete", "false", "bool",
     "DROP TABLE leaves the directory to the cleaner."),
    ("hive.acid.droppartition.usebase", "false", "bool", "DROP PARTITION writes an empty base."),
    ("hive.acid.renamepartition.makecopy", "false", "bool", "RENAME PARTITION copies."),
    ("hive.mm.allow.originals", "false", "bool", "insert-only tables read original files."),
    ("hive.unlock.numretries", "10", "int", "how often to try to unlock."),
    ("hive.lock.query.string.max.length", "1000000", "int", "longest query text kept in a lock."),
    ("hive.lock.mapred.only.operation", "false", "bool", "only statements with a job lock."),
    ("hive.transactional.concatenate.noblock", "false", "bool",
     "CONCATENATE does not wait for its compaction."),
    ("hive.compactor.check.interval", "300s", "duration", "pause between initiator cycles."),
    ("hive.compactor.request.queue", "1", "int", "threads that look for work."),
    ("hive.compactor.abortedtxn.threshold", "1000", "int",
     "aborted transactions that start a compaction."),
    ("hive.compactor.aborted.txn.time.threshold", "12h", "duration",
     "age of an aborted transaction that starts a compaction."),
    ("hive.compactor.delta.num.threshold", "10", "int", "deltas that start a minor compaction."),
    ("hive.compactor.delta.pct.threshold", "0.1", "float",
     "deltas' share of the base that starts a major compaction."),
    ("hive.compactor.max.num.delta", "500", "int", "deltas merged at once."),
    ("hive.compactor.compact.insert.only", "true", "bool", "compact insert-only tables."),
    ("hive.compactor.crud.query.based", "false", "bool", "compact full ACID tables by query."),
    ("hive.compactor.gather.stats", "true", "bool", "gather statistics after a compaction."),
    ("hive.compactor.worker.timeout", "86400s", "duration", "longest run of a compaction."),
    ("hive.compactor.worker.sleep.time", "10800ms", "duration", "pause of an idle worker."),
    ("hive.compactor.worker.max.sleep.time", "320000ms", "duration",
     "longest pause of an idle worker."),
    ("hive.compactor.wait.timeout", "300000ms", "duration", "longest wait of COMPACT … AND WAIT."),
    ("hive.compactor.cleaner.run.interval", "5000ms", "duration", "pause between cleaner cycles."),
    ("hive.compactor.cleaner.threads.num", "1", "int", "threads of the cleaner."),
    ("hive.compactor.delayed.cleanup.enabled", "false", "bool", "the cleaner waits."),
    ("hive.compactor.cleaner.retention.time.seconds", "300s", "duration",
     "how long a waiting cleaner waits."),
    ("hive.compactor.cleaner.retry.retention.time", "300s", "duration",
     "first pause after a failed cleaning."),
    ("hive.compactor.cleaner.retry.maxattempts", "5", "int", "tries to clean before giving up."),
)  # fmt: skip


KEYS: Mapping[str, Setting] = _table(
    ("hive.support.concurrency", "true", "bool", "Take locks."),
    ("hive.txn.xlock.write", "true", "bool",
     "UPDATE and DELETE exclude each other; false makes the first committer win."),
    ("hive.txn.xlock.iow", "true", "bool", "INSERT OVERWRITE excludes readers too."),
    ("hive.txn.xlock.mergeinsert", "false", "bool",
     "An inserting MERGE counts as an update, so that two of them exclude each other."),
    ("hive.txn.xlock.ctas", "true", "bool", "CREATE TABLE AS SELECT locks its table."),
    ("hive.txn.strict.locking.mode", "true", "bool",
     "INSERT into a table without ACID takes an exclusive lock."),
    ("hive.txn.ext.locking.enabled", "false", "bool", "Lock external tables as well."),
    ("hive.txn.read.locks", "true", "bool", "Reads take locks."),
    ("hive.txn.nonacid.read.locks", "true", "bool", "Reads of tables without ACID take locks."),
    ("hive.locks.max.partitions", "-1", "int",
     "From this many partition locks on, lock the table instead; -1 for never."),
    ("hive.txn.timeout", "300s", "duration",
     "A transaction without heartbeats for this long is aborted."),
    ("hive.lock.numretries", "100", "int", "How often to ask for locks before giving up."),
    ("hive.lock.sleep.between.retries", "60s", "duration",
     "Longest pause between two tries for a lock."),
    ("hive.query.lock.retries", "5", "int",
     "How often a statement is planned anew because its snapshot was outdated."),
    ("hive.exec.dynamic.partition", "true", "bool", "Allow dynamic partitions."),
    ("hive.exec.dynamic.partition.mode", "nonstrict", "text",
     "strict demands at least one static partition column."),
    ("hive.merge.cardinality.check", "true", "bool",
     "MERGE fails when two source rows match one target row."),
    ("hive.create.as.acid", "false", "bool", "Plain ORC tables become full ACID."),
    ("hive.acid.lockless.reads.enabled", "false", "bool", "Readers take no locks."),
    ("hive.acid.truncate.usebase", "true", "bool", "TRUNCATE writes an empty base."),
    # Keys that Hive's scripts and sites set: known, checked, and without effect here.
    *(
        (name, default, kind, f"No effect here. In Hive: {meaning}")
        for name, default, kind, meaning in _WITHOUT_EFFECT
    ),
    ("hivesql.compactor.inline", "true", "bool",
     "ALTER TABLE … COMPACT runs the compaction and the cleaner before it returns."),
    ("hivesql.deletes.broadcast.max", "4000000", "int",
     "Up to this many 64-row words of delete events are broadcast; above it they are joined."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force; a key that is not set has its default."""

    values: Mapping[str, str] = field(default_factory=dict, hash=False)

    def text(self, key: str) -> str:
        """The value as it was written; unknown keys without a value are errors."""
        if key in self.values:
            return self.values[key]
        if key in KEYS:
            return KEYS[key].default
        raise SemanticError(f"unknown setting {key}")

    def flag(self, key: str) -> bool:
        """The value of a yes-or-no setting."""
        text = self.text(key).strip().lower()
        if text not in ("true", "false"):
            raise SemanticError(f"{key} must be true or false, not {text!r}")
        return text == "true"

    def integer(self, key: str) -> int:
        """The value of a whole-number setting."""
        try:
            return int(self.text(key))
        except ValueError:
            raise SemanticError(f"{key} must be a number, not {self.text(key)!r}") from None

    def number(self, key: str) -> float:
        """The value of a setting that may have a fraction."""
        try:
            return float(self.text(key))
        except ValueError:
            raise SemanticError(f"{key} must be a number, not {self.text(key)!r}") from None

    def seconds(self, key: str) -> float:
        """The value of a duration such as ``300s``, ``100ms``, ``5m``; seconds without a unit."""
        text = self.text(key).strip().lower()
        digits = text.rstrip("abcdefghijklmnopqrstuvwxyz ")
        try:
            return float(digits) * _UNITS[text[len(digits) :].strip()]
        except (ValueError, KeyError):
            raise SemanticError(f"{key} must be a duration like 300s, not {text!r}") from None

    def with_value(self, key: str, value: str) -> Settings:
        """The same settings with one changed; the value is checked against the key's kind."""
        changed = replace(self, values={**self.values, key: value})
        kind = KEYS[key].kind if key in KEYS else "text"
        if kind == "bool":
            changed.flag(key)
        elif kind == "int":
            changed.integer(key)
        elif kind == "float":
            changed.number(key)
        elif kind == "duration":
            changed.seconds(key)
        return changed
