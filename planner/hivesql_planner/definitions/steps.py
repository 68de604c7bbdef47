"""The steps of a definition: entries of the catalog, and the directories that follow them.

A step says what was decided. Whether a place is free, or a directory empty, is seen when it is
taken; a place is as its user wrote it until then, unless the catalog knows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hivesql_planner.model.functions import StoredFunction
from hivesql_planner.model.table import Database, FileFormat, Partition, Table, TableName

if TYPE_CHECKING:
    from hivesql_planner.model.statistics import ColumnStatistics
    from hivesql_planner.predicates.predicate import Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """Partitions of one table."""

    table: Table
    partitions: tuple[Partition, ...]


Entry = Database | Table | Partitions | StoredFunction
"""What the catalog has entries of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeDirectory:
    """A directory is made unless it is there."""

    path: str
    base: str | None = None
    """Below which a relative path of the user's is, empty for where it was written.

    None: the path was decided, and is taken as it is."""
    must_be_empty: bool = False
    """Files that are in it already would pass for rows of committed writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveDirectory:
    """A directory gets another place, if it is there."""

    source: str
    target: str
    free_for: TableName | None = None
    """The new name of a table, which must find nothing at the target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveDirectory:
    """A table's, or partition's, directory goes once the catalog names it no more.

    It stays where it is known to hold more than what is dropped, unless all of that goes too.
    """

    path: str
    table: Table
    partition: Partition | None = None
    with_database: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveIfEmpty:
    """The directory of a database goes, after those in it, unless files are there."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyTable:
    """All rows of a table, or of these partitions of it, go: TRUNCATE.

    A transactional one gets an empty base, of others the files are removed.
    """

    table: Table
    partitions: tuple[Partition, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTable:
    """A table comes into the catalog, and its directory is made."""

    table: Table
    home: str = ""
    """The directory, where the table names none; empty where only its creation tells."""
    if_not_exists: bool = False
    like_file: tuple[FileFormat, str] | None = None
    """The format and the path of a file that tells the columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddEntry:
    """Something comes into the catalog."""

    entry: Entry
    if_not_exists: bool = False
    or_replace: bool = False
    """Of a view: where there is one by now, it is to be altered instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterEntry:
    """What the catalog has is described otherwise.

    Without ``cascade`` partitions keep the columns that the table had.
    """

    before: Entry
    after: Entry
    cascade: bool = True
    to_location: str = ""
    """The new place, as a user wrote it; empty where it was decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropEntry:
    """Something goes from the catalog; a function, if it is there."""

    entry: Entry
    is_whole: bool = False
    """Of a database: it has no tables but those that are dropped with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """Partitions go from one table's entry to another's; ``target`` are those of the latter."""

    source: Partitions
    target: Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class ReserveWriteIds:
    """The files of a table become its original files, which own the first write ids.

    Their names must be such as Hive gives.
    """

    table: Table
    next_write_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptFiles:
    """The files of a table move into a directory of its first write, which is thereby used up."""

    table: Table

    @property
    def write_id(self) -> int:
        """The write that they are of from then on."""
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatistics:
    """The catalog takes numbers for right that a user tells; partitions are None for the table."""

    table: Table
    partitions: tuple[Partition, ...] | None = None
    column: ColumnStatistics | None = None
    basics: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowDirectories:
    """The partitions of a table become those that have a directory: MSCK.

    Without ``add`` and ``drop`` it is only told which these are. ``where`` says of which
    partitions; None for all.
    """

    table: Table
    add: bool = False
    drop: bool = False
    where: Predicate | None = None


DirectoryStep = MakeDirectory | MoveDirectory | RemoveDirectory | RemoveIfEmpty
CatalogStep = (
    AddEntry | AlterEntry | DropEntry | HandOver | ReserveWriteIds | AdoptFiles | StoreStatistics
)
Step = DirectoryStep | CatalogStep | NewTable | EmptyTable | FollowDirectories


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """The steps of one statement: directories change first, then the catalog, which decides.

    Without steps there is nothing to do; ``notice`` tells the user so.
    """

    steps: tuple[Step, ...] = ()
    notice: str = ""
