"""Locks of a Hive Metastore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hivesql_executor.metastore.api import LockAnswer, LockOwner, LockRow, LockState, ObjectLockRow
from hivesql_executor.metastore.hms.client import idl
from hivesql_executor.metastore.hms.transactions import TransactionCalls
from hivesql_planner.errors import ExecutionError, NotSupported, TransactionLost
from hivesql_planner.locks.lock import Lock, LockType, ObjectLock, Operation
from hivesql_planner.locks.rules import merge

_WRITES = (Operation.INSERT, Operation.UPDATE, Operation.DELETE)
_OBJECT_LOCKS = "DummyTxnManager's locks with a Hive Metastore"
_NO_SUCH_LOCK = 10270


class LockCalls(TransactionCalls):
    """Calls of Metastore about locks. Hive looks for no deadlocks: waits end by giving up."""

    def enqueue_locks(
        self, txn_id: int, locks: Sequence[Lock], owner: LockOwner, *,
        zero_wait_read: bool = False, exclusive_ctas: bool = False, for_reading: bool = False,
    ) -> LockAnswer:  # fmt: skip
        """Ask for all locks together; the answer is ACQUIRED, WAITING or NOT_ACQUIRED."""
        requested = merge(_lower(lock) for lock in locks)
        if not requested:
            return LockAnswer(lock_id=0, state=LockState.ACQUIRED)
        self._note_written(txn_id, requested)
        request = idl().LockRequest(
            component=[self._component(lock) for lock in requested],
            txnid=txn_id,
            user=owner.user,
            hostname=owner.host,
            agentInfo=owner.agent_info or None,
            zeroWaitReadEnabled=zero_wait_read,
            exclusiveCTAS=exclusive_ctas,
        )
        # A second request of the same transaction never waits for the first.
        return self._answer(self._client.call("lock", request, again=bool(txn_id)))

    def check_lock(self, lock_id: int) -> LockAnswer:
        """Ask again for a request that waits."""
        request = idl().CheckLockRequest(lockid=lock_id)
        return self._answer(self._client.call("check_lock", request, again=True))

    def requests_before(self, lock_id: int) -> int | None:
        """None: to ask is to write there, and all sessions of the site would."""
        return None

    def unlock(self, lock_id: int) -> None:
        """Give up a request that waits or belongs to no transaction."""
        try:
            self._client.call("unlock", idl().UnlockRequest(lockid=lock_id), again=True)
        except ExecutionError as error:
            if error.code != _NO_SUCH_LOCK:
                raise

    def locks(
        self, database: str | None = None, table: str | None = None, partition: str | None = None
    ) -> tuple[LockRow, ...]:
        """Locks, filtered by equality, in the order of SHOW LOCKS."""
        rows = (
            row
            for row in map(_row, self._show())
            if database in (None, row.database)
            and table in (None, row.table)
            and partition in (None, row.partition)
        )
        return tuple(sorted(rows, key=lambda row: row.rank))

    def take_object_locks(
        self, locks: Sequence[ObjectLock], row: ObjectLockRow
    ) -> ObjectLockRow | None:
        """Refused: Hive keeps such locks in ZooKeeper."""
        raise NotSupported(_OBJECT_LOCKS)

    def release_object_locks(self, query_id: str) -> None:
        """Refused: Hive keeps such locks in ZooKeeper."""
        raise NotSupported(_OBJECT_LOCKS)

    def keep_object_locks(self, query_id: str) -> None:
        """Refused: Hive keeps such locks in ZooKeeper."""
        raise NotSupported(_OBJECT_LOCKS)

    def unlock_object(self, name: str) -> bool:
        """Refused: Hive keeps such locks in ZooKeeper."""
        raise NotSupported(_OBJECT_LOCKS)

    def object_locks(self) -> tuple[ObjectLockRow, ...]:
        """Refused: Hive keeps such locks in ZooKeeper."""
        raise NotSupported(_OBJECT_LOCKS)

    def _component(self, lock: Lock) -> Any:
        wire = idl()
        level = "PARTITION" if lock.partition else "TABLE" if lock.table else "DB"
        operation = "NO_TXN" if lock.operation is Operation.COMPACT else lock.operation.name
        kind = _hive3_type(lock) if self._client.is_old else lock.type
        return wire.LockComponent(
            type=wire.LockType._NAMES_TO_VALUES[kind.value],
            level=wire.LockLevel._NAMES_TO_VALUES[level],
            dbname=lock.database,
            tablename=lock.table,
            partitionname=lock.partition,
            operationType=wire.DataOperationType._NAMES_TO_VALUES[operation],
            isTransactional=lock.operation in _WRITES,
            isDynamicPartitionWrite=lock.dynamic_partition,
        )

    def _answer(self, answer: Any) -> LockAnswer:
        state = idl().LockState._VALUES_TO_NAMES[answer.state]
        if state == "ABORT":
            raise TransactionLost(
                f"the metastore gave up lock {answer.lockid}: {answer.errorMessage}. Run it again"
            )
        reason = answer.errorMessage
        if state == "WAITING" and not reason:
            reason = self._blocker(answer.lockid)
        return LockAnswer(lock_id=answer.lockid, state=LockState(state), reason=reason)

    def _blocker(self, lock_id: int) -> str | None:
        rows = {(lock.lockid, lock.lockIdInternal): lock for lock in self._show()}
        for (own, _), row in rows.items():
            other = rows.get((row.blockedByExtId, row.blockedByIntId))
            if own == lock_id and other is not None:
                return f"blocked by {_describe(_row(other))}"
        return None

    def _show(self) -> list[Any]:
        request = idl().ShowLocksRequest(isExtended=True)
        return list(self._client.call("show_locks", request, again=True).locks or ())


def _hive3_type(lock: Lock) -> LockType:
    """Hive 3 has no EXCL_WRITE: its inserts share with its readers, its updates do not mix."""
    if lock.type is LockType.EXCL_WRITE:
        return LockType.SHARED_WRITE
    if lock.type is LockType.SHARED_WRITE and lock.operation is Operation.INSERT:
        return LockType.SHARED_READ
    return lock.type


def _row(answer: Any) -> LockRow:
    wire = idl()
    blocker = None
    if answer.blockedByExtId:
        blocker = f"{answer.blockedByExtId}.{answer.blockedByIntId}"
    return LockRow(
        lock_id=answer.lockid,
        internal_id=answer.lockIdInternal or 0,
        database=answer.dbname,
        table=answer.tablename,
        partition=answer.partname,
        state=LockState(wire.LockState._VALUES_TO_NAMES[answer.state]),
        blocked_by=blocker,
        type=LockType(wire.LockType._VALUES_TO_NAMES[answer.type]),
        txn_id=answer.txnid or 0,
        last_heartbeat=answer.lastheartbeat,
        acquired_at=answer.acquiredat or None,
        user=answer.user,
        host=answer.hostname,
        agent_info=answer.agentInfo,
    )


def _describe(row: LockRow) -> str:
    where = ".".join(filter(None, (row.database, row.table, row.partition)))
    return (
        f"lock {row.lock_id}.{row.internal_id} {row.type} ({row.state.lower()}) on {where} "
        f"of transaction {row.txn_id} by {row.user}@{row.host}"
    )


def _lower(lock: Lock) -> Lock:
    return replace(lock, database=lock.database.lower(), table=lock.table and lock.table.lower())
