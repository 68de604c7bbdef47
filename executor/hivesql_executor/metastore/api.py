"""The calls that a statement or a service may make of a metastore."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

from hivesql_executor.metastore.compaction_api import Compaction as Compaction
from hivesql_executor.metastore.compaction_api import CompactionAnswer as CompactionAnswer
from hivesql_executor.metastore.compaction_api import CompactionQueue
from hivesql_executor.metastore.idempotence_api import Done as Done
from hivesql_executor.metastore.idempotence_api import Once as Once
from hivesql_executor.metastore.move_api import BegunMoves as BegunMoves
from hivesql_executor.metastore.move_api import Move as Move
from hivesql_executor.metastore.move_api import MoveKind as MoveKind
from hivesql_executor.metastore.move_api import Remedy as Remedy
from hivesql_executor.metastore.notification_api import NotificationSource
from hivesql_planner.locks.rules import STRENGTH

if TYPE_CHECKING:
    from hivesql_executor.metastore.table_notes import TableNote as TableNote
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.model.statistics import Statistics, StatisticsChange
    from hivesql_planner.model.table import Database, Partition, Table, TableName
    from hivesql_planner.plan import Lock, LockType, ObjectLock, Operation
    from hivesql_planner.predicates.partitions import PartitionTest

T = TypeVar("T")

# hive.max.open.txns and hive.txn.max.open.batch
MAX_OPEN = 100_000
MAX_BATCH = 1000


class TxnType(StrEnum):
    """TXNS.TXN_TYPE."""

    DEFAULT = "DEFAULT"
    READ_ONLY = "READ_ONLY"
    COMPACTION = "COMPACTION"
    REBALANCE_COMPACTION = "REBALANCE_COMPACTION"
    SOFT_DELETE = "SOFT_DELETE"


class LockState(StrEnum):
    """State of a whole lock request."""

    ACQUIRED = "ACQUIRED"
    WAITING = "WAITING"
    NOT_ACQUIRED = "NOT_ACQUIRED"
    ABORTED = "ABORTED"
    """The transaction was aborted to end a deadlock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockAnswer:
    """What the metastore says of a lock request; ``reason`` tells who blocks it."""

    lock_id: int
    state: LockState
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRow:
    """One row of SHOW LOCKS; times are milliseconds since the epoch."""

    lock_id: int
    internal_id: int
    database: str
    table: str | None
    partition: str | None
    state: LockState
    blocked_by: str | None
    type: LockType
    txn_id: int
    last_heartbeat: int | None
    acquired_at: int | None
    user: str
    host: str
    agent_info: str | None

    @property
    def rank(self) -> tuple[bool, int, int, int]:
        """The order of SHOW LOCKS: held ones first, weak before strong, then by id."""
        return (
            self.state is not LockState.ACQUIRED,
            STRENGTH[self.type],
            self.lock_id,
            self.internal_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectLockRow:
    """A lock of DummyTxnManager on an object, named ``database@table@k=v``."""

    name: str = ""
    exclusive: bool = False
    explicit: bool
    """Taken by LOCK, and held until UNLOCK; others end with their statement."""
    query_id: str
    query_text: str
    user: str
    host: str
    taken: int = 0
    """Milliseconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TxnRow:
    """One row of SHOW TRANSACTIONS: open and aborted ones; times in milliseconds."""

    txn_id: int
    state: str
    """``open`` or ``aborted``."""
    started: int
    last_heartbeat: int
    user: str
    host: str


class Metastore(CompactionQueue, NotificationSource, Protocol):
    """Catalog, transactions, locks, compaction queue and notification log.

    One method is one database transaction, and where the metastore has them so are all that are
    called ``together``. Unknown objects raise ``NoSuchObject`` (10001 table, 10072 database, 10006
    partition); an existing table raises ``SemanticError`` 10073.
    """

    def version(self) -> str: ...

    # -- catalog
    def create_database(self, database: Database, *, if_not_exists: bool = False) -> None: ...
    def database(self, name: str) -> Database: ...
    def databases(self) -> tuple[str, ...]: ...
    def alter_database(self, database: Database) -> None: ...
    def drop_database(self, name: str, *, cascade: bool = False) -> None: ...
    def create_table(self, table: Table, *, if_not_exists: bool = False) -> Table: ...
    def home_of(self, table: Table) -> str: ...
    def database_home(self, database: Database) -> str: ...
    def table(self, name: TableName) -> Table: ...
    def tables(self, database: str) -> tuple[TableName, ...]: ...
    def alter_table(
        self, name: TableName, table: Table, *, txn_id: int = 0, cascade: bool = True
    ) -> None: ...
    def drop_table(self, name: TableName) -> None: ...
    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]: ...
    def partition_count(self, name: TableName) -> int: ...
    def foreign_partitions(self, name: TableName) -> tuple[Partition, ...]: ...
    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None: ...
    def add_partitions(
        self, name: TableName, partitions: Collection[Partition], *, if_not_exists: bool = False,
        txn_id: int = 0, for_rows: bool = False,
    ) -> None: ...  # fmt: skip
    def drop_partitions(
        self, name: TableName, values: Collection[tuple[str | None, ...]], *, txn_id: int = 0
    ) -> None: ...

    def alter_partition(
        self, name: TableName, values: Sequence[str | None], partition: Partition, *,
        txn_id: int = 0,
    ) -> None: ...  # fmt: skip
    def exchange_partitions(
        self, source: TableName, target: TableName, partitions: Collection[Partition], *,
        txn_id: int = 0,
    ) -> None: ...  # fmt: skip

    def put_statistics(self, name: TableName, found: Collection[Statistics]) -> None: ...
    def count_changes(self, changes: Collection[StatisticsChange]) -> None: ...
    def statistics(
        self, name: TableName, values: Sequence[str | None] | None = None
    ) -> Statistics: ...

    # -- transactions
    def together(self, work: Callable[[], T], *, hasty: bool = False) -> T: ...
    def open_txns(
        self, count: int, user: str, host: str, *, type: TxnType = TxnType.DEFAULT,
        max_open: int = MAX_OPEN, max_batch: int = MAX_BATCH,
    ) -> tuple[int, ...]: ...  # fmt: skip
    def valid_txns(self, txn_id: int = 0) -> ValidTxnList: ...
    def allocate_write_id(self, txn_id: int, table: TableName, *, again: bool = False) -> int: ...
    def allocate_write_ids(self, txn_ids: Sequence[int], table: TableName) -> tuple[int, ...]: ...
    def owners_of_write_ids(self, table: TableName, low: int, high: int) -> Mapping[int, int]: ...
    def valid_write_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, ValidWriteIdList]: ...
    def writes_after(self, table: TableName, moment: datetime) -> frozenset[int]: ...
    def compactor_write_ids(self, table: TableName) -> ValidWriteIdList: ...
    def seed_write_id(self, table: TableName, next_write_id: int) -> None: ...
    def add_dynamic_partitions(
        self,
        txn_id: int,
        write_id: int,
        table: TableName,
        partitions: Collection[str],
        operation: Operation,
    ) -> None: ...
    def newer_writer(self, txn_id: int, locks: Collection[Lock]) -> int | None: ...
    def commit_txn(
        self, txn_id: int, *, exclusive_write: bool = True, once: Once | None = None,
        note: TableNote | None = None, changes: Collection[StatisticsChange] = (),
        for_reading: bool = False, settles: bool = False,
    ) -> None: ...  # fmt: skip
    def done(self, once: Once) -> Done | None: ...
    def forget_key(self, key: str) -> int: ...
    def forget_keys(self, seconds: float) -> None: ...
    def abort_txns(self, txn_ids: Collection[int], reason: str) -> tuple[int, ...]: ...
    def heartbeat(self, txn_id: int, lock_id: int = 0) -> None: ...
    def heartbeat_txns(self, txn_ids: Sequence[int]) -> None: ...
    def transactions(self) -> tuple[TxnRow, ...]: ...

    # -- locks
    def enqueue_locks(
        self, txn_id: int, locks: Sequence[Lock], *, user: str, host: str, agent_info: str = "",
        zero_wait_read: bool = False, exclusive_ctas: bool = False, for_reading: bool = False,
    ) -> LockAnswer: ...  # fmt: skip
    def check_lock(self, lock_id: int) -> LockAnswer: ...
    def requests_before(self, lock_id: int) -> int | None: ...
    def unlock(self, lock_id: int) -> None: ...
    def locks(
        self, database: str | None = None, table: str | None = None, partition: str | None = None
    ) -> tuple[LockRow, ...]: ...

    def take_object_locks(
        self, locks: Sequence[ObjectLock], row: ObjectLockRow
    ) -> ObjectLockRow | None: ...
    def release_object_locks(self, query_id: str) -> None: ...
    def keep_object_locks(self, query_id: str) -> None: ...
    def unlock_object(self, name: str) -> bool: ...
    def object_locks(self) -> tuple[ObjectLockRow, ...]: ...

    # -- housekeeping
    def needs_housekeeping(self, timeout: float, kept: float) -> bool: ...
    def note_moves(self, txn_id: int, given: Sequence[Move], key: str = "") -> str: ...
    def forget_moves(self, key: str, target: str | None = None) -> None: ...
    def settle_moves(self, key: str) -> bool: ...
    def renew_moves(self, key: str) -> None: ...
    def noted_moves(self, key: str) -> BegunMoves | None: ...
    def lost_moves(self, timeout: float) -> tuple[BegunMoves, ...]: ...
    def reap(self, timeout: float) -> tuple[int, ...]: ...
    def clean_txns(self) -> None: ...
    def close(self) -> None: ...
