"""What runs beside the statements: initiator, workers, cleaner and housekeepers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.compaction.initiator import initiate
from hivesql_executor.compaction.worker import claim_next, release_abandoned, run_claimed
from hivesql_executor.runtime import Runtime
from hivesql_executor.service_health import ServiceHealth
from hivesql_executor.statement_log import working
from hivesql_executor.temporary_databases import drop_orphans
from hivesql_executor.transactions.reaper import reap
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.compaction.queue import (
    FAILED,
    NOT_INITIATED,
    REFUSED,
    SUCCEEDED,
    HistoryLimits,
)
from hivesql_planner.settings.settings import Settings

_CLOSING_SECONDS = 15.0
"""What services have to end in once they are given up."""
_RETENTION = "metastore.compactor.history.retention"


@dataclass(frozen=True, slots=True)
class Service:
    """One round of work, and the pauses between rounds in seconds.

    ``work`` returns whether all went well; after rounds that did not, the pause doubles up to
    ``longest``.
    """

    name: str
    work: Callable[[], bool]
    pause: float
    longest: float
    is_long: bool = False
    """A round may take hours, and may fail for the sake of one table."""


def services_of(runtime: Runtime, *, pool: str | None = None) -> tuple[Service, ...]:
    """Return the services that the settings ask for, in the order in which one round runs them.

    ``pool``: the workers take the requests of that pool alone.
    """
    settings = runtime.settings
    services = [_steady("housekeeper", runtime, _keep_house, "metastore.acid.housekeeper.interval")]
    if settings.flag("metastore.compactor.initiator.on"):
        services.append(_steady("initiator", runtime, initiate, "hive.compactor.check.interval"))
    services += [
        Service(
            f"worker-{number}",
            _worker(runtime, number, pool),
            settings.seconds("hive.compactor.worker.sleep.time"),
            settings.seconds("hive.compactor.worker.max.sleep.time"),
            is_long=True,
        )
        for number in range(settings.integer("metastore.compactor.worker.threads"))
    ]
    if settings.flag("metastore.compactor.cleaner.on"):
        services.append(_steady("cleaner", runtime, _clean, "hive.compactor.cleaner.run.interval"))
    key = "metastore.compaction.housekeeper.interval"
    return (*services, _steady("history", runtime, purge_history, key))


def run_round(services: Sequence[Service], runtime: Runtime) -> bool:
    """Run one round of each, one after the other; whether all went well."""
    failed = [service for service in services if not _guarded(service, runtime)]
    return not failed


def run_until(
    stop: threading.Event,
    services: Sequence[Service],
    runtime: Runtime,
    health: ServiceHealth | None = None,
    drain: float = inf,
) -> tuple[str, ...]:
    """Run each in a thread of its own; once ``stop`` is set, return when all rounds are done.

    After ``drain`` seconds what still runs is given up. Returns the names of those that do not even
    end then, as they wait for what never answers: their threads end with the process. ``health`` is
    told of every round.
    """
    health = health or ServiceHealth()
    threads = [
        threading.Thread(
            target=_loop, args=(service, stop, runtime, health), name=service.name, daemon=True
        )
        for service in services
    ]
    for service, thread in zip(services, threads, strict=True):
        thread.start()
        health.watch(service.name, thread, longest=service.longest, is_long=service.is_long)
    stop.wait()
    _await_all(threads, drain)
    if health.running():
        runtime.must_end.set()
        _await_all(threads, _CLOSING_SECONDS)
    return health.running()


def _await_all(threads: Sequence[threading.Thread], seconds: float) -> None:
    """Wait for threads to end, all of them no longer than so many seconds."""
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(None if seconds == inf else max(end - time.monotonic(), 0))


def purge_history(runtime: Runtime) -> None:
    """Forget old compactions, and what was written long ago."""
    runtime.metastore.purge_compactions(history_limits(runtime.settings))
    runtime.metastore.forget_writes(runtime.settings.seconds("hivesql.history.retention"))


def history_limits(settings: Settings) -> HistoryLimits:
    """Tell how much of the history is kept; enough failures for the rule that counts them."""
    failures = settings.integer("metastore.compactor.initiator.failed.compacts.threshold")
    return HistoryLimits(
        per_state={
            SUCCEEDED: settings.integer(f"{_RETENTION}.succeeded"),
            FAILED: max(failures, settings.integer(f"{_RETENTION}.failed")),
            NOT_INITIATED: settings.integer(f"{_RETENTION}.did.not.initiate"),
            REFUSED: settings.integer(f"{_RETENTION}.refused"),
        },
        timeout=settings.seconds(f"{_RETENTION}.timeout"),
    )


def _steady(name: str, runtime: Runtime, work: Callable[[Runtime], object], key: str) -> Service:
    def once() -> bool:
        work(runtime)
        return True

    pause = runtime.settings.seconds(key)
    return Service(name, once, pause, pause)


def _keep_house(runtime: Runtime) -> None:
    """End what is silent, hand on what nobody works on any more, forget what has ended."""
    store, settings = runtime.metastore, runtime.settings
    reap(runtime)
    release_abandoned(runtime)
    drop_orphans(runtime)
    store.clean_txns()
    store.purge_events(settings.seconds("hive.metastore.event.db.listener.timetolive"))


def _clean(runtime: Runtime) -> None:
    clean(runtime)
    if runtime.settings.flag("metastore.compactor.clean.aborts.using.cleaner"):
        clean_aborted(runtime)


def _worker(runtime: Runtime, number: int, pool: str | None) -> Callable[[], bool]:
    def work() -> bool:
        """All that waits; a failure is in the history, and the next request has its turn."""
        good = True
        while not runtime.cancelled.is_set():
            with working():
                try:
                    compaction = claim_next(runtime, number=number, pool=pool)
                except Exception as error:  # noqa: BLE001 - the metastore may be back next time
                    what = "the metastore could not be asked for the next compaction"
                    runtime.notify(f"worker-{number}: {what}: {translate_error(error)}")
                    return False
                if compaction is None:
                    break
                try:
                    run_claimed(compaction, runtime, runtime.cancelled)
                except Exception as error:  # noqa: BLE001 - one table must not stop all others
                    failure, is_stopped = translate_error(error), runtime.cancelled.is_set()
                    what = "was stopped, and waits again" if is_stopped else "failed"
                    runtime.notify(f"worker-{number}: a compaction {what}: {failure}")
                    good = False
        return good

    return work


def _guarded(service: Service, runtime: Runtime) -> bool:
    try:
        return service.work()
    except Exception as error:  # noqa: BLE001 - a service goes on when the database is back
        runtime.notify(f"{service.name} failed: {translate_error(error)}")
        return False


def _loop(service: Service, stop: threading.Event, runtime: Runtime, health: ServiceHealth) -> None:
    pause = service.pause
    while not stop.is_set():
        health.begin_round(service.name)
        good = _guarded(service, runtime)
        health.end_round(service.name, good=good)
        pause = service.pause if good else min(pause * 2, service.longest)
        stop.wait(pause)
