"""The table or partition that a compaction is about, and what lies in its directory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from hivesql_executor.runtime import Runtime
from hivesql_executor.statement_log import carried
from hivesql_planner.acid.layout import ACID_PREFIXES
from hivesql_planner.compaction.queue import Unit
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.table import Partition, Table, parse_partition_name

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


def each(work: Callable[[T], int], items: Sequence[T], threads: int) -> int:
    """Work on all, so many at a time; the sum of what the work answers."""
    if threads <= 1 or len(items) <= 1:
        return sum(map(work, items))
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(carried(work), items))


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


def never_added(unit: Unit, runtime: Runtime) -> Place | None:
    """Tell where a partition that the catalog does not know would lie; None without a table."""
    name, partition = unit
    try:
        table = runtime.metastore.table(name)
    except NoSuchObject:
        return None
    if partition is None or not table.partition_columns:
        return None
    values = parse_partition_name(partition)
    return Place(table=table, partition=Partition(values=values, location=table.home_of(values)))


def list_roots(place: Place, runtime: Runtime) -> list[str]:
    """List the directories of a place; of a table those too that never became partitions."""
    table = place.table
    if not place.is_whole_partitioned_table:
        return [place.location]
    depth = len(table.partition_columns)
    locations = {partition.location for partition in runtime.metastore.partitions(table.name)}
    files = runtime.files(table.location)
    homes = [table.location]
    for _ in range(depth):
        homes = [f"{home}/{name}" for home in homes for name in files.all_directories(home)
                 if "=" in name]  # fmt: skip
    # A write that died may have made a directory and no file.
    locations.update(
        home for home in homes
        if home not in locations
        and any(name.startswith(ACID_PREFIXES) for name in files.all_directories(home))
    )  # fmt: skip
    return sorted(locations)


def made_by_writes(place: Place, location: str, runtime: Runtime) -> list[str]:
    """List the directories that a write has made for a partition that the catalog has not.

    The highest first; those that the catalog has a partition in are among them, if not empty.
    """
    table = place.table
    name = location.removeprefix(f"{table.location}/")
    if not table.partition_columns or name == location:
        return []
    if runtime.metastore.partition(table.name, parse_partition_name(name)) is not None:
        return []
    return [f"{table.location}/{part}" for part in accumulate(name.split("/"), "{}/{}".format)]
