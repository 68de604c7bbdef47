"""From a table under a snapshot to the files to read: list, then let the planner select."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from hivesql_executor.files.api import readable
from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.snapshot.flushed_lengths import with_flushed_lengths
from hivesql_executor.snapshot.known_listings import Listed
from hivesql_executor.snapshot.partition_files import PartitionFiles, PlainFile
from hivesql_executor.snapshot.time_travel import require_history
from hivesql_planner.acid.files_to_read import FilesToRead, files_to_read
from hivesql_planner.acid.layout import (
    METADATA_FILE,
    SIDE_FILE_SUFFIX,
    VERSION_FILE,
    VERSION_TEXT,
    is_marker,
    parse_directory,
)
from hivesql_planner.acid.snapshot import AcidState, FileStatus, select
from hivesql_planner.acid.time_travel import merging_bases
from hivesql_planner.errors import DataError

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.model.table import Partition, Table
    from hivesql_planner.relations import Scan

_Seen = TypeVar("_Seen")
_METADATA_VERSION = "0"


def table_roots(
    table: Table, partitions: Sequence[Partition]
) -> list[tuple[Partition | None, str]]:
    """Return the directories that hold a table's data, each with the partition it is, or None."""
    if not table.partition_columns:
        return [(None, table.location)]
    return [(partition, partition.location) for partition in partitions]


def data_sizes(listed: Iterable[FileStatus]) -> list[int]:
    """Length of every file that Hive would count: no ``_orc_acid_version``."""
    names = ((status.path.rpartition("/")[2], status.length) for status in listed)
    return [
        length
        for name, length in names
        if not name.startswith("_") and not name.endswith(SIDE_FILE_SUFFIX)
    ]


def visible_sizes(state: AcidState) -> list[int]:
    """Length of every file that a reader of this state takes."""
    return data_sizes(
        [*(file for entry in state.directories for file in entry.files), *state.originals]
    )


def scan_files(
    scan: Scan, visible: ValidWriteIdList, txns: ValidTxnList, runtime: Runtime
) -> list[PartitionFiles]:
    """List every directory of the scan and choose what the snapshot sees in it."""
    table, is_earlier = scan.table, scan.as_of is not None
    files, insert_only = runtime.files(table.location), table.is_insert_only
    most = runtime.settings.integer("hivesql.listing.max.files")

    listings = _list_partitions(table, scan.partitions, files)

    def list_root(partition: Partition | None, location: str) -> PartitionFiles:
        listed = Listed(files, table, location, most, listings.get(location))
        if is_earlier:
            statuses = listed.statuses(visible, txns)
            state = acid_state(files, location, visible, txns, is_earlier=True, listing=statuses)
            check_versions(files, location, state)
            require_history(table, partition, location, state, visible, runtime)
            chosen = files_to_read(state, visible, insert_only=insert_only, location=location)
        else:
            chosen = _choose(listed, files, location, visible, txns, insert_only=insert_only)
        return PartitionFiles(partition=partition, location=location, files=chosen)

    return at_each_root(scan.table, scan.partitions, list_root, files)


def _list_partitions(
    table: Table, partitions: Sequence[Partition], files: Files
) -> Mapping[str, Sequence[FileStatus]]:
    """List the directories that lie in the table's, where one request tells of many."""
    places = [location for _, location in table_roots(table, partitions)]
    return files.list_many(table.location, places)


def _choose(
    listed: Listed,
    files: Files,
    location: str,
    visible: ValidWriteIdList,
    txns: ValidTxnList,
    *,
    insert_only: bool,
) -> FilesToRead:
    """Choose what a snapshot sees now, or recall what one that sees the same has chosen."""
    chosen = listed.recall_choice(visible, txns, insert_only=insert_only)
    if chosen is not None:
        return chosen

    def choose(statuses: Sequence[FileStatus], *, keep_deletes: bool) -> tuple[FilesToRead, bool]:
        state = acid_state(files, location, visible, txns, listing=statuses)
        check_versions(files, location, state)
        chosen = files_to_read(
            state, visible, insert_only=insert_only, keep_deletes=keep_deletes, location=location
        )
        return chosen, state.base is not None

    has_base = False
    chosen = listed.extend_choice(
        visible,
        txns,
        lambda statuses: choose(statuses, keep_deletes=True)[0],
        insert_only=insert_only,
    )
    if chosen is None:
        chosen, has_base = choose(listed.statuses(visible, txns), keep_deletes=False)
    listed.remember_choice(chosen, visible, txns, insert_only=insert_only, has_base=has_base)
    return chosen


def changed_roots(
    table: Table,
    partitions: Sequence[Partition],
    first: int,
    visible: ValidWriteIdList,
    txns: ValidTxnList,
    runtime: Runtime,
) -> list[Partition | None]:
    """Choose the partitions (None: the whole table) with anything of write ``first`` or later."""
    files = runtime.files(table.location)
    listings = _list_partitions(table, partitions, files)

    def list_root(partition: Partition | None, location: str) -> tuple[Partition | None, int]:
        state = acid_state(files, location, visible, txns, listing=listings.get(location))
        writes = (entry.directory.max_write_id for entry in state.directories)
        return partition, max(writes, default=0)

    listed = at_each_root(table, partitions, list_root, files)
    return [partition for partition, last in listed if last >= first]


def at_each_root(
    table: Table,
    partitions: Sequence[Partition],
    look: Callable[[Partition | None, str], _Seen],
    files: Files,
) -> list[_Seen]:
    """Look at each directory with a table's data, several at a time; results in their order."""
    roots = table_roots(table, partitions)
    return each_at_once(files, lambda root: look(*root), roots, few=1)


def acid_state(
    files: Files,
    location: str,
    visible: ValidWriteIdList,
    txns: ValidTxnList,
    *,
    is_earlier: bool = False,
    events_from: int | None = None,
    listing: Sequence[FileStatus] | None = None,
) -> AcidState:
    """Tell what one table or partition directory holds, seen through a snapshot.

    ``listing`` is what is there, where the caller has listed it; None lists it here.
    Of one that ``is_earlier`` require_history tells afterwards whether all of it is there.
    ``events_from`` is a write whose events, and later ones, are wanted as they were before a
    compaction merged them; None takes what a reader of rows takes.
    """
    if listing is None:
        listing = files.list(location)
    listing = with_flushed_lengths(files, location, listing)
    if events_from is not None:
        merging = merging_bases(listing, events_from, txns)
        listing = [
            status
            for status in listing
            if parse_directory(status.path.partition("/")[0]) not in merging
        ]
    metadata = read_metadata(files, location, listing)
    return select(
        listing, visible, txns, metadata=metadata, location=location, is_earlier=is_earlier
    )


def read_metadata(files: Files, location: str, listing: Sequence[FileStatus]) -> dict[str, str]:
    """Return the dataFormat of every ``_metadata_acid`` file, by directory name."""
    formats: dict[str, str] = {}
    for status in listing:
        directory, _, name = status.path.rpartition("/")
        if name != METADATA_FILE:
            continue
        path = f"{location}/{status.path}"
        try:
            size, modified = status.length, status.modified
            metadata = json.loads(readable(files, path, size, size, modified=modified).read())
            version, formats[directory] = metadata["thisFileVersion"], str(metadata["dataFormat"])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is not a valid ACID metadata file: {error!r}") from error
        if version != _METADATA_VERSION:
            raise DataError(
                f"{path} is of version {version!r}, and only {_METADATA_VERSION!r} is known"
            )
    return formats


def check_versions(files: Files, location: str, state: AcidState) -> None:
    """Raise DataError when a directory to be read says that it is of another ACID version."""
    for entry in state.directories:
        for status in entry.files:
            if status.path.rpartition("/")[2] == VERSION_FILE:
                path = f"{location}/{status.path}"
                # Where files are told apart by what is in them, one is like all others.
                name = path if files.has_directories else ""
                key = files, name, status.length, status.modified
                if key not in _right_versions:
                    _check_version(files, path, status)
                    _right_versions[key] = None
                    while len(_right_versions) > _MOST_VERSIONS:
                        # Several threads may come here at once.
                        _right_versions.pop(next(iter(_right_versions)), None)


_MOST_VERSIONS = 100_000
_right_versions: dict[tuple[Files, str, int, int], None] = {}
"""A version file never changes: each is read once."""


def _check_version(files: Files, path: str, status: FileStatus) -> None:
    length = min(status.length, 16)
    text = readable(files, path, length, length, modified=status.modified).read()
    if text.strip() != VERSION_TEXT:
        raise DataError(
            f"{path} says {text!r} where {VERSION_TEXT!r} is expected: the directory was written "
            "in another version of the ACID layout, or is damaged"
        )


def plain_files(
    table: Table, partitions: Sequence[Partition], runtime: Runtime
) -> list[tuple[Partition | None, str, tuple[PlainFile, ...]]]:
    """List the files of a table that is not transactional, by directory.

    None is the partition of a table without partitions.
    """
    files = runtime.files(table.location)
    listings = _list_partitions(table, partitions, files)

    def list_root(
        partition: Partition | None, location: str
    ) -> tuple[Partition | None, str, tuple[PlainFile, ...]]:
        known = listings.get(location)
        statuses = files.list(location) if known is None else known
        plain = (
            PlainFile(f"{location}/{status.path}", status.length, status.modified)
            for status in statuses
            # It came here with files of an ACID table.
            if not is_marker(status.path)
        )
        return partition, location, tuple(plain)

    return at_each_root(table, partitions, list_root, files)
