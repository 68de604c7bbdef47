"""Transactions, write ids and locks of the metastore in a database of our own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection

from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.metastore.api import (
    MAX_BATCH,
    MAX_OPEN,
    LockAnswer,
    LockRow,
    Once,
    TableNote,
    TxnRow,
    TxnType,
)
from hivesql_executor.metastore.database import commit as commits
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.transactions import locks as lock_queue
from hivesql_executor.metastore.database.transactions import snapshots, transactions
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import CommitUnknown, ExecutionError, HiveSqlError, TransactionLost
from hivesql_planner.locks.lock import Lock, Operation
from hivesql_planner.model.statistics import StatisticsChange
from hivesql_planner.model.table import TableName

T = TypeVar("T")


class TransactionCalls(ABC):
    """Every method is one database transaction, unless they are called ``together``."""

    _rdbms: Rdbms
    _too_many_open = False

    @abstractmethod
    def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    def _write(self, work: Callable[[Connection], T], *, durable: bool = True) -> T: ...

    # -- transactions
    def together(self, work: Callable[[], T], *, durable: bool = True) -> T:
        """Run ``work``, whose calls on this thread are one database transaction.

        It may be run again, so it must do nothing else. What one that is not ``durable`` did may be
        forgotten at power loss until a durable one has followed.
        """
        return self._rdbms.together(lambda: self._write(lambda _: work()), durable=durable)

    def open_txns(
        self, count: int, user: str, host: str, *, type: TxnType = TxnType.DEFAULT,
        max_open: int = MAX_OPEN, max_batch: int = MAX_BATCH,
    ) -> tuple[int, ...]:  # fmt: skip
        """Open transactions, at most ``max_batch`` at once; their ids.

        ExecutionError once ``max_open`` are open, and from then on until a tenth has ended.
        """

        def work(db: Connection) -> tuple[int, ...]:
            limit = max_open - max_open // 10 if self._too_many_open else max_open
            opened = transactions.open_count(db)
            self._too_many_open = opened >= limit
            if self._too_many_open:
                raise ExecutionError(
                    f"Maximum allowed number of open transactions (hive.max.open.txns={max_open}) "
                    f"has been reached: {opened} are open. Try again later, or look at SHOW "
                    "TRANSACTIONS"
                )
            return transactions.open_txns(db, min(count, max_batch), user, host, type)

        # Nobody knows of a transaction before it has a write id, locks, or has ended.
        return self._write(work, durable=False)

    def valid_txns(self, txn_id: int = 0) -> ValidTxnList:
        """Tell what the transaction sees; 0 asks for the current state."""
        return self._read(lambda db: snapshots.valid_txns(db, txn_id))

    def allocate_write_id(self, txn_id: int, table: TableName, *, again: bool = False) -> int:
        """Return the transaction's write id in the table; ``again`` replaces it by a larger one."""
        name = table.lower()

        def work(db: Connection) -> int:
            return snapshots.allocate_write_id(db, txn_id, name, again=again)

        # Locks are taken before anything is written under it, but before it is replaced.
        return self._write(work, durable=again)

    def allocate_write_ids(self, txn_ids: Sequence[int], table: TableName) -> tuple[int, ...]:
        """Give each transaction of a batch a write id in the table; in the transactions' order.

        They are consecutive unless a transaction had one already, which it keeps.
        """
        name = table.lower()
        return self._write(
            lambda db: snapshots.allocate_write_ids(db, txn_ids, name), durable=False
        )

    def owners_of_write_ids(self, table: TableName, low: int, high: int) -> Mapping[int, int]:
        """Transactions that own the write ids from ``low`` to ``high``, as far as is known."""
        return self._read(lambda db: snapshots.owners_of_write_ids(db, table.lower(), low, high))

    def valid_write_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, ValidWriteIdList]:
        """Tell what the list of transactions means in each table."""
        return self._read(
            lambda db: {
                table: snapshots.valid_write_ids(db, txns, table.lower()) for table in tables
            }
        )

    def writes_after(self, table: TableName, moment: datetime) -> frozenset[int]:
        """List writes that were committed after a moment, as far as is still known."""
        return self._read(lambda db: snapshots.writes_after(db, table.lower(), moment))

    def compactor_write_ids(self, table: TableName) -> ValidWriteIdList:
        """Tell what a compaction may merge now."""
        return self._read(lambda db: snapshots.compactor_write_ids(db, table.lower()))

    def seed_write_id(self, table: TableName, next_write_id: int) -> None:
        """Let write ids go on from there, unless they are past it."""
        self._write(lambda db: snapshots.seed_write_id(db, table.lower(), next_write_id))

    def add_dynamic_partitions(
        self,
        txn_id: int,
        write_id: int,
        table: TableName,
        partitions: Collection[str],
        operation: Operation,
    ) -> None:
        """Record which partitions a write with dynamic partitions has really written."""
        name = table.lower()
        self._write(
            lambda db: transactions.add_dynamic_partitions(
                db, txn_id, write_id, name, partitions=partitions, operation=operation
            )
        )

    def newer_writer(self, txn_id: int, locks: Collection[Lock]) -> int | None:
        """Tell who changed, after our snapshot, what our write locks cover; None when nobody."""
        if not any(map(lock_queue.may_be_stale, locks)):
            return None
        return self._read(lambda db: lock_queue.newer_writer(db, txn_id, tuple(locks)))

    def commit_txn(
        self,
        txn_id: int,
        *,
        exclusive_write: bool = True,
        once: Once | None = None,
        note: TableNote | None = None,
        changes: Collection[StatisticsChange] = (),
        for_reading: bool = False,
        settles: bool = False,
    ) -> None:
        """Commit, and record the rest with it; silent when it is committed already.

        What a transaction was that wrote nothing, ``for_reading``, is forgotten at power loss.
        One that ``settles`` makes right what it has noted of its files (``note_moves``).
        WriteConflict, TransactionLost and AlreadyCommitted (by another transaction) mean that it
        was aborted, CommitUnknown that nobody knows.
        """

        def commit(db: Connection) -> HiveSqlError | None:
            return commits.commit_txn(
                db, txn_id, exclusive_write=exclusive_write, once=once, note=note,
                changes=changes, settles=settles,
            )  # fmt: skip

        try:
            conflict = self._write(commit, durable=not for_reading)
            hit_failpoint(FailPoint.COMMIT_ANSWER_LOST)
        except CommitUnknown as unknown:
            # Committing twice is harmless, and the second answer tells what came of the first.
            conflict = self._commit_again(commit, unknown)
        if conflict is not None:
            raise conflict

    def abort_txns(self, txn_ids: Collection[int], reason: str) -> tuple[int, ...]:
        """Abort those that are open and return them; others are passed over."""
        return self._write(lambda db: transactions.abort_txns(db, txn_ids, reason))

    def heartbeat(self, txn_id: int, lock_id: int = 0) -> None:
        """Keep a transaction or lock alive; TransactionLost when it is gone."""
        self._write(lambda db: transactions.heartbeat(db, txn_id, lock_id))

    def heartbeat_txns(self, txn_ids: Sequence[int]) -> None:
        """Keep the transactions of a batch alive; TransactionLost when one of them is gone."""
        self._write(lambda db: transactions.heartbeat_txns(db, txn_ids))

    def transactions(self) -> tuple[TxnRow, ...]:
        """Open and aborted transactions, by id."""
        return self._read(transactions.transactions)

    # -- locks
    def enqueue_locks(
        self, txn_id: int, locks: Sequence[Lock], *, user: str, host: str, agent_info: str = "",
        zero_wait_read: bool = False, exclusive_ctas: bool = False, for_reading: bool = False,
    ) -> LockAnswer:  # fmt: skip
        """Ask for all locks together; the answer is ACQUIRED, WAITING or NOT_ACQUIRED.

        Those under which nothing is written, ``for_reading``, are forgotten at power loss with the
        reader itself.
        """

        def ask(db: Connection) -> LockAnswer:
            return lock_queue.enqueue_locks(
                db, txn_id, locks, user=user, host=host, agent_info=agent_info,
                zero_wait_read=zero_wait_read, exclusive_ctas=exclusive_ctas,
            )  # fmt: skip

        return self._write(ask, durable=not for_reading)

    def check_lock(self, lock_id: int) -> LockAnswer:
        """Ask again for a request that waits."""
        return self._write(lambda db: lock_queue.check_lock(db, lock_id))

    def requests_before(self, lock_id: int) -> int | None:
        """Tell how many earlier requests a waiting one waits for; 0 as well where it is gone."""
        return self._read(lambda db: lock_queue.requests_before(db, lock_id))

    def unlock(self, lock_id: int) -> None:
        """Give up a request that waits or belongs to no transaction."""
        self._write(lambda db: lock_queue.unlock(db, lock_id))

    def locks(
        self, database: str | None = None, table: str | None = None, partition: str | None = None
    ) -> tuple[LockRow, ...]:
        """Locks, filtered by equality, in the order of SHOW LOCKS."""
        return self._read(lambda db: lock_queue.locks(db, database, table, partition))

    def _commit_again(
        self, commit: Callable[[Connection], HiveSqlError | None], unknown: CommitUnknown
    ) -> HiveSqlError | None:
        try:
            return self._write(commit)
        except HiveSqlError as error:
            if isinstance(error, TransactionLost) and error.code == TransactionLost.code:
                raise
            raise unknown from error
