"""Which lock blocks which: the rules of Hive 4's DbTxnManager."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hivesql_planner.locks.lock import Lock, LockType, Operation

S, SW, XW, X = (
    LockType.SHARED_READ,
    LockType.SHARED_WRITE,
    LockType.EXCL_WRITE,
    LockType.EXCLUSIVE,
)
STRENGTH = {S: 0, SW: 1, XW: 2, X: 3}
_WEIGHT = {
    Operation.SELECT: 0,
    Operation.NO_TXN: 0,
    Operation.COMPACT: 0,
    Operation.INSERT: 1,
    Operation.DELETE: 2,
    Operation.UPDATE: 3,
}
_BLOCKED_BY = {S: {X}, SW: {XW, X}, XW: {SW, XW, X}, X: {S, SW, XW, X}}


def conflicts(requested: Lock, existing: Lock) -> bool:
    """Tell whether the requested lock must wait for the existing one."""
    if not _meet(requested, existing) or existing.type not in _BLOCKED_BY[requested.type]:
        return False
    # A shared lock of a database lives beside exclusive locks of its tables.
    requested_shares = requested.type is S and requested.table is None
    existing_shares = existing.type is S and existing.table is None
    return not (
        (requested_shares and existing.type is X and existing.table is not None)
        or (existing_shares and requested.type is X and requested.table is not None)
    )


def _meet(lock: Lock, other: Lock) -> bool:
    if lock.database != other.database:
        return False
    if lock.table is None or other.table is None:
        return True
    if lock.table != other.table:
        return False
    return lock.partition is None or other.partition is None or lock.partition == other.partition


def covers(acquired: Lock, requested: Lock) -> bool:
    """Tell whether whoever holds the one need not ask for the other."""
    if (acquired.database, acquired.table) != (requested.database, requested.table):
        return False
    is_within = acquired.partition is None or acquired.partition == requested.partition
    return is_within and STRENGTH[acquired.type] >= STRENGTH[requested.type]


def merge(locks: Iterable[Lock]) -> tuple[Lock, ...]:
    """Give one component per object, the strongest; in order of first appearance."""
    strongest: dict[tuple[str, str | None, str | None], Lock] = {}
    for lock in locks:
        key = (lock.database, lock.table, lock.partition)
        before = strongest.get(key)
        if before is None:
            strongest[key] = lock
            continue
        # The write must stay known even where a read of the same object is as strong: it is what
        # the transaction records, and what keeps its aborted rows hidden.
        by_type = STRENGTH[lock.type] - STRENGTH[before.type]
        by_write = _WEIGHT[lock.operation] - _WEIGHT[before.operation]
        stronger = lock if by_type > 0 else before
        writes = lock if by_write > 0 else before
        strongest[key] = replace(
            stronger, operation=writes.operation, dynamic_partition=writes.dynamic_partition
        )
    databases = list(dict.fromkeys(lock.database for lock in strongest.values()))
    tables = list(dict.fromkeys((lock.database, lock.table) for lock in strongest.values()))
    return tuple(
        sorted(
            strongest.values(),
            key=lambda lock: (
                databases.index(lock.database),
                tables.index((lock.database, lock.table)),
            ),
        )
    )
