"""What the parser understood, before any name is looked up.

A ``Slice`` is a part of the statement's text that is a query or an expression: its places in the
text and its sqlglot tree, whose nodes carry offsets into that text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from hivesql.script import StatementText
from hivesql.tokens import Name, TableRef
from hivesql_planner.table import Column, FileFormat


@dataclass(frozen=True, slots=True)
class Slice:
    """Parts of the text, in order; ``prefix`` is put before them when they are read."""

    spans: tuple[tuple[int, int], ...]
    tree: exp.Expr = field(repr=False, compare=False)
    prefix: str = ""

    @property
    def start(self) -> int:
        """Offset of the first character."""
        return self.spans[0][0]


@dataclass(frozen=True, slots=True)
class PartitionItem:
    """``ds='x'`` (given) or ``ds`` (dynamic); a given None is NULL."""

    key: Name
    value: str | None = None
    given: bool = False


PartitionItems = tuple[PartitionItem, ...]


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
    columns: tuple[Column, ...] = ()
    comment: str | None = None
    partition_columns: tuple[Column, ...] = ()
    partitioned_by: tuple[Name, ...] = ()
    bucket_columns: tuple[Name, ...] = ()
    sort_columns: tuple[Name, ...] = ()
    bucket_count: int = 0
    serde_properties: Mapping[str, str] = field(default_factory=dict)
    format: FileFormat | None = None
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


@dataclass(frozen=True, slots=True)
class PropertiesBody:
    """ALTER TABLE … SET/UNSET TBLPROPERTIES."""

    table: TableRef
    set: Mapping[str, str]
    unset: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameBody:
    """ALTER TABLE … RENAME TO."""

    table: TableRef
    to: TableRef


@dataclass(frozen=True, slots=True)
class AddColumnsBody:
    """ALTER TABLE … ADD COLUMNS."""

    table: TableRef
    columns: tuple[Column, ...]
    start: int


@dataclass(frozen=True, slots=True)
class AddPartitionsBody:
    """ALTER TABLE … ADD PARTITION: each with its location or ''."""

    table: TableRef
    partitions: tuple[tuple[PartitionItems, str], ...]
    if_not_exists: bool


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """``key operator value`` of DROP PARTITION."""

    key: Name
    operator: str
    value: str | None


@dataclass(frozen=True, slots=True)
class DropPartitionsBody:
    """ALTER TABLE … DROP PARTITION: what matches any of ``filters`` (each an AND) goes."""

    table: TableRef
    filters: tuple[tuple[PartitionFilter, ...], ...]
    if_exists: bool
    purge: bool
    start: int


@dataclass(frozen=True, slots=True)
class CompactBody:
    """ALTER TABLE … COMPACT."""

    table: TableRef
    kind: str
    kind_start: int
    partition: PartitionItems | None
    wait: bool


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowBody:
    """SHOW …; ``kind`` as in the bound statement."""

    kind: Literal[
        "databases", "tables", "views", "columns", "partitions", "tblproperties", "create table",
        "functions", "locks", "transactions", "compactions", "conf",
    ]  # fmt: skip
    database: Name | None = None
    table: TableRef | None = None
    partition: PartitionItems | None = None
    pattern: str | None = None
    extended: bool = False
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeBody:
    """DESCRIBE."""

    table: TableRef | None = None
    database: Name | None = None
    style: Literal["", "extended", "formatted"] = ""
    partition: PartitionItems | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetBody:
    """SET and RESET."""

    key: str | None = None
    value: str | None = None
    reset: bool = False
    all: bool = False


@dataclass(frozen=True, slots=True)
class ExplainBody:
    """EXPLAIN."""

    body: Body
    style: Literal["", "extended", "formatted", "locks", "formatted locks"]


Body = (
    QueryBody
    | InsertBody
    | UpdateBody
    | DeleteBody
    | MergeBody
    | CreateDatabaseBody
    | DropDatabaseBody
    | UseBody
    | CreateTableBody
    | CreateViewBody
    | DropTableBody
    | TruncateBody
    | PropertiesBody
    | RenameBody
    | AddColumnsBody
    | AddPartitionsBody
    | DropPartitionsBody
    | CompactBody
    | AbortBody
    | StartBody
    | EndBody
    | LockBody
    | ShowBody
    | DescribeBody
    | SetBody
    | ExplainBody
)


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed statement and the text it came from."""

    text: StatementText
    body: Body
