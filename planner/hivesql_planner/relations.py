"""What a plan reads: scans of tables, other sources, and queries over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from hivesql_planner.model.hive_type import BIGINT, STRING, HiveType
from hivesql_planner.model.table import Column, Partition, Table

if TYPE_CHECKING:
    from hivesql_planner.predicates.partitions import PartitionTest
    from hivesql_planner.predicates.predicate import Look, Meaning, Predicate, Value


@dataclass(frozen=True, slots=True)
class Expr:
    """A Spark SQL expression: its text and, where it is simple, what it means."""

    sql: str
    meaning: Meaning | OfSource | Joining | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.sql


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf:
    """An earlier state: after a write, or at a time (with its zone)."""

    write_id: int | None = None
    time: datetime | None = None

    def __str__(self) -> str:
        return f"write {self.write_id}" if self.time is None else self.time.isoformat(" ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What happened from one write to another (None: the last), both included.

    ``key`` are the columns by which the two halves of an update find each other.
    """

    low: int
    high: int | None = None
    key: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"writes {self.low} to {'the last' if self.high is None else self.high}"


CHANGE_COLUMNS = (Column("_change_type", STRING), Column("_write_id", BIGINT))
"""insert, update_preimage, update_postimage or delete; and the write that did it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What the catalog answered when a statement was planned: which partitions, and where."""

    tests: tuple[PartitionTest, ...]
    partitions: frozenset[tuple[tuple[str | None, ...], str]]

    @classmethod
    def of(cls, tests: Sequence[PartitionTest], partitions: Iterable[Partition]) -> Listing:
        """Return the catalog's answer to a question for the partitions that pass all tests."""
        return cls(
            tuple(tests),
            frozenset((partition.values, partition.location) for partition in partitions),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A read of a table under the statement's snapshot.

    ``partitions`` are those left after pruning (empty for an unpartitioned table).
    ``where`` holds for every wanted row: a hint that may skip stripes, never a substitute for the
    filter above it.
    """

    table: Table
    partitions: tuple[Partition, ...] = field(default=(), repr=False)
    partition_count: int = 0
    """How many partitions the table had before pruning."""
    with_row_id: bool = False
    with_file_name: bool = False
    """Whether each row tells the file that it is in, as ``input__file__name``."""
    with_line_offset: bool = False
    """Whether each row tells at which byte of its file its line begins, in
    ``block__offset__inside__file``: only of tables of text."""
    with_deleted: bool = False
    """Whether rows with a delete event are there too, as ``row__is__deleted`` tells: the write in
    their row id is the one that has deleted them. Only of full ACID tables."""
    with_partition_texts: bool = False
    """Whether each row tells its partition's values as the catalog has them, in text columns."""
    where: Predicate | None = None
    as_of: AsOf | None = None
    """None reads the statement's snapshot."""
    restores: AsOf | None = None
    """Set, only rows in which the table differs from that state are wanted: of ``as_of``, the same
    state, those that are gone by now, else those that came since."""
    changes: Changes | None = None
    """Set, the scan gives what happened instead of what is there."""
    listing: Listing | None = field(default=None, repr=False, compare=False)
    """What the partitions were chosen from; None where nobody needs to ask again."""
    views: tuple[Table, ...] = field(default=(), repr=False, compare=False)
    """The views through which the statement reads it, outermost first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A scan under the view name by which the query's text speaks of it."""

    view: str
    scan: Scan


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Spark SQL text over the views of its sources."""

    sql: str
    sources: tuple[Source, ...] = ()
    columns: tuple[Column, ...] = ()
    """Output columns, of an empty type where only Spark knows it; empty when it alone knows all."""
    rows: tuple[tuple[Value, ...], ...] | None = field(default=None, repr=False, compare=False)
    """The rows that it gives, where they stand in the statement."""
    look: Look | None = field(default=None, repr=False, compare=False)
    """What it asks of its one source, where it is as simple as that."""
    is_empty: bool = field(default=False, repr=False, compare=False)
    """Whether it says that it gives no rows, and nothing about it is left to Spark to find out."""


@dataclass(frozen=True, slots=True)
class OfSource:
    """An expression over columns of the source alone, or over none.

    ``column`` is its column where it is made of no more than one, ``is_converted`` where it is not
    the column as it is, and ``type`` its Hive type, None where only Spark knows it. An empty
    ``sql`` is the text of the expression that means this.
    """

    sql: str = ""
    column: str | None = None
    is_converted: bool = False
    type: HiveType | None = None


@dataclass(frozen=True, slots=True)
class Joining:
    """A condition over both rows: the parts of an AND.

    ``keys`` are columns of the target with what they equal, ``of_target`` and ``of_source``
    conditions over one side alone. ``unless`` is a condition that must be false beside all that.
    ``source`` are the rows where they are those of a subquery, of which any may match.
    """

    keys: tuple[tuple[str, OfSource], ...] = ()
    of_target: tuple[Predicate, ...] = ()
    of_source: tuple[OfSource, ...] = ()
    unless: Joining | None = None
    source: Query | None = None
