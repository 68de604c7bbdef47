"""Locks of a session under DummyTxnManager: for a statement, or from LOCK to UNLOCK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from hivesql_executor.metastore.api import Metastore, ObjectLockRow
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.transactions.heartbeat import Heartbeat
from hivesql_executor.transactions.lock_wait import sleep_in_line
from hivesql_executor.transactions.reaper import left_to_reaper, release
from hivesql_planner.errors import LockTimeout, SemanticError
from hivesql_planner.locks.lock import ObjectLock
from hivesql_planner.plan import Plan
from hivesql_planner.settings.transaction_keys import DB_TXN_MANAGER, DUMMY_TXN_MANAGER
from hivesql_planner.statements.bound import LockObject, Show

_FIRST_SLEEP = 0.1


@contextmanager
def holding_objects(plan: Plan, runtime: Runtime) -> Iterator[None]:
    """Hold a plan's locks on objects while the statement runs."""
    if not plan.object_locks:
        yield
        return
    store, query_id = runtime.metastore, runtime.query_id
    _acquire(plan.object_locks, runtime, explicit=False)
    heartbeat = Heartbeat(
        runtime=runtime,
        interval=runtime.settings.seconds("hive.txn.timeout") / 2,
        beat=lambda: store.keep_object_locks(query_id),
    )
    heartbeat.start()
    try:
        yield
    finally:
        heartbeat.stop()
        with left_to_reaper("locks on objects are not free yet", runtime):
            release(partial(store.release_object_locks, query_id), runtime)


def lock_object(statement: LockObject, runtime: Runtime) -> None:
    """LOCK and UNLOCK; only the object itself, and until somebody unlocks it, as in Hive."""
    settings = runtime.settings
    if settings.text("hive.txn.manager") != DUMMY_TXN_MANAGER:
        raise SemanticError(
            f"LOCK and UNLOCK are not supported by {DB_TXN_MANAGER}: every statement takes the "
            "locks that it needs",
            code=10271,
        )
    if not settings.flag("hive.support.concurrency"):
        raise SemanticError(
            "LOCK and UNLOCK need a lock manager: set hive.support.concurrency=true", code=10102
        )
    table = (statement.table.name.name,) if statement.table else ()
    partition = tuple(statement.partition.split("/")) if statement.partition else ()
    path = (statement.database, *table, *partition)
    lock = ObjectLock(path=path, exclusive=statement.mode == "EXCLUSIVE")
    if statement.mode is not None:
        _acquire([lock], runtime, explicit=True)
    elif not runtime.metastore.unlock_object(lock.name):
        what = f"Table {'.'.join(path[1:])}" if table else f"Database {path[0]}"
        raise SemanticError(f"{what} is not locked ")


def show_object_locks(statement: Show, runtime: Runtime) -> Outcome:
    """SHOW LOCKS as DummyTxnManager's sessions see it: name and mode."""
    database = statement.database
    path: list[str] = [database] if database else []
    if statement.table is not None:
        partition = (statement.partition or "").split("/")
        path = [
            statement.table.name.database,
            statement.table.name.name,
            *filter(None, partition),
        ]
    rows: list[tuple[str, str | None]] = []
    for row in runtime.metastore.object_locks():
        if row.name.split("@")[: len(path)] != path:
            continue
        rows.append((row.name, "EXCLUSIVE" if row.exclusive else "SHARED"))
        if statement.extended:
            rows += [
                (f"LOCK_QUERYID:{row.query_id}", None),
                (f"LOCK_TIME:{row.taken}", None),
                (f"LOCK_MODE:{'EXPLICIT' if row.explicit else 'IMPLICIT'}", None),
                (f"LOCK_QUERYSTRING:{row.query_text}", None),
            ]
    printed = [(name, mode or "") for name, mode in rows]
    return Outcome.of_table(["tab_name", "mode"], printed, of_server=rows)


def _acquire(locks: Sequence[ObjectLock], runtime: Runtime, *, explicit: bool) -> None:
    """All together, or wait and try all again, hive.lock.numretries times.

    A wait ends as soon as the lock that stands in the way is gone.
    """
    settings, clock, store = runtime.settings, runtime.clock, runtime.metastore
    row = ObjectLockRow(
        explicit=explicit,
        query_id=runtime.query_id,
        query_text=runtime.query_text[: settings.integer("hive.lock.query.string.max.length")],
        user=runtime.user,
        host=runtime.host,
    )
    longest = settings.seconds("hive.lock.sleep.between.retries")
    pause, began = min(_FIRST_SLEEP, longest), clock.monotonic()
    retries = settings.integer("hive.lock.numretries")
    for tried in range(retries + 1):
        blocker = store.take_object_locks(locks, row)
        if blocker is None:
            return
        waited = clock.monotonic() - began
        mode = "exclusive" if blocker.exclusive else "shared"
        reason = f"{blocker.name} is locked ({mode}) by {blocker.user}@{blocker.host}"
        if tried == retries:
            break
        runtime.notify(f"waiting for locks for {waited:.1f} s: {reason}")
        sleep_in_line(pause, partial(_count_acquired, store, blocker), runtime)
        pause = min(pause * 2, longest)
    raise LockTimeout(
        f"locks could not be acquired after {waited:.1f} s: {reason}. Run the statement again "
        "later, or look at SHOW LOCKS",
        code=10104,
    )


def _count_acquired(store: Metastore, acquired: ObjectLockRow) -> int:
    """1 while a lock is held, else 0."""
    return sum(
        (row.name, row.query_id) == (acquired.name, acquired.query_id)
        for row in store.object_locks()
    )
