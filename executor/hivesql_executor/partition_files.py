"""What a scan reads of one partition; told without Spark, so that listing needs none."""

from __future__ import annotations

from dataclasses import dataclass

from hivesql_planner.acid.reading import FilesToRead
from hivesql_planner.table import Partition


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFiles:
    """The files of one partition (None: the whole table) that a snapshot reads."""

    partition: Partition | None
    location: str
    files: FilesToRead
