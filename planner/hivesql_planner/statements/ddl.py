"""Bound statements that alter what the catalog holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hivesql_planner.model.table import Column, Database, Partition, Table, TableName
from hivesql_planner.statements.alter import Change
from hivesql_planner.statements.export import ExportTable, ImportTable

if TYPE_CHECKING:
    from hivesql_planner.model.statistics import ColumnStatistics
    from hivesql_planner.predicates.predicate import Predicate
    from hivesql_planner.relations import Query

Values = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterTable:
    """ALTER TABLE whose outcome is another description: ``altered``.

    Without ``cascade`` partitions keep the columns that the table had.
    """

    table: Table
    change: Change
    altered: Table
    cascade: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameTable:
    """ALTER TABLE or VIEW … RENAME TO."""

    table: Table
    to: TableName
    home: str = ""
    """Where a table of the old name lives unless it was given another place."""
    to_home: str = ""
    """Where one of the new name does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterView:
    """ALTER VIEW … AS, SET and UNSET TBLPROPERTIES."""

    view: Table
    altered: Table
    reads: tuple[Table, ...] = ()
    """The tables that the new definition reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterDatabase:
    """ALTER DATABASE: ``altered`` has the same name."""

    database: Database
    altered: Database


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitions:
    """ALTER TABLE … ADD PARTITION; an empty location means the default."""

    table: Table
    partitions: tuple[Partition, ...]
    if_not_exists: bool = False
    known: tuple[Partition, ...] = ()
    """Those that IF NOT EXISTS passes over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPartitions:
    """ALTER TABLE … DROP PARTITION: the partitions that match."""

    table: Table
    partitions: tuple[Partition, ...]
    purge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenamePartition:
    """ALTER TABLE … PARTITION … RENAME TO PARTITION."""

    table: Table
    partition: Partition
    values: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class MovePartition:
    """ALTER TABLE … PARTITION … SET LOCATION: files stay where they are."""

    table: Table
    partition: Partition
    location: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterPartitions:
    """ALTER TABLE … PARTITION … SET FILEFORMAT, SERDE or SERDEPROPERTIES: ``altered`` in order."""

    table: Table
    change: Change
    partitions: tuple[Partition, ...]
    altered: tuple[Partition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangePartitions:
    """ALTER TABLE … EXCHANGE PARTITION … WITH TABLE: ``partitions`` of ``source`` go over."""

    table: Table
    source: Table
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadData:
    """LOAD DATA: files come into a table or one partition as they are.

    ``values`` are those of the partition, which may be new.
    """

    table: Table
    path: str
    local: bool = False
    overwrite: bool = False
    values: Values | None = None
    partition: Partition | None = None
    """The partition when it exists."""
    statement_id: int = 0
    """Of the delta that the files come into; LOAD may be one of many writes of a transaction."""
    adds_partition: bool = False
    """Whether it is ADD PARTITION … LOCATION of a transactional table, with files or without."""
    if_not_exists: bool = False
    """Whether that does nothing where somebody else has added the partition meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyze:
    """ANALYZE TABLE; ``query`` is that of ``statistics_sql``, None for NOSCAN.

    ``columns`` are those whose statistics are asked for.
    """

    table: Table
    partitions: tuple[Partition, ...] = ()
    query: Query | None = None
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TellStatistics:
    """ALTER TABLE … UPDATE STATISTICS: what a user says of a column, or of partitions.

    ``partitions`` are None for the table; ``basics`` are numbers by Hive's names of them.
    """

    table: Table
    partitions: tuple[Partition, ...] | None = None
    column: ColumnStatistics | None = None
    basics: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairTable:
    """MSCK: partitions follow the directories; without either it only reports.

    ``where`` says which partitions; None for all.
    """

    table: Table
    add: bool = False
    drop: bool = False
    where: Predicate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """ALTER TABLE … TOUCH: nothing changes; ``partition`` is None for the table."""

    table: Table
    partition: Partition | None = None


DdlStatement = (
    AlterTable
    | RenameTable
    | AlterView
    | AlterDatabase
    | AddPartitions
    | DropPartitions
    | RenamePartition
    | AlterPartitions
    | MovePartition
    | ExchangePartitions
    | LoadData
    | Analyze
    | TellStatistics
    | RepairTable
    | Touch
    | ExportTable
    | ImportTable
)
