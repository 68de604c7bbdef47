"""Bound EXPORT and IMPORT: tables as files that other warehouses take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivesql_planner.model.table import Partition, Table, TableName
    from hivesql_planner.relations import Query

METADATA = "_metadata"
"""The file of an export that describes its table; it comes last."""
DATA = "data"
"""The directory of an export for the files of a table without partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """What the metadata of an export describes: a table of another warehouse, or of this one."""

    path: str
    table: Table
    partitions: tuple[Partition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportTable:
    """EXPORT TABLE: ``query`` gives the rows and the files that a snapshot sees."""

    table: Table
    path: str
    name: TableName
    """The name that it is exported under: that of the statement, also of a temporary table."""
    query: Query
    partitions: tuple[Partition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTable:
    """IMPORT: ``partitions`` of an export become those of a table, which may be new."""

    dump: Dump
    table: Table
    """The table with these files: the existing one, or the one to add."""
    is_new: bool
    partitions: tuple[Partition, ...] = ()
    """Those of the export that are wanted, an empty location means the default; () without any."""
    known: tuple[Partition, ...] = ()
    """Those of the table with the same values: they must be empty."""
    home: str = ""
    """Where a new table will live; empty where only its creation tells."""
