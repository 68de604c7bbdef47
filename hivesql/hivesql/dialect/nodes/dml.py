"""What the parser understood of queries and of statements that change rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hivesql.dialect.slices import PartitionItems, Slice
    from hivesql.dialect.tokens import Name, TableRef
    from hivesql_planner.model.table import FileFormat


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


RowBodies = QueryBody | InsertBody | DirectoryBody | UpdateBody | DeleteBody | MergeBody
