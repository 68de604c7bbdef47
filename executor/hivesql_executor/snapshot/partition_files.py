"""What a scan reads of one partition; told without Spark, so that listing needs none."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import NamedTuple

from hivesql_executor.files.uploads import Upload
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile, FilesToRead
from hivesql_planner.model.table import DEFAULT_PARTITION, Partition


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFiles:
    """The files of one partition (None: the whole table) that a snapshot reads."""

    partition: Partition | None
    location: str
    files: FilesToRead

    @property
    def texts(self) -> tuple[str, ...]:
        """The partition's values as its directory has them, () for the whole table."""
        values = self.partition.values if self.partition else ()
        return tuple(value or DEFAULT_PARTITION for value in values)

    @property
    def every_file(self) -> tuple[DataFile | DeleteFile, ...]:
        """All files, each once."""
        chosen = self.files
        return tuple(dict.fromkeys((*chosen.data, *chosen.deletes, *chosen.orphans)))


class PlainFile(NamedTuple):
    """A file of rows: its absolute path, and its length in bytes."""

    path: str
    length: int
    modified: int = 0
    """When it was last changed, as it was listed; 0 where that was not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFile:
    """A complete file in staging, footer and all; ``keys`` as in the rows.

    ``write`` is an index into the publication's writes. With ``upload`` the file is none in
    staging, but an upload that waits to be completed, and ``name`` is the path where it belongs.
    With ``content`` it is still to be written.
    """

    name: str
    rows: int
    bytes: int
    write: int
    writer: int
    upload: Upload = ""
    content: builtins.bytes = b""
    keys: tuple[str, ...]
