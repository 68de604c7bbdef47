"""Transactions, write ids and locks of the metastore in a database of our own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from sqlalchemy import Connection

from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.metastore.api import (
    MAX_BATCH,
    MAX_OPEN,
    NO_ENTRIES,
    CommitEntries,
    LockAnswer,
    LockOwner,
    Once,
    TxnType,
)
from hivesql_executor.metastore.database import commit as commits
from hivesql_executor.metastore.database.calls import Calls, asking, reading, writing
from hivesql_executor.metastore.database.transactions import locks as lock_queue
from hivesql_executor.metastore.database.transactions import openings, servers, snapshots
from hivesql_executor.metastore.database.transactions import transactions as txn_rows
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import CommitUnknown, ExecutionError, HiveSqlError, TransactionLost
from hivesql_planner.locks.lock import Lock
from hivesql_planner.model.table import TableName

_Visible = Mapping[TableName, ValidWriteIdList]


class TransactionCalls(Calls):
    """Every method is one database transaction, unless they are called ``run_in_transaction``."""

    _too_many_open = False

    valid_txns = reading(snapshots.valid_txns)
    owners_of_write_ids = reading(snapshots.owners_of_write_ids)
    writes_after = reading(snapshots.writes_after)
    seed_write_id = writing(snapshots.seed_write_id)
    add_dynamic_partitions = writing(txn_rows.add_dynamic_partitions)
    abort_txns = writing(txn_rows.abort_txns)
    heartbeat = writing(txn_rows.heartbeat)
    heartbeat_txns = writing(txn_rows.heartbeat_txns)
    transactions = reading(txn_rows.transactions)
    accept_server = writing(servers.accept_server)

    requests_before = asking(lock_queue.requests_before)
    unlock = writing(lock_queue.unlock)
    locks = reading(lock_queue.locks)

    # -- transactions

    def open_txns(
        self, count: int, user: str, host: str, *, type: TxnType = TxnType.DEFAULT,
        max_open: int = MAX_OPEN, max_batch: int = MAX_BATCH,
    ) -> tuple[int, ...]:  # fmt: skip
        """Open transactions, at most ``max_batch`` at once; their ids.

        ExecutionError once ``max_open`` are open, and from then on until a tenth has ended.
        """

        def check(opened: int) -> None:
            limit = max_open - max_open // 10 if self._too_many_open else max_open
            self._too_many_open = opened >= limit
            if self._too_many_open:
                raise ExecutionError(
                    f"Maximum allowed number of open transactions (hive.max.open.txns={max_open}) "
                    f"has been reached: {opened} are open. Try again later, or look at SHOW "
                    "TRANSACTIONS"
                )

        def work(db: Connection) -> tuple[int, ...]:
            return openings.open_txns(db, min(count, max_batch), user, host, type, check)

        # Nobody knows of a transaction before it has a write id, locks, or has ended.
        return self._write(work, durable=False)

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

    def take_write_ids(
        self, txn_id: int, written: Collection[TableName], txns: ValidTxnList,
        tables: Collection[TableName],
    ) -> tuple[Mapping[TableName, int], _Visible]:  # fmt: skip
        """Return its write ids in what is ``written``, and what its list means in ``tables``.

        One call, as both take a single round trip where statements can be sent at once.
        """

        def work(db: Connection) -> tuple[Mapping[TableName, int], _Visible]:
            return snapshots.take_write_ids(db, txn_id, written, txns, tables)

        if not written:
            return {}, self.valid_write_ids(txns, tables)
        return self._write(work, durable=False)

    def valid_write_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, ValidWriteIdList]:
        """Tell what the list of transactions means in each table."""
        return self._read(lambda db: snapshots.valid_in_tables(db, txns, tables))

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
        entries: CommitEntries = NO_ENTRIES,
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
                db, txn_id, exclusive_write=exclusive_write, once=once, entries=entries,
                settles=settles,
            )  # fmt: skip

        try:
            conflict = self._write(commit, durable=not for_reading)
            hit_failpoint(FailPoint.COMMIT_ANSWER_LOST)
        except CommitUnknown as unknown:
            # Committing twice is harmless, and the second answer tells what came of the first.
            conflict = self._commit_again(commit, unknown)
        if conflict is not None:
            raise conflict

    # -- locks
    def enqueue_locks(
        self, txn_id: int, locks: Sequence[Lock], owner: LockOwner, *,
        zero_wait_read: bool = False, exclusive_ctas: bool = False, for_reading: bool = False,
    ) -> LockAnswer:  # fmt: skip
        """Ask for all locks together; the answer is ACQUIRED, WAITING or NOT_ACQUIRED.

        Those under which nothing is written, ``for_reading``, are forgotten at power loss with the
        reader itself.
        """

        def ask(db: Connection) -> LockAnswer:
            return lock_queue.enqueue_locks(
                db, txn_id, locks, owner,
                zero_wait_read=zero_wait_read, exclusive_ctas=exclusive_ctas,
            )  # fmt: skip

        return self._write(ask, durable=not for_reading, early=True)

    def check_lock(self, lock_id: int) -> LockAnswer:
        """Grant the request unless an earlier one, granted or waiting, stands against it."""
        return self._write(lambda db: lock_queue.check_lock(db, lock_id), early=True)

    def _commit_again(
        self, commit: Callable[[Connection], HiveSqlError | None], unknown: CommitUnknown
    ) -> HiveSqlError | None:
        try:
            return self._write(commit)
        except HiveSqlError as error:
            if isinstance(error, TransactionLost) and error.code == TransactionLost.code:
                raise
            raise unknown from error
