"""ALTER as the parser understood it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivesql.dialect.slices import PartitionFilter, PartitionItems, Slice
    from hivesql.dialect.tokens import Name, TableRef
    from hivesql_planner.errors import NotSupported
    from hivesql_planner.model.table import OwnerType
    from hivesql_planner.statements.alter import Change


@dataclass(frozen=True, slots=True)
class AlterBody:
    """ALTER TABLE (or VIEW) whose words need no looking up; ``start`` is where they begin."""

    table: TableRef
    change: Change
    start: int
    cascade: bool = False
    view: bool = False


@dataclass(frozen=True, slots=True)
class AlterViewBody:
    """ALTER VIEW … AS."""

    table: TableRef
    query: Slice


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterDatabaseBody:
    """ALTER DATABASE: what is given replaces what is there."""

    name: Name
    properties: Mapping[str, str] = field(default_factory=dict)
    owner: tuple[str, OwnerType] | None = None
    location: str | None = None
    managed_location: str | None = None


@dataclass(frozen=True, slots=True)
class RenameBody:
    """ALTER TABLE or VIEW … RENAME TO."""

    table: TableRef
    to: TableRef
    view: bool = False


@dataclass(frozen=True, slots=True)
class RenamePartitionBody:
    """ALTER TABLE … PARTITION … RENAME TO PARTITION."""

    table: TableRef
    partition: PartitionItems
    to: PartitionItems


@dataclass(frozen=True, slots=True)
class MovePartitionBody:
    """ALTER TABLE … PARTITION … SET LOCATION."""

    table: TableRef
    partition: PartitionItems
    location: str


@dataclass(frozen=True, slots=True)
class AlterPartitionsBody:
    """ALTER TABLE … PARTITION … SET FILEFORMAT, SERDE or SERDEPROPERTIES."""

    table: TableRef
    partition: PartitionItems
    change: Change
    start: int


@dataclass(frozen=True, slots=True)
class TellStatisticsBody:
    """ALTER TABLE … UPDATE STATISTICS of partitions, or FOR COLUMN."""

    table: TableRef
    partition: PartitionItems | None
    column: Name | None
    values: Mapping[str, str]
    start: int


@dataclass(frozen=True, slots=True)
class ExchangeBody:
    """ALTER TABLE … EXCHANGE PARTITION … WITH TABLE."""

    table: TableRef
    partition: PartitionItems
    source: TableRef


@dataclass(frozen=True, slots=True)
class TouchBody:
    """ALTER TABLE … TOUCH."""

    table: TableRef
    partition: PartitionItems | None


@dataclass(frozen=True, slots=True)
class AddPartitionsBody:
    """ALTER TABLE … ADD PARTITION: each with its location or ''."""

    table: TableRef
    partitions: tuple[tuple[PartitionItems, str], ...]
    if_not_exists: bool
    view: bool = False


@dataclass(frozen=True, slots=True)
class DropPartitionsBody:
    """ALTER TABLE … DROP PARTITION: what matches any of ``filters`` (each an AND) goes."""

    table: TableRef
    filters: tuple[tuple[PartitionFilter, ...], ...]
    if_exists: bool
    purge: bool
    start: int
    view: bool = False


@dataclass(frozen=True, slots=True)
class RefusedBody:
    """An ALTER of a table or view that is refused by ``error``, unless Hive refuses it before.

    ``archived`` is what ARCHIVE and UNARCHIVE name: partitions, or () for the whole table.
    """

    table: TableRef
    error: NotSupported
    start: int
    view: bool = False
    archived: PartitionItems | None = None


@dataclass(frozen=True, slots=True)
class ConcatenateBody:
    """ALTER TABLE … [PARTITION (…)] CONCATENATE."""

    table: TableRef
    partition: PartitionItems | None
    start: int


@dataclass(frozen=True, slots=True)
class RebuildBody:
    """ALTER MATERIALIZED VIEW … REBUILD."""

    table: TableRef


AlterBodies = (
    AlterBody
    | ConcatenateBody
    | RebuildBody
    | RefusedBody
    | AlterViewBody
    | AlterDatabaseBody
    | RenameBody
    | RenamePartitionBody
    | MovePartitionBody
    | AlterPartitionsBody
    | ExchangeBody
    | TellStatisticsBody
    | TouchBody
    | AddPartitionsBody
    | DropPartitionsBody
)
