"""ALTER as the parser understood it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hivesql.dialect.nodes.own import Own

if TYPE_CHECKING:
    from hivesql.dialect.slices import PartitionItems
    from hivesql.dialect.tokens import TableRef
    from hivesql_planner.errors import NotSupported
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
class AlterPartitionsBody:
    """ALTER TABLE … PARTITION … SET FILEFORMAT, SERDE or SERDEPROPERTIES."""

    table: TableRef
    partition: PartitionItems
    change: Change
    start: int


@dataclass(frozen=True, slots=True)
class RefusedBody:
    """An ALTER of a table or view that is refused by ``error``, unless Hive refuses it before.

    ``archived`` is what ARCHIVE and UNARCHIVE name: partitions, or () for the whole table;
    ``archives_more`` than one such specification, ``unarchives`` for UNARCHIVE.
    """

    table: TableRef
    error: NotSupported
    start: int
    view: bool = False
    archived: PartitionItems | None = None
    archives_more: bool = False
    unarchives: bool = False


_OF_TABLE: dict[str, bool] = {"kind": True, "this": True}


class Rename(Own):
    """ALTER TABLE or VIEW (``kind``) … RENAME TO."""

    arg_types: ClassVar[dict[str, bool]] = {**_OF_TABLE, "to": True}
    written = "ALTER @kind @this RENAME TO @to"


class RenamePartition(Own):
    """ALTER TABLE … PARTITION … RENAME TO PARTITION."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "partition": True, "to": True}
    written = "ALTER TABLE @this @partition RENAME TO @to"


class MovePartition(Own):
    """ALTER TABLE … PARTITION … SET LOCATION."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "partition": True, "location": True}
    written = "ALTER TABLE @this @partition SET LOCATION @location"


class ExchangePartition(Own):
    """ALTER TABLE … EXCHANGE PARTITION … WITH TABLE."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "partition": True, "source": True}
    written = "ALTER TABLE @this EXCHANGE @partition WITH TABLE @source"


class UpdateStatistics(Own):
    """ALTER TABLE … UPDATE STATISTICS of partitions, or FOR COLUMN."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True, "partition": False, "column": False, "properties": True,
    }  # fmt: skip
    written = (
        "ALTER TABLE @this [@partition] UPDATE STATISTICS [FOR COLUMN @column] SET @properties"
    )


class Touch(Own):
    """ALTER TABLE … TOUCH."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "partition": False}
    written = "ALTER TABLE @this TOUCH [@partition]"


class AddPartitions(Own):
    """ALTER TABLE or VIEW … ADD PARTITION; its expressions are ``NewPartition``s."""

    arg_types: ClassVar[dict[str, bool]] = {**_OF_TABLE, "exists": False, "expressions": True}
    written = "ALTER @kind @this ADD [IF NOT EXISTS ?exists] ~expressions"


class NewPartition(Own):
    """A partition to add, and its location."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "location": False}
    written = "@this [LOCATION @location]"


class DropPartitions(Own):
    """ALTER TABLE or VIEW … DROP PARTITION: what matches one of its expressions goes."""

    arg_types: ClassVar[dict[str, bool]] = {
        **_OF_TABLE, "exists": False, "expressions": True, "purge": False,
    }  # fmt: skip
    written = "ALTER @kind @this DROP [IF EXISTS ?exists] @expressions [PURGE ?purge]"


AlterBodies = AlterBody | RefusedBody | AlterPartitionsBody
