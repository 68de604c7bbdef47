"""What the parser understood, before any name is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Union

from hivesql.slices import PartitionItem as PartitionItem
from hivesql.slices import PartitionItems as PartitionItems
from hivesql.slices import Slice as Slice
from hivesql_planner.compaction_request import (
    NO_DETAILS,
    NO_FILTER,
    CompactionDetails,
    CompactionFilter,
    OrderKey,
)

if TYPE_CHECKING:
    from hivesql.alter_trees import AlterBodies
    from hivesql.script import StatementText
    from hivesql.tokens import Name, TableRef
    from hivesql_planner.statements import FileSystemShell, SessionFiles
    from hivesql_planner.table import Column, Constraint, FileFormat


@dataclass(frozen=True, slots=True)
class QueryBody:
    """SELECT, VALUES, WITH … SELECT."""

    query: Slice


@dataclass(frozen=True, slots=True)
class InsertBranch:
    """One INSERT; ``unions`` are the branches when its query is nothing but UNION ALL."""

    table: TableRef
    overwrite: bool
    partition: PartitionItems | None
    columns: tuple[Name, ...] | None
    if_not_exists: bool
    query: Slice
    unions: tuple[Slice, ...] = ()


@dataclass(frozen=True, slots=True)
class InsertBody:
    """INSERT and multi-insert."""

    branches: tuple[InsertBranch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryBody:
    """INSERT OVERWRITE [LOCAL] DIRECTORY."""

    path: str
    path_start: int
    local: bool
    format: FileFormat
    serde_properties: Mapping[str, str]
    query: Slice


@dataclass(frozen=True, slots=True)
class UpdateBody:
    """UPDATE."""

    table: TableRef
    assignments: tuple[tuple[Name, Slice], ...]
    where: Slice | None


@dataclass(frozen=True, slots=True)
class DeleteBody:
    """DELETE FROM."""

    table: TableRef
    where: Slice | None


@dataclass(frozen=True, slots=True)
class WhenBody:
    """One WHEN clause of MERGE."""

    kind: Literal["update", "delete", "insert"]
    start: int
    condition: Slice | None = None
    assignments: tuple[tuple[Name, Slice], ...] = ()
    columns: tuple[Name, ...] | None = None
    values: tuple[Slice, ...] = ()
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class MergeBody:
    """MERGE INTO; ``source`` reads ``SELECT * FROM <source>``, ``source_table`` if it is one."""

    table: TableRef
    alias: Name | None
    source: Slice
    source_alias: Name
    source_table: TableRef | None
    on: Slice
    clauses: tuple[WhenBody, ...]


@dataclass(frozen=True, slots=True)
class CreateDatabaseBody:
    """CREATE DATABASE."""

    name: Name
    if_not_exists: bool
    comment: str | None
    location: str
    properties: Mapping[str, str]
    managed_location: str | None = None


@dataclass(frozen=True, slots=True)
class DropDatabaseBody:
    """DROP DATABASE."""

    name: Name
    if_exists: bool
    cascade: bool


@dataclass(frozen=True, slots=True)
class UseBody:
    """USE."""

    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTableBody:
    """CREATE TABLE; ``partitioned_by`` holds bare names after PARTITIONED BY of AS SELECT."""

    table: TableRef
    if_not_exists: bool
    external: bool
    transactional: bool
    temporary: bool = False
    columns: tuple[Column, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    comment: str | None = None
    partition_columns: tuple[Column, ...] = ()
    partitioned_by: tuple[Name, ...] = ()
    bucket_columns: tuple[Name, ...] = ()
    sort_columns: tuple[Name, ...] = ()
    sort_descending: tuple[str, ...] = ()
    bucket_count: int = 0
    serde_properties: Mapping[str, str] = field(default_factory=dict)
    format: FileFormat | None = None
    serde_format: FileFormat | None = None
    """What the serde of ROW FORMAT makes of the table."""
    location: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    like: TableRef | None = None
    query: Slice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateViewBody:
    """CREATE VIEW; ``columns`` renames the query's."""

    table: TableRef
    if_not_exists: bool
    or_replace: bool
    columns: tuple[tuple[Name, str | None], ...]
    comment: str | None
    properties: Mapping[str, str]
    query: Slice


@dataclass(frozen=True, slots=True)
class DropTableBody:
    """DROP TABLE, DROP VIEW."""

    table: TableRef
    if_exists: bool
    purge: bool
    view: bool


@dataclass(frozen=True, slots=True)
class TruncateBody:
    """TRUNCATE TABLE."""

    table: TableRef
    partition: PartitionItems | None
    force: bool = False


@dataclass(frozen=True, slots=True)
class CompactBody:
    """ALTER TABLE … COMPACT."""

    table: TableRef
    kind: str
    kind_start: int
    partition: PartitionItems | None
    wait: bool
    order: tuple[tuple[Name, OrderKey], ...] = ()
    details: CompactionDetails = NO_DETAILS
    properties_start: int = 0


@dataclass(frozen=True, slots=True)
class AbortCompactionsBody:
    """ABORT COMPACTIONS."""

    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoadBody:
    """LOAD DATA."""

    table: TableRef
    path: str
    path_start: int
    local: bool
    overwrite: bool
    partition: PartitionItems | None


@dataclass(frozen=True, slots=True)
class AnalyzeBody:
    """ANALYZE TABLE; ``columns`` is None without FOR COLUMNS, () for all of them."""

    table: TableRef
    partition: PartitionItems | None
    columns: tuple[Name, ...] | None
    no_scan: bool


@dataclass(frozen=True, slots=True)
class RepairBody:
    """MSCK [REPAIR]."""

    table: TableRef
    add: bool
    drop: bool


@dataclass(frozen=True, slots=True)
class AbortBody:
    """ABORT TRANSACTIONS."""

    txn_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StartBody:
    """START TRANSACTION, BEGIN."""

    read_only: bool = False


@dataclass(frozen=True, slots=True)
class EndBody:
    """COMMIT and ROLLBACK."""

    commit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBody:
    """LOCK and UNLOCK (no ``mode``) of a table or a database."""

    table: TableRef | None = None
    database: Name | None = None
    partition: PartitionItems | None = None
    mode: Literal["SHARED", "EXCLUSIVE"] | None = None


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """``key operator value`` of DROP PARTITION and SHOW PARTITIONS."""

    key: Name
    operator: str
    value: str | None
    end: int = field(default=0, compare=False)
    """Offset behind the filter."""


@dataclass(frozen=True, slots=True)
class ChosenPartitions:
    """WHERE (an AND of comparisons), ORDER BY (True is descending) and LIMIT."""

    filters: tuple[PartitionFilter, ...]
    order: tuple[tuple[Name, bool], ...]
    limit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowBody:
    """SHOW …; ``kind`` as in the bound statement."""

    kind: Literal[
        "databases", "tables", "views", "columns", "partitions", "tblproperties", "create table",
        "functions", "locks", "transactions", "compactions", "conf", "extended tables",
        "tables of a type", "table extended", "create database", "materialized views",
        "function",
    ]  # fmt: skip
    database: Name | None = None
    table: TableRef | None = None
    partition: PartitionItems | None = None
    chosen: ChosenPartitions | None = None
    pattern: str | None = None
    extended: bool = False
    key: str | None = None
    compactions: CompactionFilter = NO_FILTER
    order: tuple[tuple[Name, OrderKey], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeBody:
    """DESCRIBE."""

    table: TableRef | None = None
    database: Name | None = None
    style: Literal["", "extended", "formatted"] = ""
    partition: PartitionItems | None = None
    column: Name | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetBody:
    """SET and RESET."""

    key: str | None = None
    value: str | None = None
    reset: bool = False
    keys: tuple[str, ...] = ()
    to_default: bool = False
    all: bool = False


@dataclass(frozen=True, slots=True)
class ClientBody:
    """ADD, LIST, DELETE of files and DFS: nothing in them has to be looked up."""

    statement: SessionFiles | FileSystemShell


@dataclass(frozen=True, slots=True)
class ExplainBody:
    """EXPLAIN."""

    body: Body
    style: Literal["", "extended", "formatted", "locks", "formatted locks"]


# Not imported: most statements need none of them.
Body = Union[
    QueryBody,
    InsertBody,
    DirectoryBody,
    UpdateBody,
    DeleteBody,
    MergeBody,
    CreateDatabaseBody,
    DropDatabaseBody,
    UseBody,
    CreateTableBody,
    CreateViewBody,
    DropTableBody,
    TruncateBody,
    "AlterBodies",
    CompactBody,
    LoadBody,
    RepairBody,
    AnalyzeBody,
    AbortBody,
    AbortCompactionsBody,
    StartBody,
    EndBody,
    LockBody,
    ShowBody,
    DescribeBody,
    SetBody,
    ClientBody,
    ExplainBody,
]


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed statement and the text it came from."""

    text: StatementText
    body: Body
