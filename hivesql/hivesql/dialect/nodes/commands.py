"""What the parser understood, before any name is looked up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Union

from hivesql.dialect.slices import PartitionCondition
from hivesql_planner.compaction.request import NO_FILTER, CompactionFilter, OrderKey
from hivesql_planner.statements.authorization import CreateRole, GrantRoles, SetRole, ShowRoles
from hivesql_planner.statements.bound import (
    AbortCompactions,
    AbortTransactions,
    EndTransaction,
    FileSystemShell,
    KillQueries,
    SessionFiles,
    SetSetting,
    ShowKind,
    StartTransaction,
)
from hivesql_planner.statements.functions import CreateFunction, ReloadFunctions

if TYPE_CHECKING:
    from hivesql.dialect.nodes.alter import AlterBodies
    from hivesql.dialect.nodes.authorization import AuthorizationBodies
    from hivesql.dialect.nodes.ddl import DefinitionBodies
    from hivesql.dialect.nodes.dml import DirectoryBody
    from hivesql.dialect.nodes.functions import FunctionBodies
    from hivesql.dialect.slices import PartitionItems
    from hivesql.dialect.tokens import Name, TableRef
    from hivesql.python_sqlglot import exp
    from hivesql.script import StatementText


@dataclass(frozen=True, slots=True)
class UseBody:
    """USE."""

    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBody:
    """LOCK and UNLOCK (no ``mode``) of a table or a database."""

    table: TableRef | None = None
    database: Name | None = None
    partition: PartitionItems | None = None
    mode: Literal["SHARED", "EXCLUSIVE"] | None = None


@dataclass(frozen=True, slots=True)
class ChosenPartitions:
    """WHERE, ORDER BY (True is descending) and LIMIT."""

    condition: PartitionCondition | None
    order: tuple[tuple[Name, bool], ...]
    limit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowBody:
    """SHOW …; ``kind`` as in the bound statement."""

    kind: ShowKind
    database: Name | None = None
    table: TableRef | None = None
    partition: PartitionItems | None = None
    chosen: ChosenPartitions | None = None
    pattern: str | None = None
    extended: bool = False
    key: str | None = None
    compactions: CompactionFilter = NO_FILTER
    order: tuple[tuple[Name, OrderKey], ...] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeBody:
    """DESCRIBE."""

    table: TableRef | None = None
    database: Name | None = None
    style: Literal["", "extended", "formatted"] = ""
    partition: PartitionItems | None = None
    column: Name | None = None
    column_text: str = ""
    """The column's name with the capitals that it is written with."""
    inside: tuple[str, ...] = ()
    """What is named inside of it, from the outside in."""
    history: ShowBody | None = None
    """What DESCRIBE HISTORY c means, unless there is a table called ``history`` with a column c."""


Style = Literal["extended", "formatted", "locks", "analyze", "dependency"]
"""How EXPLAIN tells."""


@dataclass(frozen=True, slots=True)
class ExplainBody:
    """EXPLAIN."""

    body: Body
    style: Literal["", "formatted locks"] | Style


Bound = (
    AbortCompactions
    | AbortTransactions
    | CreateFunction
    | ReloadFunctions
    | EndTransaction
    | FileSystemShell
    | KillQueries
    | SessionFiles
    | SetSetting
    | StartTransaction
    | GrantRoles
    | CreateRole
    | SetRole
    | ShowRoles
)
"""Statements without a name that has to be looked up: what is parsed is bound."""

# Not imported: most statements need none of them.
Body = Union[
    "exp.Expr",
    "DirectoryBody",
    "DefinitionBodies",
    "AlterBodies",
    "FunctionBodies",
    "AuthorizationBodies",
    UseBody,
    LockBody,
    ShowBody,
    DescribeBody,
    ExplainBody,
    Bound,
]


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed statement and the text it came from."""

    text: StatementText
    body: Body
