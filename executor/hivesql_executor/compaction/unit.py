"""The table or partition that a compaction is about, and what lies in its directory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from hivesql_executor.runtime import Runtime
from hivesql_planner.compaction_queue import Unit
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.table import Partition, Table, parse_partition_name

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A table or one of its partitions; no partition of a partitioned table means all of it."""

    table: Table
    partition: Partition | None = None

    @property
    def location(self) -> str:
        """Its directory."""
        return self.partition.location if self.partition else self.table.location

    @property
    def is_whole_partitioned_table(self) -> bool:
        """True for what a write with dynamic partitions left whose partitions are not known."""
        return self.partition is None and bool(self.table.partition_columns)


def each(work: Callable[[T], int], wanted: Sequence[T], threads: int) -> int:
    """Work on all, so many at a time; the sum of what the work answers."""
    if threads <= 1 or len(wanted) <= 1:
        return sum(map(work, wanted))
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(work, wanted))


def find_place(unit: Unit, runtime: Runtime) -> Place:
    """Look a unit up; NoSuchObject, with Hive's words, when it was dropped."""
    name, partition_name = unit
    try:
        table = runtime.metastore.table(name)
    except NoSuchObject as error:
        raise NoSuchObject(
            f"Unable to find table {name}, assuming it was dropped and moving on."
        ) from error
    if partition_name is None:
        return Place(table=table)
    partition = runtime.metastore.partition(name, parse_partition_name(partition_name))
    if partition is None:
        raise NoSuchObject(
            f"Unable to find partition {name}/{partition_name}, assuming it was dropped and "
            "moving on."
        )
    return Place(table=table.stored_as(partition), partition=partition)
