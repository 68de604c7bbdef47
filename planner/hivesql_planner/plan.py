"""Plans as data: what EXPLAIN prints is what the executor runs.

A plan carries no write id and no DataFrame, and of paths those that the catalog or the user names:
the others exist only while it runs.
SQL text inside a plan is Spark SQL, written by the binder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from hivesql_planner.definitions.steps import Definition, NewTable
from hivesql_planner.locks.lock import Lock, ObjectLock, Operation
from hivesql_planner.model.table import DEFAULT_PARTITION, Column, Table, TableName
from hivesql_planner.relations import AsOf, Expr, Query, Scan, Source

if TYPE_CHECKING:
    from hivesql_planner.definitions.bound_tables import BoundTable
    from hivesql_planner.few_rows import SmallMerge
    from hivesql_planner.predicates.predicate import SmallChange, SmallInsert, SmallSelect
    from hivesql_planner.statements.bound import Statement


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
    concatenates: bool = False
    """Whether the same rows go into as few files as can be."""
    rebuilds: bool = False
    """Whether these are all rows of a materialized view: partitions without any become empty."""
    restores: AsOf | None = None
    """Set, these are the rows of that state: only partitions that have changed since are written,
    and become empty where they had none."""
    small: SmallInsert | None = None
    """How the rows are written without Spark, where that can be told."""
    literals: SmallInsert | None = None
    """Rows that stand in the statement and Spark writes, to be measured without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """INSERT INTO / OVERWRITE, CTAS, and multi-insert: branches in statement-id order.

    ``create`` is the table that CREATE TABLE … AS SELECT makes before it writes.
    """

    branches: tuple[InsertBranch, ...]
    create: NewTable | None = None


class When(Enum):
    """Which joined rows a branch of a change takes."""

    MATCHED = "matched"
    NOT_MATCHED = "not matched"
    NOT_MATCHED_BY_SOURCE = "not matched by source"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeBranch:
    """One clause of UPDATE, DELETE or MERGE.

    A row takes the first branch of its ``when`` whose ``condition`` is true. ``delete`` writes the
    old row's id, ``insert`` writes ``values``: one expression per data column, then per partition
    column of an inserting clause or one that ``moves`` (any other update keeps the old row's
    partition and bucket).
    """

    when: When
    condition: Expr | None = None
    delete: Write | None = None
    insert: Write | None = None
    values: tuple[Expr, ...] = ()
    moves: bool = False
    """Whether the new row may belong to another partition or bucket than the old one."""


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
    added: tuple[Column, ...] = ()
    """The last columns of the target, which it gets with the commit."""
    narrow: tuple[Column, ...] = ()
    """Columns as they were: the commit gives them the types of the target's of their names."""
    on: Expr | None = None
    source: Query | None = None
    source_alias: str | None = None
    cardinality_check: bool = False
    by_row_id: bool = False
    """Whether the source's rows tell themselves which rows of the target they change."""
    check: Expr | None = None
    """A constraint over the columns of every new row, fields of the struct ``row``."""
    queries: tuple[Source, ...] = ()
    default_partition: str = DEFAULT_PARTITION
    """The partition value of new rows without one."""
    small: SmallChange | None = None
    """How the same is done without Spark while there is little to read."""
    merge: SmallMerge | None = None
    """How a source of few rows finds its matches without Spark."""

    @property
    def table_before(self) -> Table:
        """Return the target as the catalog has it, without the columns and types that it gets."""
        table = self.target.table
        count = len(table.columns) - len(self.added)
        narrow = {column.name: column for column in self.narrow}
        columns = (narrow.get(column.name, column) for column in table.columns[:count])
        return replace(table, columns=tuple(columns))

    @property
    def evolves(self) -> bool:
        """Tell whether the target gets columns or types with the commit."""
        return bool(self.added or self.narrow)

    @property
    def deletes_matched(self) -> bool:
        """Tell whether every matched row is deleted, and nothing else is done."""
        (first, *others) = self.branches
        is_delete = first.when is When.MATCHED and first.insert is None
        return is_delete and first.condition is None and not others

    @property
    def moves(self) -> bool:
        """Tell whether some row may get another partition or bucket."""
        return any(branch.moves for branch in self.branches)

    def has(self, when: When) -> bool:
        """Tell whether some branch is of that kind."""
        return any(branch.when is when for branch in self.branches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """A query whose rows go to the user."""

    query: Query
    small: SmallSelect | None = None
    """How the same is done without Spark while there is little to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A statement that is carried out as it was bound: it asks, or only its run decides."""

    statement: Statement


Body = Select | Insert | Change | Definition | Command


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
    bound: tuple[BoundTable, ...] = ()
    """What must be as it was bound once the locks are held, and is in no scan or write."""
    operation: str = ""
    """What the history of the tables calls it that it writes."""
