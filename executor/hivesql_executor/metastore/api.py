"""The calls that a statement or a service may make of a metastore."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hivesql_planner.compaction.queue import Compaction as Compaction
from hivesql_planner.compaction.request import NO_DETAILS, CompactionDetails
from hivesql_planner.locks.rules import STRENGTH
from hivesql_planner.model.table import Database, Table, TableName
from hivesql_planner.older_python import StrEnum

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hivesql_executor.metastore.file_moves import BegunMoves, Move
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.cache.events import LogPage
    from hivesql_planner.compaction.decide import Kind
    from hivesql_planner.compaction.initiator import Candidate
    from hivesql_planner.compaction.queue import HistoryLimits
    from hivesql_planner.locks.lock import Lock, LockType, ObjectLock, Operation
    from hivesql_planner.model.functions import StoredFunction
    from hivesql_planner.model.privileges import Grant, Principal, PrivilegeObject, RoleGrant
    from hivesql_planner.model.statistics import Statistics, StatisticsChange
    from hivesql_planner.model.table import Column, Partition
    from hivesql_planner.predicates.partitions import PartitionTest
    from hivesql_planner.write_history import Backlog, LaterWrites, TableWrite


class NotificationSource(Protocol):
    """Notification log, and the state of tables together with their write ids."""

    @property
    def changes_are_writes(self) -> bool: ...
    def keep_log(self) -> int: ...
    def events_after(self, last: int) -> LogPage: ...
    def writes_of(self, txn_id: int) -> frozenset[tuple[TableName, int]]: ...
    def completed(self, table: Table) -> Table: ...
    def described(self, name: TableName) -> tuple[Table, ValidWriteIdList | None]: ...
    def table_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, tuple[int, ValidWriteIdList]]: ...
    def purge_events(self, seconds: float) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """A key under which something may commit once.

    With a ``number``, as batches of a stream have, everything up to the last committed number is
    done. ``text`` is the statement: the same key under another statement is an error. Unless it is
    ``required``, a statement that cannot be recorded runs without its key.
    """

    key: str
    number: int | None = None
    text: str = ""
    required: bool = True

    @property
    def digest(self) -> str:
        """The text, in few characters."""
        import hashlib

        return hashlib.sha256(self.text.encode()).hexdigest()[:32] if self.text else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Which transaction did it, and when, in milliseconds since the epoch."""

    txn_id: int
    committed: int

    def __str__(self) -> str:
        return f"transaction {self.txn_id} has committed this before; nothing was run again"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionAnswer:
    """Answer to a compaction request: refused when one is already scheduled."""

    id: int
    state: str
    accepted: bool
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortLimits:
    """From when on aborted writes of a unit are cleaned up: more than ``count``, or ``age`` old.

    ``age`` is in seconds; None: never for their age.
    """

    count: int
    age: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedWrites:
    """All that is known of a table's aborted writes at one moment.

    ``visible`` has every aborted write id of the table, and those that are open; ``txns`` are the
    aborted transactions, compactions among them, that wrote to it.
    """

    visible: ValidWriteIdList
    txns: frozenset[int]


class CompactionQueue(Protocol):
    """The compaction queue, its history, and what aborted transactions left behind."""

    def enqueue_compaction(
        self, table: TableName, partition: str | None, kind: Kind, *, initiator_id: str,
        details: CompactionDetails = NO_DETAILS, run_as: str | None = None,
    ) -> CompactionAnswer: ...  # fmt: skip
    def record_not_initiated(self, candidate: Candidate, error: str, initiator_id: str) -> None: ...
    def next_compaction(
        self, worker_id: str, *, id: int | None = None, pool: str | None = None,
        pool_timeout: float | None = None,
    ) -> Compaction | None: ...  # fmt: skip
    def set_compaction_txn(self, id: int, txn_id: int, highest_write_id: int) -> None: ...
    def mark_compacted(self, id: int, *, hold: float = 0) -> None: ...
    def retained_compactions(self) -> tuple[Compaction, ...]: ...
    def end_retention(self, id: int) -> None: ...
    def mark_failed(self, id: int, error: str, *, refused: bool = False) -> None: ...
    def release_compactions(
        self, *, worker_id: str | None = None, silent: float | None = None
    ) -> int: ...
    def ready_to_clean(self, *, delay: float = 0, limit: int = 1000) -> tuple[Compaction, ...]: ...
    def mark_cleaned(self, id: int, *, retained: Collection[int] = ()) -> None: ...
    def retry_cleaning(self, id: int, error: str, *, base: float, attempts: int) -> bool: ...
    def compactions(self) -> tuple[Compaction, ...]: ...
    def abort_compactions(self, ids: Collection[int]) -> Mapping[int, str | None]: ...
    def purge_compactions(self, limits: HistoryLimits) -> int: ...
    def min_open_txn(self) -> int: ...
    def now(self) -> int: ...

    # -- who was written to, and what was aborted
    def compactor_write_ids(self, table: TableName) -> ValidWriteIdList: ...
    def compaction_candidates(self, *, limit: int = 1000) -> tuple[Candidate, ...]: ...
    def aborted_units(self, limits: AbortLimits, *, limit: int = 1000) -> tuple[Candidate, ...]: ...
    def aborted_writes(self, table: TableName) -> AbortedWrites: ...
    def forget_aborted(
        self, unit: Candidate, aborted: AbortedWrites, *, retained: Collection[int] = ()
    ) -> None: ...


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


@dataclass(frozen=True, slots=True)
class LockOwner:
    """Who asks for locks, as SHOW LOCKS shows it; ``agent_info`` is the id of the query."""

    user: str
    host: str
    agent_info: str = ""


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


@dataclass(frozen=True, slots=True)
class TableNote:
    """A table property that changes with a commit: its new value."""

    table: TableName
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class NewColumns:
    """All columns that a table, known as it was, has from a commit on, and its partitions."""

    table: Table
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitEntries:
    """What a commit enters beside its transaction's end."""

    note: TableNote | NewColumns | None = None
    changes: Collection[StatisticsChange] = ()
    """What the transaction did, which becomes statistics."""
    writes: Collection[TableWrite] = ()
    """What its statements did, which becomes the history of their tables."""


NO_ENTRIES = CommitEntries()


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What goes on at the moment ``now``, in milliseconds by the clock of the metastore."""

    now: int
    transactions: tuple[TxnRow, ...]
    locks: tuple[LockRow, ...]
    compactions: tuple[Compaction, ...]
    backlogs: tuple[Backlog, ...] = ()


class CatalogStore(Protocol):
    """Databases, tables, partitions, functions, and what is known of their rows.

    Unknown objects raise ``NoSuchObject`` (10001 table, 10072 database, 10006 partition); an
    existing table raises ``SemanticError`` 10073.
    """

    def create_database(self, database: Database, *, if_not_exists: bool = False) -> None: ...
    def database(self, name: str) -> Database: ...
    def databases(self) -> tuple[str, ...]: ...
    def alter_database(self, database: Database, /) -> None: ...
    def drop_database(self, name: str, *, cascade: bool = False) -> None: ...
    def create_table(
        self, table: Table, /, *, if_not_exists: bool = False, is_empty: bool | None = None
    ) -> Table: ...
    def home_of(self, table: Table) -> str: ...
    def database_home(self, database: Database) -> str: ...
    def table(self, name: TableName) -> Table: ...
    def tables(self, database: str) -> tuple[TableName, ...]: ...
    def some_tables(self, database: str, most: int, near: str = "") -> tuple[TableName, ...]: ...
    def table_at(self, places: Collection[str], *, below: bool) -> tuple[TableName, str] | None: ...
    def alter_table(
        self, name: TableName, table: Table, /, *, txn_id: int = 0, cascade: bool = True
    ) -> None: ...
    def drop_table(self, name: TableName) -> None: ...
    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]: ...
    def partition_count(self, name: TableName) -> int: ...
    def foreign_partitions(self, name: TableName) -> tuple[Partition, ...]: ...
    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None: ...
    def add_partitions(
        self, name: TableName, partitions: Collection[Partition], /, *, if_not_exists: bool = False,
        txn_id: int = 0, for_rows: bool = False,
    ) -> None: ...  # fmt: skip
    def drop_partitions(
        self, name: TableName, values: Collection[tuple[str | None, ...]], *, txn_id: int = 0
    ) -> None: ...
    def alter_partition(
        self, name: TableName, values: Sequence[str | None], partition: Partition, /, *,
        txn_id: int = 0,
    ) -> None: ...  # fmt: skip
    def exchange_partitions(
        self, source: TableName, target: TableName, partitions: Collection[Partition], /, *,
        txn_id: int = 0,
    ) -> None: ...  # fmt: skip
    def create_function(self, function: StoredFunction, /) -> None: ...
    def drop_function(self, database: str, name: str) -> None: ...
    def function(self, database: str, name: str) -> StoredFunction | None: ...
    def function_names(self) -> tuple[str, ...]: ...

    keeps_rows: bool
    """Whether the tables of its database can be read as they are."""

    def stored_rows(self, names: Collection[str]) -> Mapping[str, Sequence[Mapping[str, Any]]]: ...

    measures_columns: bool
    """Whether writes may tell it what they have measured of columns."""

    def put_statistics(self, name: TableName, statistics: Collection[Statistics]) -> None: ...
    def count_changes(self, changes: Collection[StatisticsChange]) -> None: ...
    def statistics(
        self, name: TableName, values: Sequence[str | None] | None = None
    ) -> Statistics: ...


class AuthorizationStore(Protocol):
    """Roles and privileges.

    What makes no sense for them is an ``AuthorizationError``.
    """

    def role_names(self) -> tuple[str, ...]: ...
    def role_grants(self, principal: Principal) -> tuple[RoleGrant, ...]: ...
    def role_members(self, role: str) -> tuple[RoleGrant, ...]: ...
    def create_role(self, name: str, owner: str | None) -> None: ...
    def drop_role(self, name: str) -> None: ...
    def grant_role(self, new: RoleGrant, /) -> None: ...
    def revoke_role(self, role: str, principal: Principal, *, option_only: bool) -> None: ...
    def grants(
        self, about: PrivilegeObject | None = None, principal: Principal | None = None
    ) -> tuple[Grant, ...]: ...
    def grant_privileges(self, new: Collection[Grant]) -> None: ...
    def revoke_privileges(self, old: Collection[Grant], *, option_only: bool) -> None: ...


class TransactionStore(Protocol):
    """Transactions, their snapshots and write ids."""

    def open_txns(
        self, count: int, user: str, host: str, *, type: TxnType = TxnType.DEFAULT,
        max_open: int = MAX_OPEN, max_batch: int = MAX_BATCH,
    ) -> tuple[int, ...]: ...  # fmt: skip
    def valid_txns(self, txn_id: int = 0) -> ValidTxnList: ...
    def allocate_write_id(self, txn_id: int, table: TableName, *, again: bool = False) -> int: ...
    def allocate_write_ids(self, txn_ids: Sequence[int], table: TableName) -> tuple[int, ...]: ...
    def owners_of_write_ids(self, table: TableName, low: int, high: int) -> Mapping[int, int]: ...
    def take_write_ids(
        self, txn_id: int, written: Collection[TableName], txns: ValidTxnList,
        tables: Collection[TableName],
    ) -> tuple[Mapping[TableName, int], Mapping[TableName, ValidWriteIdList]]: ...  # fmt: skip
    def valid_write_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, ValidWriteIdList]: ...
    def writes_after(self, table: TableName, moment: datetime) -> LaterWrites: ...
    def seed_write_id(self, table: TableName, next_write_id: int, /) -> None: ...
    def add_dynamic_partitions(
        self, txn_id: int, write_id: int, table: TableName, partitions: Collection[str],
        operation: Operation,
    ) -> None: ...  # fmt: skip
    def newer_writer(self, txn_id: int, locks: Collection[Lock]) -> int | None: ...
    def commit_txn(
        self, txn_id: int, *, exclusive_write: bool = True, once: Once | None = None,
        entries: CommitEntries = NO_ENTRIES, for_reading: bool = False, settles: bool = False,
    ) -> None: ...  # fmt: skip
    def abort_txns(self, txn_ids: Collection[int], reason: str) -> tuple[int, ...]: ...
    def heartbeat(self, txn_id: int, lock_id: int = 0) -> None: ...
    def heartbeat_txns(self, txn_ids: Sequence[int]) -> None: ...
    def transactions(self) -> tuple[TxnRow, ...]: ...
    def accept_server(self, known: str, now: str) -> None: ...


class LockQueue(Protocol):
    """Requests for locks, granted or waiting."""

    def enqueue_locks(
        self, txn_id: int, locks: Sequence[Lock], owner: LockOwner, *,
        zero_wait_read: bool = False, exclusive_ctas: bool = False, for_reading: bool = False,
    ) -> LockAnswer: ...  # fmt: skip
    def check_lock(self, lock_id: int) -> LockAnswer: ...
    def requests_before(self, lock_id: int) -> int | None: ...
    def unlock(self, lock_id: int) -> None: ...
    def locks(
        self, database: str | None = None, table: str | None = None, partition: str | None = None
    ) -> tuple[LockRow, ...]: ...


class ObjectLocks(Protocol):
    """Locks of DummyTxnManager."""

    def take_object_locks(
        self, locks: Sequence[ObjectLock], row: ObjectLockRow
    ) -> ObjectLockRow | None: ...
    def release_object_locks(self, query_id: str) -> None: ...
    def keep_object_locks(self, query_id: str) -> None: ...
    def unlock_object(self, name: str) -> bool: ...
    def object_locks(self) -> tuple[ObjectLockRow, ...]: ...


class OnceKeys(Protocol):
    """Keys under which something commits once."""

    def done(self, once: Once) -> Done | None: ...
    def forget_key(self, key: str) -> int: ...
    def forget_keys(self, seconds: float) -> None: ...


class WriteHistory(Protocol):
    """What was written to transactional tables, by whom and when."""

    def writes(
        self, *, table: TableName | None = None, database: str | None = None,
        limit: int | None = None,
    ) -> tuple[TableWrite, ...]: ...  # fmt: skip
    def forget_writes(self, seconds: float) -> None: ...


class MoveNotes(Protocol):
    """What is about to happen to files."""

    def note_moves(self, txn_id: int, planned: Sequence[Move], key: str = "") -> str: ...
    def forget_moves(self, key: str, target: str | None = None) -> None: ...
    def settle_moves(self, key: str, counted: Collection[StatisticsChange] = ()) -> bool: ...
    def renew_moves(self, key: str) -> None: ...
    def noted_moves(self, key: str, *, is_taken: bool = False) -> BegunMoves | None: ...
    def lost_moves(self, timeout: float, of: Collection[int] = ()) -> tuple[BegunMoves, ...]: ...
    def changing_for(self, txn_id: int, key: str = "") -> AbstractContextManager[None]: ...


class Metastore(
    CatalogStore,
    AuthorizationStore,
    TransactionStore,
    LockQueue,
    ObjectLocks,
    OnceKeys,
    WriteHistory,
    MoveNotes,
    CompactionQueue,
    NotificationSource,
    Protocol,
):
    """All of it. A method is one database transaction, and so is ``run_in_transaction``, if any."""

    def version(self) -> str: ...
    def run_in_transaction(
        self, work: Callable[[], T], *, durable: bool = True, early: bool = False
    ) -> T: ...
    def needs_housekeeping(self, timeout: float, time_to_live: float) -> bool: ...
    def reap(self, timeout: float) -> tuple[int, ...]: ...
    def activity(self, tables: int = 0) -> Activity: ...
    def clean_txns(self) -> None: ...
    def require_writing(self) -> None: ...
    def close(self) -> None: ...
