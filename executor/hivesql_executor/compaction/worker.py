"""The compaction worker: one queue entry, one transaction, new directories beside the old."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from hivesql_executor.compaction.owners import user_to_act_for
from hivesql_executor.compaction.rewriting import Rewriting, Rewritten, rewrite
from hivesql_executor.compaction.statistics import gather_again
from hivesql_executor.compaction.time_limit import limited
from hivesql_executor.compaction.unit import Place, find_place
from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.metastore.api import CommitEntries, Compaction, LockOwner, LockState, TxnType
from hivesql_executor.runtime import Runtime
from hivesql_executor.statement_log import COMPACTIONS, log, note, working
from hivesql_executor.transactions.heartbeat import Heartbeat
from hivesql_executor.transactions.reaper import is_alive, left_to_reaper, release
from hivesql_executor.transactions.replaced_servers import with_known_server
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.compaction.decide import refusal
from hivesql_planner.compaction.queue import READY, WORKING
from hivesql_planner.errors import CommitUnknown, ExecutionError, NoSuchObject
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.statistics import StatisticsChange
from hivesql_planner.settings.retention import RETENTION, retention_of
from hivesql_planner.statements.unions import check_written

_claims = threading.Lock()
_running: set[int] = set()
"""Compactions that this process works on: in a container, one that died had perhaps its number."""
_claiming: Counter[str] = Counter()
"""Its workers that ask for one. A metastore that does not answer one of them keeps no other."""


def worker_id(runtime: Runtime, number: int = 0) -> str:
    """``<host>-<process>.<number>``: SHOW COMPACTIONS cuts it at the last dash."""
    return f"{runtime.host}-{os.getpid()}.{number}"


def run_next(runtime: Runtime, *, id: int | None = None) -> str | None:
    """Take the next request (or the one with that id) and run it; its final state, or None."""
    compaction = claim_next(runtime, id=id)
    return None if compaction is None else run_claimed(compaction, runtime)


def claim_next(
    runtime: Runtime, *, id: int | None = None, number: int = 0, pool: str | None = None
) -> Compaction | None:
    """Take the next request (or the one with that id), which ``run_claimed`` has to run.

    None where none waits.
    """
    timeout = runtime.settings.seconds("metastore.compactor.worker.pool.timeout")
    me, compaction = worker_id(runtime, number), None
    with _claims:
        _claiming[me] += 1
    try:
        compaction = runtime.metastore.next_compaction(me, id=id, pool=pool, pool_timeout=timeout)
        return compaction
    finally:
        with _claims:
            _claiming[me] -= 1
            if compaction is not None:
                _running.add(compaction.id)


def run_claimed(
    compaction: Compaction, runtime: Runtime, stopping: threading.Event | None = None
) -> str:
    """Run a request that ``claim_next`` gave; its final state.

    A failure is recorded in the queue, leaves no new directory, and raises. Once ``stopping`` is
    set, what fails is queued again: the signal that ends us has perhaps ended Spark as well.
    """
    note(compaction=compaction.id)
    with _finishing(compaction), _logged(compaction) as ended:
        hit_failpoint(FailPoint.COMPACTION_CLAIMED)
        try:
            place = find_place(compaction.unit, runtime)
        except NoSuchObject as error:
            return ended(_refuse(compaction, error.message, runtime))
        reason = refusal(place.table, compaction.kind)
        if reason is not None:
            return ended(_refuse(compaction, reason, runtime))
        return ended(_run(compaction, place, runtime, stopping or threading.Event()))


def release_abandoned(runtime: Runtime) -> int:
    """Queue again what nobody works on any more; how many.

    That is what dead processes of this host had claimed, and whatever takes longer than
    ``hive.compactor.worker.timeout``.
    """
    silent = runtime.settings.seconds("hive.compactor.worker.timeout")
    return release_dead(runtime) + runtime.metastore.release_compactions(silent=silent)


def release_dead(runtime: Runtime) -> int:
    """Queue again what processes of this host worked on that are no more; how many.

    Their transactions are aborted, so that what they have written can be removed.
    """
    store = runtime.metastore
    released = 0
    for row in _dead(store.compactions(), runtime):
        # What it was may have been claimed anew since; until it is released nobody claims more.
        with _claims:
            for again in _dead(store.compactions(), runtime):
                if again.id == row.id:
                    if again.txn_id:
                        store.abort_txns([again.txn_id], "the compactor died")
                    released += store.release_compactions(worker_id=again.worker_id)
    return released


def _dead(rows: Collection[Compaction], runtime: Runtime) -> list[Compaction]:
    """Choose those whose workers on this host are no more."""
    busy = {row.worker_id for row in rows if row.id in _running}
    return [
        row for row in rows
        if row.state == WORKING and row.worker_id not in busy and _is_dead(row, runtime)
    ]  # fmt: skip


def _is_dead(row: Compaction, runtime: Runtime) -> bool:
    host, dash, rest = (row.worker_id or "").rpartition("-")
    process = rest.partition(".")[0]
    if not dash or host != runtime.host:
        return False
    if process == str(os.getpid()):
        return row.id not in _running and not _claiming[row.worker_id or ""]
    return not is_alive(process)


@contextmanager
def _finishing(compaction: Compaction) -> Iterator[None]:
    try:
        yield
    finally:
        with _claims:
            _running.discard(compaction.id)


@contextmanager
def _logged(compaction: Compaction) -> Iterator[Callable[[str], str]]:
    """Log that a compaction begins and how it ends; the block calls what it is given with that."""
    unit = f"{compaction.table}{f'/{compaction.partition}' if compaction.partition else ''}"
    what, states = f"{compaction.kind} compaction {compaction.id} of {unit}", [""]
    log(COMPACTIONS, f"{what} begins")

    def ended(state: str) -> str:
        states.append(state)
        return state

    try:
        yield ended
    except BaseException as error:
        facts = {"outcome": "failed", "error": type(error).__name__}
        log(COMPACTIONS, f"{what} failed: {error}", facts, level=logging.ERROR)
        raise
    log(COMPACTIONS, f"{what} has ended", {"outcome": states[-1]})


def _refuse(compaction: Compaction, reason: str, runtime: Runtime) -> str:
    runtime.metastore.mark_failed(compaction.id, reason, refused=True)
    return f"refused ({reason})"


def _run(compaction: Compaction, place: Place, runtime: Runtime, stopping: threading.Event) -> str:
    store = runtime.metastore
    rebalances = compaction.kind == "rebalance"
    kind = TxnType.REBALANCE_COMPACTION if rebalances else TxnType.COMPACTION
    opening = partial(store.open_txns, 1, runtime.user, runtime.host, type=kind)
    (txn_id,) = with_known_server(opening, runtime)
    note(transaction=txn_id)
    interval = runtime.settings.seconds("hive.txn.timeout") / 2
    heartbeat = Heartbeat(runtime=runtime, txn_id=txn_id, interval=interval)
    heartbeat.start()
    try:
        with limited(compaction, txn_id, runtime) as own:
            refused, counted = _compact(compaction, place, txn_id, own)
            heartbeat.stop()
            heartbeat.check()
        _commit(compaction, place, txn_id, counted, runtime, is_done=refused is None)
    except CommitUnknown:
        heartbeat.stop()
        raise
    except BaseException as error:
        heartbeat.stop()
        # Where the metastore is gone too, what failed first is still what is told.
        with left_to_reaper(f"the end of compaction {compaction.id} was not recorded", runtime):
            if not (stopping.is_set() and _hand_back(compaction, runtime)):
                _fail(compaction, error, runtime)
        with left_to_reaper(f"transaction {txn_id} was not aborted", runtime):
            release(partial(store.abort_txns, [txn_id], "compaction failed"), runtime)
        raise
    with working():  # It has transactions of its own.
        gather_again(compaction, place, runtime)
    return refused or READY


def _commit(
    compaction: Compaction,
    place: Place,
    txn_id: int,
    counted: StatisticsChange,
    runtime: Runtime,
    *,
    is_done: bool,
) -> None:
    """Commit; in our own metastores the request is ready for the cleaner by the same step.

    A worker that died in between would leave a request that is nobody's.
    """
    store, default = runtime.metastore, runtime.settings.text(RETENTION)
    hold = retention_of(place.table.properties, default).hold

    def finish() -> None:
        if is_done:
            store.mark_compacted(compaction.id, hold=hold)
            hit_failpoint(FailPoint.COMPACTION_MARKED)
        store.commit_txn(txn_id, entries=CommitEntries(changes=[counted]))

    store.run_in_transaction(finish)
    hit_failpoint(FailPoint.COMPACTION_COMMITTED)


def _fail(compaction: Compaction, error: BaseException, runtime: Runtime) -> None:
    """Record the failure, unless whoever stopped it has done so."""
    store = runtime.metastore
    queued = any(row.id == compaction.id and row.ended is None for row in store.compactions())
    if queued:
        # Whoever reads it in a list of compactions is as much a user as whoever asked for one.
        failure = translate_error(error) if isinstance(error, Exception) else error
        store.mark_failed(compaction.id, str(failure))


def _hand_back(compaction: Compaction, runtime: Runtime) -> bool:
    """Queue it again; False where that is the metastore's own matter."""
    worker = compaction.worker_id
    return worker is not None and runtime.metastore.release_compactions(worker_id=worker) > 0


def _lock(compaction: Compaction, txn_id: int, runtime: Runtime) -> None:
    rebalances = compaction.kind == "rebalance"
    lock = Lock(
        LockType.EXCL_WRITE if rebalances else LockType.SHARED_READ,
        compaction.table.database,
        compaction.table.name,
        compaction.partition,
        Operation.UPDATE if rebalances else Operation.SELECT,
    )
    answer = runtime.metastore.enqueue_locks(txn_id, [lock], LockOwner(runtime.user, runtime.host))
    if answer.state is not LockState.ACQUIRED:
        raise ExecutionError(
            f"the compactor could not lock {compaction.table}: {answer.reason}. Ask for the "
            "compaction again"
        )


def _compact(
    compaction: Compaction, place: Place, txn_id: int, runtime: Runtime
) -> tuple[str | None, StatisticsChange]:
    """Tell why it was refused, or None, and in how many more or fewer files and bytes rows lie."""
    store = runtime.metastore
    counted = StatisticsChange(
        table=compaction.table, partition=compaction.partition, keeps_values=True
    )
    _lock(compaction, txn_id, runtime)
    txns = store.valid_txns(txn_id)
    visible = store.compactor_write_ids(place.table.name)
    store.set_compaction_txn(compaction.id, txn_id, visible.high_watermark)
    hit_failpoint(FailPoint.COMPACTION_STARTED)
    if place.is_whole_partitioned_table:
        return None, counted
    check_written(place.table.columns)
    work = Rewriting(compaction=compaction, place=place, visible=visible, txns=txns, txn_id=txn_id)
    user = user_to_act_for(place, runtime)
    done: Rewritten = (
        rewrite(work, runtime) if user is None else runtime.rewrite_as(user, work, runtime)
    )
    if done.refused is not None:
        return _refuse(compaction, done.refused, runtime), counted
    return None, replace(counted, files=done.files, bytes=done.bytes)
