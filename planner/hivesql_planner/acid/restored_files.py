"""What is different between a state and an earlier one: which files RESTORE has to read."""

from __future__ import annotations

from enum import Enum

from hivesql_planner.acid.files_to_read import DataFile, DeleteFile, FilesToRead
from hivesql_planner.acid.layout import parse_directory
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList


class Losses(Enum):
    """How one tells which rows of an earlier state are gone."""

    ALL = "all rows are: an overwrite has replaced them"
    DELETED = "those with a delete event since"
    ABSENT = "those that are not there: a compaction has merged the events"


def first_difference(now: ValidWriteIdList, then: ValidWriteIdList) -> int | None:
    """Return the first write that is visible now and was not then; None where there is none."""
    later = range(then.high_watermark + 1, now.high_watermark + 1)
    first = next((write_id for write_id in later if now.sees(write_id)), None)
    ended = min((write_id for write_id in then.open if now.sees(write_id)), default=None)
    return min((each for each in (first, ended) if each is not None), default=None)


def losses_of(state: AcidState, first: int, *, is_compacted: bool) -> Losses:
    """Tell how the losses by the writes from ``first`` on are found in what is there now.

    ``is_compacted``: whether a compaction made the state's base.
    """
    if state.base is None or state.base.directory.max_write_id < first:
        return Losses.DELETED
    return Losses.ABSENT if is_compacted else Losses.ALL


def files_since(files: FilesToRead, first: int) -> FilesToRead:
    """Return the files that may have events of write ``first`` or of a later one.

    No older delete has ended a row of such a write.
    """

    def is_recent(file: DataFile | DeleteFile) -> bool:
        directory = parse_directory(file.path.partition("/")[0])
        return directory is not None and directory.max_write_id >= first

    return FilesToRead(
        tuple(filter(is_recent, files.data)), tuple(filter(is_recent, files.deletes))
    )
