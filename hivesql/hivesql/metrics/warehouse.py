"""What goes on in a warehouse, as one database transaction of its metastore tells it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hivesql_executor.activity import Ages, measure_ages
from hivesql_planner.compaction.queue import ENDED, QUEUED

if TYPE_CHECKING:
    from hivesql.session import Session
    from hivesql_executor.metastore.api import Activity
    from hivesql_executor.service_health import ServiceHealth

_CACHED_SECONDS = 5.0
MOST_TABLES = 50
"""Tables with series of their own: those with most writes since their last compaction."""


class WarehouseMetrics(Collector):
    """Asks the metastore at a scrape, at most every few seconds whoever scrapes."""

    def __init__(self, session: Session, health: ServiceHealth | None = None) -> None:
        self._session = session
        self._health = health
        self._guard = threading.Lock()
        self._answer: list[Metric] = []
        self._until = 0.0

    def describe(self) -> list[Metric]:
        """Nothing: a metastore must not be asked when the collector is registered."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield what the metastore says, and the rounds of the services."""
        with self._guard:
            if time.monotonic() >= self._until:
                self._answer = list(self._ask())
                self._until = time.monotonic() + _CACHED_SECONDS
            answer = self._answer
        yield from answer
        if self._health is not None:
            yield from _rounds(self._health)

    def _ask(self) -> Iterator[Metric]:
        before = time.time()
        try:
            activity = self._session.runtime.metastore.activity(MOST_TABLES)
        except Exception:  # noqa: BLE001 - whatever it is: the metric says so, others go on
            yield _gauge("hivesql_metastore_up", "1 when the metastore answers", 0)
            return
        middle = (before + time.time()) / 2
        yield _gauge("hivesql_metastore_up", "1 when the metastore answers", 1)
        yield _gauge("hivesql_metastore_answer_seconds", "How long it took", time.time() - before)
        yield _gauge(
            "hivesql_clock_skew_seconds",
            "This host's clock less that of the metastore's database",
            middle - activity.now / 1000,
        )
        ages = measure_ages(activity, self._session.settings)
        yield from _of_transactions(activity, ages)
        yield from _of_compactions(activity, ages)
        yield from _of_tables(activity)


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value=value)


def _by(
    label: str, name: str, meaning: str, values: Iterable[tuple[str, float]]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, meaning, labels=(label,))
    for text, value in values:
        family.add_metric((text,), value)
    return family


def _of_transactions(activity: Activity, ages: Ages) -> Iterator[Metric]:
    states = Counter(row.state for row in activity.transactions)
    yield _by(
        "state", "hivesql_transactions", "Transactions that are open, and aborted ones not cleaned",
        ((state, states[state]) for state in ("open", "aborted")),
    )  # fmt: skip
    yield _gauge(
        "hivesql_oldest_open_transaction_seconds", "Age of the oldest; 0 without one",
        ages.oldest_transaction,
    )  # fmt: skip
    yield _gauge(
        "hivesql_late_heartbeats",
        "Open transactions that were silent for most of hive.txn.timeout",
        len(ages.late),
    )
    locks = Counter(row.state.value.lower() for row in activity.locks)
    yield _by(
        "state", "hivesql_locks", "Locks, acquired ones and those that are waited for",
        ((state, locks[state]) for state in ("acquired", "waiting")),
    )  # fmt: skip
    yield _gauge(
        "hivesql_longest_lock_wait_seconds",
        "Age of the oldest transaction that waits for a lock; 0 without one",
        ages.longest_wait,
    )


def _of_compactions(activity: Activity, ages: Ages) -> Iterator[Metric]:
    states = Counter(row.state for row in activity.compactions)
    yield _by(
        "state", "hivesql_compactions", "Compactions in the queue and in the history, by state",
        ((state, states[state]) for state in (*QUEUED.values(), *ENDED.values())),
    )  # fmt: skip
    yield _by(
        "state", "hivesql_oldest_compaction_seconds", "Age of the oldest request in the queue",
        ((state, ages.oldest_compactions.get(state, 0)) for state in QUEUED.values()),
    )  # fmt: skip


def _of_tables(activity: Activity) -> Iterator[Metric]:
    labels = ("database", "table")
    writes = GaugeMetricFamily(
        "hivesql_table_uncompacted_writes",
        "Writes since the table's last compaction: each left a delta or two",
        labels=labels,
    )
    shares = GaugeMetricFamily(
        "hivesql_table_deleted_share",
        "The part of delete events among the rows that a reader meets, where rows were counted",
        labels=labels,
    )
    for backlog in activity.backlogs:
        names = (backlog.table.database, backlog.table.name)
        writes.add_metric(names, backlog.writes)
        if (share := backlog.deleted_share) is not None:
            shares.add_metric(names, share)
    yield writes
    yield shares


def _rounds(health: ServiceHealth) -> Iterator[Metric]:
    rounds = CounterMetricFamily(
        "hivesql_service_rounds", "Rounds of the services", labels=("service", "outcome")
    )
    for (name, good), count in sorted(health.rounds.items()):
        rounds.add_metric((name, "ok" if good else "failed"), count)
    yield rounds
    yield _by(
        "service", "hivesql_service_silence_seconds",
        "Seconds since the last round of a service has ended; a compaction's may take hours",
        health.ages().items(),
    )  # fmt: skip
