"""From two versions of a table to the files that tell what happened in between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hivesql_executor.snapshot.listing import (
    acid_state,
    at_each_root,
    check_versions,
    read_metadata,
)
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.snapshot.time_travel import are_events_retained, require_history
from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.layout import DirectoryKind, parse_directory
from hivesql_planner.acid.restored_files import files_since
from hivesql_planner.acid.time_travel import after_write, overwrites, require_events
from hivesql_planner.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivesql_executor.files.api import Files
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.acid.snapshot import AcidState
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.model.table import Partition, Table


@dataclass(frozen=True, slots=True)
class Replacement:
    """What an overwrite or TRUNCATE did to a directory: all rows went, others came."""

    write_id: int
    before: PartitionFiles
    after: PartitionFiles


@dataclass(frozen=True, slots=True)
class Span:
    """Writes from ``first`` on to a directory, without a replacement among them.

    ``files`` are those of the rows that its last write has left, and that it or others deleted.
    """

    first: int
    files: PartitionFiles

    @property
    def events(self) -> PartitionFiles:
        """Return those that have events of these writes."""
        return replace(self.files, files=files_since(self.files.files, self.first))


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """What happened to a directory: its events, and what had no event for each row."""

    spans: tuple[Span, ...]
    replacements: tuple[Replacement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Directory:
    """One table or partition directory, as the newest wanted version sees it."""

    table: Table
    partition: Partition | None
    location: str
    then: ValidWriteIdList
    txns: ValidTxnList
    runtime: Runtime


def changed_files(
    table: Table,
    partitions: Sequence[Partition],
    low: int,
    then: ValidWriteIdList,
    txns: ValidTxnList,
    runtime: Runtime,
) -> list[ChangedFiles]:
    """Return the files that tell what the writes from ``low`` to the last of ``then`` did.

    DataError 10327 when a compaction has merged the events, or a cleaner removed replaced rows.
    """

    def look(partition: Partition | None, location: str) -> ChangedFiles:
        directory = _Directory(
            table=table, partition=partition, location=location,
            then=then, txns=txns, runtime=runtime,
        )  # fmt: skip
        return _changed(directory, low)

    return at_each_root(table, partitions, look, runtime.files(table.location))


def write_before_changes(
    table: Table,
    partitions: Sequence[Partition],
    then: ValidWriteIdList,
    txns: ValidTxnList,
    runtime: Runtime,
) -> int:
    """Return the last write whose changes are no longer there; 0 where all are."""

    def look(partition: Partition | None, location: str) -> int:
        directory = _Directory(
            table=table, partition=partition, location=location,
            then=then, txns=txns, runtime=runtime,
        )  # fmt: skip
        names = {file.path.partition("/")[0] for file in runtime.files(location).list(location)}
        bases = {
            parsed.max_write_id
            for name in names
            if (parsed := parse_directory(name))
            and parsed.kind is DirectoryKind.BASE
            and then.sees(parsed.max_write_id)
        }
        ends = (end for end in sorted({0, *bases}) if _has_changes(directory, end + 1))
        return next(ends, then.high_watermark)

    return max(at_each_root(table, partitions, look, runtime.files(table.location)), default=0)


def last_of_merged(
    table: Table,
    partitions: Sequence[Partition],
    write_id: int,
    then: ValidWriteIdList,
    txns: ValidTxnList,
    runtime: Runtime,
) -> int:
    """Return the write up to which changes are told at the least, where ``write_id`` is wanted.

    Of an insert-only table's rows nobody can tell which of the writes that a compaction has merged
    wrote them.
    """
    if not table.is_insert_only:
        return write_id

    def look(_: Partition | None, location: str) -> int:
        state = acid_state(runtime.files(location), location, then, txns)
        spans = (entry.directory for entry in state.deltas)
        ends = (span.max_write_id for span in spans if span.min_write_id <= write_id)
        return max(ends, default=write_id)

    return max([write_id, *at_each_root(table, partitions, look, runtime.files(table.location))])


def _has_changes(directory: _Directory, low: int) -> bool:
    try:
        _changed(directory, low)
    except DataError as error:
        if error.code != 10327:
            raise
        return False
    return True


def _changed(directory: _Directory, low: int) -> ChangedFiles:
    location, files = directory.location, _files(directory)
    listing = files.list(location)
    formats = read_metadata(files, location, listing)
    spans, replacements = [], []
    for write_id in overwrites(listing, formats, low=low, then=directory.then):
        last = write_id - 1
        before = _state(directory, last)
        if low < write_id:
            span = _part(directory, _events(directory, before, low, last), last)
            spans.append(Span(low, span))
        base = replace(_state(directory, write_id), deltas=())
        replacements.append(
            Replacement(write_id, _part(directory, before, last), _part(directory, base, write_id))
        )
        low = write_id + 1
    high = directory.then.high_watermark
    if low <= high:
        state = _state(directory, high)
        spans.append(Span(low, _part(directory, _events(directory, state, low, high), high)))
    return ChangedFiles(tuple(spans), tuple(replacements))


def _state(directory: _Directory, write_id: int) -> AcidState:
    """Return what was there after a write; DataError 10327 where that may be gone."""
    files, then = _files(directory), after_write(directory.then, write_id)
    state = acid_state(files, directory.location, then, directory.txns, is_earlier=True)
    check_versions(files, directory.location, state)
    require_history(
        directory.table, directory.partition, directory.location, state, then, directory.runtime
    )
    return state


def _events(directory: _Directory, state: AcidState, low: int, high: int) -> AcidState:
    """Return the deltas of the writes ``low`` to ``high``, of which ``state`` has the rows.

    Where a retention has left them, events are there beside what they were merged into.
    """
    location, runtime = directory.location, directory.runtime
    if state.base is not None and state.base.directory.max_write_id >= low:
        events = acid_state(
            _files(directory), location, after_write(directory.then, high), directory.txns,
            is_earlier=True, events_from=low,
        )  # fmt: skip
        if are_events_retained(
            directory.table, directory.partition, location, low, directory.txns, runtime
        ):
            state = events
    require_events(state, low, insert_only=directory.table.is_insert_only, location=location)
    return state


def _part(directory: _Directory, state: AcidState, write_id: int) -> PartitionFiles:
    chosen = files_to_read(
        state, after_write(directory.then, write_id), location=directory.location,
        insert_only=directory.table.is_insert_only,
    )  # fmt: skip
    return PartitionFiles(partition=directory.partition, location=directory.location, files=chosen)


def _files(directory: _Directory) -> Files:
    return directory.runtime.files(directory.table.location)
