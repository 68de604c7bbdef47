"""What a check of a full ACID table looks at, and what it has found out on its way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hivesql_executor.checks.finding import Finding
from hivesql_executor.orc.event_order import KeyedFile
from hivesql_executor.orc.footers import check_orphans
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile, FilesToRead
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import DataError
from hivesql_planner.model.table import Table

_File = TypeVar("_File", DataFile, DeleteFile)


@dataclass(slots=True)
class EventCheck:
    """A check of a full ACID table: its partitions as one snapshot sees them, and the findings."""

    table: Table
    parts: Sequence[PartitionFiles]
    visible: ValidWriteIdList
    runtime: Runtime
    counts: dict[str, int]
    """The living rows of each whole partition by its location, filled in by the check."""
    keyed: list[KeyedFile] = field(default_factory=list)
    """Files whose rows have ids of their own, in the order of these."""
    deletes: dict[str, OrcTail] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    """Paths of files that cannot be read."""

    def leave_out(self, path: str) -> None:
        """From now on, do without a file."""
        self.broken.add(path)
        self.keyed = [file for file in self.keyed if file.path != path]
        self.deletes.pop(path, None)

    def readable_parts(self) -> list[PartitionFiles]:
        """Return the partitions without files that cannot be read: what else is wrong is told."""
        return [self._readable(part) for part in self.parts]

    def complete_parts(
        self, readable: Sequence[PartitionFiles]
    ) -> tuple[list[PartitionFiles], list[Finding]]:
        """Choose the partitions all of whose files are there; and tell of those that lack one.

        Where a file is broken, rows that are not found may be there.
        """
        complete, findings = [], []
        for part, checked in zip(self.parts, readable, strict=True):
            try:
                paths = [f"{part.location}/{file.path}" for file in checked.files.orphans]
                check_orphans(paths, self.deletes)
            except DataError as error:
                findings.append(Finding(part.location, error.message))
                continue
            if checked == part:
                complete.append(part)
        return complete, findings

    def _readable(self, part: PartitionFiles) -> PartitionFiles:
        def readable(files: Sequence[_File]) -> tuple[_File, ...]:
            paths = ((f"{part.location}/{file.path}", file) for file in files)
            return tuple(file for path, file in paths if path not in self.broken)

        files = part.files
        chosen = FilesToRead(readable(files.data), readable(files.deletes), readable(files.orphans))
        return replace(part, files=chosen)
