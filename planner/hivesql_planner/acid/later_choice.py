"""What a later snapshot takes of a directory: what an earlier one took, and what came since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hivesql_planner.acid.files_to_read import FilesToRead
from hivesql_planner.acid.layout import AcidDirectory, DirectoryKind, parse_directory
from hivesql_planner.acid.write_ids import ValidWriteIdList

_BASE = DirectoryKind.BASE


@dataclass(frozen=True, slots=True)
class Extent:
    """The directories that a choice has settled, and the snapshot for which it did."""

    visible: ValidWriteIdList
    has_base: bool
    directories: frozenset[str] = frozenset()
    single: frozenset[int] = frozenset()
    """Writes that are alone in their directories."""
    widest: int = 0
    """The last write of the directories that hold more; 0 where there are none."""

    @property
    def last(self) -> int:
        """The last write that is settled."""
        return max(max(self.single, default=0), self.widest)

    def holds_for(self, later: ValidWriteIdList) -> bool:
        """Tell whether a later snapshot judges each of the directories in the same way.

        What ended since is neither in one of them nor below the end of one that holds more.
        """
        earlier = self.visible
        if later.high_watermark < earlier.high_watermark or later.mode is not earlier.mode:
            return False
        changed = (earlier.open ^ later.open) | (earlier.aborted ^ later.aborted)
        return all(
            write_id > earlier.high_watermark
            or (write_id > self.widest and write_id not in self.single)
            for write_id in changed
        )

    def precedes(self, names: Iterable[str], later: ValidWriteIdList) -> bool:
        """Tell whether all directories of these names are of later writes, each of one alone.

        Those of writes that are not visible add nothing, wherever they stand.
        """
        last = self.last
        for directory in map(parse_directory, names):
            if directory is None or not _is_single(directory):
                return False
            if directory.max_write_id <= last and later.sees(directory.max_write_id):
                return False
        return True

    def grown_by(
        self, complete: Iterable[str], others: Iterable[str], visible: ValidWriteIdList
    ) -> Extent | None:
        """Settle more ``complete`` directories, for a snapshot; None where ``others`` count too."""
        for directory in map(parse_directory, others):
            if (
                directory is None
                or not _is_single(directory)
                or visible.sees(directory.max_write_id)
            ):
                return None
        names, single, widest = [], [], self.widest
        for name in complete:
            directory = parse_directory(name)
            if directory is None:
                return None
            write_id = directory.max_write_id
            if not _is_single(directory):
                widest = max(widest, write_id)
            elif visible.sees(write_id):
                single.append(write_id)
            else:
                continue
            names.append(name)
        if widest > visible.high_watermark:
            return None
        directories = self.directories.union(names)
        return Extent(visible, self.has_base, directories, self.single.union(single), widest)


def with_later(chosen: FilesToRead, added: FilesToRead, extent: Extent) -> FilesToRead | None:
    """Return both choices as one; None where what was left out before may count now."""
    if not chosen.data:
        return None
    data, orphans = chosen.data + added.data, (*chosen.orphans, *added.deletes)
    if extent.has_base:
        orphans = ()
    elif orphans:
        buckets = {file.bucket for file in data}
        orphans = tuple(file for file in orphans if file.bucket not in buckets)
    return FilesToRead(data, chosen.deletes + added.deletes, orphans)


def _is_single(directory: AcidDirectory) -> bool:
    return (
        directory.kind is not _BASE
        and directory.min_write_id == directory.max_write_id
        and not directory.visibility_txn
    )
