"""What the parser understood of statements that make, remove or look after tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivesql.dialect.slices import Slice
    from hivesql.dialect.tokens import Name, TableRef
    from hivesql_planner.model.skew import Skew
    from hivesql_planner.model.table import Column, Constraint, FileFormat
    from hivesql_planner.statements.bound import DropKind


@dataclass(frozen=True, slots=True)
class DropDatabaseBody:
    """DROP DATABASE."""

    name: Name
    if_exists: bool
    cascade: bool


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
    partition_constraints: tuple[Constraint, ...] = ()
    partitioned_by: tuple[Name, ...] = ()
    bucket_columns: tuple[Name, ...] = ()
    sort_columns: tuple[Name, ...] = ()
    sort_descending: tuple[str, ...] = ()
    bucket_count: int = 0
    skew: Skew | None = None
    serde_properties: Mapping[str, str] = field(default_factory=dict)
    format: FileFormat | None = None
    serde_format: FileFormat | None = None
    """What the serde of ROW FORMAT makes of the table."""
    location: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    like: TableRef | None = None
    like_file: tuple[FileFormat, str] | None = None
    """The format and the path of the file that tells the columns."""
    query: Slice | None = None


@dataclass(frozen=True, slots=True)
class CreateMaterializedBody:
    """CREATE MATERIALIZED VIEW: the table that keeps its rows, and whether Hive may rewrite."""

    storage: CreateTableBody
    query: Slice
    rewrite: bool


@dataclass(frozen=True, slots=True)
class DropTableBody:
    """DROP TABLE, DROP VIEW, DROP MATERIALIZED VIEW."""

    table: TableRef
    if_exists: bool
    purge: bool
    kind: DropKind


DefinitionBodies = DropDatabaseBody | CreateTableBody | CreateMaterializedBody | DropTableBody
