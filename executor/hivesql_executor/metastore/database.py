"""The metastore in an SQLite file or a PostgreSQL database of our own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection

from hivesql_executor.failpoints import FailPoint, reach
from hivesql_executor.metastore import (
    catalog,
    housekeeping,
    notification_log,
    revisions,
    schema,
    snapshots,
    statistics_changes,
    statistics_rows,
    transactions,
)
from hivesql_executor.metastore import commit as commits
from hivesql_executor.metastore import locks as lock_queue
from hivesql_executor.metastore import partitions as partition_rows
from hivesql_executor.metastore.api import (
    MAX_BATCH,
    MAX_OPEN,
    LockAnswer,
    LockRow,
    TxnRow,
    TxnType,
)
from hivesql_executor.metastore.compaction_calls import CompactionCalls
from hivesql_executor.metastore.connection import Rdbms
from hivesql_executor.metastore.idempotence import IdempotenceCalls
from hivesql_executor.metastore.idempotence_api import Once
from hivesql_executor.metastore.known_revisions import REVISIONS
from hivesql_executor.metastore.moves import MoveCalls
from hivesql_executor.metastore.notification_calls import NotificationCalls
from hivesql_executor.metastore.object_locks import ObjectLockCalls
from hivesql_executor.metastore.table_notes import TableNote
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import CommitUnknown, ExecutionError, HiveSqlError, TransactionLost
from hivesql_planner.partition_filter import PartitionTest
from hivesql_planner.plan import Lock, Operation
from hivesql_planner.statistics import Statistics, StatisticsChange
from hivesql_planner.table import Database, Partition, Table, TableName

T = TypeVar("T")


class DatabaseMetastore(
    CompactionCalls, ObjectLockCalls, IdempotenceCalls, NotificationCalls, MoveCalls
):
    """Metastore over Hive's tables: a method is one database transaction, ``together`` several."""

    def __init__(self, rdbms: Rdbms) -> None:
        self._rdbms = rdbms
        self._warehouse = ""
        self._too_many_open = False

    @classmethod
    def open(cls, url: str, warehouse: str) -> DatabaseMetastore:
        """Open the metastore at a database URL; create it, and ``default``, when absent.

        ``warehouse`` is the directory of the ``default`` database; the others get
        ``<warehouse>/<name>.db``.
        """
        store = cls(Rdbms(url))
        store._warehouse = warehouse.rstrip("/") or "/"
        try:
            # Nearly every opening finds the latest schema, and then need not wait for a writer.
            if store._read(revisions.current_revision) != REVISIONS[-1]:
                store._write(lambda db: revisions.prepare(db, store._warehouse))
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Let go of the database."""
        self._rdbms.close()

    def version(self) -> str:
        """The schema's revision, and the release of Hive whose tables it has."""
        found = self._read(revisions.current_revision)
        return f"schema revision {found}, Hive {schema.SCHEMA_VERSION}"

    # -- catalog
    def create_database(self, database: Database, *, if_not_exists: bool = False) -> None:
        """Add a database; SemanticError 10242 when it exists."""
        self._write(
            lambda db: catalog.create_database(
                db, database, self._warehouse, if_not_exists=if_not_exists
            )
        )

    def database(self, name: str) -> Database:
        """The database of that name."""
        return self._read(lambda db: catalog.database(db, name))

    def databases(self) -> tuple[str, ...]:
        """Names of all databases, sorted."""
        return self._read(catalog.databases)

    def alter_database(self, database: Database) -> None:
        """Replace the description of a database."""
        self._write(lambda db: catalog.alter_database(db, database))

    def drop_database(self, name: str, *, cascade: bool = False) -> None:
        """Drop an empty database, or with ``cascade`` any but ``default``."""
        self._write(lambda db: catalog.drop_database(db, name, cascade=cascade))

    def create_table(self, table: Table, *, if_not_exists: bool = False) -> Table:
        """Add a table or view; returns it with id, location and time of creation."""
        return self._write(lambda db: catalog.create_table(db, table, if_not_exists=if_not_exists))

    def table(self, name: TableName) -> Table:
        """The table or view of that name."""
        return self._read(lambda db: catalog.table(db, name))

    def tables(self, database: str) -> tuple[TableName, ...]:
        """Tables and views of a database, sorted."""
        return self._read(lambda db: catalog.tables(db, database))

    def alter_table(self, name: TableName, table: Table, *, txn_id: int = 0) -> None:
        """Replace the description of a table, its name included.

        When it is renamed, partitions under its old location follow it to the new one. With a
        ``txn_id`` the change belongs to that transaction's write in the table, as in the calls
        about partitions below: while a notification log is kept, it gets a write id for that.
        """
        self._write(lambda db: catalog.alter_table(db, name, table, txn_id=txn_id))

    def drop_table(self, name: TableName) -> None:
        """Drop a table or view with its partitions and its write history."""
        self._write(lambda db: catalog.drop_table(db, name))

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]:
        """The partitions of a table that pass all tests, by name; perhaps some more."""
        return self._read(lambda db: partition_rows.partitions(db, name, tests))

    def partition_count(self, name: TableName) -> int:
        """How many partitions a table has."""
        return self._read(lambda db: partition_rows.partition_count(db, name))

    def foreign_partitions(self, name: TableName) -> tuple[Partition, ...]:
        """The partitions that do not live where a new one of that name would."""
        return self._read(lambda db: partition_rows.foreign_partitions(db, name))

    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None:
        """The partition with these values, or None."""
        return self._read(lambda db: partition_rows.partition(db, name, values))

    def add_partitions(
        self, name: TableName, partitions: Collection[Partition], *, if_not_exists: bool = False,
        txn_id: int = 0, for_rows: bool = False,
    ) -> None:  # fmt: skip
        """Add partitions; those without a location live under the table.

        Those ``for_rows`` that the transaction writes are known to hold none yet.
        """
        self._write(
            lambda db: partition_rows.add_partitions(
                db, name, partitions, if_not_exists=if_not_exists, txn_id=txn_id, for_rows=for_rows
            )
        )

    def drop_partitions(
        self, name: TableName, values: Collection[tuple[str | None, ...]], *, txn_id: int = 0
    ) -> None:
        """Drop partitions with their write history."""
        self._write(lambda db: partition_rows.drop_partitions(db, name, values, txn_id=txn_id))

    def alter_partition(
        self, name: TableName, values: Sequence[str | None], partition: Partition, *,
        txn_id: int = 0,
    ) -> None:  # fmt: skip
        """Give the partition with these values other values or another location."""
        self._write(
            lambda db: partition_rows.alter_partition(db, name, values, partition, txn_id=txn_id)
        )

    def exchange_partitions(
        self, source: TableName, target: TableName, partitions: Collection[Partition], *,
        txn_id: int = 0,
    ) -> None:  # fmt: skip
        """Drop partitions from one table and add them to another, at their new locations."""
        self._write(
            lambda db: partition_rows.exchange_partitions(
                db, source, target, partitions, txn_id=txn_id
            )
        )

    def put_statistics(self, name: TableName, found: Collection[Statistics]) -> None:
        """Store what ANALYZE found of a table or of some partitions."""
        self._write(lambda db: statistics_rows.put_statistics(db, name, found))

    def count_changes(self, changes: Collection[StatisticsChange]) -> None:
        """Add what was written outside of transactions to what is known."""
        self._write(lambda db: statistics_changes.count(db, 0, changes))

    def statistics(self, name: TableName, values: Sequence[str | None] | None = None) -> Statistics:
        """What is known of a table, or of the partition with these values."""
        return self._read(lambda db: statistics_rows.statistics(db, name, values))

    # -- transactions
    def together(self, work: Callable[[], T], *, hasty: bool = False) -> T:
        """Run ``work``, whose calls on this thread are one database transaction.

        It may be run again, so it must do nothing else. What a ``hasty`` one did is forgotten at
        power loss, unless another one has followed that is not.
        """
        return self._rdbms.together(lambda: self._write(lambda _: work()), hasty=hasty)

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
        return self._write(work, hasty=True)

    def valid_txns(self, txn_id: int = 0) -> ValidTxnList:
        """What the transaction sees; 0 asks for the current state."""
        return self._read(lambda db: snapshots.valid_txns(db, txn_id))

    def allocate_write_id(self, txn_id: int, table: TableName, *, again: bool = False) -> int:
        """The transaction's write id in the table; ``again`` replaces it by a larger one."""
        name = table.lower()

        def work(db: Connection) -> int:
            return snapshots.allocate_write_id(db, txn_id, name, again=again)

        # Locks are taken before anything is written under it, but before it is replaced.
        return self._write(work, hasty=not again)

    def valid_write_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, ValidWriteIdList]:
        """What the list of transactions means in each table."""
        return self._read(
            lambda db: {
                table: snapshots.valid_write_ids(db, txns, table.lower()) for table in tables
            }
        )

    def writes_after(self, table: TableName, moment: datetime) -> frozenset[int]:
        """Writes that were committed after a moment, as far as is still known."""
        return self._read(lambda db: snapshots.writes_after(db, table.lower(), moment))

    def compactor_write_ids(self, table: TableName) -> ValidWriteIdList:
        """What a compaction may merge now."""
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
        """Who changed, after our snapshot, what our write locks cover; None when nobody."""
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
    ) -> None:
        """Commit, and record the rest with it; silent when it is committed already.

        What a transaction was that wrote nothing, ``for_reading``, is forgotten at power loss.
        WriteConflict, TransactionLost and AlreadyCommitted (by another transaction) mean that it
        was aborted, CommitUnknown that nobody knows.
        """

        def commit(db: Connection) -> HiveSqlError | None:
            return commits.commit_txn(
                db, txn_id, exclusive_write=exclusive_write, once=once, note=note, changes=changes
            )

        try:
            conflict = self._write(commit, hasty=for_reading)
            reach(FailPoint.COMMIT_ANSWER_LOST)
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

        return self._write(ask, hasty=for_reading)

    def check_lock(self, lock_id: int) -> LockAnswer:
        """Ask again for a request that waits."""
        return self._write(lambda db: lock_queue.check_lock(db, lock_id))

    def unlock(self, lock_id: int) -> None:
        """Give up a request that waits or belongs to no transaction."""
        self._write(lambda db: lock_queue.unlock(db, lock_id))

    def locks(
        self, database: str | None = None, table: str | None = None, partition: str | None = None
    ) -> tuple[LockRow, ...]:
        """Locks, filtered by equality, in the order of SHOW LOCKS."""
        return self._read(lambda db: lock_queue.locks(db, database, table, partition))

    # -- housekeeping
    def needs_housekeeping(self, timeout: float, kept: float) -> bool:
        """Whether the calls below have anything worth doing; ``kept`` is the age of events."""
        return self._read(lambda db: housekeeping.is_due(db, timeout, kept))

    def reap(self, timeout: float) -> tuple[int, ...]:
        """Abort transactions and drop locks silent for so many seconds; who was aborted."""
        return self._write(lambda db: housekeeping.reap(db, timeout))

    def clean_txns(self) -> None:
        """Forget ended transactions that left nothing behind."""
        self._write(housekeeping.clean_txns)

    def _commit_again(
        self, commit: Callable[[Connection], HiveSqlError | None], unknown: CommitUnknown
    ) -> HiveSqlError | None:
        try:
            return self._write(commit)
        except HiveSqlError as error:
            if isinstance(error, TransactionLost) and error.code == TransactionLost.code:
                raise
            raise unknown from error

    def _read(self, work: Callable[[Connection], T]) -> T:
        return self._rdbms.read(work)

    def _write(self, work: Callable[[Connection], T], *, hasty: bool = False) -> T:
        return self._rdbms.write(lambda db: notification_log.logged(db, work), hasty=hasty)
