"""Which lock blocks which: the rules of Hive 4's DbTxnManager."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Generic, TypeVar

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
T = TypeVar("T")
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


class LocksByPlace(Generic[T]):
    """Locks, each with a value, by what they are on.

    Two transactions that write in thousands of partitions each have millions of pairs of locks.
    """

    def __init__(self, locks: Iterable[tuple[Lock, T]]) -> None:
        # By place, the first lock of each kind: others say nothing more of what meets them.
        self._by_place: dict[tuple[str | None, ...], dict[object, tuple[int, Lock, T]]] = {}
        for position, (lock, value) in enumerate(locks):
            kind = (lock.type, lock.table is None, lock.partition is None)
            for end in range(1, 4):
                place = (lock.database, lock.table, lock.partition)[:end]
                self._by_place.setdefault(place, {}).setdefault(kind, (position, lock, value))

    def meeting(self, lock: Lock) -> Iterator[tuple[int, Lock, T]]:
        """Yield the first lock of each kind that is on the same, on a part of it, or around it.

        Each comes with its position and its value.
        """
        whole = (lock.database, lock.table, lock.partition)
        within = whole[: 1 if lock.table is None else 2 if lock.partition is None else 3]
        around = [(lock.database, None), (lock.database, lock.table, None)][: len(within) - 1]
        for place in (within, *around):
            yield from self._by_place.get(place, {}).values()

    def first_conflict(self, requested: Lock) -> T | None:
        """Return the value of the first lock for which a requested one must wait."""
        standing = [
            (position, value)
            for position, lock, value in self.meeting(requested)
            if conflicts(requested, lock)
        ]
        return min(standing, key=lambda pair: pair[0])[1] if standing else None


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
        strongest[key] = stronger if stronger is writes else replace(
            stronger, operation=writes.operation, dynamic_partition=writes.dynamic_partition
        )  # fmt: skip
    databases: dict[str, int] = {}
    tables: dict[tuple[str, str | None], int] = {}
    for lock in strongest.values():
        databases.setdefault(lock.database, len(databases))
        tables.setdefault((lock.database, lock.table), len(tables))
    return tuple(
        sorted(
            strongest.values(),
            key=lambda lock: (databases[lock.database], tables[lock.database, lock.table]),
        )
    )
