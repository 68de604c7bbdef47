"""The initiator: looks at what was written to, and asks for the compactions that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from hivesql_executor.compaction.unit import each, find_place
from hivesql_executor.metastore.api import AbortLimits, Compaction
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import acid_state
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.compaction.initiator import (
    Candidate,
    Skip,
    pool_of,
    skip_table,
    skip_unit,
    wanted_kind,
)
from hivesql_planner.compaction.queue import QUEUED
from hivesql_planner.compaction.request import CompactionDetails
from hivesql_planner.errors import HiveSqlError, NoSuchObject
from hivesql_planner.model.table import Table
from hivesql_planner.settings.settings import Settings


def initiate(runtime: Runtime) -> int:
    """Run one cycle over all units that were written to; how many compactions were asked for."""
    store, settings = runtime.metastore, runtime.settings
    limit = settings.integer("metastore.compactor.fetch.size")
    candidates = {item.unit: item for item in store.compaction_candidates(limit=limit)}
    if not settings.flag("metastore.compactor.clean.aborts.using.cleaner"):
        aborted = store.aborted_units(abort_limits(settings), limit=limit)
        candidates |= {item.unit: item for item in aborted}
    rows, now = store.compactions(), store.now()

    def ask(candidate: Candidate) -> bool:
        if runtime.cancelled.is_set():
            return False  # A service that is to end: the next one goes on.
        try:
            return _initiate_one(candidate, rows, now, runtime)
        except Exception as error:  # noqa: BLE001 - one table must not stop all others
            reason = str(translate_error(error))
            store.record_not_initiated(candidate, reason, _id(runtime))
            runtime.notify(f"no compaction of {candidate.table} was asked for: {reason}")
            return False

    threads = settings.integer("hive.compactor.request.queue")
    return each(ask, list(candidates.values()), threads)


def abort_limits(settings: Settings) -> AbortLimits:
    """From when on aborted writes are cleaned up."""
    age = settings.seconds("hive.compactor.aborted.txn.time.threshold")
    return AbortLimits(
        count=settings.integer("hive.compactor.abortedtxn.threshold"),
        age=None if age < 0 else age,
    )


def decide_kind(
    candidate: Candidate, table: Table, location: str, runtime: Runtime
) -> Literal["minor", "major"] | None:
    """Return the compaction that one directory needs now, by the thresholds; None for none."""
    store = runtime.metastore
    visible = store.compactor_write_ids(table.name)
    state = acid_state(runtime.files(location), location, visible, store.valid_txns())
    return wanted_kind(candidate, state, table, runtime.settings)


def due_compactions(
    runtime: Runtime, *, limit: int, on_failure: Callable[[Candidate, Exception], None]
) -> Iterator[tuple[Candidate, Literal["minor", "major"]]]:
    """Yield units that need a compaction for which nobody has asked; looks at ``limit`` units.

    ``on_failure`` is told of a unit whose directory cannot be looked into, and why.
    """
    store = runtime.metastore
    queued = {row.unit for row in store.compactions() if row.state in QUEUED.values()}
    for candidate in store.compaction_candidates(limit=limit):
        if candidate.unit in queued:
            continue
        try:
            place = find_place(candidate.unit, runtime)
        except NoSuchObject:
            continue
        if not place.table.is_transactional or place.table.sort_columns:
            continue
        try:
            kind = decide_kind(candidate, place.table, place.location, runtime)
        except (HiveSqlError, OSError) as error:
            on_failure(candidate, error)
            continue
        if kind is not None:
            yield candidate, kind


def _initiate_one(
    candidate: Candidate, rows: tuple[Compaction, ...], now: int, runtime: Runtime
) -> bool:
    store, settings = runtime.metastore, runtime.settings
    skip = skip_unit(candidate, rows, settings, now)
    if skip is not None:
        return _record_skip(skip, candidate, runtime)
    try:
        place = find_place(candidate.unit, runtime)
    except NoSuchObject:
        return False
    table = place.table
    if not table.is_transactional:
        return False
    database = store.database(table.name.database)
    skip = skip_table(candidate, table, database, settings)
    if skip is not None:
        return _record_skip(skip, candidate, runtime)
    if table.sort_columns:
        return False
    kind = decide_kind(candidate, table, place.location, runtime)
    if kind is None:
        return False
    answer = store.enqueue_compaction(
        table.name,
        candidate.partition,
        kind,
        initiator_id=_id(runtime),
        details=CompactionDetails(pool=pool_of(table, database)),
        run_as=settings.text("metastore.compactor.run.as.user") or runtime.user,
    )
    return answer.accepted


def _record_skip(skip: Skip, candidate: Candidate, runtime: Runtime) -> Literal[False]:
    if skip.record:
        runtime.metastore.record_not_initiated(candidate, skip.reason, _id(runtime))
    return False


def _id(runtime: Runtime) -> str:
    return f"{runtime.host}-initiator"
