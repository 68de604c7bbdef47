"""What sessions did: statements by kind and outcome, and what their caches and services did."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import fields

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.cache.counters import Counters
from hivesql_executor.metastore.opening import counters_of
from hivesql_planner.errors import HiveSqlError

_QUERIES = frozenset(("select", "with", "from", "values", "table", "("))
_KINDS = frozenset(
    ("insert", "update", "delete", "merge", "create", "alter", "drop", "truncate", "load",
     "export", "import", "restore", "analyze", "msck", "show", "describe", "desc", "explain",
     "set", "reset", "use", "start", "commit", "rollback", "grant", "revoke", "abort", "lock",
     "unlock")
)  # fmt: skip
_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000)
"""Seconds: from an answer of the metastore to a night's load."""


class StatementMetrics:
    """The counts of all sessions of one registry; their series are few, whatever is run."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._statements = Counter(
            "hivesql_statements",
            "Statements that have ended, by kind (the first keyword) and outcome (ok or the error)",
            ("kind", "outcome"),
            registry=registry,
        )
        self._seconds = Histogram(
            "hivesql_statement_seconds",
            "How long statements took, whatever their outcome",
            ("kind",),
            buckets=_BUCKETS,
            registry=registry,
        )
        work = {
            "reaped_transactions": "Silent transactions that this process has aborted",
            "cleaned_directories": "Directories that this process's cleaner has deleted",
        }
        self._work = {
            name: Counter(f"hivesql_{name}", meaning, registry=registry)
            for name, meaning in work.items()
        }
        self._caches = _CacheCollector()
        registry.register(self._caches)

    def count_statement(self, text: str, error: BaseException | None, seconds: float) -> None:
        """Count one that has ended."""
        kind = kind_of(text)
        self._statements.labels(kind, _outcome(error)).inc()
        self._seconds.labels(kind).observe(seconds)

    def count_work(self, what: str, count: int) -> None:
        """Count what a service has done."""
        self._work[what].inc(count)

    def count_cache(self, metastore: Metastore) -> None:
        """Add up what a session's cache does, if it has one."""
        self._caches.add(metastore)

    def end_cache(self, metastore: Metastore) -> None:
        """Keep what a session's cache did beyond the session's end."""
        self._caches.end(metastore)


def kind_of(text: str) -> str:
    """Return the kind of a statement by its first keyword; ``other`` for what is rare."""
    stripped = text.lstrip()
    while stripped.startswith("--"):
        stripped = stripped.partition("\n")[2].lstrip()
    if stripped.startswith("("):
        return "select"
    words = stripped[:20].split(None, 1)
    word = words[0].lower() if words else ""
    if word in _QUERIES:
        return "select"
    if word == "desc":
        return "describe"
    return word if word in _KINDS else "other"


def _outcome(error: BaseException | None) -> str:
    if error is None:
        return "ok"
    return type(error).__name__ if isinstance(error, HiveSqlError) else "error"


class _CacheCollector(Collector):
    """Counters of caches, of sessions that have ended too: a count never falls."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._open: list[Metastore] = []
        self._ended = Counters()

    def add(self, metastore: Metastore) -> None:
        if counters_of(metastore) is None:
            return
        with self._guard:
            if metastore not in self._open:
                self._open.append(metastore)

    def end(self, metastore: Metastore) -> None:
        with self._guard:
            if metastore not in self._open:
                return
            self._open.remove(metastore)
            self._ended = _sum(self._ended, counters_of(metastore) or Counters())
            self._ended.tables = self._ended.partitions = 0

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        with self._guard:
            total = self._ended
            for metastore in self._open:
                total = _sum(total, counters_of(metastore) or Counters())
        calls = CounterMetricFamily(
            "hivesql_cache_calls", "Calls of the metastore's cache", labels=("outcome",)
        )
        calls.add_metric(("hit",), total.hits)
        calls.add_metric(("miss",), total.misses)
        yield calls
        yield CounterMetricFamily(
            "hivesql_cache_evictions", "Tables that made room for others", value=total.evictions
        )
        yield GaugeMetricFamily("hivesql_cache_tables", "Tables in memory", value=total.tables)


def _sum(one_side: Counters, other: Counters) -> Counters:
    names = [of.name for of in fields(Counters)]
    return Counters(**{name: getattr(one_side, name) + getattr(other, name) for name in names})
