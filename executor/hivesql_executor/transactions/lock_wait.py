"""Ask for locks, back off while they are taken, give up in the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from hivesql_executor.metastore.api import LockAnswer, LockOwner, LockState, Metastore
from hivesql_executor.runtime import Runtime
from hivesql_executor.transactions.reaper import reap
from hivesql_planner.errors import Deadlock, ExecutionError, LockTimeout
from hivesql_planner.locks.line import Line
from hivesql_planner.plan import Plan, Select

_FIRST_SLEEP = 0.1
NO_SUCH_LOCK = 10270
# Hive never caps the back-off below this, whatever the setting says (DbLockManager).
_LEAST_CAP = 15.0


class Check(Protocol):
    """Asks again for a request; ``is_next`` tells that nobody was before it."""

    def __call__(self, lock_id: int, /, *, is_next: bool) -> LockAnswer: ...


def acquire_locks(txn_id: int, plan: Plan, runtime: Runtime) -> None:
    """Ask for all locks of a plan together, and wait for them as below."""
    if (answer := request_locks(txn_id, plan, runtime)) is not None:
        await_locks(txn_id, answer, runtime)


def request_locks(txn_id: int, plan: Plan, runtime: Runtime) -> LockAnswer | None:
    """Ask for all locks of a plan together, once; None when it needs none."""
    if not plan.locks:
        return None
    return runtime.metastore.enqueue_locks(
        txn_id,
        plan.locks,
        LockOwner(runtime.user, runtime.host, runtime.query_id[:128]),
        zero_wait_read=plan.zero_wait_reads,
        exclusive_ctas=plan.exclusive_create,
        for_reading=isinstance(plan.body, Select),
    )


def await_locks(
    txn_id: int,
    answer: LockAnswer,
    runtime: Runtime,
    check: Check | None = None,
) -> None:
    """Wait until all locks of a request are held together; ``check`` asks for them again.

    Sleeps 100 ms, doubling up to hive.lock.sleep.between.retries, hive.lock.numretries times,
    and tells the user for whom and how long. In our own metastores a sleep ends as soon as nobody
    stands before the request any more. Raises LockTimeout, and TransactionLost when the
    transaction ends meanwhile.
    """
    store, settings = runtime.metastore, runtime.settings
    cap = max(_LEAST_CAP, settings.seconds("hive.lock.sleep.between.retries"))
    pause, began, tries = _FIRST_SLEEP, runtime.clock.monotonic(), 0
    line = Line()
    while answer.state is LockState.WAITING:
        waited = runtime.clock.monotonic() - began
        if tries >= settings.integer("hive.lock.numretries"):
            _give_up(answer, runtime)
            raise LockTimeout(
                f"locks could not be acquired after {waited:.1f} s: {_reason(answer)}. "
                "Run the statement again later, or look at SHOW LOCKS"
            )
        runtime.notify(f"waiting for locks for {waited:.1f} s: {_reason(answer)}")
        before = partial(store.requests_before, answer.lock_id)
        if not (is_next := sleep_in_line(pause, before, runtime, line)):
            # Whoever was killed holds its locks until somebody notices; no service may be running.
            reap(runtime)
            # The locks of an aborted transaction are gone: this tells why.
            store.heartbeat(txn_id)
        pause, tries = min(pause * 2, cap), tries + 1
        ask = partial(check, is_next=is_next) if check else store.check_lock
        answer = _ask_again(txn_id, answer.lock_id, store, ask)
    if answer.state is LockState.ABORTED:
        raise Deadlock(
            f"transaction {txn_id} was aborted to end a {_reason(answer)}; the youngest goes. "
            "Run it again"
        )
    if answer.state is LockState.NOT_ACQUIRED:
        raise LockTimeout(f"locks could not be acquired: {_reason(answer)}", code=10104)


def sleep_in_line(
    seconds: float,
    count_before: Callable[[], int | None],
    runtime: Runtime,
    line: Line | None = None,
) -> bool:
    """Sleep so long, or until nobody is before one; whether that is so.

    ``line`` is what earlier sleeps have seen. A count of None is not known, and worth no second
    look.
    """
    line = line or Line()
    slept = 0.0
    while slept < seconds:
        before = count_before()
        if before == 0:
            return True
        pause = seconds if before is None else line.pause(before)
        pause = min(pause, seconds - slept)
        runtime.clock.sleep(pause)
        slept += pause
        runtime.check_cancelled()
    return False


def _ask_again(
    txn_id: int, lock_id: int, store: Metastore, ask: Callable[[int], LockAnswer]
) -> LockAnswer:
    try:
        return ask(lock_id)
    except ExecutionError as error:
        if error.code == NO_SUCH_LOCK:
            # Aborted since the heartbeat, perhaps to end a deadlock: the next one says so.
            store.heartbeat(txn_id)
        raise


def _give_up(answer: LockAnswer, runtime: Runtime) -> None:
    dump = "hive.txn.manager.dump.lock.state.on.acquire.timeout"
    rows = runtime.metastore.locks() if runtime.settings.flag(dump) else ()
    runtime.metastore.unlock(answer.lock_id)
    for row in rows:
        where = ".".join(filter(None, (row.database, row.table, row.partition)))
        runtime.notify(
            f"lock {row.lock_id}.{row.internal_id} {row.type} on {where}: {row.state}, "
            f"transaction {row.txn_id} of {row.user}@{row.host}"
        )


def _reason(answer: LockAnswer) -> str:
    return answer.reason or "they are held by another transaction"
