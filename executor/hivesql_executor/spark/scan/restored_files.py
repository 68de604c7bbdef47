"""The files of RESTORE: those with rows that came since the earlier state, or that are gone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hivesql_executor.orc.footers import holds_changes, read_footers
from hivesql_executor.snapshot.listing import (
    acid_state,
    at_each_root,
    check_versions,
    read_metadata,
)
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.snapshot.time_travel import require_history
from hivesql_planner.acid.files_to_read import FilesToRead, files_to_read
from hivesql_planner.acid.restored_files import Losses, files_since, first_difference, losses_of
from hivesql_planner.acid.snapshot import is_compacted
from hivesql_planner.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hivesql_executor.files.api import Files
    from hivesql_executor.orc.tail import OrcTail
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.acid.snapshot import AcidState
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.model.table import Partition, Table

    Ends = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredFiles:
    """What RESTORE reads of a directory; ``losses`` says which rows of ``earlier`` are gone."""

    new: PartitionFiles
    """Files with rows of later writes, and the deletes of such rows."""
    earlier: PartitionFiles
    """Files of the earlier state that have rows which are gone, and maybe others."""
    losses: Losses
    events: PartitionFiles
    """Files with the deletes of later writes."""
    now: PartitionFiles
    """All files of the state that is there now."""


def restored_files(
    table: Table,
    partitions: Sequence[Partition],
    *,
    now: ValidWriteIdList,
    then: ValidWriteIdList,
    txns: ValidTxnList,
    runtime: Runtime,
) -> list[RestoredFiles]:
    """Return the files that tell what became of a table since an earlier state.

    Directories that no write has touched since are left out. DataError 10327 where the earlier
    state is gone.
    """
    first = first_difference(now, then)
    if first is None:
        return []
    files = runtime.files(table.location)

    def look(partition: Partition | None, location: str) -> RestoredFiles | None:
        state = acid_state(files, location, now, txns)
        check_versions(files, location, state)
        touched = files_to_read(state, now, location=location, keep_deletes=True)
        recent = files_since(touched, first)
        losses = losses_of(state, first, is_compacted=_is_compacted(files, location, state))
        if losses is Losses.DELETED and not recent.data and not recent.deletes:
            return None
        _refuse_changes(files, table, location, recent)
        earlier = acid_state(files, location, then, txns, is_earlier=True)
        check_versions(files, location, earlier)
        require_history(table, partition, location, earlier, then, runtime)
        part = PartitionFiles(partition=partition, location=location, files=touched)
        chosen = files_to_read(earlier, then, location=location)
        if losses is Losses.DELETED:
            chosen = _with_deleted(files, location, chosen, recent)
        return RestoredFiles(
            new=replace(part, files=recent),
            earlier=replace(part, files=chosen),
            losses=losses,
            events=replace(part, files=FilesToRead((), recent.deletes)),
            now=part,
        )

    looked = at_each_root(table, partitions, look, files)
    return [restored for restored in looked if restored is not None]


def _refuse_changes(files: Files, table: Table, location: str, recent: FilesToRead) -> None:
    """Refuse files of ACID version 1, whose updates leave rows their ids."""
    data = (file for file in recent.data if file.original is None)
    sizes = [(f"{location}/{file.path}", file.length) for file in data]
    if any(map(holds_changes, read_footers(files, sizes).values())):
        raise NotSupported(f"RESTORE of {table.name}, whose deltas are of ACID version 1")


def _is_compacted(files: Files, location: str, state: AcidState) -> bool:
    base = state.base
    if base is None:
        return False
    formats = read_metadata(files, location, base.files)
    return is_compacted(base.directory, formats.get(base.name))


def _with_deleted(
    files: Files, location: str, earlier: FilesToRead, recent: FilesToRead
) -> FilesToRead:
    """Leave out data files that have none of the rows which these delete files may end."""
    sizes = [(f"{location}/{file.path}", file.length) for file in earlier.data]
    sizes += [(f"{location}/{file.path}", file.length) for file in recent.deletes]
    tails = read_footers(files, sizes)
    events = [(file.bucket, tails[f"{location}/{file.path}"]) for file in recent.deletes]
    data = tuple(
        file
        for file in earlier.data
        if any(
            tail.rows
            and bucket == file.bucket
            and (file.original is not None or _overlap(tails[f"{location}/{file.path}"], tail))
            for bucket, tail in events
        )
    )
    return FilesToRead(data, earlier.deletes if data else ())


def _overlap(rows: OrcTail, events: OrcTail) -> bool:
    """Tell whether ids of rows may be those of events; True where a footer does not tell."""
    own, others = rows.key_range, events.key_range
    return (
        not own
        or not others
        or all(own[key][0] <= others[key][1] and others[key][0] <= own[key][1] for key in own)
    )
