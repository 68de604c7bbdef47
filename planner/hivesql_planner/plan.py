"""Plans as data: what EXPLAIN prints is what the executor runs.

A plan carries no write id, no path and no DataFrame: those exist only while it runs.
SQL text inside a plan is Spark SQL, written by the binder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from typing import TYPE_CHECKING

from hivesql_planner.model.table import Column, Partition, Table, TableName

if TYPE_CHECKING:
    from hivesql_planner.predicates.partitions import PartitionTest
    from hivesql_planner.predicates.predicate import SmallChange, SmallInsert, SmallSelect
    from hivesql_planner.statements.bound import Statement


class LockType(StrEnum):
    """Hive's lock types, as HIVE_LOCKS and SHOW LOCKS name them."""

    SHARED_READ = "SHARED_READ"
    SHARED_WRITE = "SHARED_WRITE"
    EXCL_WRITE = "EXCL_WRITE"
    EXCLUSIVE = "EXCLUSIVE"


class Operation(StrEnum):
    """What a transaction does to a table: TXN_COMPONENTS.TC_OPERATION_TYPE."""

    SELECT = "s"
    INSERT = "i"
    UPDATE = "u"
    DELETE = "d"
    COMPACT = "c"
    NO_TXN = "n"


@dataclass(frozen=True, slots=True)
class Lock:
    """One component of a lock request."""

    type: LockType
    database: str
    table: str | None = None
    partition: str | None = None
    operation: Operation = Operation.SELECT
    dynamic_partition: bool = False

    def __str__(self) -> str:
        parts = [part for part in (self.database, self.table, self.partition) if part]
        return f"{'.'.join(parts)} -> {self.type}"


@dataclass(frozen=True, slots=True)
class ObjectLock:
    """A lock of DummyTxnManager; ``path`` is database, table, then ``k=v`` of a partition."""

    path: tuple[str, ...]
    exclusive: bool

    @property
    def name(self) -> str:
        """The object as SHOW LOCKS prints it."""
        return "@".join(self.path)

    def __str__(self) -> str:
        return f"{self.name} -> {'EXCLUSIVE' if self.exclusive else 'SHARED'}"


@dataclass(frozen=True, slots=True)
class Expr:
    """A Spark SQL expression; ``sql`` is its text."""

    sql: str

    def __str__(self) -> str:
        return self.sql


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf:
    """An earlier state: after a write, or at a time (with its zone)."""

    write_id: int | None = None
    time: datetime | None = None

    def __str__(self) -> str:
        return f"write {self.write_id}" if self.time is None else self.time.isoformat(" ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What happened from one write to another (None: the last), both included.

    ``key`` are the columns by which the two halves of an update find each other.
    """

    low: int
    high: int | None = None
    key: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"writes {self.low} to {'the last' if self.high is None else self.high}"


CHANGE_COLUMNS = (Column("_change_type", "string"), Column("_write_id", "bigint"))
"""insert, update_preimage, update_postimage or delete; and the write that did it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What the catalog answered when a statement was planned: which partitions, and where."""

    tests: tuple[PartitionTest, ...]
    found: frozenset[tuple[tuple[str | None, ...], str]]

    @classmethod
    def of(cls, tests: Sequence[PartitionTest], partitions: Iterable[Partition]) -> Listing:
        """The catalog's answer to a question for the partitions that pass all tests."""
        return cls(tuple(tests), frozenset((one.values, one.location) for one in partitions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A read of a table under the statement's snapshot.

    ``partitions`` are those left after pruning (empty for an unpartitioned table).
    ``where`` is a pushed-down predicate over the data columns: a hint that may skip stripes, never
    a substitute for the filter above it.
    """

    table: Table
    partitions: tuple[Partition, ...] = field(default=(), repr=False)
    partition_count: int = 0
    """How many partitions the table had before pruning."""
    with_row_id: bool = False
    where: Expr | None = None
    as_of: AsOf | None = None
    """None reads the statement's snapshot."""
    changes: Changes | None = None
    """Set, the scan gives what happened instead of what is there."""
    listing: Listing | None = field(default=None, repr=False, compare=False)
    """What the partitions were chosen from; None where nobody needs to ask again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A scan under the view name by which the query's text speaks of it."""

    view: str
    scan: Scan


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Spark SQL text over the views of its sources."""

    sql: str
    sources: tuple[Source, ...] = ()
    columns: tuple[Column, ...] = ()
    """Output columns, of an empty type where only Spark knows it; empty when it alone knows all."""


class WriteKind(Enum):
    """Which kind of directory a write makes."""

    DELTA = "delta"
    DELETE_DELTA = "delete_delta"
    BASE = "base"
    FILES = "files"
    """Files of a table that is not transactional."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One directory of the statement (per partition) and the table it belongs to."""

    kind: WriteKind
    table: Table
    statement_id: int = 0
    overwrite: bool = False
    """FILES only: replace what is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertBranch:
    """Rows of a query written into one table.

    ``query`` yields the table's data columns in order, then the dynamic partition columns in
    order. ``static_partition`` maps partition columns to their value text.
    """

    write: Write
    query: Query
    static_partition: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    dynamic_partition: tuple[str, ...] = ()
    if_not_exists: bool = False
    check: Expr | None = None
    """A constraint over the data columns, fields of the struct ``row``."""
    small: SmallInsert | None = None
    """How the rows are written without Spark, where that can be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """INSERT INTO / OVERWRITE, CTAS, and multi-insert: branches in statement-id order.

    ``create`` is the table that CREATE TABLE … AS SELECT makes before it writes.
    """

    branches: tuple[InsertBranch, ...]
    create: Table | None = None


class When(Enum):
    """Which joined rows a branch of a change takes."""

    MATCHED = "matched"
    NOT_MATCHED = "not matched"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeBranch:
    """One clause of UPDATE, DELETE or MERGE.

    A row takes the first branch of its ``when`` whose ``condition`` is true. ``delete`` writes the
    old row's id, ``insert`` writes ``values``: one expression per data column, then per partition
    column of an inserting clause (an update keeps the old row's partition).
    """

    when: When
    condition: Expr | None = None
    delete: Write | None = None
    insert: Write | None = None
    values: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """UPDATE, DELETE or MERGE on a full-ACID table, run as one Spark job.

    Without ``source`` every target row that satisfies ``on`` is matched (UPDATE, DELETE).
    Expressions name the target's columns by ``target_alias`` and the source's by
    ``source_alias``. ``queries`` are subquery sources that conditions mention by view name.
    """

    target: Scan
    target_alias: str
    branches: tuple[ChangeBranch, ...]
    on: Expr | None = None
    source: Query | None = None
    source_alias: str | None = None
    cardinality_check: bool = False
    check: Expr | None = None
    """A constraint over the columns of every new row, fields of the struct ``row``."""
    queries: tuple[Source, ...] = ()
    small: SmallChange | None = None
    """How the same is done without Spark while there is little to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """A query whose rows go to the user."""

    query: Query
    small: SmallSelect | None = None
    """How the same is done without Spark while there is little to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A statement that only the metastore and the file system carry out."""

    statement: Statement


Body = Select | Insert | Change | Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A table written, and what is recorded of the write in the transaction."""

    table: TableName
    operation: Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything a statement will do, in the order in which it is done."""

    body: Body
    locks: tuple[Lock, ...] = ()
    targets: tuple[Target, ...] = ()
    """Transactional tables that get a write id."""
    opens_txn: bool = True
    reads: tuple[TableName, ...] = ()
    """Transactional tables whose snapshot is needed."""
    read_only: bool = False
    """The transaction may be opened as one that writes nothing."""
    zero_wait_reads: bool = False
    """A read lock that would have to wait fails at once."""
    object_locks: tuple[ObjectLock, ...] = ()
    """What is locked instead under DummyTxnManager, where there are no transactions."""
    exclusive_create: bool = False
    """CREATE TABLE AS SELECT: any lock that would have to wait fails at once."""
