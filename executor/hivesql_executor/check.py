"""Whether a table's files are what its catalog and its directories say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hivesql_executor.flushed import spark_path
from hivesql_executor.inspect import file_facts
from hivesql_executor.partition_files import PartitionFiles
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot import acid_state, check_versions, table_roots
from hivesql_executor.spark.footers import (
    check_deletes,
    check_inserts,
    check_orphans,
    check_raw,
    holds_changes,
)
from hivesql_executor.spark.jvm import know_flushed_files
from hivesql_executor.spark.verify import (
    delete_events,
    misplaced_rows,
    repeated_ids,
    row_ids,
    unmatched_deletes,
)
from hivesql_executor.storage.files import Files
from hivesql_executor.storage.orc import OrcTail, cached_tail
from hivesql_planner.acid.layout import KEY_INDEX, STATS, AcidDirectory, is_hidden, parse_directory
from hivesql_planner.acid.reading import DataFile, DeleteFile, FilesToRead, files_to_read
from hivesql_planner.acid.snapshot import AcidState, FileStatus
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import DataError, NotSupported, SemanticError
from hivesql_planner.table import Partition, Table, TableName

Check = Callable[[str, OrcTail], None]
_File = TypeVar("_File", DataFile, DeleteFile)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong: where, and what."""

    place: str
    problem: str


def check_table(name: TableName, runtime: Runtime) -> tuple[Finding, ...]:
    """Everything that is wrong with a transactional table's files; () when nothing is.

    Reads every footer and, of a full ACID table, the row ids of every row. Changes nothing.
    """
    store = runtime.metastore
    table = store.table(name)
    if not table.is_transactional:
        raise SemanticError(f"{name} is not transactional: there is nothing to check")
    partitions = store.partitions(name) if table.partition_columns else ()
    return tuple(_findings(table, partitions, runtime))


def _findings(table: Table, partitions: Sequence[Partition], runtime: Runtime) -> Iterator[Finding]:
    store, files = runtime.metastore, runtime.files(table.location)
    txns = store.valid_txns()
    visible = store.valid_write_ids(txns, (table.name,))[table.name]
    yield from _orphans(table, partitions, files)
    parts: list[PartitionFiles] = []
    for partition, location in table_roots(table, partitions):
        yield from _leftovers(location, visible, files)
        try:
            state = acid_state(files, location, visible, txns)
            chosen = files_to_read(state, visible, insert_only=table.is_insert_only)
        except DataError as error:
            yield Finding(location, error.message)
            continue
        yield from _versions(files, location, state)
        parts.append(PartitionFiles(partition=partition, location=location, files=chosen))
        yield from _expected_buckets(table, location, state)
    if table.is_full_acid:
        yield from _acid_findings(table, parts, visible, runtime)
        return
    for part in parts:
        stored = table.stored_as(part.partition)
        for data in part.files.data:
            path = f"{part.location}/{data.path}"
            fact = file_facts(files, stored, path, FileStatus(data.path, data.length))
            if fact.problem is not None:
                yield Finding(path, fact.problem)


def _versions(files: Files, location: str, state: AcidState) -> Iterator[Finding]:
    for entry in (*([state.base] if state.base else []), *state.deltas):
        try:
            check_versions(files, location, AcidState(deltas=(entry,)))
        except DataError as error:
            yield Finding(f"{location}/{entry.name}", error.message)


def _acid_findings(
    table: Table, parts: Sequence[PartitionFiles], visible: ValidWriteIdList, runtime: Runtime
) -> Iterator[Finding]:
    files = runtime.files(table.location)
    inserts: dict[str, OrcTail] = {}
    deletes: dict[str, OrcTail] = {}
    broken: set[str] = set()
    for part in parts:
        for data in part.files.data:
            check: Check = check_inserts if data.raw is None else check_raw
            path = f"{part.location}/{data.path}"
            problem = _read(files, path, data.length, check, inserts)
            if problem:
                broken.add(path)
                yield problem
            elif data.side_file:
                inserts[spark_path(part.location, data)] = inserts.pop(path)
            elif data.raw is not None or holds_changes(inserts[path]):
                # Neither has an order of its own; their ids are compared below.
                del inserts[path]
        for events in part.files.deletes:
            path = f"{part.location}/{events.path}"
            problem = _read(files, path, events.length, check_deletes, deletes)
            if problem:
                broken.add(path)
                yield problem
    for path, tail in {**inserts, **deletes}.items():
        yield from _footer_findings(path, tail)
    if any(part.files.data or part.files.orphans for part in parts):
        whole = [_readable(part, broken) for part in parts]
        yield from _row_findings(
            table, whole, visible, runtime, inserts, deletes, is_whole=not broken
        )


def _readable(part: PartitionFiles, broken: Collection[str]) -> PartitionFiles:
    """The part without the files that cannot be read: what is wrong elsewhere is told too."""

    def kept(files: Sequence[_File]) -> tuple[_File, ...]:
        return tuple(one for one in files if f"{part.location}/{one.path}" not in broken)

    found = part.files
    chosen = FilesToRead(kept(found.data), kept(found.deletes), kept(found.orphans))
    return replace(part, files=chosen)


def _read(
    files: Files, path: str, length: int, check: Check, found: dict[str, OrcTail]
) -> Finding | None:
    try:
        tail = cached_tail(files, path, length)
        check(path, tail)
    except (DataError, NotSupported) as error:
        return Finding(path, error.message)
    found[path] = tail
    return None


def _footer_findings(path: str, tail: OrcTail) -> Iterator[Finding]:
    counts = tail.metadata.get(STATS, b"").decode("ascii", "replace")
    numbers = [int(part) for part in counts.split(",") if part.isdigit()]
    if numbers and sum(numbers) != tail.rows:
        yield Finding(path, f"{STATS} says {counts}, the file has {tail.rows} rows")
    index = tail.metadata.get(KEY_INDEX)
    stripes = len(tail.stripe_rows)
    if index is not None and index.count(b";") != stripes:
        entries = index.count(b";")
        yield Finding(path, f"{KEY_INDEX} has {entries} entries for {stripes} stripes")


def _row_findings(
    table: Table,
    parts: Sequence[PartitionFiles],
    visible: ValidWriteIdList,
    runtime: Runtime,
    inserts: Mapping[str, OrcTail],
    deletes: Mapping[str, OrcTail],
    *,
    is_whole: bool,
) -> Iterator[Finding]:
    """``is_whole``: every file can be read, so a row that is not found is not there."""
    spark, files, home = runtime.spark(), runtime.files(table.location), table.location
    if any(file.side_file for part in parts for file in part.files.data):
        know_flushed_files(spark)
    for tails, are_deletes in ((inserts, False), (deletes, True)):
        for path, problem in misplaced_rows(spark, table, tails, deletes=are_deletes):
            yield Finding(path, problem)
    for part in parts:
        paths = [f"{part.location}/{file.path}" for file in part.files.orphans]
        try:
            check_orphans(paths, deletes)
        except DataError as error:
            yield Finding(part.location, error.message)
            is_whole = False
    ids = row_ids(spark, table, parts, visible=visible, files=files)
    for problem in repeated_ids(ids):
        yield Finding(home, problem)
    events = delete_events(spark, table, parts, deletes, visible=visible)
    if events is not None and is_whole:
        for problem in unmatched_deletes(ids, events):
            yield Finding(home, problem)


def _expected_buckets(table: Table, location: str, state: AcidState) -> Iterator[Finding]:
    if not table.is_bucketed or table.is_insert_only:
        return
    chosen = files_to_read(state, ValidWriteIdList(2**63 - 1), keep_deletes=True)
    named = [(file.path, file.bucket) for file in chosen.data]
    named += [(file.path, file.bucket) for file in chosen.deletes]
    for path, bucket in named:
        if bucket >= table.bucket_count:
            yield Finding(
                f"{location}/{path}",
                f"the table has {table.bucket_count} buckets: there is none of this number",
            )


def _leftovers(location: str, visible: ValidWriteIdList, files: Files) -> Iterator[Finding]:
    """Directories that no reader will ever take and no cleaner removes."""
    for name in files.all_directories(location):
        path = f"{location}/{name}"
        directory = parse_directory(name)
        if is_hidden(name):
            yield Finding(path, "left over by a write, unless one is running now")
        elif directory and _first_unknown(directory) > visible.high_watermark:
            highest = visible.high_watermark
            yield Finding(path, f"the catalog knows no write above {highest} of this table")


def _first_unknown(directory: AcidDirectory) -> int:
    """The last transactions of a streaming batch may have been rolled back and forgotten."""
    return directory.min_write_id if directory.may_grow else directory.max_write_id


def _orphans(table: Table, partitions: Sequence[Partition], files: Files) -> Iterator[Finding]:
    """Directories that look like partitions, but are none in the catalog."""
    known = {partition.location for partition in partitions}
    level = [table.location]
    for name in table.partition_names:
        below = []
        for place in level:
            below += [
                f"{place}/{one}" for one in files.all_directories(place)
                if one.lower().startswith(f"{name}=")
            ]  # fmt: skip
        level = below
    for place in level if table.partition_columns else ():
        if place not in known and files.list(place):
            yield Finding(place, "the catalog has no such partition: its rows are not read")
