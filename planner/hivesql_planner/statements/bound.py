"""Bound statements: names resolved, types known, conditions as Spark SQL text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Union

from hivesql_planner.compaction.request import (
    NO_DETAILS,
    NO_FILTER,
    CompactionDetails,
    CompactionFilter,
)
from hivesql_planner.statements.authorization import (
    CreateRole,
    GrantPrivileges,
    GrantRoles,
    SetRole,
    ShowGrant,
    ShowRoles,
)
from hivesql_planner.statements.functions import (
    CreateFunction,
    CreateMacro,
    DropFunction,
    DropStoredFunction,
    ReloadFunctions,
    StoreFunction,
)

if TYPE_CHECKING:
    from hivesql_planner.model.table import (
        Column,
        Database,
        FileFormat,
        Partition,
        Table,
        TableName,
    )
    from hivesql_planner.relations import AsOf, Expr, Query, Scan, Source
    from hivesql_planner.statements.authorization import AuthorizationStatement
    from hivesql_planner.statements.ddl import DdlStatement
    from hivesql_planner.statements.functions import Macro, OwnFunction


PartitionSpec = Mapping[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectRows:
    """SELECT, VALUES, WITH … SELECT."""

    query: Query
    labels: tuple[Column, ...] = field(default=(), compare=False)
    """Its columns as Hive tells drivers of them: called ``t.i`` where the statement takes them by
    their relation's alias, of types that Spark has not too; empty where Spark alone knows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertTarget:
    """One INSERT of a statement: the query is already in the table's column order."""

    table: Table
    query: Query
    overwrite: bool = False
    static_partition: PartitionSpec = field(default_factory=dict, hash=False)
    dynamic_partition: tuple[str, ...] = ()
    if_not_exists: bool = False
    check: Expr | None = None
    """What must hold for each row, as fields of the struct ``row``."""
    union_branches: tuple[Query, ...] = ()
    """Branches of a top-level UNION ALL: Hive gives each a statement id of its own."""
    partition: Partition | None = None
    """The existing partition that a full static specification names."""
    concatenates: bool = False
    """Whether it only writes rows anew that are in the table: into as few files as can be."""
    rebuilds: bool = False
    """Whether these are all rows of a materialized view: partitions without any become empty."""
    restores: AsOf | None = None
    """Set, these are the rows of that state of an insert-only table: partitions that have changed
    since are overwritten, and become empty where they had none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertRows:
    """INSERT and multi-insert."""

    targets: tuple[InsertTarget, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteDirectory:
    """INSERT OVERWRITE [LOCAL] DIRECTORY: files of no table take the place of what is there."""

    path: str
    local: bool
    format: FileFormat
    serde_properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRows:
    """UPDATE: assignments by column name; expressions speak of ``alias``."""

    target: Scan
    alias: str
    assignments: Mapping[str, Expr] = field(hash=False)
    where: Expr | None = None
    check: Expr | None = None
    subqueries: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRows:
    """DELETE FROM."""

    target: Scan
    alias: str
    where: Expr | None = None
    subqueries: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeClause:
    """A WHEN clause; ``assignments`` for update, ``values`` (all columns) for insert."""

    kind: Literal["update", "delete", "insert"]
    by_source: bool = False
    """Whether it is about rows of the target that no row of the source matches."""
    condition: Expr | None = None
    assignments: Mapping[str, Expr] = field(default_factory=dict, hash=False)
    values: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRows:
    """MERGE INTO: clauses in the order of the text."""

    target: Scan
    alias: str
    source: Query
    source_alias: str
    on: Expr
    clauses: tuple[MergeClause, ...]
    added: tuple[Column, ...] = ()
    """The last columns of the target, which it gets with the commit (WITH SCHEMA EVOLUTION)."""
    narrow: tuple[Column, ...] = ()
    """Columns as they were: the commit gives them the types of the target's of their names."""
    on_mentions_target: bool = True
    by_row_id: bool = False
    """Whether the source has the row ids of the rows that it changes: nothing is compared."""
    operation: Literal["MERGE", "UPDATE", "DELETE", "RESTORE"] = "MERGE"
    """Which statement it is: some others are carried out as a MERGE."""
    check: Expr | None = None
    subqueries: tuple[Source, ...] = ()

    @property
    def by_any(self) -> bool:
        """Tell whether several rows of the source may match a row, as in DELETE … USING."""
        return self.operation == "DELETE"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDatabase:
    """CREATE DATABASE; an empty location means the warehouse's default."""

    database: Database
    if_not_exists: bool = False
    home: str = ""
    """Where it will live; empty where only its creation tells."""
    exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropDatabase:
    """DROP DATABASE; ``tables`` are those that go with it by CASCADE."""

    name: str
    if_exists: bool = False
    cascade: bool = False
    database: Database | None = None
    """What there is of that name."""
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UseDatabase:
    """USE."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable:
    """CREATE TABLE, with rows when AS SELECT follows; an empty location means the default."""

    table: Table
    if_not_exists: bool = False
    rows: Query | None = None
    temporary: bool = False
    like_file: tuple[FileFormat, str] | None = None
    """The format and the path of a file that tells the columns."""
    home: str = ""
    """Where it will live; empty where only its creation tells."""
    exists: bool = False
    """IF NOT EXISTS of one that is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateView:
    """CREATE VIEW: ``table.view_text`` holds the query's Hive text."""

    table: Table
    if_not_exists: bool = False
    or_replace: bool = False
    known: Table | None = None
    """The view of that name that is there."""
    reads: tuple[Table, ...] = ()
    """The tables that its query reads."""


DropKind = Literal["TABLE", "VIEW", "MATERIALIZED VIEW"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTable:
    """DROP TABLE, DROP VIEW or DROP MATERIALIZED VIEW."""

    name: TableName
    if_exists: bool = False
    purge: bool = False
    kind: DropKind = "TABLE"
    table: Table | None = None
    """What there is of that name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateTable:
    """TRUNCATE TABLE, whole or by partition."""

    table: Table
    partitions: tuple[Partition, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactTable:
    """ALTER TABLE … COMPACT."""

    table: Table
    kind: Literal["minor", "major", "rebalance"]
    partitions: tuple[Partition, ...] = ()
    wait: bool = False
    details: CompactionDetails = NO_DETAILS


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortCompactions:
    """ABORT COMPACTIONS."""

    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortTransactions:
    """ABORT TRANSACTIONS."""

    txn_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KillQueries:
    """KILL QUERY: the statements of a server that have these ids are cancelled."""

    query_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTransaction:
    """START TRANSACTION, BEGIN: the statements up to COMMIT are one transaction."""

    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTransaction:
    """COMMIT, or ROLLBACK when not ``commit``."""

    commit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LockObject:
    """LOCK or UNLOCK (no ``mode``) of a database, or of a table or partition of it."""

    database: str
    table: Table | None = None
    partition: str | None = None
    mode: Literal["SHARED", "EXCLUSIVE"] | None = None


ShowKind = Literal[
    "databases", "tables", "views", "columns", "partitions", "tblproperties", "create table",
    "functions", "locks", "transactions", "compactions", "conf", "extended tables",
    "tables of a type", "table extended", "create database", "materialized views", "function",
    "history",
]  # fmt: skip
"""What SHOW may ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """SHOW …: ``kind`` names what; the rest narrows it."""

    kind: ShowKind
    database: str | None = None
    table: Table | None = None
    absent: TableName | None = None
    """What SHOW LOCKS or SHOW COMPACTIONS is about, where there is no such table."""
    part: Partition | None = None
    """One partition of SHOW TABLE EXTENDED."""
    names: tuple[str, ...] | None = None
    """The names of SHOW PARTITIONS, when they were chosen before, and those of SHOW FUNCTIONS."""
    partition: str | None = None
    pattern: str | None = None
    extended: bool = False
    key: str | None = None
    temporary: Mapping[str, TableName] = field(default_factory=dict, hash=False)
    """The session's own tables by the names that it sees; the one asked for, where it is one."""
    compactions: CompactionFilter = NO_FILTER
    function: OwnFunction | Macro | None = None
    """What DESCRIBE FUNCTION is about, where it is the user's own."""
    limit: int | None = None
    """How many lines of SHOW HISTORY there may be; None: all."""

    @property
    def table_name(self) -> TableName | None:
        """The table that it is about, there or not."""
        return self.table.name if self.table is not None else self.absent


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe:
    """DESCRIBE a table or a database."""

    table: Table | None = None
    database: str | None = None
    style: Literal["", "extended", "formatted"] = ""
    partition: Partition | None = None
    column: str | None = None
    column_text: str = ""
    """The column's name with the capitals that it is written with: Hive repeats them."""
    inside: tuple[str, ...] = ()
    """Fields and ``$elem$``, ``$key$``, ``$value$`` inside of it, from the outside in."""
    stored: TableName | None = None
    """The table's name in the catalog, when it is not the one to show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSetting:
    """SET key=value, SET key, SET, RESET."""

    key: str | None = None
    value: str | None = None
    reset: bool = False
    keys: tuple[str, ...] = ()
    """What RESET forgets; () is everything."""
    to_default: bool = False
    """RESET -d: to Hive's own defaults, whatever the session began with."""
    all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFiles:
    """ADD, LIST and DELETE of the files that a session gives to Spark; () means all of a kind."""

    action: Literal["add", "list", "delete"]
    kind: Literal["jar", "file", "archive"]
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystemShell:
    """DFS: a command of Hadoop's file system shell."""

    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain:
    """EXPLAIN: the statement is planned and not run, but for ``analyze``, which measures it."""

    statement: Statement
    style: Literal[
        "", "extended", "formatted", "locks", "formatted locks", "analyze", "dependency"
    ] = ""


# Not imported: most statements need none of them.
Statement = Union[
    SelectRows,
    InsertRows,
    WriteDirectory,
    UpdateRows,
    DeleteRows,
    MergeRows,
    CreateDatabase,
    DropDatabase,
    UseDatabase,
    CreateTable,
    CreateView,
    DropTable,
    TruncateTable,
    "DdlStatement",
    CreateFunction,
    CreateMacro,
    DropFunction,
    StoreFunction,
    DropStoredFunction,
    ReloadFunctions,
    "AuthorizationStatement",
    CompactTable,
    AbortCompactions,
    AbortTransactions,
    KillQueries,
    StartTransaction,
    EndTransaction,
    LockObject,
    Show,
    Describe,
    SetSetting,
    SessionFiles,
    FileSystemShell,
    Explain,
]


COMPACTION_COLUMNS = (
    "compactionid", "dbname", "tabname", "partname", "type", "state", "workerhost", "workerid",
    "enqueuetime", "starttime", "duration", "hadoopjobid", "errormessage", "initiatorhost",
    "initiatorid", "poolname", "txnid", "nexttxnid", "committime", "hightestwriteid",
)  # fmt: skip
"""As in Hive, the misspelt last one included."""


WITHOUT_LOCKS = (
    AbortCompactions,
    AbortTransactions,
    CompactTable,
    CreateFunction,
    CreateMacro,
    CreateRole,
    Describe,
    DropFunction,
    EndTransaction,
    Explain,
    GrantPrivileges,
    GrantRoles,
    KillQueries,
    LockObject,
    ReloadFunctions,
    SetRole,
    SetSetting,
    Show,
    ShowGrant,
    ShowRoles,
    StartTransaction,
    UseDatabase,
)
"""Statements that take no locks and open no transaction."""
