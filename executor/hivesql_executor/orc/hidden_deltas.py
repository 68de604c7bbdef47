"""Directories that a streaming batch's delta hides though their write ids are not the batch's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hivesql_executor.orc.statistics import read_statistics
from hivesql_executor.snapshot.flushed_lengths import with_flushed_lengths
from hivesql_planner.acid.layout import (
    AcidDirectory,
    DirectoryKind,
    parse_bucket_file,
    parse_directory,
)
from hivesql_planner.errors import DataError

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files
    from hivesql_planner.acid.snapshot import AcidState, FileStatus

_ORIGINAL_WRITE_ID = ((1,),)
_ANY = (0, 2**63 - 1)


@dataclass(frozen=True, slots=True)
class HiddenDelta:
    """A directory inside the write ids of a batch's, which holds no event of its writes."""

    name: str
    batch: str

    @property
    def problem(self) -> str:
        """Tell what is wrong and how its rows can be saved."""
        return (
            f"{self.name} lies inside the write ids of {self.batch}, a streaming batch that does "
            "not own them: every reader leaves its committed rows out, Hive too. Copy the "
            "directory to another place, INSERT the rows again (`row` in its ORC files), and then "
            "delete it here"
        )


def hidden_deltas(files: Files, location: str, state: AcidState) -> tuple[HiddenDelta, ...]:
    """Find what a batch hides that it does not own; () in every healthy directory.

    Delta names of Hive 3's compactions look like those of batches, but their files hold, or may
    hold, the events of what they cover.
    """
    covered = [(name, parse_directory(name)) for name in state.obsolete]
    directories = [*((entry.name, entry.directory) for entry in state.deltas), *covered]
    spans = {
        directory[1:3]
        for _, directory in directories
        if directory and directory.kind is DirectoryKind.DELETE_DELTA
    }
    batches = [
        (name, directory)
        for name, directory in directories
        if directory and directory.may_grow and directory[1:3] not in spans
    ]
    suspects = [
        (name, inner, batch_name)
        for batch_name, batch in batches
        for name, inner in covered
        if inner and _lies_inside(inner, batch)
    ]
    if not suspects:
        return ()
    listing = with_flushed_lengths(files, location, files.list(location))
    return tuple(
        HiddenDelta(name, batch)
        for name, inner, batch in suspects
        if not any(
            low <= inner.max_write_id and inner.min_write_id <= high
            for low, high in _write_ids_of_events(files, location, batch, listing)
        )
    )


def require_none_hidden(files: Files, location: str, state: AcidState) -> None:
    """Raise DataError when a compaction or its cleaning would delete what a batch only hides."""
    for hidden in hidden_deltas(files, location, state):
        raise DataError(
            f"{location}: {hidden.problem}. Until then nothing here is compacted or cleaned"
        )


def _lies_inside(inner: AcidDirectory, batch: AcidDirectory) -> bool:
    if inner.kind is DirectoryKind.BASE or inner[1:3] == batch[1:3]:
        return False
    return batch.min_write_id <= inner.min_write_id and inner.max_write_id <= batch.max_write_id


def _write_ids_of_events(
    files: Files, location: str, name: str, listing: Sequence[FileStatus]
) -> Iterator[tuple[int, int]]:
    """Yield the write ids of a delta's events, as ranges; one holds all where none is known."""
    for status in listing:
        directory, _, file = status.path.rpartition("/")
        if directory != name or parse_bucket_file(file) is None or not status.length:
            continue
        path = f"{location}/{status.path}"
        statistics = read_statistics(
            files, path, status.length, status.modified, _ORIGINAL_WRITE_ID
        )
        for stripe in statistics.stripes if statistics else ():
            (extent,) = stripe.extents
            if extent and isinstance(extent.low, int) and isinstance(extent.high, int):
                yield extent.low, extent.high
            else:
                yield _ANY
        if statistics is None:
            yield _ANY
