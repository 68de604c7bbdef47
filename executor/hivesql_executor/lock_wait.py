"""Ask for locks, back off while they are taken, give up in the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hivesql_executor.metastore.api import LockAnswer, LockState
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import LockTimeout
from hivesql_planner.plan import Lock

_FIRST_SLEEP = 0.1
# Hive never caps the back-off below this, whatever the setting says (DbLockManager).
_LEAST_CAP = 15.0


def acquire_locks(
    txn_id: int, locks: Sequence[Lock], runtime: Runtime, *, check_alive: Callable[[], None]
) -> bool:
    """Wait until all locks are held together; tell whether it had to wait.

    Sleeps 100 ms, doubling up to hive.lock.sleep.between.retries, hive.lock.numretries times.
    Raises LockTimeout, and TransactionLost when the transaction ends meanwhile.
    """
    if not locks:
        return False
    store, settings = runtime.metastore, runtime.settings
    answer = store.enqueue_locks(
        txn_id, locks, user=runtime.user, host=runtime.host, agent_info=runtime.query_id[:128]
    )
    cap = max(_LEAST_CAP, settings.seconds("hive.lock.sleep.between.retries"))
    pause, began, tries = _FIRST_SLEEP, runtime.clock.monotonic(), 0
    while answer.state is LockState.WAITING:
        if tries >= settings.integer("hive.lock.numretries"):
            store.unlock(answer.lock_id)
            waited = runtime.clock.monotonic() - began
            raise LockTimeout(
                f"locks could not be acquired after {waited:.1f} s: {_reason(answer)}. "
                "Run the statement again later, or look at SHOW LOCKS"
            )
        runtime.notify(f"waiting for locks: {_reason(answer)}")
        runtime.clock.sleep(pause)
        pause, tries = min(pause * 2, cap), tries + 1
        check_alive()
        answer = store.check_lock(answer.lock_id)
    if answer.state is LockState.NOT_ACQUIRED:
        raise LockTimeout(f"locks could not be acquired: {_reason(answer)}", code=10104)
    return tries > 0


def _reason(answer: LockAnswer) -> str:
    return answer.reason or "they are held by another transaction"
