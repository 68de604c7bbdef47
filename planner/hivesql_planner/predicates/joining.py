"""What a MERGE says of a row of its target and one of its source, where it is as simple as that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hivesql_planner.model.hive_type import HiveType

if TYPE_CHECKING:
    from hivesql_planner.predicates.predicate import Predicate
    from hivesql_planner.relations import Query


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
