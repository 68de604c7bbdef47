"""What a check has found out of a table's files, and which partitions have all of theirs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hivesql_executor.checks.finding import Finding
from hivesql_executor.orc.event_order import KeyedFile
from hivesql_executor.orc.footers import check_orphans
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile, FilesToRead
from hivesql_planner.errors import DataError

_File = TypeVar("_File", DataFile, DeleteFile)


@dataclass(slots=True)
class FileFacts:
    """What has been found out of a table's files: those with ids, and those that are broken."""

    keyed: list[KeyedFile] = field(default_factory=list)
    deletes: dict[str, OrcTail] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)

    def leave_out(self, path: str) -> None:
        """From now on, do without a file."""
        self.broken.add(path)
        self.keyed = [file for file in self.keyed if file.path != path]
        self.deletes.pop(path, None)


def complete_parts(
    parts: Sequence[PartitionFiles], readable: Sequence[PartitionFiles], file_facts: FileFacts
) -> tuple[list[PartitionFiles], list[Finding]]:
    """Choose the partitions all of whose files are there; and tell of those that lack one.

    Where a file is broken, rows that are not found may be there.
    """
    complete, findings = [], []
    for part, checked in zip(parts, readable, strict=True):
        try:
            paths = [f"{part.location}/{file.path}" for file in checked.files.orphans]
            check_orphans(paths, file_facts.deletes)
        except DataError as error:
            findings.append(Finding(part.location, error.message))
            continue
        if checked == part:
            complete.append(part)
    return complete, findings


def readable_part(part: PartitionFiles, broken: Collection[str]) -> PartitionFiles:
    """Leave out files that cannot be read: what is wrong elsewhere is told too."""

    def readable(files: Sequence[_File]) -> tuple[_File, ...]:
        return tuple(file for file in files if f"{part.location}/{file.path}" not in broken)

    files = part.files
    chosen = FilesToRead(readable(files.data), readable(files.deletes), readable(files.orphans))
    return replace(part, files=chosen)
